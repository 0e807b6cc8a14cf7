"""The WAN: a ring over regions, and a first-in-first-out pipe through it."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import cast

from .case import Case


def ring_factor(members: int) -> float:
    """What a ring all-reduce sends on every hop, as a multiple of the payload."""
    return cast(float, Fraction(2 * (members - 1), members))


def ring_latency(case: Case, members: int) -> float:
    """Phases of a ring all-reduce, each a latency long."""
    assert case.reckoning is not None
    return case.reckoning.length(2 * (members - 1) * case.latency)


def step_layer_offset(layer: int, layers: int, compute: float) -> float:
    """Compute of a step after which the reduction of a layer (from 1) is released."""
    if layer == 1:
        return compute
    return compute - (2 * layer - 3) * node_time(layers, compute)


def node_time(layers: int, compute: float) -> float:
    """A step of L layers has 3L - 1 nodes of equal length."""
    return compute * cast(float, Fraction(1, 3 * layers - 1))


@dataclass(frozen=True)
class Stretch:
    """Bits that each of some regions sent at one rate."""

    start: float
    end: float
    bits: float
    rate: float
    regions: Sequence[str]

    def sent_before(self, now: float) -> float:
        """The bits of it that were sent by then."""
        return self.bits if self.end <= now else min(self.bits, self.rate * (now - self.start))


class Traffic:
    """Every stretch of sending."""

    def __init__(self) -> None:
        self.stretches: list[Stretch] = []

    def stop(self, since: int, now: float) -> None:
        """What stretches from number `since` on would send after `now` is not sent."""
        self.stretches[since:] = [
            replace(stretch, end=min(stretch.end, now), bits=stretch.sent_before(now))
            for stretch in self.stretches[since:]
            if stretch.start <= now
        ]

    def busiest_bytes(self, horizon: float) -> float:
        """Bytes that the busiest region sent before the horizon."""
        sent: dict[str, float] = defaultdict(int)
        for stretch in self.stretches:
            if stretch.start < horizon:
                for region in stretch.regions:
                    sent[region] += stretch.sent_before(horizon)
        return max(sent.values(), default=0) / 8


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
            end = now + self._time_for(bits, rate)
            if end <= until:
                if end < math.inf:
                    self._note(now, end, bits, rate)
                return end
            sent = rate * (until - now)
            self._note(now, until, sent, rate)
            bits -= sent
            now = until
        return math.inf

    def _note(self, start: float, end: float, bits: float, rate: float) -> None:
        self.traffic.stretches.append(Stretch(start, end, bits, rate, self.regions))

    def _time_for(self, bits: float, rate: float) -> float:
        assert self.case.reckoning is not None
        if rate == 0:
            return math.inf
        return 0 if rate == math.inf else self.case.reckoning.length(bits / rate)


class Pipe:
    """First in, first out."""

    def __init__(self, ring: Ring) -> None:
        self.ring = ring
        self.free_at: float = 0

    def send(self, released: float, bits: float) -> float:
        """Queue what was released at that time; return when it is drained."""
        self.free_at = self.ring.drained(max(released, self.free_at), bits)
        return self.free_at
