"""Transfers over shared links, as fluid flows that share max-min fairly."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from ddsim.engine.clock import Rank
from ddsim.engine.sharing import fair_rates
from ddsim.world.instants import NEVER, SECOND, Ticks, later
from ddsim.world.slow_start import IDLE
from ddsim.world.timeline import Timeline, carried, taking

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ddsim.engine.clock import Clock, Wake
    from ddsim.engine.meter import Meter
    from ddsim.world.network import Ring
    from ddsim.world.slow_start import Connection, Course

_KEPT = 1000
"""How many sets of transfers it is known of how they share the links."""


class Transfer:
    """One flow: what is left of it, the ring whose links it crosses, whom its end concerns.

    It goes on at `rate` until `end`, unless that changes; while its `connection` is not open slow
    start holds it back, as `course` says. `given_up` is called in place of `done`
    once no bit has moved for `timeout`; `stuck` is since when none has.
    """

    __slots__ = (
        "bits",
        "connection",
        "done",
        "end",
        "given_up",
        "left",
        "rate",
        "ring",
        "stuck",
        "timeout",
    )

    def __init__(
        self,
        bits: float,
        ring: Ring,
        done: Callable[[], None],
        timeout: Ticks = NEVER,
        given_up: Callable[[], None] | None = None,
        connection: Connection | None = None,
    ) -> None:
        self.connection = connection
        self.bits = bits
        self.left = bits
        self.ring = ring
        self.done = done
        self.rate = 0.0
        self.end = NEVER
        self.timeout = timeout
        self.given_up = given_up
        self.stuck: Ticks | None = None

    @property
    def sent(self) -> float:
        """Bits that have moved on every hop."""
        return self.bits - self.left

    def go_on(self, now: Ticks, rate: float, course: Course | None) -> None:
        """Go on at a rate, as `course` says that comes of it; an end at the same rate stands."""
        if rate != self.rate or rate == 0.0:
            self.rate = rate
            self.end = later(now, taking(self.left, rate)) if course is None else course.end

    def course(self, now: Ticks, rate: float, until: Ticks = NEVER) -> Course | None:
        """Return what becomes of it from now on at a rate, None where nothing holds it back."""
        slow, connection = self.ring.slow_start, self.connection
        if slow is None or connection is None:
            return None
        if connection.window == inf and rate > 0.0 and now - connection.last < slow.round_trip:
            return None
        return slow.steadily(rate, connection, now, self.left, until)


class Sharing:
    """How transfers over some rings share links, up to `until`, when one of these changes.

    `rates` are those of transfers that nothing but links and streams holds back.
    """

    __slots__ = ("_beside", "_capacity", "_loads", "_routes", "rates", "until")

    def __init__(self, rings: Sequence[Ring], lines: Mapping[str, Timeline], now: Ticks) -> None:
        links = {link for ring in rings for link in ring.links}
        self.until = min((lines[link].next_change(now) for link in links), default=NEVER)
        self._capacity = capacity = {link: lines[link].at(now) for link in links}
        self._routes = [list(ring.links) for ring in rings]
        self._loads = [list(ring.loads) for ring in rings]
        for turn, ring in enumerate(rings):
            if ring.cap < 1.0:  # as if all of its kind shared a thinner link beside each
                for link, load in zip(ring.links, ring.loads, strict=True):
                    capped = f"{link}, capped"
                    capacity[capped] = ring.cap * capacity[link]
                    self._routes[turn].append(capped)
                    self._loads[turn].append(load)
            if ring.most < inf:
                capacity[own := f"streams of {turn}"] = ring.most
                self._routes[turn].append(own)
                self._loads[turn].append(1.0)
        self.rates = fair_rates(self._routes, capacity, self._loads)
        self._beside: dict[tuple[tuple[int, float], ...], list[float]] = {}

    def beside(self, most: Mapping[int, float]) -> list[float]:
        """Return the rates where some of them get no more than that: the others have the rest."""
        key = tuple(most.items())
        if key not in self._beside:
            if len(self._beside) >= _KEPT:
                self._beside.clear()
            self._beside[key] = self._rates_beside(most)
        return self._beside[key]

    def _rates_beside(self, most: Mapping[int, float]) -> list[float]:
        capacity, routes, loads = dict(self._capacity), list(self._routes), list(self._loads)
        for turn, rate in most.items():
            capacity[own := f"slow start of {turn}"] = rate
            routes[turn] = [*routes[turn], own]
            loads[turn] = [*loads[turn], 1.0]
        return fair_rates(routes, capacity, loads)


class Fabric:
    """The links of a run and the transfers in flight on them.

    Rates are reckoned anew whenever a transfer begins or ends or a link changes, and at no other
    time.
    """

    def __init__(self, clock: Clock, lines: Mapping[str, Timeline], meter: Meter) -> None:
        self._clock = clock
        self._lines = lines
        self._meter = meter
        self._flows: list[Transfer] = []
        self._since = 0
        self._epoch = 0
        self._connections: dict[Ring, Connection] = {}
        self._sharings: dict[tuple[Ring, ...], Sharing] = {}
        meter.flows = self

    @property
    def flowing(self) -> bool:
        """Whether any transfer is under way."""
        return bool(self._flows)

    def send(
        self,
        bits: float,
        ring: Ring,
        done: Callable[[], None],
        *,
        timeout: Ticks = NEVER,
        given_up: Callable[[], None] | None = None,
    ) -> Transfer:
        """Start a collective over a ring; `done` is called at the instant of its end.

        Once no bit of it has moved for `timeout` on end it is cancelled, what has moved
        stays counted, and `given_up` is called.
        """
        self.settle()
        connection = self.connection(ring) if ring.slow_start is not None else None
        transfer = Transfer(bits, ring, done, timeout, given_up, connection)
        self._flows.append(transfer)
        self._share()
        return transfer

    def connection(self, ring: Ring) -> Connection:
        """Return where the connections of a ring stand that nothing is sent over."""
        return self._connections.get(ring, IDLE)

    def take_over(self, ring: Ring, connection: Connection) -> None:
        """Take note of where others have left the connections of a ring."""
        self._connections[ring] = connection

    def cancel(self, transfer: Transfer) -> None:
        """Take a transfer off the links; what it has sent was sent in vain."""
        self.settle()
        self._remove(transfer)
        self._share()

    def _remove(self, transfer: Transfer) -> None:
        self._flows.remove(transfer)
        if transfer.connection is not None:
            self._connections[transfer.ring] = transfer.connection

    def settle(self) -> None:
        """Bring what is left of each transfer, and the meter, up to now."""
        self.settle_until(self._clock.now)

    def settle_until(self, now: Ticks) -> None:
        """Bring what is left of each transfer, and the meter, up to `now`."""
        elapsed = now - self._since
        if elapsed > 0 and self._flows:
            sent: dict[Ring, float] = {}
            for flow in self._flows:
                course = flow.course(self._since, flow.rate, now)
                if course is None:
                    moved = min(flow.left, carried(flow.rate, elapsed))
                    if flow.connection is not None:
                        flow.connection = flow.connection._replace(last=now)
                else:
                    moved, flow.connection = flow.left - course.left, course.connection
                    if len(self._flows) == 1 and course.slowly and course.opened < now:
                        self._meter.record_all(
                            self._since, course.opened, {flow.ring: course.slowly}
                        )
                        self._since, moved = course.opened, moved - course.slowly
                        flow.left -= course.slowly
                flow.left -= moved
                sent[flow.ring] = sent.get(flow.ring, 0.0) + moved
            self._meter.record_all(self._since, now, sent)
        self._since = now

    def _share(self) -> None:
        self._epoch += 1
        flows = self._flows
        if not flows:
            return
        now = self._clock.now
        change = self._set_rates(now)
        for flow in flows:
            if flow.timeout < NEVER:
                self._watch(flow, now)
        end = min(flow.end for flow in flows)
        if end <= change:
            self._clock.after(end - now, Rank.LAST_BIT, self._finish, self._epoch)
        else:
            self._clock.after(change - now, Rank.ARRIVAL, self._change, self._epoch)

    def _watch(self, flow: Transfer, now: Ticks) -> None:
        """Note since when a transfer is stuck, and when that is too long."""
        if flow.rate > 0.0:
            flow.stuck = None
        elif flow.stuck is None:
            flow.stuck = now
            self._clock.after(flow.timeout, Rank.ARRIVAL, self._give_up, (flow, now))

    def _give_up(self, wake: Wake) -> None:
        flow, since = wake.given
        if flow.stuck != since or flow not in self._flows:
            return
        self.cancel(flow)
        if flow.given_up is not None:
            flow.given_up()

    def _set_rates(self, now: Ticks) -> Ticks:
        """Give every transfer its share; return when a link changes next."""
        flows = self._flows
        first = flows[0].ring
        alone = len(flows) == 1 or first.slow_start is None
        if alone and all(flow.ring is first for flow in flows):
            share = min(first.most, first.cap * first.wires.at(now) / len(flows))
            for flow in flows:
                flow.go_on(now, share, flow.course(now, share))
            return first.wires.next_change(now)
        sharing = self._sharing(now)
        rates, change = list(sharing.rates), sharing.until
        courses = [flow.course(now, rate) for flow, rate in zip(flows, rates, strict=True)]
        slow = {n: course for n, course in enumerate(courses) if course and course.slowly > 0.0}
        change = min([change, *(course.opened for course in slow.values())])
        if 0 < len(slow) < len(flows):  # what those leave is the others'
            left = sharing.beside(
                {n: course.slowly * SECOND / (course.opened - now) for n, course in slow.items()}
            )
            for n, flow in enumerate(flows):
                if n not in slow and left[n] != rates[n]:
                    rates[n], courses[n] = left[n], flow.course(now, left[n])
        for flow, rate, course in zip(flows, rates, courses, strict=True):
            flow.go_on(now, rate, course)
        return change

    def _sharing(self, now: Ticks) -> Sharing:
        """Return how these transfers share the links now, as they did the last time."""
        rings = tuple([flow.ring for flow in self._flows])
        known = self._sharings.get(rings)
        if known is None or now >= known.until:
            if len(self._sharings) >= _KEPT:
                self._sharings.clear()
            known = self._sharings[rings] = Sharing(rings, self._lines, now)
        return known

    def _change(self, wake: Wake) -> None:
        if wake.given == self._epoch:
            self.settle()
            self._share()

    def _finish(self, wake: Wake) -> None:
        if wake.given != self._epoch:
            return
        now = self._clock.now
        ended = [flow for flow in self._flows if flow.end <= now]
        self.settle()
        for flow in ended:
            if flow.left > 0.0:  # what is left of its last nanosecond
                self._meter.record(now, now, flow.left, flow.ring)
            self._remove(flow)
        self._share()
        for flow in ended:
            flow.done()
