"""What an exchange among units puts on the links, and how many phases it has."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from itertools import permutations
from math import inf
from typing import TYPE_CHECKING

from ddsim.world.instants import ticks
from ddsim.world.slow_start import SlowStart
from ddsim.world.timeline import Timeline, lowest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from ddsim.scenario.hops import Streams
    from ddsim.world.instants import Ticks


@dataclass(frozen=True, slots=True, eq=False)
class Ring:
    """An exchange among `members` units that stand in `regions`: a ring unless said otherwise.

    `bits` of a payload move on every hop; link i of `links` carries `loads[i]` times as much. All
    advance together, so that the exchange runs at the pace of its slowest link: `rate` in bit/s
    of `bits`. `latency` is what its phases and its fixed cost take, in ticks. Units of one
    region are neighbours and use no wide-area link between them. `recovery` says that it carries
    what a unit missed, not what was merged; all of that takes at most the share `cap` of a link.
    Where its streams are known, they get at most `most` (bit/s of `bits`), which is in `rate` and
    not in `wires`, what the links alone would let through, and start as `slow_start` says.
    """

    members: int
    regions: tuple[str, ...]
    links: tuple[str, ...]
    rate: Timeline
    latency: Ticks
    share: float = 0.0
    loads: tuple[float, ...] = ()
    recovery: bool = False
    cap: float = 1.0
    most: float = inf
    slow_start: SlowStart | None = None
    shared: Timeline | None = None

    @property
    def wires(self) -> Timeline:
        """What the links alone would let through, in bit/s of `bits`."""
        return self.rate if self.shared is None else self.shared

    @property
    def crosses(self) -> bool:
        """Whether the exchange crosses the wide-area network at all."""
        return len(self.regions) > 1

    def bits(self, payload: float) -> float:
        """Bits on every hop for a payload in bits: 2 (M - 1) / M of it in a ring."""
        return self.share * payload if self.crosses else 0.0


def over_streams(ring: Ring, hops: Iterable[tuple[Streams, float]]) -> Ring:
    """Return the exchange over the streams of its hops, each with its load per bit of `bits`.

    It gets what the slowest hop's streams get, and starts as if one hop had the longest round trip
    and the smallest first window of all.
    """
    loaded = [(streams, load) for streams, load in hops if load > 0.0]
    if not loaded:
        return ring
    most = min(streams.rate / load for streams, load in loaded)
    round_trip = ticks(max(streams.round_trip for streams, _ in loaded))
    first = min(streams.first / load for streams, load in loaded)
    return replace(
        ring,
        rate=lowest([ring.rate, Timeline.constant(most)]) if most < inf else ring.rate,
        most=most,
        slow_start=SlowStart(round_trip, first) if round_trip else None,
        shared=ring.rate,
    )


def within(members: int, regions: tuple[str, ...]) -> Ring:
    """Return the exchange of units that need no wide-area link."""
    return Ring(members, regions, (), Timeline.constant(inf), 0)


def ring_hops(regions: Sequence[str]) -> list[tuple[str, str]]:
    """Return the hops of a ring through the regions in their order."""
    return list(zip(regions, (*regions[1:], regions[0]), strict=True))


def ring_loads(
    regions: Sequence[str], route: Callable[[str, str], tuple[str, ...]]
) -> dict[str, float]:
    """Return what each link of a ring carries, as a multiple of what a hop does."""
    return {link: 1.0 for here, there in ring_hops(regions) for link in route(here, there)}


def server_loads(
    regions_of_members: Sequence[str],
    server: str,
    route: Callable[[str, str], tuple[str, ...]],
    down: float,
    sending: Sequence[bool] | None = None,
) -> dict[str, float]:
    """Return what each link carries per bit of payload when all units exchange with a server.

    Every unit elsewhere, or of them those `sending`, sends the payload, and each receives `down`
    times as much.
    """
    loads: dict[str, float] = {}
    senders = Counter(_of(regions_of_members, sending))
    for region, units in Counter(regions_of_members).items():
        if region == server:
            continue
        for link in route(region, server):
            loads[link] = loads.get(link, 0.0) + senders[region]
        for link in route(server, region):
            loads[link] = loads.get(link, 0.0) + units * down
    return loads


def partition_loads(
    regions_of_members: Sequence[str],
    route: Callable[[str, str], tuple[str, ...]],
    down: float,
    sending: Sequence[bool] | None = None,
) -> dict[str, float]:
    """Return what each link carries per bit of payload when each unit's site has a part of it.

    Each of M parts is 1/M of the payload. Every unit, or those `sending`, sends each other site
    its part, and each site sends all others `down` times as much of its own.
    """
    members = Counter(regions_of_members)
    senders = Counter(_of(regions_of_members, sending))
    total = len(regions_of_members)
    loads: dict[str, float] = {}
    for here, there in permutations(members, 2):
        bits = (senders[here] + members[here] * down) * members[there] / total
        for link in route(here, there):
            loads[link] = loads.get(link, 0.0) + bits
    return loads


def _of(names: Sequence[str], chosen: Sequence[bool] | None) -> Sequence[str]:
    if chosen is None:
        return names
    return [name for name, wanted in zip(names, chosen, strict=True) if wanted]


def slowest(loads: Mapping[str, float], lines: Mapping[str, Timeline]) -> Timeline:
    """Return the pace of an exchange over links of which each carries its load."""
    return lowest(lines[link].scaled(1.0 / load) for link, load in loads.items() if load > 0.0)


def in_order(names: Iterable[str]) -> tuple[str, ...]:
    """Return each name once, in the order of its first mention."""
    return tuple(dict.fromkeys(names))
