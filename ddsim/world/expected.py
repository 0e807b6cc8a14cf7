"""How much is to be expected of a world before it is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ddsim.world.causes import cause_rate, failure_rate
from ddsim.world.chance import Chance
from ddsim.world.cluster import build
from ddsim.world.domains import DOMAINS

if TYPE_CHECKING:
    from ddsim.scenario import Scenario


def chance_of(scenario: Scenario) -> Chance:
    """Return what is expected by the long-run rates of all causes; planned faults are none."""
    if scenario.chaos_only:
        return Chance()
    rest = [cause for cause in scenario.failures.causes if cause.domain not in DOMAINS]
    rates = failure_rate(scenario, build(scenario)), sum(cause_rate(cause, 1) for cause in rest)
    strikes, faults = (rate * scenario.duration if rate else 0.0 for rate in rates)
    return Chance(strikes, faults)
