"""The chaos plan: faults that the scenario sets for given times, and what heals them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ddsim.world.instants import ticks
from ddsim.world.stalls import detections
from ddsim.world.strike import Strike

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ddsim.scenario import Scenario
    from ddsim.world.cluster import Cluster

_TARGET = re.compile(r"(?P<unit>.+?)(?:/(?P<part>slice|chip) (?P<number>\d+))?")


def planned_strikes(scenario: Scenario, cluster: Cluster, replication: int) -> Iterable[Strike]:
    """Return the plan's `kill` and `slow` entries as strikes in the order of time.

    What was killed is back `for` seconds after `at`; where that is before the failure is even
    detected, it is back when it is detected.
    """
    return sorted(_strikes(scenario, cluster, replication), key=lambda strike: strike.time)


def _strikes(scenario: Scenario, cluster: Cluster, replication: int) -> Iterator[Strike]:
    detected = detections(scenario, "chaos", replication)
    for entry in scenario.chaos:
        if entry.fault not in ("kill", "slow"):
            continue
        match = _TARGET.fullmatch(entry.target)
        assert match is not None
        unit = cluster.unit_named(match["unit"])
        slices: Sequence[int] = range(unit.slice_count)
        if match["part"] == "slice":
            slices = (int(match["number"]),)
        elif match["part"] == "chip":
            slices = (int(match["number"]) // unit.slice_size,)
        begin, length = ticks(entry.at), ticks(entry.duration)
        detection = detected()
        repair = max(0, length - detection)
        domain = match["part"] or "unit"
        strike = Strike(begin, unit.index, slices, detection, repair, "chaos", domain)
        if entry.fault == "slow":
            assert entry.to is not None
            strike = strike._replace(detection=0, repair=length, slow_to=entry.to)
        yield strike
