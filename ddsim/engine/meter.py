"""What crosses each link of the wide-area network, and how fast at its busiest."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Protocol, TypedDict

from ddsim.engine.load import Load
from ddsim.world.instants import NEVER, Ticks

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ddsim.world.ring import Ring

GIGA = 1e9
_P99 = 0.99


class LinkUse(TypedDict):
    """One direction of a link in a run.

    `link` is a region, whose access it is, or `A-B`; `direction` is up, down, or the region that
    it leads to. `p99_gbps` is the load that 99% of all seconds do not exceed, `peak_gbps` that of
    the busiest second; `recovery_bytes` of `bytes` are what units had missed.
    """

    link: str
    direction: str
    bytes: float
    recovery_bytes: float
    mean_gbps: float
    p99_gbps: float
    peak_gbps: float
    usd: float


Piece = tuple[Ticks, Ticks, float, "Ring"]


class Queue(Protocol):
    """What sends one thing after another, and knows it once it is sent."""

    def take(self, until: Ticks) -> Sequence[Piece]:
        """Give what was sent by then and has not been given: (start, end, bits, ring)."""
        ...


class Flows(Protocol):
    """What sends side by side."""

    @property
    def flowing(self) -> bool:
        """Whether anything is under way."""
        ...

    def settle(self) -> None:
        """Record all up to now."""
        ...


def side_by_side(pieces: Sequence[Piece]) -> Iterator[tuple[Ticks, Ticks, dict[Ring, float]]]:
    """Cut pieces that overlap wherever one begins or ends; give what each ring carries between."""
    waiting = sorted(pieces, key=lambda piece: piece[0], reverse=True)
    times = sorted({time for start, end, _, _ in pieces for time in (start, end)})
    under_way: list[Piece] = []
    for begun, stop in pairwise([*times, NEVER]):
        under_way = [piece for piece in under_way if piece[1] > begun]
        at_once: dict[Ring, float] = {}
        while waiting and waiting[-1][0] <= begun:
            piece = waiting.pop()
            if piece[0] == piece[1]:
                at_once[piece[3]] = at_once.get(piece[3], 0.0) + piece[2]
            else:
                under_way.append(piece)
        if at_once:
            yield begun, begun, at_once
        carried: dict[Ring, float] = {}
        for start, end, bits, ring in under_way:
            carried[ring] = carried.get(ring, 0.0) + bits * (stop - begun) / (end - start)
        if carried:
            yield begun, stop, carried


class _Group:
    """Links that have carried the same so far, with what they carry of each ring's bits."""

    __slots__ = ("links", "load", "weights")

    def __init__(self, links: list[str], load: Load, weights: dict[Ring, float]) -> None:
        self.links = links
        self.load = load
        self.weights = weights


class Meter:
    """Bits on every link, recorded by the rings that cross it, in the order of time.

    `queues` know what they have sent only afterwards, and `flows` from one change to the next: what
    they send side by side is brought into order here. Links that always carry the same share one
    `Load`; they part when a ring crosses some of them only.
    """

    __slots__ = ("_bits", "_crossed", "_groups", "flows", "queues")

    def __init__(self) -> None:
        self.queues: list[Queue] = []
        self.flows: Flows | None = None
        self._bits: dict[Ring, float] = {}
        self._groups: list[_Group] = []
        self._crossed: dict[Ring, list[tuple[Load, float]]] = {}

    @property
    def bits(self) -> float:
        """Bits that the busiest link has carried in one direction."""
        return max((group.load.bits for group in self._groups), default=0.0)

    @property
    def peak(self) -> float:
        """Bits in the busiest second of the link that has the busiest."""
        return max((group.load.peak for group in self._groups), default=0.0)

    def record(self, start: Ticks, end: Ticks, bits: float, ring: Ring) -> None:
        """Record `bits` sent evenly from `start` to `end`, not before what was recorded last."""
        self._record(start, end, {ring: bits})

    def record_all(self, start: Ticks, end: Ticks, sent: Mapping[Ring, float]) -> None:
        """Record what flowed side by side from `start` to `end`, by the ring that it crossed, and
        what queues have sent by then.
        """
        pieces = [piece for queue in self.queues for piece in queue.take(end)]
        if not pieces:
            self._record(start, end, sent)
            return
        pieces += [(start, end, bits, ring) for ring, bits in sent.items()]
        for begun, stop, carried in side_by_side(pieces):
            self._record(begun, stop, carried)

    @property
    def mixed(self) -> bool:
        """Whether more than one may be sending now."""
        return len(self.queues) > 1 or (self.flows is not None and self.flows.flowing)

    def catch_up(self, until: Ticks) -> None:
        """Record all that was sent up to now, `until`."""
        if self.flows is not None:
            self.flows.settle()
        pieces = [piece for queue in self.queues for piece in queue.take(until)]
        for begun, stop, carried in side_by_side(pieces):
            self._record(begun, stop, carried)

    def _record(self, start: Ticks, end: Ticks, sent: Mapping[Ring, float]) -> None:
        carried: dict[Load, float] = {}
        for ring, bits in sent.items():
            self._count(ring, bits)
        for ring, bits in sent.items():
            for load, weight in self._loads_of(ring):
                carried[load] = carried.get(load, 0.0) + bits * weight
        for load, bits in carried.items():
            if bits > 0.0:
                load.record(start, end, bits)

    def record_bursts(self, bursts: Sequence[tuple[Ticks, float]], ring: Ring) -> None:
        """Record bits that were sent at one instant each (time, bits), in the order of time."""
        for _, bits in bursts:
            self._count(ring, bits)
        for load, weight in self._loads_of(ring):
            for time, bits in bursts:
                if bits > 0.0:
                    load.record(time, time, bits * weight)

    def repeat(
        self,
        stretches: Sequence[tuple[Ticks, Ticks, float]],
        period: Ticks,
        count: int,
        ring: Ring,
    ) -> None:
        """Record `count` periods, each with the same stretches (start, end, bits)."""
        self._count(ring, count * sum(bits for _, _, bits in stretches))
        for load, weight in self._loads_of(ring):
            part = [(start, end, bits * weight) for start, end, bits in stretches]
            load.repeat(part, period, count)

    def links(self, end: float, prices: Mapping[str, float]) -> list[LinkUse]:
        """Return what every link carried in a run of `end` seconds; prices in USD per bit."""
        uses = []
        for group in self._groups:
            recovery = sum(
                self._bits[ring] * weight for ring, weight in group.weights.items() if ring.recovery
            )
            load = group.load
            for name in group.links:
                link, direction = _named(name)
                uses.append(
                    LinkUse(
                        link=link,
                        direction=direction,
                        bytes=load.bits / 8,
                        recovery_bytes=recovery / 8,
                        mean_gbps=load.bits / end / GIGA if end > 0.0 else 0.0,
                        p99_gbps=min(load.quantile(_P99, end), load.peak) / GIGA,
                        peak_gbps=load.peak / GIGA,
                        usd=load.bits * prices.get(name, 0.0),
                    )
                )
        return sorted(uses, key=lambda use: (use["link"], use["direction"]))

    def _count(self, ring: Ring, bits: float) -> None:
        if ring not in self._bits:
            self._bits[ring] = 0.0
            self._admit(ring)
        self._bits[ring] += bits

    def _loads_of(self, ring: Ring) -> list[tuple[Load, float]]:
        """Return the loads that a ring adds to, and what of its bits each carries."""
        loads = self._crossed.get(ring)
        if loads is None:
            loads = self._crossed[ring] = [
                (group.load, group.weights[ring]) for group in self._groups if ring in group.weights
            ]
        return loads

    def _admit(self, ring: Ring) -> None:
        """Let links that are to carry different shares of a new ring part."""
        share = dict(zip(ring.links, ring.loads, strict=True))
        groups: list[_Group] = []
        for group in self._groups:
            parts: dict[float, list[str]] = {}
            for link in group.links:
                parts.setdefault(share.pop(link, 0.0), []).append(link)
            for turn, (weight, links) in enumerate(parts.items()):
                load = group.load.copy() if turn else group.load
                groups.append(_Group(links, load, _with(group.weights, ring, weight)))
        fresh: dict[float, list[str]] = {}
        for link, weight in share.items():
            fresh.setdefault(weight, []).append(link)
        groups += [_Group(links, Load(), {ring: weight}) for weight, links in fresh.items()]
        self._groups = groups
        self._crossed.clear()


def _with(weights: dict[Ring, float], ring: Ring, weight: float) -> dict[Ring, float]:
    return {**weights, ring: weight} if weight > 0.0 else dict(weights)


def _named(name: str) -> tuple[str, str]:
    """Return a link's own name and its direction."""
    if name.startswith(("up:", "down:")):
        direction, _, region = name.partition(":")
        return region, direction
    here, _, there = name.partition(">")
    return "-".join(sorted((here, there))), there
