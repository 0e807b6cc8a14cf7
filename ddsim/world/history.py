"""Failure histories, drawn before and apart from the method that will meet them."""

from __future__ import annotations

from heapq import merge
from operator import attrgetter
from typing import TYPE_CHECKING

import numpy as np

from ddsim.world.absences import planned_absences
from ddsim.world.causes import cause_strikes
from ddsim.world.chaos import planned_strikes
from ddsim.world.distributions import from_spec
from ddsim.world.domains import DOMAINS
from ddsim.world.instants import all_ticks
from ddsim.world.replay import replayed
from ddsim.world.stalls import detections
from ddsim.world.streams import stream
from ddsim.world.strike import Strike

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ddsim.scenario import Scenario
    from ddsim.world.cluster import Cluster

BLOCK = 4096


class FailureHistory:
    """The strikes of one replication in the order of time, drawn in blocks as they are asked for.

    Under `failures.chip_mtbi` chips fail independently at a constant rate, so that all of them
    together are one Poisson process whose strikes fall on a chip picked evenly; a chip takes its
    slice down. Under `failures.causes` every cause is drawn on its own. Strikes on what is
    already down are in the history too: what meets them ignores them. Every method reads the same
    history, however far it gets.
    """

    def __init__(self, scenario: Scenario, cluster: Cluster, replication: int = 0) -> None:
        self._strikes: list[Strike] = []
        sources: list[Iterable[Strike]] = [
            planned_absences(scenario, cluster),
            replayed(scenario, cluster, replication),
            planned_strikes(scenario, cluster, replication),
        ]
        if not scenario.chaos_only:
            sources.append(_drawn(scenario, cluster, replication))
            sources += [
                cause_strikes(cause, number, scenario, cluster, replication)
                for number, cause in enumerate(scenario.failures.causes)
                if cause.domain in DOMAINS
            ]
        self._source = merge(*sources, key=attrgetter("time"))

    def __iter__(self) -> Iterator[Strike]:
        """Yield the strikes from the first on, without end where chips can fail."""
        index = 0
        strikes = self._strikes
        while True:
            if index == len(strikes):
                following = next(self._source, None)
                if following is None:
                    return
                strikes.append(following)
            yield strikes[index]
            index += 1


def _drawn(scenario: Scenario, cluster: Cluster, replication: int) -> Iterator[Strike]:
    rate = cluster.chips / scenario.failures.chip_mtbi
    if rate == 0.0:
        return
    detected = detections(scenario, "chip", replication)
    repair = from_spec(scenario.failures.repair.kind, scenario.failures.repair.params)
    times = stream(scenario.seed, "failures", "time", replication)
    places = stream(scenario.seed, "failures", "place", replication)
    repairs = stream(scenario.seed, "failures", "repair", replication)
    edges = np.cumsum([unit.chips for unit in cluster.units])
    starts = edges - [unit.chips for unit in cluster.units]
    sizes = np.array([unit.slice_size for unit in cluster.units])
    now = 0.0
    while True:
        gaps = times.exponential(1.0 / rate, BLOCK)
        gaps[0] += now
        instants = np.cumsum(gaps)
        now = float(instants[-1])
        chips = places.integers(cluster.chips, size=BLOCK)
        units = np.searchsorted(edges, chips, side="right")
        hit = (chips - starts[units]) // sizes[units]
        drawn = [
            all_ticks(instants),
            units.tolist(),
            hit.tolist(),
            all_ticks(repair.sample(repairs, BLOCK)),
        ]
        for time, unit, index, duration in zip(*drawn, strict=True):
            yield Strike(time, unit, (index,), detected(), duration, "chip", "chip")
