"""The course of a leg: at which time how much of its compute was done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ddsim.world.instants import Ticks, whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


class Course:
    """Stretches of one rate, each with its start, the compute done by then and the rate.

    Compute counts from the beginning of the leg under way; of the step in progress what earlier
    legs did is negative.
    """

    __slots__ = ("_runs",)

    def __init__(self) -> None:
        self._runs: list[tuple[Ticks, Ticks, float]] = []

    def next_leg(self, done: Ticks, *, mid_step: bool) -> None:
        """Begin another leg after one of `done` of compute, within a step or anew."""
        runs = self._runs if mid_step else []
        self._runs = [(time, at - done, rate) for time, at, rate in runs]

    def run(self, now: Ticks, at: Ticks, rate: float) -> None:
        """Go on from now at a rate."""
        self._runs.append((now, at, rate))

    def shift(self, length: Ticks) -> None:
        """Let everything have been that much later."""
        self._runs = [(time + length, at, rate) for time, at, rate in self._runs]

    def times_of(self, ats: Iterable[Ticks]) -> list[Ticks]:
        """Return when so much of the compute was done, for each."""
        time, begun, rate = self._runs[-1]
        return [
            time + stretched(at - begun, rate) if begun < at else self.time_of(at) for at in ats
        ]

    def time_of(self, at: Ticks) -> Ticks:
        """Return when so much of the compute was done."""
        for time, begun, rate in reversed(self._runs):
            if begun < at:
                return time + stretched(at - begun, rate)
        return self._runs[0][0]


def stretched(compute: Ticks, rate: float) -> Ticks:
    """Return how long some compute takes at a share of the full speed."""
    return compute if rate == 1.0 else whole(compute / rate)


class SlowRun:
    """A leg that goes on from `now`, `at` of its compute, at less than full speed.

    Its steps end at `bounds` and the leg at `end`; each takes a whole number of ticks.
    """

    __slots__ = ("_ats", "_passed", "_times", "rate")

    def __init__(
        self, now: Ticks, at: Ticks, rate: float, bounds: Sequence[Ticks], end: Ticks
    ) -> None:
        self.rate = rate
        self._passed = 1
        self._ats, self._times = [at], [now]
        for bound in (*bounds, end):
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
        return min(ats[turn + 1], ats[turn] + round((now - times[turn]) * self.rate))

    def pass_to(self, now: Ticks) -> Iterator[tuple[Ticks, Ticks]]:
        """Yield, once, the ends of steps that have come by now: when, and after which compute."""
        while self._passed < len(self._times) - 1 and self._times[self._passed] <= now:
            yield self._times[self._passed], self._ats[self._passed]
            self._passed += 1
