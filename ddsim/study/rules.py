"""When a cell has enough replications: a fixed number, or an interval that is narrow enough."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from ddsim.results.metrics import METRICS, RANKING, SHARE
from ddsim.study.errors import StudyError
from ddsim.study.measures import has, measured
from ddsim.study.work import ACCOUNT

if TYPE_CHECKING:
    from ddsim.study.work import Row
    from ddsim.world.chance import Chance

FIRST = 20
"""Replications before an interval is looked at: of fewer, the first that is narrow enough is too
often narrow by chance."""
_WIDTH = re.compile(r"\s*([0-9.]+(?:[eE][+-]?[0-9]+)?)\s*(%?)\s*")


@dataclass(frozen=True)
class Rule:
    """How many replications a cell gets.

    `replications`, unless there is a `half_width`: then from `FIRST` on until the 95% interval of
    `metric` is no wider on each side than that, a share of the mean where `relative`, but at most
    `most` replications.
    """

    replications: int = 20
    half_width: float | None = None
    relative: bool = False
    most: int = 200
    metric: str = RANKING

    def wanted(self, rows: Sequence[Row], chance: Chance) -> int:
        """Replications that are wanted in all, given those that there are.

        Depends on the rows alone, so that the same study asks for the same replications whoever
        ran them, and whenever. Histories that give no interval are no reason to stop before the
        most that are allowed, unless none of them can have the metric.
        """
        if self.half_width is None:
            return self.replications
        n = len(rows)
        if n < FIRST:
            return min(FIRST, self.most)
        if n >= self.most or not any(has(row, self.metric) for row in rows):
            return n
        found = measured(rows, self.metric, chance)
        if found is None or not found.enough:
            return min(self.most, 2 * n)
        target = self.target(found.value)
        if found.half_width <= target:
            return n
        needed = math.inf if target <= 0.0 else n * (found.half_width / target) ** 2
        # no more than twice as many at once: the first intervals are themselves uncertain
        return int(min(self.most, max(n + 1, min(2 * n, math.ceil(needed)))))

    def target(self, value: float) -> float:
        """The half-width that is narrow enough for a metric of that value."""
        assert self.half_width is not None
        return self.half_width * abs(value) if self.relative else self.half_width

    def document(self) -> dict[str, Any]:
        """The rule as plain data."""
        return asdict(self)


def read_half_width(text: str | float, metric: str = RANKING) -> tuple[float, bool]:
    """A half-width and whether it is a share of the mean: `0.5%` is, `0.005` is not.

    Raises StudyError for anything else, and for what no interval of the metric could be wider than.
    """
    match = _WIDTH.fullmatch(str(text))
    try:
        value = float(match[1]) if match else math.nan
    except ValueError:
        value = math.nan
    if match is None or not 0.0 < value < math.inf:
        raise StudyError(
            f'half-width "{text}"; above 0: a share of the mean, such as 0.5%, '
            "or a number in the metric's own unit, such as 0.005"
        )
    if match[2] and value >= 100.0:
        raise StudyError(f'half-width "{text}"; below 100%, the mean itself, such as 0.5%')
    share = metric.startswith(ACCOUNT) or METRICS[metric].unit == SHARE
    if not match[2] and value >= 1.0 and share:
        raise StudyError(
            f'half-width "{text}"; below 1, since {metric} is a share from 0 to 1, '
            "such as 0.005, or 0.5% of the mean"
        )
    return (value / 100, True) if match[2] else (value, False)
