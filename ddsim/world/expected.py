"""How much is to be expected of a world before it is drawn."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ddsim.world.causes import cause_rate, failure_rate
from ddsim.world.cluster import build
from ddsim.world.domains import DOMAINS

if TYPE_CHECKING:
    from ddsim.scenario import Scenario

NEGLIGIBLE = 1e-4
"""Expected failures of a history below which none is waited for."""


@dataclass(frozen=True)
class Chance:
    """What is expected of one history: `strikes` on hardware and the job, `faults` of the rest.

    The rest are links and the syncer's replicas, whose faults are not counted among a run's
    failures.
    """

    strikes: float = 0.0
    faults: float = 0.0

    @property
    def counted(self) -> bool:
        """Whether strikes are to be waited for."""
        return self.strikes > NEGLIGIBLE

    @property
    def any(self) -> bool:
        """Whether anything is."""
        return self.strikes + self.faults > NEGLIGIBLE

    def with_(self, other: Chance) -> Chance:
        """The greater of each."""
        return Chance(max(self.strikes, other.strikes), max(self.faults, other.faults))


UNKNOWN = Chance(faults=math.inf)
"""Something may befall, and nobody has worked out what."""


def chance_of(scenario: Scenario) -> Chance:
    """Return what is expected by the long-run rates of all causes; planned faults are none."""
    if scenario.chaos_only:
        return Chance()
    span = scenario.duration
    rest = [cause for cause in scenario.failures.causes if cause.domain not in DOMAINS]
    return Chance(
        failure_rate(scenario, build(scenario)) * span,
        sum(cause_rate(cause, 1) for cause in rest) * span,
    )
