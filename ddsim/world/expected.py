"""How much is to be expected of a world before it is drawn."""

from __future__ import annotations

import math
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

from ddsim.world.causes import cause_rate, failure_rate
from ddsim.world.cluster import build
from ddsim.world.domains import DOMAINS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ddsim.scenario import Scenario

NEGLIGIBLE = 1e-4
"""Expected failures of a history below which none is waited for."""


@dataclass(frozen=True)
class Chance:
    """What is expected of one history: `strikes` on hardware and the job, `faults` of the rest.

    The rest are links and the syncer's replicas, whose faults are not counted among a run's
    failures. Both are infinite where a history has no end.
    """

    strikes: float = 0.0
    faults: float = 0.0

    def written(self) -> list[float | None]:
        """Both as JSON takes them: None for what is infinite."""
        return [each if each < inf else None for each in (self.strikes, self.faults)]

    @classmethod
    def read(cls, written: Sequence[float | None]) -> Chance:
        """Take what was written."""
        return cls(*(inf if each is None else each for each in written))

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
    rest = [cause for cause in scenario.failures.causes if cause.domain not in DOMAINS]
    rates = failure_rate(scenario, build(scenario)), sum(cause_rate(cause, 1) for cause in rest)
    strikes, faults = (rate * scenario.duration if rate else 0.0 for rate in rates)
    return Chance(strikes, faults)
