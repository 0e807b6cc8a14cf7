"""What crosses a site's access to the wide-area network, and how fast at its busiest."""

from __future__ import annotations

from collections import deque
from math import ceil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

WINDOW = 1.0
UNROLL = 64


class Meter:
    """Bits in one direction: how many each site sends, and the most in any one second.

    Traffic is recorded as stretches of constant rate in the order of time, each for all sites
    that it passes. The busiest second begins or ends where a rate changes, so that only those
    windows are looked at; it is that of all traffic together.
    """

    __slots__ = ("_by_sites", "_passed", "_points", "_time", "_total", "peak")

    def __init__(self) -> None:
        self.peak = 0.0
        self._by_sites: dict[tuple[str, ...], float] = {}
        self._total = 0.0
        self._time = 0.0
        self._passed: tuple[float, float] = (0.0, 0.0)
        self._points: deque[tuple[float, float]] = deque([(0.0, 0.0)])

    @property
    def bits(self) -> float:
        """Bits that the busiest site has sent."""
        sent: dict[str, float] = {}
        for sites, bits in self._by_sites.items():
            for site in sites:
                sent[site] = sent.get(site, 0.0) + bits
        return max(sent.values(), default=0.0)

    def record(self, start: float, end: float, bits: float, sites: tuple[str, ...]) -> None:
        """Record `bits` sent evenly from `start` to `end`, not before what was recorded last."""
        self.record_all(start, end, {sites: bits})

    def record_all(self, start: float, end: float, sent: Mapping[tuple[str, ...], float]) -> None:
        """Record what was sent side by side from `start` to `end`, by the sites that it passed."""
        bits = sum(sent.values())
        if bits <= 0.0:
            return
        for sites, part in sent.items():
            self._by_sites[sites] = self._by_sites.get(sites, 0.0) + part
        if start > self._time:
            self._extend(start, 0.0)
        self._extend(max(end, self._time), bits)

    def repeat(
        self,
        stretches: Sequence[tuple[float, float, float]],
        period: float,
        count: int,
        sites: tuple[str, ...],
    ) -> None:
        """Record `count` periods, each with the same stretches (start, end, bits).

        Beyond the periods that a second can hold, only the total grows.
        """
        unrolled = min(count, UNROLL, ceil(WINDOW / period) + 1 if period > 0.0 else 1)
        for index in range(unrolled):
            for start, end, bits in stretches:
                self.record(start + index * period, end + index * period, bits, sites)
        if count <= unrolled or not stretches:
            return
        each = sum(bits for _, _, bits in stretches)
        self._by_sites[sites] += (count - unrolled) * each
        self._total += (count - unrolled) * each
        if period > 0.0 and unrolled == UNROLL:
            self.peak = max(self.peak, each * min(count, WINDOW / period))
        self._time += (count - unrolled) * period
        self._passed = (self._time, self._total)
        self._points = deque([self._passed])

    def _extend(self, time: float, bits: float) -> None:
        before, total = self._time, self._total
        rate = bits / (time - before) if time > before else 0.0
        while self._points and self._points[0][0] + WINDOW <= time:
            self._passed = self._points.popleft()
            then = total + rate * max(0.0, self._passed[0] + WINDOW - before)
            self.peak = max(self.peak, then - self._passed[1])
        self._time, self._total = time, total + bits
        self._points.append((time, self._total))
        self.peak = max(self.peak, self._total - self._at(time - WINDOW))

    def _at(self, time: float) -> float:
        """Bits sent up to `time`, which lies within the last window."""
        (left, low), (right, high) = self._passed, self._points[0]
        if time <= left or right <= left:
            return low
        return low + (high - low) * (time - left) / (right - left)
