"""SimPy's clock, in whole nanoseconds, with the order in which things of one instant happen."""

from __future__ import annotations

import gc
from itertools import repeat
from typing import TYPE_CHECKING, Any, Final, cast

from simpy import Environment, Event
from simpy.core import EmptySchedule, StopSimulation
from simpy.events import EventPriority

from ddsim.world.instants import NEVER, Ticks, seconds

if TYPE_CHECKING:
    from collections.abc import Callable


class Rank:
    """What comes first among things that happen at one instant: priorities of SimPy's.

    No enum: a member of one takes as long to look up as a whole heap takes to push.
    """

    HANDED: Final = EventPriority(0)
    SPARE: Final = EventPriority(1)
    STALL_END: Final = EventPriority(2)
    STEP_END: Final = EventPriority(3)
    BACK: Final = EventPriority(4)
    LAST_BIT: Final = EventPriority(5)
    CLOSE: Final = EventPriority(6)
    ARRIVAL: Final = EventPriority(7)
    NEXT: Final = EventPriority(8)
    COUNT: Final = EventPriority(9)
    STRIKE: Final = EventPriority(10)
    STOP: Final = EventPriority(11)


BEFORE_ALL = 0  # a rank of what would happen at the horizon, which does not

# Events leave no cycles behind: a collection every 700 objects would only cost time.
YOUNG = 200_000

STILL = 2_000_000
"""Events in a row of which not one moves the clock, from which on a run stands still."""


class StandstillError(RuntimeError):
    """Events follow one another at one instant without an end."""


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

    __slots__ = ("_follow", "env", "events", "stopped")

    def __init__(self) -> None:
        self.env = Environment()
        self.events = 0
        self.stopped = False
        self._follow: Callable[[Ticks, int], bool] | None = None

    @property
    def now(self) -> Ticks:
        """Simulated nanoseconds since the start."""
        now: int = self.env._now  # type: ignore[assignment]  # nothing else is ever scheduled
        return now

    def after(
        self,
        delay: Ticks,
        rank: EventPriority,
        callback: Callable[[Wake], object],
        value: Any = None,
    ) -> None:
        """Call `callback` once, `delay` from now; not at all where that is at NEVER or beyond."""
        assert type(delay) is int, f"a delay of {delay!r}: SimPy's clock counts in Python's int"
        env = self.env
        if env._now + delay < NEVER:
            self.events += 1
            env.schedule(Wake(env, callback, value), rank, delay)

    def follow(self, catch_up: Callable[[Ticks, int], bool]) -> None:
        """Call `catch_up` ahead of every event, with its instant and rank.

        It says whether it is there: it may have added an event that comes before.
        """
        assert self._follow is None, "there is one who follows already"
        self._follow = catch_up

    def move_on(self, instant: Ticks) -> None:
        """Be at a later instant, for one who follows: no event is due before it."""
        self.env._now = instant

    def run(self, until: Ticks) -> None:
        """Run to the horizon; what would happen exactly there does not.

        Raises StandstillError where events come without an end at one instant, before it.
        """
        thresholds = gc.get_threshold()
        gc.set_threshold(YOUNG, *thresholds[1:])
        try:
            if self._follow is None:
                self._run_alone(until)
            else:
                self._run_followed(until, self._follow)
        except (StopSimulation, EmptySchedule):
            return
        finally:
            gc.set_threshold(*thresholds)

    def _run_alone(self, until: Ticks) -> None:
        # Environment.run does the same, but would stay at one instant for ever.
        env = self.env
        if until < NEVER:
            env.schedule(Wake(env, _halt), Rank.HANDED, until - self.now)
        while True:
            before = env._now
            for _ in repeat(None, STILL):
                env.step()
            self._moved_from(before)

    def _run_followed(self, until: Ticks, follow: Callable[[Ticks, int], bool]) -> None:
        # Environment.peek tells when the next event is, but not its rank; its queue does.
        env = self.env
        queue = cast("list[tuple[Ticks, int]]", env._queue)
        while True:
            before = env._now
            for _ in repeat(None, STILL):
                at, rank = queue[0][:2] if queue else (NEVER, 0)
                if at >= until:
                    if follow(until, BEFORE_ALL):
                        return
                elif follow(at, rank):
                    env.step()
            self._moved_from(before)

    def _moved_from(self, instant: float) -> None:
        """Raise StandstillError if the clock has not moved on."""
        if self.env._now == instant:
            raise StandstillError(
                f"{STILL:,} events at {seconds(self.now):.9g} s of simulated time and none later: "
                "what happens there makes itself happen again at once, with a delay of 0"
            )

    def stop(self) -> None:
        """End the run at this instant, after all else that happens at it."""
        self.stopped = True
        self.after(0, Rank.STOP, _halt)


def _halt(wake: Wake) -> None:
    raise StopSimulation(None)
