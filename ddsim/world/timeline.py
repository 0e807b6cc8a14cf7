"""A quantity that changes at known times and is constant between them."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True)
class Timeline:
    """`values[i]` from `times[i]` until `times[i + 1]`; the first time is -inf."""

    times: tuple[float, ...]
    values: tuple[float, ...]

    @classmethod
    def constant(cls, value: float) -> Timeline:
        """Return the timeline that has `value` always."""
        return cls((-inf,), (value,))

    def at(self, time: float) -> float:
        """Value at `time`; at the instant of a change it is the new one."""
        return self.values[bisect_right(self.times, time) - 1]

    def next_change(self, time: float) -> float:
        """Time of the first change after `time`, inf where there is none."""
        index = bisect_right(self.times, time)
        return self.times[index] if index < len(self.times) else inf

    def finish(self, start: float, amount: float) -> float:
        """Time at which `amount` has passed at this rate from `start` on; inf if it never does."""
        if amount <= 0.0:
            return start
        index = bisect_right(self.times, start) - 1
        while True:
            rate = self.values[index]
            end = self.times[index + 1] if index + 1 < len(self.times) else inf
            if rate > 0.0:
                finish = start if rate == inf else start + amount / rate
                if finish <= end:
                    return finish
                amount -= rate * (end - start)
            if end == inf:
                return inf
            start = end
            index += 1

    def passed(self, start: float, end: float) -> float:
        """Amount that passes at this rate from `start` to `end`."""
        total = 0.0
        while start < end:
            until = min(end, self.next_change(start))
            total += self.at(start) * (until - start)
            start = until
        return total


def lowest(timelines: Iterable[Timeline]) -> Timeline:
    """Return the timeline of the smallest value at each time."""
    lines = list(timelines)
    times = sorted({time for line in lines for time in line.times})
    kept_times: list[float] = []
    kept_values: list[float] = []
    for time in times:
        value = min(line.at(time) for line in lines)
        if not kept_values or value != kept_values[-1]:
            kept_times.append(time)
            kept_values.append(value)
    return Timeline(tuple(kept_times), tuple(kept_values))
