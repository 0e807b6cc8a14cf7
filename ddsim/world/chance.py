"""What is to be expected of one history."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

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


UNKNOWN = Chance(faults=inf)
"""Something may befall, and nobody has worked out what."""
