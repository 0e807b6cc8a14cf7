"""Transfers over shared links, as fluid flows that share max-min fairly."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from ddsim.engine.clock import Rank
from ddsim.engine.sharing import fair_rates

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ddsim.engine.clock import Clock, Wake
    from ddsim.engine.meter import Meter
    from ddsim.world.network import Ring
    from ddsim.world.timeline import Timeline


class Transfer:
    """One flow: what is left of it, the ring whose links it crosses, whom its end concerns."""

    __slots__ = ("done", "left", "rate", "ring")

    def __init__(self, bits: float, ring: Ring, done: Callable[[], None]) -> None:
        self.left = bits
        self.ring = ring
        self.done = done
        self.rate = 0.0


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
        self._since = 0.0
        self._epoch = 0

    def send(self, bits: float, ring: Ring, done: Callable[[], None]) -> None:
        """Start a collective over a ring; `done` is called at the instant of its end."""
        self.settle()
        self._flows.append(Transfer(bits, ring, done))
        self._share()

    def settle(self) -> None:
        """Bring what is left of each transfer, and the meter, up to now."""
        self.settle_until(self._clock.now)

    def settle_until(self, now: float) -> None:
        """Bring what is left of each transfer, and the meter, up to `now`."""
        elapsed = now - self._since
        if elapsed > 0.0 and self._flows:
            sent: dict[tuple[str, ...], float] = {}
            for flow in self._flows:
                moved = min(flow.left, flow.rate * elapsed)
                flow.left -= moved
                sent[flow.ring.regions] = sent.get(flow.ring.regions, 0.0) + moved
            self._meter.record_all(self._since, now, sent)
        self._since = now

    def _share(self) -> None:
        self._epoch += 1
        flows = self._flows
        if not flows:
            return
        now = self._clock.now
        change = self._set_rates(now)
        wait = inf
        for flow in flows:
            if flow.rate > 0.0:
                wait = min(wait, 0.0 if flow.rate == inf else flow.left / flow.rate)
        if now + wait <= change:
            self._clock.after(wait, Rank.ARRIVAL, self._finish, self._epoch)
        else:
            self._clock.after(change - now, Rank.ARRIVAL, self._change, self._epoch)

    def _set_rates(self, now: float) -> float:
        """Give every transfer its share; return when a link changes next."""
        flows = self._flows
        first = flows[0].ring
        if all(flow.ring is first for flow in flows):
            share = first.rate.at(now) / len(flows)
            for flow in flows:
                flow.rate = share
            return first.rate.next_change(now)
        links = {link for flow in flows for link in flow.ring.links}
        capacity = {link: self._lines[link].at(now) for link in links}
        rates = fair_rates([flow.ring.links for flow in flows], capacity)
        for flow, rate in zip(flows, rates, strict=True):
            flow.rate = rate
        return min(self._lines[link].next_change(now) for link in links)

    def _change(self, wake: Wake) -> None:
        if wake.given == self._epoch:
            self.settle()
            self._share()

    def _finish(self, wake: Wake) -> None:
        if wake.given != self._epoch:
            return
        now = self._clock.now
        elapsed = now - self._since
        ended = [
            flow
            for flow in self._flows
            if flow.rate == inf
            or (flow.rate > 0.0 and flow.left <= flow.rate * elapsed * (1 + 1e-12))
        ]
        if not ended:  # rounding: the one that was waited for ends now
            ended = [min(self._flows, key=lambda f: f.left / f.rate if f.rate > 0.0 else inf)]
        self.settle()
        for flow in ended:
            if flow.left > 0.0:
                self._meter.record(now, now, flow.left, flow.ring.regions)
            self._flows.remove(flow)
        self._share()
        for flow in ended:
            flow.done()
