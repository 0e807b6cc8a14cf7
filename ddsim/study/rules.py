"""When a cell has enough replications: a fixed number, or an interval that is narrow enough."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any

from ddsim.results.interval import student_interval
from ddsim.results.metrics import RANKING
from ddsim.study.errors import StudyError

FIRST = 10
"""Replications before an interval is looked at."""
LEVEL = 0.95
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

    def wanted(self, values: Sequence[float]) -> int:
        """Replications that are wanted in all, given the metric of those that there are.

        Depends on the values alone, so that the same study asks for the same replications
        whoever ran them, and whenever.
        """
        if self.half_width is None:
            return self.replications
        n = len(values)
        if n < FIRST:
            return min(FIRST, self.most)
        half, target = half_width(values), self.target(values)
        if half <= target or n >= self.most:
            return n
        needed = math.inf if target <= 0.0 else n * (half / target) ** 2
        # no more than twice as many at once: the first intervals are themselves uncertain
        return int(min(self.most, max(n + 1, min(2 * n, math.ceil(needed)))))

    def target(self, values: Sequence[float]) -> float:
        """The half-width that is narrow enough."""
        assert self.half_width is not None
        return self.half_width * abs(fmean(values)) if self.relative else self.half_width

    def document(self) -> dict[str, Any]:
        """The rule as plain data."""
        return asdict(self)


def half_width(values: Sequence[float]) -> float:
    """Half the width of the 95% interval; infinite for fewer than two values."""
    interval = student_interval(values, LEVEL)
    return math.inf if interval is None else (interval[1] - interval[0]) / 2


def read_half_width(text: str | float) -> tuple[float, bool]:
    """A half-width and whether it is a share of the mean: `0.5%` is, `0.005` is not.

    Raises StudyError for anything else.
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
    return (value / 100, True) if match[2] else (value, False)
