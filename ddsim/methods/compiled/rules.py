"""Where compiled slots may take the place of events, and pay."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from ddsim.engine.fragments import due_fragments, fragment_sizes
from ddsim.engine.saves import saves_of
from ddsim.world.replica_faults import replica_losses

if TYPE_CHECKING:
    from ddsim.engine.run import Run

# Fewer steps of learners than these are done before numba is loaded.
LEAST_STEPS = 20_000.0
# Answers to slots for which there is room, at most.
MOST_ANSWERS = 1_000_000


def suits(run: Run) -> bool:
    """Whether a run of Decoupled DiLoCo may be left to compiled slots, and is long enough.

    It knows equal fragments, merges among replicas that take no compute, settings that nobody
    changes, saves that cost nothing, and exchanges that no timeout breaks off.
    """
    training = run.scenario.training
    steps = sum(run.horizon / pace.nominal for pace in run.paces)
    return (
        run.counted
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
        and _nothing_is_copied(run)
        and _room(run)
    )


def _room(run: Run) -> bool:
    """Whether what may be under way at once fits into memory."""
    training = run.scenario.training
    each = max(map(len, due_fragments(training.inner_steps, training.fragments).values()))
    return rows_of(run) * len(run.paces) * each <= MOST_ANSWERS


def _saves_are_free(run: Run) -> bool:
    saves = saves_of(run.scenario, 1.0)
    return saves.none or saves.free


def _links_suffice(run: Run) -> bool:
    """Whether a slot alone on the link always passes within the timeout: then nobody leaves."""
    timeout = run.scenario.network.ring_timeout
    ring = run.network.ring([unit.region for unit in run.cluster.units])
    model, training = run.scenario.model, run.scenario.training
    most = max(map(len, due_fragments(training.inner_steps, training.fragments).values()))
    bits = most * ring.bits(training.payload_bits * model.parameters / training.fragments)
    slowest = min(ring.rate.values)
    return timeout == inf or bits == 0.0 or (slowest > 0.0 and bits / slowest <= timeout)


def _nothing_is_copied(run: Run) -> bool:
    """Whether no unit can be lost whole, or what it needs then comes in no time."""
    scenario, units = run.scenario, run.cluster.units
    copied = scenario.restart.moment_bits > 0.0 and not run.network.unlimited
    if not copied or len({unit.region for unit in units}) < 2:
        return True
    whole = any(cause.domain in ("unit", "region") for cause in scenario.failures.causes)
    names = {unit.name for unit in units}
    planned = any(entry.fault == "kill" and entry.target in names for entry in scenario.chaos)
    leave = bool(scenario.scavenging) or scenario.trace.file is not None
    return not (whole or planned or leave or any(unit.slice_count == 1 for unit in units))


def rows_of(run: Run) -> int:
    """Return for how many slots there is room, from the oldest that is under way on.

    A learner waits tau steps after an answer for its update; one that steps on without a quorum
    may get far ahead.
    """
    training = run.scenario.training
    rows = max(256, 4 * training.overlap_steps + 2 * training.inner_steps)
    return rows * (16 if training.below_quorum == "step_on" else 1)
