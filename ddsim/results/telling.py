"""Whether one is ahead of another: the one rule of tables, pages, plans and runs.

Two things may be in doubt. The chance of the histories is what the interval of the paired
difference covers. What a law leaves open is the same for both, who are therefore compared with it
at the same end: at its better end, at its middle and at its worse end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from ddsim.results.interval import ROUNDING

NEGLIGIBLE = 1e-3
"""A difference, as a share of the value of who is first, that is too small to matter."""


class Told(Enum):
    """What there is to say of two."""

    AHEAD = "ahead"
    """The first is better, whatever is in doubt."""
    TIE = "tie"
    """The interval of the difference has 0 in it."""
    LAW = "law"
    """It leaves 0 out at the middle of the law, and does not, or has the other sign, at an end."""
    SMALL = "small"
    """The difference, whatever it is, is too small to matter."""
    UNKNOWN = "unknown"
    """The first is better on the histories that were met, too few to speak of chance."""

    @property
    def tie(self) -> bool:
        """Whether nobody can act on who of the two is first."""
        return self in (Told.TIE, Told.LAW, Told.SMALL)


@dataclass(frozen=True, slots=True)
class Gap:
    """How far the first is ahead of another at one end of what a law leaves open.

    `ahead` is positive where it is better, infinite where the other never comes there; `interval`
    its 95% interval, None where histories give none; `grain` is up to where it is too small to
    matter, 0 where nothing is.
    """

    ahead: float
    interval: tuple[float, float] | None
    size: float
    grain: float = NEGLIGIBLE

    @property
    def sign(self) -> int:
        """1 where the first is better, -1 where the other is, 0 where that is open."""
        if self.interval is None:
            equal = abs(self.ahead) <= ROUNDING * abs(self.size)
            return 0 if equal else 1 if self.ahead > 0.0 else -1
        low, high = self.interval
        return 1 if low > 0.0 else -1 if high < 0.0 else 0

    @property
    def small(self) -> bool:
        """Whether the whole interval, or without one the difference, is too small to matter."""
        most = max(map(abs, self.interval or (self.ahead,)))
        return self.grain > 0.0 and most <= self.grain * abs(self.size)


def told(gaps: Sequence[Gap]) -> Told:
    """What the gaps at all ends of a law say together, the second being that at its middle.

    One alone where no law leaves anything open.
    """
    known = [gap.interval is not None for gap in gaps]
    if any(known) and all(gap.small for gap in gaps):
        return Told.SMALL
    if gaps[:2][-1].sign <= 0:
        return Told.TIE
    if any(gap.sign <= 0 for gap in gaps):
        return Told.LAW
    return Told.AHEAD if all(known) else Told.UNKNOWN
