"""Where the recurrence may take the place of events, and pays."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from ddsim.engine.fragments import fragment_sizes
from ddsim.engine.saves import saves_of
from ddsim.world.replica_faults import replica_losses

if TYPE_CHECKING:
    from ddsim.engine.run import Run

# Fewer steps of learners than these are done before numba is loaded.
LEAST_STEPS = 50_000.0


def suits(run: Run) -> bool:
    """Whether a run of Decoupled DiLoCo may be left to the recurrence, and is long enough.

    It knows equal fragments, merges among replicas that take no compute, settings that nobody
    changes, saves that cost nothing, and exchanges that no timeout breaks off.
    """
    training = run.scenario.training
    steps = sum(run.horizon / pace.nominal for pace in run.paces)
    return (
        run.counted
        and run.recurrent
        and run.tape is None
        and LEAST_STEPS <= steps < inf
        and run.token_goal == inf
        and training.policy == "fixed"
        and training.syncer == "replicas"
        and training.syncer_time == 0.0
        and len(set(fragment_sizes(run.scenario))) == 1
        and _saves_are_free(run)
        and not replica_losses(run.scenario, run.cluster, run.replication)
        and _links_suffice(run)
    )


def _saves_are_free(run: Run) -> bool:
    saves = saves_of(run.scenario, 1.0)
    return saves.none or saves.free


def _links_suffice(run: Run) -> bool:
    """Whether a fragment alone on the link always passes within the timeout."""
    timeout = run.scenario.network.ring_timeout
    ring = run.network.ring([unit.region for unit in run.cluster.units])
    model, training = run.scenario.model, run.scenario.training
    bits = ring.bits(training.payload_bits * model.parameters / training.fragments)
    slowest = min(ring.rate.values)
    return timeout == inf or bits == 0.0 or (slowest > 0.0 and bits / slowest <= timeout)
