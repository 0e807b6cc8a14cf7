"""Corruptions of state that nobody has noticed yet: who is corrupt, from when on."""

from __future__ import annotations

from heapq import merge
from math import inf
from typing import TYPE_CHECKING

from ddsim.world.causes import cause_strikes, loses_state
from ddsim.world.domains import DOMAINS
from ddsim.world.instants import Ticks, ticks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ddsim.scenario import Scenario
    from ddsim.scenario.failures import Cause
    from ddsim.world.cluster import Cluster
    from ddsim.world.strike import Strike


def corrupting(scenario: Scenario, *, screened: bool) -> list[tuple[int, Cause]]:
    """Return the causes that corrupt state before they are noticed, with their numbers.

    Those whose corruption is screened are among them where `screened` says so.
    """
    if scenario.chaos_only:
        return []
    return [
        (number, cause)
        for number, cause in enumerate(scenario.failures.causes)
        if cause.latent > 0.0
        and cause.slow_to is None
        and cause.domain in DOMAINS
        and loses_state(cause, scenario)
        and (screened or not cause.screened)
    ]


def longest_latent(scenario: Scenario) -> Ticks:
    """Return for how long a corruption that spreads stays unnoticed, at the longest."""
    causes = corrupting(scenario, screened=False)
    return max((ticks(cause.latent) for _, cause in causes), default=0)


def corruptions(
    scenario: Scenario, cluster: Cluster, replication: int, *, screened: bool
) -> Iterator[Strike]:
    """Yield the strikes of a history that had corrupted state, in the order in which they did."""
    sources = [
        cause_strikes(cause, number, scenario, cluster, replication)
        for number, cause in corrupting(scenario, screened=screened)
    ]
    yield from merge(*sources, key=lambda strike: strike.since or 0)


def found_too_late(scenario: Scenario, *, screened: bool) -> list[Cause]:
    """Return the causes whose corruption is found when no save from before it is left."""
    policy, step = scenario.checkpoint.policy, scenario.training.step_time
    least = {"none": 0.0, "in_memory": step or 0.0}.get(policy, inf)
    return [cause for _, cause in corrupting(scenario, screened=screened) if cause.latent > least]
