"""The blast radius of a run: what its failures cost, by what failed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ddsim.engine.body import Body
from ddsim.world.instants import SECOND

if TYPE_CHECKING:
    from ddsim.engine.hardware import Hardware
    from ddsim.engine.losses import Losses


def blast_radius(losses: Losses, hardware: Hardware, chips: int, end: float) -> dict[str, Any]:
    """Return what failures cost a run of `end` seconds on so many chips.

    `by_cause` and `by_domain` have `failures` that hit something, `chip_seconds` lost and
    `per_failure`; `worst_hour` when it began and the share of it that was lost to hardware that
    was down and to stalls; `catch_up_s` how long after a failure that stopped it a job is on
    average where it was before: its stall and the compute that it does again, None where no
    failure stopped anything.
    """
    bodies = {id(body): body for body in hardware.bodies if isinstance(body, Body)}.values()
    stops = sum(body.interruptions for body in bodies)
    stalled = sum(body.interrupted for body in bodies)
    return {
        "by_cause": losses.grouped(hardware.struck_by, 0),
        "by_domain": losses.grouped(hardware.struck_by, 1),
        "worst_hour": losses.worst_hour(chips, end),
        "catch_up_s": (stalled + losses.catching_up) / stops / SECOND if stops else None,
    }
