"""Planned losses of the syncer's hosts: whose replica is gone, from when until when."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ddsim.scenario import Scenario
    from ddsim.world.cluster import Cluster


class ReplicaLoss(NamedTuple):
    """The replicas beside these units are lost, and with a region a syncer that stands there."""

    time: float
    end: float
    units: tuple[int, ...]
    region: str | None


def planned_losses(scenario: Scenario, cluster: Cluster) -> Iterator[ReplicaLoss]:
    """Yield the plan's `lose_replica` entries; a name that is a region's means the region."""
    for entry in scenario.chaos:
        if entry.fault != "lose_replica":
            continue
        region = entry.target if entry.target in scenario.regions() else None
        named = [unit.name if region is None else unit.region for unit in cluster.units]
        units = tuple(index for index, name in enumerate(named) if name == entry.target)
        yield ReplicaLoss(entry.at, entry.at + entry.duration, units, region)
