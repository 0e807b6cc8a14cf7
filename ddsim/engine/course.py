"""Compute at less than full speed: how long it takes, and how far it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ddsim.world.instants import Ticks, whole

if TYPE_CHECKING:
    from collections.abc import Sequence


def stretched(compute: Ticks, rate: float) -> Ticks:
    """Return how long some compute takes at a share of the full speed."""
    return compute if rate == 1.0 else whole(compute / rate)


class SlowRun:
    """A leg that goes on from `now`, `at` of its compute, at less than full speed.

    Its steps end at `bounds`, and the leg with the last; each takes a whole number of ticks.
    """

    __slots__ = ("_ats", "_passed", "_rate", "_times")

    def __init__(self, now: Ticks, at: Ticks, rate: float, bounds: Sequence[Ticks]) -> None:
        self._rate = rate
        self._passed = 1
        self._ats, self._times = [at], [now]
        for bound in bounds:
            now += stretched(bound - at, rate)
            at = bound
            self._ats.append(at)
            self._times.append(now)

    @property
    def ends(self) -> Ticks:
        """When the leg ends."""
        return self._times[-1]

    def when(self, bound: Ticks) -> Ticks:
        """Return when the step ends that ends at `bound`."""
        return self._times[self._ats.index(bound, 1)]

    def at(self, now: Ticks) -> Ticks:
        """Return how much of the compute is done, to the nearest tick."""
        ats, times = self._ats, self._times
        turn = len(times) - 1
        while times[turn] > now:
            turn -= 1
        if turn == len(times) - 1:
            return ats[turn]
        return min(ats[turn + 1], ats[turn] + round((now - times[turn]) * self._rate))

    def pass_to(self, now: Ticks) -> int:
        """Return how many steps have ended by now that had not when this was asked last."""
        before = self._passed
        while self._passed < len(self._times) and self._times[self._passed] <= now:
            self._passed += 1
        return self._passed - before
