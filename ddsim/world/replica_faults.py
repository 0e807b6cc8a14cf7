"""Losses of the syncer's hosts, planned and drawn: whose replica is gone, and for how long."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ddsim.world.causes import detections_of, part_failures
from ddsim.world.instants import Ticks, later, ticks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ddsim.scenario import Scenario
    from ddsim.scenario.failures import Cause
    from ddsim.world.cluster import Cluster


class ReplicaLoss(NamedTuple):
    """The replicas beside these units are lost, and with a region a syncer that stands there."""

    time: Ticks
    end: Ticks
    units: tuple[int, ...]
    region: str | None


def replica_losses(scenario: Scenario, cluster: Cluster, replication: int) -> list[ReplicaLoss]:
    """Return what is planned and what the causes of domain `replica` do, the same every time."""
    losses = list(_planned(scenario, cluster))
    if not scenario.chaos_only:
        for cause in scenario.failures.causes:
            if cause.domain == "replica":
                losses += _drawn(cause, scenario, cluster, replication)
    return losses


def _drawn(
    cause: Cause, scenario: Scenario, cluster: Cluster, replication: int
) -> Iterator[ReplicaLoss]:
    """Yield the losses of one cause: a host beside each unit, and that of a central syncer."""
    units = len(cluster.units)
    central = scenario.training.syncer == "central"
    server = scenario.network.server or next(iter(scenario.regions()), None)
    detected = detections_of(cause, scenario, replication)
    horizon = ticks(scenario.duration)
    for failure in part_failures(cause, units + central, scenario, replication):
        if failure.time >= horizon:
            return
        end = later(failure.time, detected() + failure.repair)
        if failure.part < units:
            yield ReplicaLoss(failure.time, end, (failure.part,), None)
        else:
            yield ReplicaLoss(failure.time, end, (), server)


def _planned(scenario: Scenario, cluster: Cluster) -> Iterator[ReplicaLoss]:
    """Yield the plan's `lose_replica` entries; a name that is a region's means the region."""
    for entry in scenario.chaos:
        if entry.fault != "lose_replica":
            continue
        region = entry.target if entry.target in scenario.regions() else None
        named = [unit.name if region is None else unit.region for unit in cluster.units]
        units = tuple(index for index, name in enumerate(named) if name == entry.target)
        begin = ticks(entry.at)
        yield ReplicaLoss(begin, later(begin, ticks(entry.duration)), units, region)
