"""How an exchange gets going: slow start, for one whose connections are idle and after a cut."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import inf
from typing import NamedTuple

from ddsim.world.instants import NEVER, Ticks, later
from ddsim.world.timeline import Timeline, carried, taking

_KEPT = 1000


class Connection(NamedTuple):
    """Where the connections of an exchange stand.

    In the round trip that ends at `ends`, `room` bits of `window` may still go on every hop; the
    window of an open connection is infinite. `last` is when the last bit was out: once that is a
    round trip ago nothing is in flight, and the connections are idle.
    """

    window: float = inf
    room: float = inf
    ends: Ticks = 0
    last: Ticks = -NEVER


IDLE = Connection()
"""Over which nothing has been sent."""


class Course(NamedTuple):
    """What has become of some bits: `left` are still to go at `end`, where that is an end set.

    By `opened`, up to when slow start held them back, `slowly` had gone; the rest goes at the rate.
    """

    end: Ticks
    left: float
    connection: Connection
    opened: Ticks
    slowly: float

    def from_start(self, start: Ticks) -> Course:
        """Return what becomes of bits that begin at `start`, where these began at 0."""
        window, room, ends, last = self.connection
        connection = Connection(window, room, later(start, ends), later(start, last))
        end, opened = later(start, self.end), later(start, self.opened)
        return Course(end, self.left, connection, opened, self.slowly)


@dataclass(frozen=True, slots=True)
class SlowStart:
    """What an exchange may send before the answers come: `first` bits on every hop in the first
    round trip, of so many ticks, and twice as much in each that follows.

    That ends once a window lasts for a round trip at the rate of the exchange. What does not fill
    the window of its last round trip goes at that rate.
    """

    round_trip: Ticks
    first: float

    def course(
        self,
        rate: Timeline,
        connection: Connection,
        start: Ticks,
        bits: float,
        until: Ticks = NEVER,
    ) -> Course:
        """Send bits at a rate from `start` on, up to their last or to `until`."""
        window, room, ends, last = connection
        if start - last >= self.round_trip:
            window = room = self.first
            ends = start + self.round_trip
        now, left, opened, slowly = start, bits, start, 0.0
        speed, change = 0.0, start
        while left > 0.0 and now < until:
            if now >= change:
                speed, change = rate.at(now), min(rate.next_change(now), until)
            if speed == 0.0:  # and once it is mended again, it starts slowly again
                now = change
                window = room = self.first
                ends = later(now, self.round_trip)
                continue
            if window < inf and now >= ends:
                window = window if room > 0.0 else 2.0 * window
                room, ends = window, later(now, self.round_trip)
            if window < inf and room >= carried(speed, ends - now):
                window = room = inf
            if left > room:  # the window is out before the answers are there
                stop = min(ends, change)
                sent = room if stop == ends else room * (stop - now) / (ends - now)
                room = 0.0 if stop == ends else room - sent
                opened, slowly = stop, bits - left + sent
            else:
                over = later(now, taking(left, speed))
                stop = min(over, change)
                sent = left if over == stop else min(left, carried(speed, stop - now))
                room -= sent
            left -= sent
            now = stop
        if now == NEVER:
            return Course(NEVER, left, connection, opened, slowly)
        return Course(now, left, Connection(window, room, ends, now), opened, slowly)

    def steadily(
        self, rate: float, connection: Connection, start: Ticks, bits: float, until: Ticks = NEVER
    ) -> Course:
        """Send bits as `course` does, at a rate that stays."""
        if rate == 0.0 or start - connection.last < self.round_trip:
            return self.course(Timeline.constant(rate), connection, start, bits, until)
        length = until - start if until < NEVER else NEVER
        return _from_idle(self, rate, bits, length).from_start(start)


@lru_cache(_KEPT)
def _from_idle(slow: SlowStart, rate: float, bits: float, length: Ticks) -> Course:
    """Return the course of an exchange that finds its connections idle: the same at any time."""
    return slow.course(Timeline.constant(rate), IDLE, 0, bits, length)
