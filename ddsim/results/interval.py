"""Confidence intervals of means."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from statistics import fmean, stdev
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ddsim.world.chance import Chance

LEVEL = 0.95
SHARE = (0.0, 1.0)
"""Between what a share lies."""
LEAST = 2
"""Values that differ from the commonest, before an interval is made of them: one does not say how
far apart others would be."""
ROUNDING = 1e-12
"""Relative differences that rounding makes."""


def student_interval(values: Sequence[float], level: float = LEVEL) -> tuple[float, float] | None:
    """Return Student's t interval of the mean; None for fewer than two values."""
    if len(values) < 2:
        return None
    centre = fmean(values)
    half = _quantile(len(values) - 1, level) * stdev(values) / math.sqrt(len(values))
    return centre - half, centre + half


def half_width(values: Sequence[float], level: float = LEVEL) -> float | None:
    """Return half of Student's t interval of the mean; None for fewer than two values."""
    ends = student_interval(values, level)
    return None if ends is None else (ends[1] - ends[0]) / 2


def mean_interval(
    values: Sequence[float],
    level: float = LEVEL,
    within: tuple[float, float] = (-math.inf, math.inf),
) -> tuple[float, float] | None:
    """Return an interval of the mean that holds for skewed values too; None for fewer than two.

    Student's, each end moved outwards where Hall's has it further out, and cut to what the values
    lie `within`. Losses that are rare make the mean too high while few of them were seen, and its
    spread too small: Student's alone then covers less than it says.
    """
    student = student_interval(values, level)
    if student is None:
        return None
    low, high = student
    skewness = skewness_of(values)
    if skewness:
        n = len(values)
        unit, t = stdev(values) / math.sqrt(n), _quantile(n - 1, level)
        centre = fmean(values)
        low = min(low, centre - unit * _unskewed(t, skewness, n))
        high = max(high, centre - unit * _unskewed(-t, skewness, n))
    return max(low, within[0]), min(high, within[1])


def differing(values: Sequence[float]) -> int:
    """Return how many values differ from the commonest one; all, where no two are alike."""
    if not values:
        return 0
    grain = ROUNDING * max(map(abs, values)) or 1.0
    often = max(Counter(round(value / grain) for value in values).values())
    return len(values) if often == 1 else len(values) - often


def met(struck: int, chance: Chance) -> bool:
    """Return whether enough histories met a failure, where `chance` has one expected in each."""
    return struck >= LEAST or not chance.counted


def warranted(values: Sequence[float], struck: int, chance: Chance) -> bool:
    """Return whether histories that gave these values say enough for an interval.

    `struck` of them met a failure. Where something may happen, histories that are all alike say
    too little: that none was seen does not prove that none comes.
    """
    return met(struck, chance) and (differing(values) >= LEAST or not chance.any)


def apart(mine: Sequence[float], theirs: Sequence[float]) -> list[float]:
    """Return the paired differences; those that rounding makes are 0."""
    grain = ROUNDING * max(map(abs, [*mine, *theirs]), default=0.0)
    found = [a - b for a, b in zip(mine, theirs, strict=True)]
    return [0.0 if abs(item) <= grain else item for item in found]


def skewness_of(values: Sequence[float]) -> float:
    """Return the sample's skewness, 0 where fewer than three values or no spread give none."""
    n = len(values)
    spread = stdev(values) if n > 2 else 0.0
    centre = fmean(values)
    if spread <= ROUNDING * abs(centre):
        return 0.0
    return n / ((n - 1) * (n - 2)) * sum(((value - centre) / spread) ** 3 for value in values)


def _unskewed(t: float, skewness: float, n: int) -> float:
    """Return the studentized mean at which Hall's transformation is t.

    P. Hall, "On the removal of skewness by transformation", J. R. Statist. Soc. B 54 (1992): a
    cubic that is monotone, whose inverse is therefore known.
    """
    root = math.sqrt(n)
    return (
        3.0
        * root
        / skewness
        * (math.cbrt(1.0 + skewness * (t - skewness / 6.0 / root) / root) - 1.0)
    )


def _quantile(freedom: int, level: float) -> float:
    from scipy.special import stdtrit  # scipy.stats takes twice as long to import

    return float(stdtrit(freedom, (1 + level) / 2))
