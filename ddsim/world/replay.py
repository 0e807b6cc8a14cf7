"""A trace of nodes that came and went, replayed on the slices of a cluster."""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from operator import itemgetter
from typing import TYPE_CHECKING

from ddsim.world.absences import absence
from ddsim.world.instants import NEVER, Ticks, ticks
from ddsim.world.streams import stream

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ddsim.scenario import Scenario
    from ddsim.world.cluster import Cluster
    from ddsim.world.strike import Strike

CAUSE = "preemption"


def replayed(scenario: Scenario, cluster: Cluster, replication: int = 0) -> Iterator[Strike]:
    """Yield what a scenario's trace takes out of the job, in the order of time.

    At every time round(nodes / most nodes x slices) slices are in the job.
    """
    if scenario.trace.file is None:
        return
    places = [(unit.index, index) for unit in cluster.units for index in range(unit.slice_count)]
    if not _leave(scenario.trace.file.counts, len(places)):
        return
    rng = stream(scenario.seed, "trace", replication)
    here = [int(item) for item in rng.permutation(len(places))]
    out: deque[tuple[int, Ticks]] = deque()
    found: list[tuple[Ticks, int, int, Ticks]] = []
    for at, share in levels(scenario):
        time = ticks(at)
        wanted = round(share * len(places))
        while len(here) > wanted:
            chosen = int(rng.integers(len(here)))
            here[chosen], here[-1] = here[-1], here[chosen]
            out.append((here.pop(), time))
        while len(here) < wanted:
            place, since = out.popleft()
            if time > since:
                found.append((since, *places[place], time))
            here.append(place)
        upto = out[0][1] if out else time  # who left before that is back: the first is the first
        known = bisect_left(found, upto, key=itemgetter(0))
        yield from _grouped(scenario, found[:known])
        del found[:known]
    found += [(since, *places[place], NEVER) for place, since in out]
    yield from _grouped(scenario, found)


def _leave(counts: Sequence[int], slices: int) -> bool:
    """Whether so many nodes, one after the other, ever take one of so many slices out."""
    return not counts or round(min(counts) / max(counts) * slices) < slices


def _grouped(scenario: Scenario, found: list[tuple[Ticks, int, int, Ticks]]) -> Iterator[Strike]:
    """What leaves a unit at one instant and joins at one instant is one absence."""
    groups: dict[tuple[Ticks, int, Ticks], list[int]] = {}
    for since, unit, index, until in found:
        groups.setdefault((since, unit, until), []).append(index)
    for since, unit, until in sorted(groups):
        slices = sorted(groups[since, unit, until])
        yield absence(scenario, unit, slices, (since, until), CAUSE, scenario.trace.notice)


def levels(scenario: Scenario) -> Iterator[tuple[float, float]]:
    """Yield when (s) the share of nodes that are there changes, and the share from then on."""
    trace = scenario.trace.file
    if trace is None or not trace.counts:
        raise ValueError("no trace of nodes was read: ddsim.load reads what a scenario names")
    most = max(trace.counts)
    turn = 0.0
    while True:
        for time, nodes in zip(trace.times, trace.counts, strict=True):
            if turn + time >= scenario.duration:
                return
            yield turn + time, nodes / most
        turn += trace.end
        if not scenario.trace.repeat or trace.end <= 0.0 or turn >= scenario.duration:
            return
