"""The WAN: a ring over regions, as a first-in-first-out pipe or shared by transfers."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence

from simpy import Environment

from .case import Case
from .clock import Moment, Order


def ring_factor(members: int) -> float:
    """What a ring all-reduce sends on every hop, as a multiple of the payload."""
    return 2 * (members - 1) / members


def ring_latency(case: Case, members: int) -> float:
    """Phases of a ring all-reduce, each a latency long."""
    return 2 * (members - 1) * case.latency


def step_layer_offset(layer: int, layers: int, compute: float) -> float:
    """Compute of a step after which the reduction of a layer (from 1) is released."""
    if layer == 1:
        return compute
    return compute - (2 * layer - 3) * node_time(layers, compute)


def node_time(layers: int, compute: float) -> float:
    """A step of L layers has 3L - 1 nodes of equal length."""
    return compute / (3 * layers - 1)


class Traffic:
    """Every stretch of sending: (start, end, bits, regions that each sent them)."""

    def __init__(self) -> None:
        self.stretches: list[tuple[float, float, float, Sequence[str]]] = []

    def stop(self, since: int, now: float) -> None:
        """What stretches from number `since` on would send after `now` is not sent."""
        self.stretches[since:] = [
            (start, min(end, now), _sent_before(now, start, end, bits), regions)
            for start, end, bits, regions in self.stretches[since:]
            if start <= now
        ]

    def busiest_bytes(self, horizon: float) -> float:
        """Bytes that the busiest region sent before the horizon."""
        sent: dict[str, float] = defaultdict(float)
        for start, end, bits, regions in self.stretches:
            if start < horizon:
                for region in regions:
                    sent[region] += _sent_before(horizon, start, end, bits)
        return max(sent.values(), default=0.0) / 8


def _sent_before(now: float, start: float, end: float, bits: float) -> float:
    return bits if end <= now else bits * (now - start) / (end - start)


class Ring:
    """Regions on a ring, bound at every instant by the slowest of them."""

    def __init__(self, case: Case, regions: Sequence[str], traffic: Traffic) -> None:
        self.case = case
        self.regions = sorted(set(regions))
        self.traffic = traffic
        self.used = len(self.regions) >= 2

    def rate(self, now: float) -> float:
        """Bit/s of the slowest region."""
        capacity = dict(self.case.capacity)
        for change in self.case.link_changes:
            if change.time <= now:
                capacity[change.region] = change.capacity
        return min(capacity[region] for region in self.regions)

    def next_change(self, now: float) -> float:
        """When a link next changes."""
        times = [change.time for change in self.case.link_changes if change.time > now]
        return min(times, default=math.inf)

    def drained(self, now: float, bits: float) -> float:
        """When bits that have the ring to themselves from `now` on have been sent."""
        while now < math.inf:
            rate, until = self.rate(now), self.next_change(now)
            end = now + bits / rate if rate > 0 else math.inf
            if end <= until:
                if end < math.inf:
                    self.traffic.stretches.append((now, end, bits, self.regions))
                return end
            sent = rate * (until - now)
            self.traffic.stretches.append((now, until, sent, self.regions))
            bits = max(0.0, bits - sent)
            now = until
        return math.inf


class Pipe:
    """First in, first out."""

    def __init__(self, ring: Ring) -> None:
        self.ring = ring
        self.free_at = 0.0

    def send(self, released: float, bits: float) -> float:
        """Queue what was released at that time; return when it is drained."""
        self.free_at = self.ring.drained(max(released, self.free_at), bits)
        return self.free_at


class _Transfer:
    def __init__(self, bits: float, done: Callable[[], None]) -> None:
        self.left = bits
        self.done = done


class SharedRing:
    """Transfers in flight at once have equal shares of the ring."""

    def __init__(self, env: Environment, ring: Ring) -> None:
        self.env = env
        self.ring = ring
        self.in_flight: list[_Transfer] = []
        self.since = 0.0
        self.rate = 0.0
        self.moment: Moment | None = None
        for change in ring.case.link_changes:
            Moment(env, change.time, Order.LINK, self._share_anew)

    def start(self, bits: float, done: Callable[[], None]) -> None:
        """Send; call `done` when the last bit is out."""
        self._advance()
        self.in_flight.append(_Transfer(bits, done))
        self._share_anew()

    def settle(self, horizon: float) -> None:
        """Count what is in flight up to the horizon as sent."""
        self._advance(horizon)

    def _advance(self, now: float | None = None) -> None:
        now = self.env.now if now is None else now
        if now > self.since and self.rate > 0:
            for transfer in self.in_flight:
                sent = self.rate * (now - self.since)
                transfer.left -= sent
                self.ring.traffic.stretches.append((self.since, now, sent, self.ring.regions))
        self.since = now

    def _share_anew(self) -> None:
        self._advance()
        if self.moment is not None:
            self.moment.cancel()
            self.moment = None
        if not self.in_flight:
            return
        self.rate = self.ring.rate(self.env.now) / len(self.in_flight)
        least = min(transfer.left for transfer in self.in_flight)
        if self.rate > 0:
            self.moment = Moment(
                self.env, max(0.0, least) / self.rate, Order.ARRIVAL, lambda: self._end(least)
            )

    def _end(self, least: float) -> None:
        ended = [transfer for transfer in self.in_flight if transfer.left == least]
        if self.rate == math.inf:
            for transfer in ended:
                now = self.env.now
                self.ring.traffic.stretches.append((now, now, transfer.left, self.ring.regions))
        self._advance()
        self.in_flight = [transfer for transfer in self.in_flight if transfer not in ended]
        self.moment = None
        self._share_anew()
        for transfer in ended:
            transfer.done()
