"""The wide-area network: what each region can send and receive, and how that changes."""

from __future__ import annotations

from itertools import combinations
from math import inf
from typing import TYPE_CHECKING

from ddsim.scenario.hops import hop_latency, hop_streams, line_share
from ddsim.world.instants import NEVER, Ticks, later, ticks
from ddsim.world.ring import (
    Ring,
    in_order,
    over_streams,
    partition_loads,
    ring_hops,
    ring_loads,
    server_loads,
    slowest,
    within,
)
from ddsim.world.streams import stream
from ddsim.world.timeline import Timeline, lowest
from ddsim.world.variation import scheduled, varied

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np

    from ddsim.scenario import Scenario
    from ddsim.scenario.failures import Chaos
    from ddsim.scenario.network import Link, Region
    from ddsim.world.link_faults import Outages

__all__ = ["Network", "Ring"]

LINK_FAULTS = ("cut", "throttle", "flap")
"""Faults of the plan that are links', not hardware's."""


class Network:
    """Directed links between regions as the scenario describes them, faults of its plan included.

    `lines` maps every link's name to its rate over time: what a transfer really gets, in bit/s,
    which is nominal bandwidth times efficiency, or without what is lost on the way. `up:R` and
    `down:R` are the access of region R, `A>B` a link of its own from A to B. `prices` has what a
    bit on a link costs, in USD. All of it is known before the run: random changes are drawn from
    streams that belong to the links, the same for every method.
    """

    _collective = "ring"
    _server: str | None = None
    _sync_cost = 0.0
    _recovery_share = 1.0

    def __init__(
        self, scenario: Scenario, outages: Sequence[Outages] = (), replication: int = 0
    ) -> None:
        network = scenario.network
        self._outages = outages
        self._network = network
        self._sync_cost = network.sync_cost
        self._recovery_share = network.recovery_share
        self._collective = network.collective
        self._server = network.server
        self._horizon = ticks(scenario.duration)
        self._seed = (scenario.seed, replication)
        self._regions = scenario.regions()
        self._faults = [entry for entry in scenario.chaos if entry.fault in LINK_FAULTS]
        self.lines: dict[str, Timeline] = {}
        self.prices: dict[str, float] = {}
        for name, region in self._regions.items():
            up = self._line(region.upload, region, (name,))
            same = region.upload == region.download
            self.lines[f"up:{name}"] = up
            self.lines[f"down:{name}"] = (
                up if same else self._line(region.download, region, (name,))
            )
            if region.price is not None:
                self.prices[f"up:{name}"] = region.price
        self._add_links(network.links)
        self._add_faulty_pairs()

    def _add_links(self, links: Sequence[Link]) -> None:
        for link in links:
            here, there = link.between
            line = self._line(link.bandwidth, link, (f"{here}-{there}", f"{there}-{here}"))
            for name in (f"{here}>{there}", f"{there}>{here}"):
                self.lines[name] = line
                if link.price is not None:
                    self.prices[name] = link.price

    def _add_faulty_pairs(self) -> None:
        """Give pairs of regions that are to fail a link, unlimited until then."""
        targets = {fault.target for fault in self._faults}
        targets |= {outage.target for outage in self._outages}
        for here in self._regions:
            for there in self._regions:
                if here == there or f"{here}-{there}" not in targets:
                    continue
                if f"{here}>{there}" not in self.lines:
                    line = self._line(inf, None, (f"{here}-{there}", f"{there}-{here}"))
                    for name in (f"{here}>{there}", f"{there}>{here}"):
                        self.lines[name] = line

    @property
    def convention(self) -> str:
        """What an exchange sends through each site, in words."""
        if self._collective == "hierarchical":
            return "ring all-reduce among R regions of 2(R-1)/R of the payload"
        if self._collective == "parameter_server":
            return (
                "parameter server: each unit elsewhere sends and receives the payload, the "
                "server's site all of them"
            )
        return "ring all-reduce of 2(M-1)/M of the payload"

    def ring(self, regions_of_members: Sequence[str], down: float = 1.0) -> Ring:
        """Return the exchange among units that stand in the given regions, one entry a unit.

        `down` is how many bits come back from a parameter server for each that it gets.
        """
        members = len(regions_of_members)
        regions = in_order(regions_of_members)
        if self._collective == "parameter_server":
            server = self._server or next(iter(self._regions))
            regions = in_order((server, *regions))
            loads = server_loads(regions_of_members, server, self._route, down)
            hops = [(region, server) for region in regions if region != server]
            share, phases, back = 1.0, 2, down
        else:
            parts = len(regions) if self._collective == "hierarchical" else members
            loads = ring_loads(regions, self._route)
            hops = ring_hops(regions)
            share, phases, back = 2 * (parts - 1) / parts, 2 * (parts - 1), 1.0
        if len(regions) < 2:
            return within(members, regions)
        latency = max(self._hop_latency(here, there) for here, there in hops)
        ring = Ring(
            members,
            regions,
            tuple(loads),
            slowest(loads, self.lines),
            ticks(phases * latency + self._sync_cost),
            share,
            tuple(loads.values()),
        )
        return self._over_streams(ring, dict.fromkeys(hops, max(1.0, back)))

    def merge(
        self, form: str, regions_of_members: Sequence[str], sending: Sequence[bool], down: float
    ) -> Ring:
        """Return a merge at a syncer of this form, `partitioned` or `central`, and of its answer.

        The units `sending` hand their payload in, and all get `down` times as much back.
        """
        members = len(regions_of_members)
        regions = in_order(regions_of_members)
        if form == "central":
            server = self._server or next(iter(self._regions))
            regions = in_order((server, *regions))
            loads = server_loads(regions_of_members, server, self._route, down, sending)
            hops = [(region, server) for region in regions if region != server]
            each = max(1.0, down)
        else:
            loads = partition_loads(regions_of_members, self._route, down, sending)
            hops = list(combinations(regions, 2))
            each = (1.0 + down) / members
        if len(regions) < 2:
            return within(members, regions)
        latency = max(self._hop_latency(here, there) for here, there in hops)
        ring = Ring(
            members,
            regions,
            tuple(loads),
            slowest(loads, self.lines),
            ticks(2 * latency + self._sync_cost),
            1.0,
            tuple(loads.values()),
        )
        return self._over_streams(ring, dict.fromkeys(hops, each))

    def transfer(self, here: str, there: str) -> Ring:
        """Return the way of what a unit has missed from one region to another."""
        loads = dict.fromkeys(self._route(here, there), 1.0)
        latency = self.distance(here, there)
        rate = slowest(loads, self.lines)
        ones = tuple(loads.values())
        links = tuple(loads)
        cap = self._recovery_share
        ring = Ring(2, (here, there), links, rate, latency, 1.0, ones, recovery=True, cap=cap)
        return self._over_streams(ring, {(here, there): 1.0})

    def distance(self, here: str, there: str) -> Ticks:
        """Return what a message takes from one region to another."""
        return 0 if here == there else ticks(self._hop_latency(here, there))

    @property
    def unlimited(self) -> bool:
        """Whether no link ever has a limit."""
        wide = all(rate == inf for line in self.lines.values() for rate in line.values)
        return wide and not self._network.has_streams

    def way(self, here: str, there: str) -> Ring:
        """Return the way of a message from one region to another, its latency that of one hop."""
        if here == there:
            return within(2, (here,))
        loads = dict.fromkeys(self._route(here, there), 1.0)
        rate = slowest(loads, self.lines)
        ones = tuple(loads.values())
        latency = self.distance(here, there)
        ring = Ring(2, (here, there), tuple(loads), rate, latency, 1.0, ones)
        return self._over_streams(ring, {(here, there): 1.0})

    def cut_off(self, regions: Sequence[str], time: Ticks) -> set[str]:
        """Return the regions that an exchange among these has to do without at a time.

        Those whose access carries nothing; and for every pair of neighbours in the ring that
        nothing joins, the one that can reach fewer of the others (the later on a tie).
        """
        left = list(in_order(regions))
        while len(left) > 1:
            reach = {r: sum(self._joined(r, other, time) for other in left) for r in left}
            broken = [pair for pair in ring_hops(left) if not self._joined(*pair, time)]
            if not broken:
                break
            ends = {region for pair in broken for region in pair}
            left.remove(min(reversed(left), key=lambda r: reach[r] if r in ends else inf))
        return set(regions) - set(left)

    def parted(self, regions: Sequence[str], time: Ticks) -> bool:
        """Return whether from a time on no two of these, of two or more, are ever joined again."""
        here = in_order(regions)
        if any(line.next_change(time) < NEVER for line in self.lines.values()):
            return False
        return len(here) > 1 and len(self.cut_off(here, time)) >= len(here) - 1

    def _joined(self, here: str, there: str, time: Ticks) -> bool:
        if here == there:
            return True
        ways = (*self._route(here, there), *self._route(there, here))
        return all(self.lines[link].at(time) > 0.0 for link in ways)

    def _route(self, here: str, there: str) -> tuple[str, ...]:
        """Return the links from one region to another."""
        direct = f"{here}>{there}"
        access = (f"up:{here}", f"down:{there}")
        return (*access, direct) if direct in self.lines else access

    def _hop_latency(self, here: str, there: str) -> float:
        return hop_latency(self._network, here, there)

    def _over_streams(self, ring: Ring, loads: Mapping[tuple[str, str], float]) -> Ring:
        """Return the exchange over the streams of its hops, each with what a connection carries."""
        if not self._network.has_streams:
            return ring
        hops = ((hop_streams(self._network, *hop), load) for hop, load in loads.items())
        return over_streams(ring, [(found, load) for found, load in hops if found is not None])

    def _line(
        self, bandwidth: float, part: Region | Link | None, targets: tuple[str, ...]
    ) -> Timeline:
        """Return the rate of one direction: the lowest of what the faults leave at each time."""
        share = line_share(self._network, part or self._network)
        nominal = Timeline.constant(bandwidth)
        if part is not None:
            nominal = scheduled(bandwidth, part, self._horizon)
            if part.random is not None:
                draw = self._draw(targets[0])
                nominal = varied(nominal, part.random, draw, self._horizon)
        lines = [nominal.scaled(share)]
        lines += [self._left_by(fault, share) for fault in self._faults if fault.target in targets]
        lines += [outage.line(inf, share) for outage in self._outages if outage.target in targets]
        return lowest(lines)

    def _draw(self, target: str) -> np.random.Generator:
        seed, replication = self._seed
        return stream(seed, "bandwidth", target, replication)

    def _left_by(self, fault: Chaos, share: float) -> Timeline:
        """Return what a planned fault leaves of a link, of which transfers get a share."""
        left = 0.0 if fault.to is None else fault.to * share
        begin = ticks(fault.at)
        end = later(begin, ticks(fault.duration))
        if fault.fault == "flap":
            assert fault.every is not None
            every = ticks(fault.every)
            end = min(end, self._horizon)
            times = range(begin, end, every)
            changes = [(t, inf if turn % 2 else 0.0) for turn, t in enumerate(times)]
        else:
            changes = [(begin, left)]
        return Timeline.of(inf, [*changes, *([(end, inf)] if end < NEVER else [])])
