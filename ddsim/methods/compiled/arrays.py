"""The arrays of compiled slots as they are at the start of a run."""

from __future__ import annotations

from math import inf, nan
from typing import TYPE_CHECKING, Any

import numpy as np

from ddsim.engine.fragments import Schedule
from ddsim.engine.recorder import RECORDED_MERGES
from ddsim.methods.compiled import kernel as k
from ddsim.methods.compiled import rules

if TYPE_CHECKING:
    from ddsim.engine.run import Run
    from ddsim.methods.compiled.kernel import Arrays, Ints
    from ddsim.world.ring import Ring

MARGIN = 8192  # what a buffer holds beyond the most that one instant can bring
TALLIED = 1 << 14
DRAWN_AT_ONCE = 4096


def begin(run: Run, ring: Ring) -> Arrays:
    """Return the state at time 0: all fragments received, every learner at its first step."""
    training = run.scenario.training
    count, fragments, period = len(run.paces), training.fragments, training.inner_steps
    due_from, due, gap = _turns(period, fragments)
    each = int(np.diff(due_from).max())
    rows = rules.rows_of(run)

    def ints(*shape: int) -> Any:
        return np.zeros(shape, np.int64)

    def floats(*shape: int) -> Any:
        return np.zeros(shape)

    clock = floats(k.CLOCK_COLUMNS)
    clock[[k.QUORUM_TIME, k.SYNC_TIME]] = nan
    clock[[k.FLOW_END, k.CLOSEST]] = inf
    clock[k.RING_RATE] = ring.rate.at(0.0)
    clock[k.LATENCY] = ring.latency
    clock[k.BITS] = ring.bits(training.payload_bits * run.scenario.model.parameters / fragments)
    clock[k.GAMMA] = training.grace
    clock[k.LEAST_WAIT] = run.recorder.least_wait
    number = ints(k.NUMBER_COLUMNS)
    number[k.QUORUM] = training.quorum
    number[k.TAU] = training.overlap_steps
    number[k.AT_TAU] = training.apply == "at_tau"
    number[k.STEP_ON] = training.below_quorum == "step_on"
    number[k.CROSSES] = ring.crosses
    number[k.NEXT_SLOT] = number[k.OLDEST] = gap[0]
    number[k.LIVE] = number[k.AWAKE] = count
    number[k.PAUSE_AT] = k.NEVER
    number[k.NOTES] = min(RECORDED_MERGES, _slots(run) + 1) if run.recorder.keep else 0
    pace = floats(count, k.PACE_COLUMNS)
    pace[:, k.ENDS] = inf
    pace[:, k.RATE] = 1.0
    pace[:, k.NOMINAL] = [each.nominal for each in run.paces]
    pace[:, k.AVERAGE] = nan
    learner = ints(count, k.LEARNER_COLUMNS)
    learner[:, [k.RUNS, k.IS_LIVE, k.WAKES]] = 1
    even = [each.even for each in run.paces]
    learner[:, k.UNEVEN] = [not same for same in even]
    learner[:, k.DRAWN] = -DRAWN_AT_ONCE
    present = floats(2, 4)
    present[:, k.P_GONE] = inf
    return k.Arrays(
        clock=clock,
        number=number,
        pace=pace,
        learner=learner,
        spent=floats(count, 3),
        received=ints(count, fragments),
        tokens=floats(count, fragments),
        bases=ints(count, fragments),
        queue=ints(count, rows, 3),
        draws=floats(count, 1 if all(even) else DRAWN_AT_ONCE),
        slot=ints(rows, k.SLOT_COLUMNS),
        times=floats(rows, k.TIME_COLUMNS),
        answered=ints(rows, count),
        carried=ints(rows, count, each),
        brought=floats(rows, count, each),
        based=ints(rows, count, each),
        due_from=due_from,
        due=due,
        gap=gap,
        present=present,
        presence=ints(2, 2),
        merged_in=ints(fragments),
        arrived_at=floats(fragments),
        lags=ints(TALLIED),
        steps=ints(TALLIED),
        spill=ints(2 * rows * count * each + MARGIN, 2),
        ages=floats(rows * each + MARGIN),
        tokens_in=floats(rows + MARGIN),
        waits=floats(2 * count + MARGIN, 5),
        sent=floats(2 * rows + MARGIN, 3),
        notes=floats(int(number[k.NOTES]), 3),
        weights=floats(int(number[k.NOTES]), count),
    )


def _turns(period: int, fragments: int) -> tuple[Ints, Ints, Ints]:
    """Return where each residue's fragments begin, the fragments, and the way to the next slot."""
    schedule = Schedule(period, fragments)
    due_from = np.zeros(period + 1, np.int64)
    due: list[int] = []
    for residue in range(period):
        due += schedule.at(residue)
        due_from[residue + 1] = len(due)
    gap = [schedule.following(residue) - residue for residue in range(period)]
    return due_from, np.array(due, np.int64), np.array(gap, np.int64)


def _slots(run: Run) -> int:
    """Return how many slots a run has, at most."""
    fastest = min(each.nominal for each in run.paces)
    return int(10.0 * run.horizon / fastest)
