"""What one link carries: bits in all, the busiest second, and how many seconds how loaded."""

from __future__ import annotations

from collections import deque
from math import floor, log10
from typing import TYPE_CHECKING

import numpy as np

from ddsim.world.instants import SECOND, Ticks

if TYPE_CHECKING:
    from collections.abc import Sequence

WINDOW = SECOND
UNROLL = 64
_SAMPLES = 512
_DIGITS = 4


class Load:
    """Traffic in one direction, recorded as stretches of constant rate in the order of time.

    Times are ticks.
    The busiest second begins or ends where a rate changes, so that only those windows are looked
    at. `quantile` is of the load of the seconds 0-1, 1-2, ..., to four digits.
    """

    __slots__ = (
        "_in_second",
        "_passed",
        "_points",
        "_second",
        "_seconds",
        "_time",
        "bits",
        "peak",
    )

    def __init__(self) -> None:
        self.bits = 0.0
        self.peak = 0.0
        self._time: Ticks = 0
        self._passed: tuple[Ticks, float] = (0, 0.0)
        self._points: deque[tuple[Ticks, float]] = deque([(0, 0.0)])
        self._second = 0
        self._in_second = 0.0
        self._seconds: dict[float, float] = {}

    def copy(self) -> Load:
        """Return a load that has carried the same so far."""
        other = Load()
        other.bits, other.peak, other._time = self.bits, self.peak, self._time
        other._passed, other._points = self._passed, self._points.copy()
        other._second, other._in_second = self._second, self._in_second
        other._seconds = self._seconds.copy()
        return other

    def record(self, start: Ticks, end: Ticks, bits: float) -> None:
        """Record `bits` sent evenly from `start` to `end`, not before what was recorded last."""
        if start == end:
            self._burst(start, bits)
            return
        self._spread(start, end, bits)
        if start > self._time:
            self._extend(start, 0.0)
        self._extend(max(end, self._time), bits)

    def _burst(self, time: Ticks, bits: float) -> None:
        """Record bits that are sent at one instant: a link without limit has nothing else."""
        if time // SECOND > self._second:
            self._turn(time // SECOND)
        self._in_second += bits
        points, total, peak = self._points, self.bits, self.peak
        if time > self._time:
            while points and points[0][0] + WINDOW <= time:
                self._passed = point = points.popleft()
                peak = max(peak, total - point[1])
            self._time = time
            points.append((time, total))
        self.bits = total = total + bits
        points.append((self._time, total))
        recent = total - self._at(self._time - WINDOW)
        self.peak = recent if recent > peak else peak

    def repeat(
        self, stretches: Sequence[tuple[Ticks, Ticks, float]], period: Ticks, count: int
    ) -> None:
        """Record `count` periods, each with the same stretches (start, end, bits).

        Beyond the periods that a second can hold, the peak stands and only the total grows; the
        seconds are sampled.
        """
        unrolled = min(count, UNROLL, -(-WINDOW // period) + 1)
        for index in range(unrolled):
            for start, end, bits in stretches:
                self.record(start + index * period, end + index * period, bits)
        if count <= unrolled or not stretches:
            return
        each = sum(bits for _, _, bits in stretches)
        self.bits += (count - unrolled) * each
        self._sample(stretches, period, count - unrolled)
        if unrolled == UNROLL:
            self.peak = max(self.peak, each * min(count, WINDOW / period))
        self._time += (count - unrolled) * period
        self._passed = (self._time, self.bits)
        self._points = deque([self._passed])

    def quantile(self, share: float, until: float) -> float:
        """Return the bits that a second had, at most, in that share of a run of `until` seconds."""
        seconds = dict(self._seconds)
        if self._in_second > 0.0:
            _add(seconds, self._in_second, 1.0)
        above = (1.0 - share) * max(until, 1.0)
        for load in sorted(seconds, reverse=True):
            above -= seconds[load]
            if above < 0.0:
                return load
        return 0.0

    def _extend(self, time: Ticks, bits: float) -> None:
        before, total, points, peak = self._time, self.bits, self._points, self.peak
        rate = bits / (time - before) if time > before else 0.0
        while points and points[0][0] + WINDOW <= time:
            self._passed = passed = points.popleft()
            then = total + rate * (passed[0] + WINDOW - before)
            peak = max(peak, then - passed[1])
        self._time, self.bits = time, total + bits
        points.append((time, self.bits))
        recent = self.bits - self._at(time - WINDOW)
        self.peak = recent if recent > peak else peak

    def _at(self, time: Ticks) -> float:
        """Bits sent up to `time`, which lies within the last window."""
        (left, low), (right, high) = self._passed, self._points[0]
        if time <= left:
            return low
        return low + (high - low) * (time - left) / (right - left)

    def _spread(self, start: Ticks, end: Ticks, bits: float) -> None:
        """Share a stretch out among the seconds that it touches."""
        if start // SECOND > self._second:
            self._turn(start // SECOND)
        last = end // SECOND
        if last > self._second:
            rate = bits / (end - start)
            begun = max(start, self._second * SECOND)
            self._in_second += rate * ((self._second + 1) * SECOND - begun)
            self._turn(self._second + 1)
            if last > self._second:
                _add(self._seconds, rate * WINDOW, last - self._second)
                self._second = last
            bits = rate * (end - last * SECOND)
        self._in_second += bits

    def _turn(self, second: int) -> None:
        """End the current second; `second` is the next that anything falls into."""
        if self._in_second > 0.0:
            _add(self._seconds, self._in_second, 1.0)
        self._second = second
        self._in_second = 0.0

    def _sample(
        self, stretches: Sequence[tuple[Ticks, Ticks, float]], period: Ticks, count: int
    ) -> None:
        """Add the seconds of `count` more periods, whose beginnings fall anywhere in a period."""
        start = stretches[0][0]
        times, sent = [0], [0.0]
        for begin, end, bits in stretches:
            times += [begin - start, end - start]
            sent += [sent[-1], sent[-1] + bits]
        span, each = np.array([*times, period]), np.array([*sent, sent[-1]])
        starts = (np.arange(_SAMPLES) + 0.5) / _SAMPLES * period

        def passed(
            at: np.ndarray[tuple[int], np.dtype[np.float64]],
        ) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
            turns = np.floor(at / period)
            within = np.interp(at - turns * period, span, each)
            return np.asarray(turns * each[-1] + within, dtype=np.float64)

        loads = passed(starts + WINDOW) - passed(starts)
        weight = count * period / WINDOW / _SAMPLES
        values, counts = np.unique(loads, return_counts=True)
        for load, often in zip(values.tolist(), counts.tolist(), strict=True):
            if load > 0.0:
                _add(self._seconds, load, often * weight)


def _add(seconds: dict[float, float], load: float, count: float) -> None:
    key = round(load, _DIGITS - 1 - floor(log10(load))) if load > 0.0 else 0.0
    seconds[key] = seconds.get(key, 0.0) + count
