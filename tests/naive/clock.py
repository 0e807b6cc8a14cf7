"""Moments in the order that rules one instant, and stretches of time that a stall suspends."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from fractions import Fraction

from simpy import Environment, Event
from simpy.events import EventPriority


class Order(IntEnum):
    """What happens first at one instant. SimPy keeps 0 and 1 for interrupts and wake-ups."""

    DETECTED = 2
    END_OF_STALL = 3
    COMPLETED = 4
    HARDWARE_BACK = 5
    LAST_BIT = 6
    CLOSING = 7
    ARRIVAL = 8
    NEXT = 9
    STRIKE = 10


class Moment(Event):
    """A timeout with a place in the order of its instant and, perhaps, something to do."""

    def __init__(
        self,
        env: Environment,
        delay: float,
        order: Order,
        action: Callable[[], object] | None = None,
    ) -> None:
        assert isinstance(delay, int | Fraction), "no float goes on the clock"
        super().__init__(env)
        self._ok = True
        self._value = None
        self.action = action
        self.callbacks.append(self._act)
        env.schedule(self, EventPriority(order), delay)

    def _act(self, _: Event) -> None:
        if self.action is not None:
            self.action()

    def cancel(self) -> None:
        """It still comes, and nothing happens."""
        if not self.processed:
            self.callbacks.clear()


class Countdown:
    """A stretch of running time; it stands still while paused, and starts paused."""

    def __init__(
        self, env: Environment, length: float, order: Order, action: Callable[[], object]
    ) -> None:
        self.env = env
        self.remaining = length
        self.order = order
        self.action = action
        self.end: float = 0
        self.moment: Moment | None = None
        self.over = False

    def go(self) -> None:
        """Run (on) from now."""
        if self.over or self.moment is not None:
            return
        self.end = self.env.now + self.remaining
        self.moment = Moment(self.env, self.remaining, self.order, self._finish)

    def pause(self) -> None:
        """Stand still, keeping what remains."""
        if self.moment is not None:
            self.remaining = self.end - self.env.now
            self.moment.cancel()
            self.moment = None

    def drop(self) -> None:
        """Never finish."""
        self.pause()
        self.over = True

    def _finish(self) -> None:
        self.moment = None
        self.over = True
        self.action()
