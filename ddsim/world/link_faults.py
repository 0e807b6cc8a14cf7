"""Failures of links, drawn up to the end of the run: what a link has left at each time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ddsim.world.causes import detections_of, part_failures
from ddsim.world.instants import NEVER, Ticks, later, ticks
from ddsim.world.timeline import Timeline

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ddsim.scenario import Scenario


@dataclass(frozen=True, slots=True)
class Outages:
    """Times, in order and apart, at which a link has at most `left` bit/s, None for nothing.

    `target` is a region, whose access it is, or `A-B` for a link between two.
    """

    target: str
    spans: tuple[tuple[Ticks, Ticks], ...]
    left: float | None = None

    def line(self, rate: float, efficiency: float) -> Timeline:
        """Return what is left of a link of that rate over time, in bit/s."""
        left = 0.0 if self.left is None else min(rate, self.left * efficiency)
        times, values = [-NEVER], [rate]
        for start, end in self.spans:
            times += [start, end] if end < NEVER else [start]
            values += [left, rate] if end < NEVER else [left]
        return Timeline(tuple(times), tuple(values))


def link_outages(scenario: Scenario, replication: int) -> list[Outages]:
    """Draw what the causes of domain `link` do, the same for every method."""
    links = [f"{link.between[0]}-{link.between[1]}" for link in scenario.network.links]
    found: list[Outages] = []
    for cause in scenario.failures.causes:
        if cause.domain != "link" or scenario.chaos_only:
            continue
        targets = links or list(scenario.regions())
        spans: list[list[tuple[Ticks, Ticks]]] = [[] for _ in targets]
        detected = detections_of(cause, scenario, replication)
        horizon = ticks(scenario.duration)
        for failure in part_failures(cause, len(targets), scenario, replication):
            if failure.time >= horizon:
                break
            end = later(failure.time, detected() + failure.repair)
            spans[failure.part].append((failure.time, end))
        found += [
            Outages(target, tuple(_joined(own)), cause.to)
            for target, own in zip(targets, spans, strict=True)
            if own
        ]
    return found


def _joined(spans: Iterable[tuple[Ticks, Ticks]]) -> Sequence[tuple[Ticks, Ticks]]:
    """Spans in the order of their starts with those that touch made one."""
    joined: list[tuple[Ticks, Ticks]] = []
    for start, end in spans:
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined
