"""What a metric is over several histories: its value, and how sure that is.

One rule for each metric, wherever it is shown: a sum over a sum (`ddsim.results.rates`), or the
mean over the histories that have it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

from ddsim.results.interval import LEVEL, SHARE, apart, differing, mean_interval, warranted
from ddsim.results.metrics import METRICS
from ddsim.results.metrics import SHARE as UNIT_OF_SHARES
from ddsim.results.rates import RATES, rate, sides, spread_of_rate
from ddsim.world.chance import Chance

if TYPE_CHECKING:
    from ddsim.study.work import Row

SHARES = frozenset(name for name, metric in METRICS.items() if metric.unit == UNIT_OF_SHARES)
"""Metrics that lie between 0 and 1."""
_ANYTHING = (-math.inf, math.inf)


def sign_of(metric: str) -> float:
    """1 where more of a metric is better, -1 where less is."""
    return METRICS[metric].sign if metric in METRICS else 1.0


def has(row: Row, metric: str) -> bool:
    """Whether a history has the metric, or what it adds to a sum over a sum."""
    return (sides(metric, row) if metric in RATES else row.get(metric)) is not None


def mean(rows: Sequence[Row], metric: str) -> float | None:
    """The metric over these histories; None where none has it."""
    if metric in RATES:
        return rate(_pairs(rows, metric))
    values = values_of(rows, metric)
    return fmean(values) if values else None


def values_of(rows: Sequence[Row], name: str) -> list[float]:
    """The values of a column, of the rows that have one."""
    return [value for row in rows if (value := row.get(name)) is not None]


def parts(rows: Sequence[Row], metric: str) -> list[float]:
    """One number a history that has the metric: their mean is the metric's, their scatter its own.

    Empty where a sum over a sum rests on one history alone.
    """
    if metric in RATES:
        return spread_of_rate(_pairs(rows, metric))
    return values_of(rows, metric)


def _pairs(rows: Sequence[Row], metric: str) -> list[tuple[float, float]]:
    return [pair for row in rows if (pair := sides(metric, row)) is not None]


def shared(one: Sequence[Row], other: Sequence[Row], metric: str) -> list[tuple[Row, Row]]:
    """The histories that both met and in which both have the metric, in their order."""
    return [
        (mine, theirs)
        for mine, theirs in zip(one, other, strict=False)
        if has(mine, metric) and has(theirs, metric)
    ]


@dataclass(frozen=True)
class Measured:
    """A metric over `n` histories that have it.

    `low` and `high` are the ends of its interval, NaN where there is none. `differing` of the
    histories are not like the commonest, `struck` of them met a failure.
    """

    n: int
    value: float
    low: float
    high: float
    differing: int
    struck: int

    @property
    def enough(self) -> bool:
        """Whether the histories are enough for an interval."""
        return math.isfinite(self.low) and math.isfinite(self.high)

    @property
    def half_width(self) -> float:
        """How far the further end lies from the value; infinite without an interval."""
        width = max(self.high - self.value, self.value - self.low)
        return width if math.isfinite(width) else math.inf

    @property
    def unseen(self) -> float:
        """The share of histories that may be unlike all that were seen, at 95%; about 3 / n."""
        return 1.0 - (1.0 - LEVEL) ** (1.0 / self.n) if self.n else 1.0


def measured(
    rows: Sequence[Row], metric: str, chance: Chance, level: float = LEVEL
) -> Measured | None:
    """The metric with its interval; `chance` is what a history is expected to bring.

    None where no history has it.
    """
    value = mean(rows, metric)
    if value is None:
        return None
    known = [row for row in rows if has(row, metric)]
    struck = sum(bool(row.get("failures")) for row in known)
    within = SHARE if metric in SHARES else _ANYTHING
    unlike, ends = _told(parts(known, metric), struck, chance, level, within)
    return Measured(len(known), value, *ends, unlike, struck)


def chosen(rows: Sequence[Row], metric: str, chance: Chance, among: int) -> Measured | None:
    """The metric of the best of so many, with an interval that holds though it was chosen."""
    return measured(rows, metric, chance, 1.0 - (1.0 - LEVEL) / max(1, among))


def difference(
    pairs: Sequence[tuple[Row, Row]], metric: str, chance: Chance, level: float = LEVEL
) -> Measured | None:
    """The metric of the first less that of the second over shared histories, with its interval."""
    one, other = (mean([pair[side] for pair in pairs], metric) for side in (0, 1))
    if one is None or other is None:
        return None
    struck = sum(bool(a.get("failures") or b.get("failures")) for a, b in pairs)
    unlike, ends = _told(apart_by(pairs, metric), struck, chance, level, _ANYTHING)
    return Measured(len(pairs), one - other, *ends, unlike, struck)


def apart_by(pairs: Sequence[tuple[Row, Row]], metric: str) -> list[float]:
    """One number a shared history: their mean is the difference, their scatter its own."""
    mine, theirs = (parts([pair[side] for pair in pairs], metric) for side in (0, 1))
    if not mine or not theirs:
        return []
    return apart(mine, theirs)


def _told(
    items: Sequence[float],
    struck: int,
    chance: Chance,
    level: float,
    within: tuple[float, float],
) -> tuple[int, tuple[float, float]]:
    """How many histories differ, and the interval where they are enough for one."""
    told = warranted(items, struck, chance)
    ends = mean_interval(items, level, within) if told else None
    return differing(items), ends or (math.nan, math.nan)
