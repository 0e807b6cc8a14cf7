"""The wide-area network: what each region can send and receive, and how that changes."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

from ddsim.world.timeline import Timeline, lowest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ddsim.scenario import Scenario


@dataclass(frozen=True, slots=True)
class Ring:
    """A ring all-reduce among `members` units that stand in `regions`.

    Its traffic crosses every region's access once in each direction, so that it runs at the pace
    of the slowest, `rate` in bit/s. `latency` is what its 2 (members - 1) phases cost in seconds.
    Units of one region are neighbours in the ring and use no wide-area link between them.
    """

    members: int
    regions: tuple[str, ...]
    links: tuple[str, ...]
    rate: Timeline
    latency: float

    @property
    def crosses(self) -> bool:
        """Whether the ring crosses the wide-area network at all."""
        return len(self.regions) > 1

    def bits(self, payload: float) -> float:
        """Bits on every hop for a payload in bits: 2 (M - 1) / M of it."""
        return 2 * (self.members - 1) / self.members * payload if self.crosses else 0.0


class Network:
    """Directed links between regions as the scenario describes them, faults of its plan included.

    `lines` maps every link's name to its rate over time: what a transfer really gets, in bit/s,
    which is nominal bandwidth times efficiency. `up:R` and `down:R` are the access of region R.
    """

    def __init__(self, scenario: Scenario) -> None:
        network = scenario.network
        self._latency = network.latency
        self._efficiency = network.efficiency
        self._regions = scenario.regions()
        self._faults = [entry for entry in scenario.chaos if entry.fault in ("cut", "throttle")]
        self._link_latency: dict[str, float] = {}
        self.lines: dict[str, Timeline] = {}
        for name, region in self._regions.items():
            self.lines[f"up:{name}"] = self._line(region.upload, (name,))
            self.lines[f"down:{name}"] = self._line(region.download, (name,))
        for link in network.links:
            here, there = link.between
            latency = network.latency if link.latency is None else link.latency
            line = self._line(link.bandwidth, (f"{here}-{there}", f"{there}-{here}"))
            for name in (f"{here}>{there}", f"{there}>{here}"):
                self.lines[name] = line
                self._link_latency[name] = latency

    def ring(self, regions_of_members: Sequence[str]) -> Ring:
        """Return the ring among units that stand in the given regions, one entry a unit."""
        regions = tuple(dict.fromkeys(regions_of_members))
        members = len(regions_of_members)
        if len(regions) < 2:
            return Ring(members, regions, (), Timeline.constant(inf), 0.0)
        links: list[str] = []
        latency = 0.0
        for here, there in zip(regions, (*regions[1:], regions[0]), strict=True):
            links += [f"up:{here}", f"down:{there}"]
            direct = f"{here}>{there}"
            if direct in self.lines:
                links.append(direct)
                latency = max(latency, self._link_latency[direct])
            else:
                latency = max(latency, self._access_latency(here), self._access_latency(there))
        rate = lowest(self.lines[link] for link in links)
        return Ring(members, regions, tuple(links), rate, 2 * (members - 1) * latency)

    def _access_latency(self, region: str) -> float:
        own = self._regions[region].latency
        return self._latency if own is None else own

    def _line(self, bandwidth: float, targets: tuple[str, ...]) -> Timeline:
        """Return the rate of one direction: the lowest of what the faults leave at each time."""
        rate = bandwidth * self._efficiency
        lines = [Timeline.constant(rate)]
        for fault in self._faults:
            if fault.target not in targets:
                continue
            left = 0.0 if fault.to is None else min(rate, fault.to * self._efficiency)
            times, values = (-inf, fault.at, fault.at + fault.duration), (rate, left, rate)
            healed = times[-1] < inf
            lines.append(Timeline(times, values) if healed else Timeline(times[:2], values[:2]))
        return lowest(lines)
