"""Gradients and fragments leave layer by layer, first in, first out."""

from __future__ import annotations

from functools import lru_cache
from math import inf
from typing import TYPE_CHECKING

from ddsim.world.instants import NEVER, SECOND, Ticks, later
from ddsim.world.slow_start import IDLE, Connection
from ddsim.world.timeline import carried, taking

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ddsim.engine.meter import Meter, Piece
    from ddsim.world.network import Ring
    from ddsim.world.timeline import Timeline

Stretch = tuple[Ticks, Ticks, float]


@lru_cache(maxsize=256)
def release_shares(layers: int) -> tuple[float, ...]:
    """Return at which share of a step's compute each layer is released, last layer first.

    A step of L layers is 3 L - 1 nodes of equal length: forward through all layers, then for
    layer L down to 2 backward by activations and by parameters, and by parameters alone for
    layer 1. Layer l is released after its backward by parameters (arXiv 2501.18512, appendix).
    """
    nodes = 3 * layers - 1
    return (*((nodes - (2 * layer - 3)) / nodes for layer in range(layers, 1, -1)), 1.0)


def drain(
    items: Iterable[tuple[Ticks, float]], rate: Timeline, free: Ticks
) -> tuple[list[Ticks], list[Stretch]]:
    """Send items (release time, bits), first in first out, on a link that is free from `free` on.

    Returns when each has passed, and the busy stretches (start, end, bits).
    """
    passed: list[Ticks] = []
    stretches: list[Stretch] = []
    unlimited = rate.values == (inf,)
    for release, bits in items:
        start = release if release > free else free
        free = start if unlimited else rate.finish(start, bits)
        passed.append(free)
        if stretches and stretches[-1][1] == start:
            begun, _, sent = stretches[-1]
            stretches[-1] = (begun, free, sent + bits)
        else:
            stretches.append((start, free, bits))
    return passed, stretches


def drain_over(
    ring: Ring,
    items: Iterable[tuple[Ticks, float]],
    rate: Timeline,
    free: Ticks,
    connection: Connection,
) -> tuple[list[Ticks], list[Stretch], Connection]:
    """Send items as `drain` does over a ring's connections, at a rate; return where those stand.

    What slow start lets through is a stretch apart from what goes at the rate.
    """
    if ring.slow_start is None:
        return *drain(items, rate, free), connection
    passed: list[Ticks] = []
    stretches: list[Stretch] = []
    slow = False
    round_trip = ring.slow_start.round_trip
    in_flight = connection.last + round_trip if connection.window == inf else -NEVER
    size, lasts, change = -1.0, 0, -NEVER
    for release, bits in items:
        start = release if release > free else free
        if start < in_flight:  # open, and not idle: what `course` would say, in a fifth of the time
            if start >= change or bits != size:
                size, change = bits, rate.next_change(start)
                lasts = taking(bits, rate.at(start))
            over = start + lasts
            if over <= change and 0 < lasts < NEVER:
                passed.append(over)
                if slow or not stretches or stretches[-1][1] != start:
                    stretches.append((start, over, bits))
                else:
                    begun, _, sent = stretches[-1]
                    stretches[-1] = (begun, over, sent + bits)
                free, slow, in_flight = over, False, over + round_trip
                continue
        if in_flight > -NEVER:
            connection = connection._replace(last=in_flight - round_trip)
        course = ring.slow_start.course(rate, connection, start, bits)
        free, connection = course.end, course.connection
        in_flight = connection.last + round_trip if connection.window == inf else -NEVER
        passed.append(free)
        held = course.slowly > 0.0
        if stretches and stretches[-1][1] == start and not slow and not held:
            begun, _, sent = stretches[-1]
            stretches[-1] = (begun, free, sent + bits)
            continue
        if held:
            stretches.append((start, course.opened, course.slowly))
        stretches.append((course.opened, free, bits - course.slowly))
        slow = connection.window < inf
    if in_flight > -NEVER:
        connection = connection._replace(last=in_flight - round_trip)
    return passed, stretches, connection


def record(meter: Meter, stretches: Sequence[Stretch], ring: Ring, until: Ticks) -> None:
    """Record what the stretches have sent by `until`, change by change of the ring's rate."""
    bursts = [(start, bits) for start, end, bits in stretches if start == end <= until]
    if len(bursts) == len(stretches):
        meter.record_bursts(bursts, ring)
        return
    for stretch in stretches:
        for start, end, bits in pieces(stretch, ring, until):
            meter.record(start, end, bits, ring)


def pieces(stretch: Stretch, ring: Ring, until: Ticks) -> Iterator[Stretch]:
    """Cut what a stretch has sent by `until` wherever the rate of its ring changes."""
    start, end, left = stretch
    rate = ring.rate
    if end <= until and end <= rate.next_change(start):
        yield stretch
        return
    share = _slowed(stretch, ring)
    while start < min(end, until):
        stop = min(end, rate.next_change(start), until)
        sent = left if stop == end else min(left, carried(share(start), stop - start))
        yield start, stop, sent
        left -= sent
        start = stop


def _slowed(stretch: Stretch, ring: Ring) -> Callable[[Ticks], float]:
    """Return at which rate a stretch is sent at a time: with slow start that may be less."""
    start, end, bits = stretch
    if ring.slow_start is None or end == NEVER or start == end:
        return ring.rate.at
    whole = ring.rate.passed(start, end)
    if whole == inf:
        return lambda time: bits * SECOND / (end - start)
    return lambda time: ring.rate.at(time) * bits / whole


class Pipe:
    """The ring of a lock-step method as one link, first in first out, through stalls.

    The link is free of all that was sent from `free` on.
    """

    def __init__(self, ring: Ring, meter: Meter) -> None:
        self.ring = ring
        self.free: Ticks = 0
        self._connection = IDLE
        self._meter = meter
        self._unrecorded: list[Stretch] = []
        meter.queues.append(self)

    def send(self, items: Sequence[tuple[Ticks, float]], now: Ticks) -> list[Ticks]:
        """Send items (release time, payload bits) now; return when each has arrived everywhere."""
        if not self.ring.crosses:
            return [release for release, _ in items]
        sent = [(release, self.ring.bits(payload)) for release, payload in items]
        passed, stretches, self._connection = drain_over(
            self.ring, sent, self.ring.rate, self.free, self._connection
        )
        self.free = passed[-1]
        self._record_gone(now)
        self._unrecorded += stretches
        return [later(time, self.ring.latency) for time in passed]

    def has_sent(self, stretches: Sequence[Stretch], now: Ticks) -> None:
        """Take note of stretches that others have laid out, in the order of time."""
        self._unrecorded += stretches
        self._record_gone(now)

    def take(self, until: Ticks) -> list[Piece]:
        """Give what has been sent by then, piece by piece, and know no more of it."""
        taken: list[Piece] = []
        left: list[Stretch] = []
        for stretch in self._unrecorded:
            start, end, bits = stretch
            sent = 0.0
            for begun, stop, part in pieces(stretch, self.ring, until):
                taken.append((begun, stop, part, self.ring))
                sent += part
            if end > until:
                left.append((max(start, until), end, bits - sent))
        self._unrecorded = left
        return taken

    def _record_gone(self, now: Ticks) -> None:
        if self._meter.mixed:
            self._meter.catch_up(now)
            return
        gone = [stretch for stretch in self._unrecorded if stretch[1] <= now]
        record(self._meter, gone, self.ring, NEVER)
        self._unrecorded = self._unrecorded[len(gone) :]

    def close(self, horizon: Ticks) -> None:
        """Record on the meter what was sent by the end of the run."""
        if self._meter.mixed:
            self._meter.catch_up(horizon)
        else:
            record(self._meter, self._unrecorded, self.ring, horizon)
