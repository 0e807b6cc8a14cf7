"""A rate, so much a second, that changes at known times and is constant between them."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

import numpy as np

from ddsim.world.instants import NEVER, SECOND, Ticks, later, whole

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Timeline:
    """`values[i]` a second from `times[i]` until `times[i + 1]`, in ticks; the first is -NEVER."""

    times: tuple[Ticks, ...]
    values: tuple[float, ...]

    @classmethod
    def constant(cls, value: float) -> Timeline:
        """Return the timeline that has `value` always."""
        return cls((-NEVER,), (value,))

    @classmethod
    def of(cls, first: float, changes: Iterable[tuple[Ticks, float]]) -> Timeline:
        """Return the timeline of `first` and then of (time, value) from each time on."""
        pairs = [(-NEVER, first), *changes]
        return cls(tuple(time for time, _ in pairs), tuple(value for _, value in pairs))

    def at(self, time: Ticks) -> float:
        """Value at `time`; at the instant of a change it is the new one."""
        return self.values[bisect_right(self.times, time) - 1]

    def next_change(self, time: Ticks) -> Ticks:
        """Time of the first change after `time`, NEVER where there is none."""
        index = bisect_right(self.times, time)
        return self.times[index] if index < len(self.times) else NEVER

    def finish(self, start: Ticks, amount: float) -> Ticks:
        """Time at which `amount` has passed at this rate from `start` on; NEVER if it never does.

        It is the nearest to what remains at the last change of rate before it.
        """
        if amount <= 0.0:
            return start
        index = bisect_right(self.times, start) - 1
        while True:
            rate = self.values[index]
            end = self.times[index + 1] if index + 1 < len(self.times) else NEVER
            if rate > 0.0:
                finish = later(start, taking(amount, rate))
                if finish <= end:
                    return finish
                amount -= carried(rate, end - start)
            if end == NEVER:
                return NEVER
            start = end
            index += 1

    def passed(self, start: Ticks, end: Ticks) -> float:
        """Amount that passes at this rate from `start` to `end`."""
        total = 0.0
        while start < end:
            until = min(end, self.next_change(start))
            total += carried(self.at(start), until - start)
            start = until
        return total

    def scaled(self, factor: float) -> Timeline:
        """Return the timeline of `factor` times each value."""
        if factor == 1.0:
            return self
        return Timeline(self.times, tuple(value * factor for value in self.values))

    def repeated(self, period: Ticks, until: Ticks) -> Timeline:
        """Return the timeline whose changes within [0, period) come again until `until`.

        What stands at the end of a period holds on at the beginning of the next.
        """
        pairs = [(t, v) for t, v in zip(self.times, self.values, strict=True) if 0 <= t < period]
        first = next(v for t, v in zip(self.times, self.values, strict=True) if t == -NEVER)
        changes: list[tuple[Ticks, float]] = []
        start = 0
        turn = 0
        while pairs and start < until:
            changes += [(start + time, value) for time, value in pairs]
            turn += 1
            start = turn * period
        return Timeline.of(first, changes)


def taking(amount: float, rate: float) -> Ticks:
    """Return what an amount takes at a rate a second: nothing where there is no limit."""
    if amount <= 0.0 or rate == inf:
        return 0
    return whole(amount * SECOND / rate) if rate > 0.0 else NEVER


def carried(rate: float, length: Ticks) -> float:
    """Return what passes at a rate a second in some ticks."""
    return rate * length / SECOND


def lowest(timelines: Iterable[Timeline]) -> Timeline:
    """Return the timeline of the smallest value at each time."""
    lines = list(dict.fromkeys(timelines))
    return lines[0] if len(lines) == 1 else _combined(lines, np.minimum)


def product(one: Timeline, other: Timeline) -> Timeline:
    """Return the timeline of the product; 0 times infinity is 0."""

    def multiply(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
        with np.errstate(invalid="ignore"):
            return np.where((a == 0.0) | (b == 0.0), 0.0, a * b)

    return _combined([one, other], multiply)


def _combined(
    lines: Sequence[Timeline],
    combine: Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]],
) -> Timeline:
    times = np.unique(np.concatenate([np.array(line.times) for line in lines]))
    values: NDArray[np.float64] | None = None
    for line in lines:
        own = np.array(line.values)[np.searchsorted(line.times, times, side="right") - 1]
        values = own if values is None else combine(values, own)
    assert values is not None
    kept = np.concatenate(([True], values[1:] != values[:-1]))
    return Timeline(tuple(times[kept].tolist()), tuple(values[kept].tolist()))
