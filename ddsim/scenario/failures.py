"""``failures`` and ``chaos``: what breaks, when, and when it is back."""

from __future__ import annotations

import math
from typing import Annotated, Literal, get_args

from ddsim.scenario.fields import Choice, Quantity, Range, Text
from ddsim.scenario.repair import Repair, RepairSpec
from ddsim.scenario.section import Section, described, required
from ddsim.scenario.units import BANDWIDTH, TIME

Ages = Literal["runs", "stops"]
Fault = Literal["kill", "cut", "throttle"]


class Failures(Section):
    """Failures drawn at random."""

    chip_mtbi: Annotated[float, Quantity(TIME, Range(0.0, above=True), "never")] = described(
        math.inf, "Mean time between interruptions of one chip, exponentially distributed."
    )
    repair: Annotated[RepairSpec, Repair()] = described(
        RepairSpec("constant", {"value": 1200.0}),
        "Time from the end of detection until the hardware is back: a time, or a distribution.",
        otherwise="20 min",
    )
    detection: Annotated[float, Quantity(TIME)] = described(
        10.0, "Time from a failure until it is known."
    )
    age_while_down: Annotated[Ages, Choice(get_args(Ages))] = described(
        "runs", "Whether a unit ages, and can be struck, while it does not step."
    )


class Chaos(Section):
    """One planned fault."""

    at: Annotated[float, Quantity(TIME)] = required(0.0, "When it strikes.")
    fault: Annotated[Fault, Choice(get_args(Fault))] = required(
        "kill", "kill hardware; cut or throttle a region's WAN access or a link."
    )
    target: Annotated[str, Text("what it strikes")] = required(
        "", "`UNIT`, `UNIT/slice N`, `UNIT/chip N` (from 0) to kill; a region or `A-B` otherwise."
    )
    duration: Annotated[float, Quantity(TIME, Range(0.0, above=True), "never")] = described(
        math.inf, "How long until it is healed; `never` for good.", alias="for"
    )
    to: Annotated[float | None, Quantity(BANDWIDTH, Range(0.0, above=True))] = described(
        None, "Bandwidth that a throttled link has left.", otherwise="none"
    )
