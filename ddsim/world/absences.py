"""Hardware that is out of the job by plan: maintenance windows, and what joins and leaves."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from heapq import merge
from itertools import count
from math import inf
from operator import attrgetter
from typing import TYPE_CHECKING

from ddsim.world.instants import NEVER, Ticks, later, ticks
from ddsim.world.stalls import detection_time
from ddsim.world.strike import Strike

if TYPE_CHECKING:
    from ddsim.scenario import Scenario
    from ddsim.world.cluster import Cluster

_TARGET = re.compile(r"(?P<unit>.+?)(?:/slice (?P<first>\d+)(?:-(?P<last>\d+))?)?")

Span = tuple[Ticks, Ticks]
"""From when until when something is out."""


def planned_absences(scenario: Scenario, cluster: Cluster) -> Iterator[Strike]:
    """Yield maintenance and scavenging as strikes in the order of time, up to the end of the run.

    What leaves by maintenance has saved in time; what is scavenged leaves with the notice given.
    An absence that begins in another is part of that one.
    """
    streams = [
        _maintenance(scenario, cluster, index)
        for index in range(len(scenario.failures.maintenance))
    ]
    streams += [_scavenged(scenario, cluster, index) for index in range(len(scenario.scavenging))]
    return merge(*streams, key=attrgetter("time"))


def _maintenance(scenario: Scenario, cluster: Cluster, index: int) -> Iterator[Strike]:
    window = scenario.failures.maintenance[index]
    unit, slices = slices_of(window.target, cluster)
    for begin in _beginnings(window.at, window.every, scenario.duration):
        span = begin, later(begin, ticks(window.duration))
        yield absence(scenario, unit, slices, span, "maintenance", inf)


def _scavenged(scenario: Scenario, cluster: Cluster, index: int) -> Iterator[Strike]:
    item = scenario.scavenging[index]
    unit, slices = slices_of(item.target, cluster)
    stay = ticks(item.leaves) - ticks(item.joins)
    out = 0
    for joins in _beginnings(item.joins, item.every, scenario.duration):
        if joins > out:
            yield absence(scenario, unit, slices, (out, joins), "scavenging", item.notice)
        out = later(joins, stay)
    if out < ticks(scenario.duration):
        yield absence(scenario, unit, slices, (out, NEVER), "scavenging", item.notice)


def _beginnings(first: float, every: float | None, end: float) -> Iterator[Ticks]:
    """When something that comes again begins; once more after the end, where a stay may end."""
    if every is None:
        yield ticks(first)
        return
    for begin in count(ticks(first), ticks(every)):
        yield begin
        if begin >= ticks(end):
            return


def slices_of(target: str, cluster: Cluster) -> tuple[int, Sequence[int]]:
    """Return the unit and the slices that a target names."""
    match = _TARGET.fullmatch(target)
    assert match is not None
    unit = cluster.unit_named(match["unit"])
    if match["first"] is None:
        return unit.index, range(unit.slice_count)
    first = int(match["first"])
    return unit.index, range(first, int(match["last"] or first) + 1)


def absence(
    scenario: Scenario, unit: int, slices: Sequence[int], span: Span, cause: str, notice: float
) -> Strike:
    """Return the strike that takes slices out of the job for a time.

    The notice shortens its detection, and spares the state where it is long enough for a save.
    """
    start, end = span
    detection = min(max(0, ticks(detection_time(scenario)) - ticks(notice)), end - start)
    return Strike(
        start,
        unit,
        slices,
        detection,
        NEVER if end == NEVER else end - start - detection,
        cause,
        "unit" if len(slices) == 0 else "slice",
        state_lost=start > 0 and (notice == 0.0 or notice < scenario.checkpoint.save),
        unallocated=True,
        planned=cause != "preemption",
    )
