"""The failure histories of one replication, shared by all that meet the same world."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ddsim.world import cluster as clusters
from ddsim.world.history import FailureHistory

if TYPE_CHECKING:
    from ddsim.scenario import Scenario


class Histories:
    """The failure histories of one replication: methods that meet the same world share one."""

    def __init__(self, replication: int) -> None:
        self._replication = replication
        self._drawn: list[tuple[Scenario, clusters.Cluster, FailureHistory]] = []

    def of(self, scenario: Scenario) -> tuple[clusters.Cluster, FailureHistory]:
        """Return the cluster that the scenario describes, and what befalls it."""
        for other, cluster, history in self._drawn:
            if _same_world(scenario, other):
                return cluster, history
        cluster = clusters.build(scenario)
        history = FailureHistory(scenario, cluster, self._replication)
        self._drawn.append((scenario, cluster, history))
        return cluster, history


def _same_world(one: Scenario, other: Scenario) -> bool:
    parts = [
        "seed",
        "cluster",
        "failures",
        "chaos",
        "chaos_only",
        "training",
        "restart",
        "scavenging",
        "trace",
    ]
    if one.warned:  # what a warning spares depends on how long a save takes
        parts.append("checkpoint")
    return all(getattr(one, part) == getattr(other, part) for part in parts)
