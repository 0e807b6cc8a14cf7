"""How often which value came up, kept small however long a run is."""

from __future__ import annotations

from math import floor, log10
from typing import TYPE_CHECKING, TypedDict

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_DIGITS = 4
_SAME = 1e-9


class Spread(TypedDict):
    """A distribution in a few numbers; the quantiles are values that came up."""

    count: int
    mean: float
    p50: float
    p90: float
    p99: float
    max: float


class Tally:
    """Values with their number; quantiles of values that are not whole have four digits.

    What comes up several times in a row is kept aside as a run, so that it costs little.
    """

    __slots__ = ("_counts", "_most", "_run", "_slack", "_sum", "_times")

    def __init__(self) -> None:
        self._counts: dict[float, int] = {}
        self._sum = 0.0
        self._most: float = 0
        self._run = -1.0
        self._slack = 0.0
        self._times = 0

    @property
    def count(self) -> int:
        """How many values there were."""
        self._end_run()
        return sum(self._counts.values())

    def add(self, value: float, times: int = 1) -> None:
        """Take in a value, at least 0, that came up so many times."""
        if -self._slack <= value - self._run <= self._slack:
            self._times += times
            return
        self._end_run()
        self._run = value
        self._slack = 0.0 if isinstance(value, int) else _SAME * value
        self._times = times

    def add_all(self, values: NDArray[np.float64], times: int = 1) -> None:
        """Take in values, at least 0, that are not whole and came up so many times each."""
        if not len(values):
            return
        self._end_run()
        unit = 10.0 ** (np.floor(np.log10(np.where(values > 0.0, values, 1.0))) - (_DIGITS - 1))
        near, counts = np.unique(np.rint(values / unit) * unit, return_counts=True)
        for value, count in zip(near.tolist(), counts.tolist(), strict=True):
            key = _rounded(value)
            self._counts[key] = self._counts.get(key, 0) + times * count
        self._sum += times * float(values.sum())
        self._most = max(self._most, float(values.max()))

    def _end_run(self) -> None:
        if self._times:
            value = self._run
            key = value if isinstance(value, int) else _rounded(value)
            self._counts[key] = self._counts.get(key, 0) + self._times
            self._sum += value * self._times
            self._most = max(self._most, value)
            self._times = 0

    def spread(self) -> Spread | None:
        """Return the distribution, None where there was no value."""
        count = self.count
        if not count:
            return None
        p50, p90, p99 = self._quantiles(count, (0.5, 0.9, 0.99))
        return Spread(
            count=count, mean=self._sum / count, p50=p50, p90=p90, p99=p99, max=self._most
        )

    def _quantiles(self, count: int, shares: Sequence[float]) -> list[float]:
        """Return the least values that these shares of all do not exceed."""
        found: list[float] = []
        below = 0
        for value in sorted(self._counts):
            below += self._counts[value]
            while len(found) < len(shares) and below >= shares[len(found)] * count:
                found.append(min(value, self._most))
        return found


def _rounded(value: float) -> float:
    return round(value, _DIGITS - 1 - floor(log10(value))) if value > 0.0 else 0.0
