"""SimPy's clock, in whole nanoseconds, with the order in which things of one instant happen."""

from __future__ import annotations

import gc
from enum import IntEnum
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any

from simpy import Environment, Event
from simpy.events import EventPriority

from ddsim.world.instants import NEVER, Ticks, later

if TYPE_CHECKING:
    from collections.abc import Callable


class Rank(IntEnum):
    """What comes first among things that happen at one instant."""

    SPARE = 1
    STALL_END = 2
    STEP_END = 3
    BACK = 4
    LAST_BIT = 5
    CLOSE = 6
    ARRIVAL = 7
    NEXT = 8
    COUNT = 9
    STRIKE = 10
    STOP = 11


# Events leave no cycles behind: a collection every 700 objects would only cost time.
YOUNG = 200_000

# What changes the world around a method: spares, ends of stalls, hardware lost and back.
OUTSIDE = frozenset((Rank.SPARE, Rank.STALL_END, Rank.BACK, Rank.STRIKE))


_PRIORITIES = [EventPriority(rank) for rank in range(max(Rank) + 1)]


class Wake(Event):
    """An event that has succeeded, and calls one function with itself; `given` goes along."""

    def __init__(
        self, env: Environment, callback: Callable[[Wake], object], given: Any = None
    ) -> None:
        # What simpy.Timeout does, but for its priority, which is the caller's to choose.
        self.env = env
        self.callbacks = [callback]  # type: ignore[list-item]  # it takes a Wake
        self._value = None
        self._ok = True
        self._defused = False
        self.given = given


class Clock:
    """One run's SimPy environment, and the number of events that it took."""

    __slots__ = ("_outside", "_watchers", "env", "events", "stopped")

    def __init__(self) -> None:
        self.env = Environment()
        self.events = 0
        self.stopped = False
        self._outside: list[Ticks] = []
        self._watchers: dict[Rank, Callable[[Wake], object]] = {}

    @property
    def now(self) -> Ticks:
        """Simulated nanoseconds since the start."""
        now: int = self.env._now  # type: ignore[assignment]  # nothing else is ever scheduled
        return now

    @property
    def busy(self) -> bool:
        """Whether something else happens at this instant."""
        return self.env.peek() == self.env.now

    def after(
        self, delay: Ticks, rank: Rank, callback: Callable[[Wake], object], value: Any = None
    ) -> None:
        """Call `callback` once, `delay` from now; not at all where that is at NEVER or beyond."""
        assert type(delay) is int, f"a delay of {delay!r}: SimPy's clock counts in Python's int"
        env = self.env
        if later(self.now, delay) < NEVER:
            self.events += 1
            wake = Wake(env, callback, value)
            env.schedule(wake, _PRIORITIES[rank], delay)
            if rank in OUTSIDE:
                if self._watchers:
                    wake.callbacks.insert(0, self._watchers[rank])  # type: ignore[arg-type]
                heappush(self._outside, self.now + delay)

    def watch(self, before: Callable[[Rank], None]) -> None:
        """Call `before`, with its rank, ahead of all that changes the world from now on."""

        assert not self._watchers, "there is one who watches already"

        def watcher(rank: Rank) -> Callable[[Wake], object]:
            return lambda _: before(rank)

        self._watchers = {rank: watcher(rank) for rank in OUTSIDE}

    def quiet_until(self) -> Ticks:
        """Return when hardware or a stall changes next, NEVER where nothing is to come."""
        now = self.now
        while self._outside and self._outside[0] < now:
            heappop(self._outside)
        return self._outside[0] if self._outside else NEVER

    def run(self, until: Ticks) -> None:
        """Run to the horizon; what would happen exactly there does not."""
        thresholds = gc.get_threshold()
        gc.set_threshold(YOUNG, *thresholds[1:])
        try:
            self.env.run(None if until == NEVER else until)
        finally:
            gc.set_threshold(*thresholds)

    def stop(self) -> None:
        """End the run at this instant, after all else that happens at it."""
        self.stopped = True
        self.after(0, Rank.STOP, _halt)


def _halt(wake: Wake) -> None:
    from simpy.core import StopSimulation

    raise StopSimulation(None)
