"""The pace of a run once its start is forgotten, for many bandwidths at once."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ddsim.bandwidth.schedule import Schedule

FloatArray = NDArray[np.float64]

# Cycles after which a bandwidth is given up on settling.
_MOST_CYCLES = 60
# Longest regime that is looked for, in cycles.
_MOST_CYCLES_ALIKE = 24
# Cycles without rest after which a link is taken to be the bottleneck, once as many have passed.
_BUSY_CYCLES = 10


class SteppedRun(Protocol):
    """A run that goes on step by step; arrays are over bandwidths, times in seconds."""

    now: FloatArray

    def advance(self) -> None:
        """Run one step."""

    def state(self) -> FloatArray:
        """All that the steps to come depend on, as seconds; columns are bandwidths."""

    def backlog(self) -> FloatArray:
        """Work that the link has before it."""


def long_run_cycle(
    run: SteppedRun, plan: Schedule, rate: FloatArray, step_time: float
) -> FloatArray:
    """Wall-clock of one cycle of the plan in the long run.

    A max-plus system settles into a periodic regime, here of one or a few cycles of the plan: a
    bandwidth has settled when its state after a cycle is one that it was in before, or when its
    link is overloaded and does not rest. What has not settled in time is near a border, with a
    backlog that grows slowly, or shares the link without ever repeating itself: there the slope of
    the later half is taken. The link's own load bounds every cycle from below.
    """
    load = plan.bits_per_cycle() / rate
    overloaded = load >= plan.cycle * step_time
    marks, states, backlogs = [run.now], [run.state()], [run.backlog()]
    settled = np.full(rate.shape, np.nan)
    for _ in range(_MOST_CYCLES):
        for _ in range(plan.cycle):
            run.advance()
        marks.append(run.now)
        states.append(run.state())
        backlogs.append(run.backlog())
        _note_repeated(settled, marks, states)
        if len(marks) > 2 * _BUSY_CYCLES:
            restless = overloaded & _restless(marks, backlogs, load) & np.isnan(settled)
            settled[restless] = load[restless]
        if not np.isnan(settled).any():
            break
    settled = np.where(np.isnan(settled), _slope(marks), settled)
    return np.asarray(np.maximum(settled, load), dtype=np.float64)


def _note_repeated(settled: FloatArray, marks: list[FloatArray], states: list[FloatArray]) -> None:
    """Fill in the cycle time of every bandwidth whose latest state is one of its earlier ones."""
    latest = states[-1]
    for back in range(1, min(len(states), _MOST_CYCLES_ALIKE + 1)):
        earlier = states[-1 - back]
        if earlier.shape != latest.shape:
            return
        cycle = (marks[-1] - marks[-1 - back]) / back
        same = np.all(np.abs(latest - earlier) <= 1e-11 * cycle, axis=0)
        fresh = same & np.isnan(settled)
        settled[fresh] = cycle[fresh]


def _restless(
    marks: list[FloatArray], backlogs: list[FloatArray], load: FloatArray
) -> NDArray[np.bool_]:
    """Whether the link carried bits all through the latest cycles."""
    before = -1 - _BUSY_CYCLES
    carried = load * _BUSY_CYCLES - (backlogs[-1] - backlogs[before])
    return np.asarray(marks[-1] - marks[before] - carried <= 1e-9 * load)


def _slope(marks: list[FloatArray]) -> FloatArray:
    """Time per cycle over the later half, by least squares: what swings averages out faster."""
    later = np.array(marks[(len(marks) - 1) // 2 :])
    turn = np.arange(len(later)) - (len(later) - 1) / 2.0
    return np.asarray(turn @ later / (turn @ turn), dtype=np.float64)
