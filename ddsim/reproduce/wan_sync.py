"""Synchronizations over a shaped link: one fixed cost, and what follows from it."""

import ddsim
from ddsim.figures.dots import dots
from ddsim.figures.style import METHOD_COLOURS
from ddsim.reference import Row as Line
from ddsim.reference import numbers, rows
from ddsim.reproduce.basis import calibrated, predicted
from ddsim.reproduce.registry import Found, Pace, reproduction
from ddsim.reproduce.rows import Row, Tolerance

_BYTES = 204_769_280  # of the payload, as the source gives it
_ONE_WAY = "10 ms"  # half of its round trip
_HELD = Tolerance(0.03, relative=True)
_FITTED = calibrated("the step, and one fixed time a synchronization, fitted to this row")
_SYSTEM = "ft-diloco on a shaped link"
_NO_COST = "a step alone, H times, and the bytes at the link's rate"


@reproduction("wan-sync", "Synchronizations over a shaped link: public logs of ft-diloco")
def wan_sync(pace: Pace) -> Found:
    """Time from one synchronization to the next in four cells, the first of which is fitted."""
    first, *others = rows("measured_wan_sync")
    fixed = fixed_cost()
    found = [_row(first, fixed), *(_row(line, fixed, predict=True) for line in others)]
    ax = dots(
        [row.cell for row in found],
        [row.simulated for row in found],
        [row.published or 0.0 for row in found],
        title="Two workers on a shaped link",
        x="time from one synchronization to the next (s)",
        colour=METHOD_COLOURS["diloco"],
        log=True,
    )
    return Found(
        found,
        {"wan_sync": ax},
        f"A fixed cost of {fixed:.2f} s a synchronization brings the first row about; the others "
        "have the same. Evaluations that fall in are in the measured times alone.",
    )


def fixed_cost() -> float:
    """Seconds a synchronization, besides its bytes, that bring the first row about."""
    first = rows("measured_wan_sync")[0]
    return round(numbers(first, "median_s_between_syncs")[0] - between(first, 0.0), 2)


def between(line: Line, fixed: float) -> float:
    """Seconds from one synchronization to the next with a fixed cost."""
    mbit, inner, step = numbers(line, "link_mbit_s", "inner_steps", "step_s")
    changes = {
        "model.parameters": _BYTES / 4,
        "training.step_time": f"{step} s",
        "training.inner_steps": int(inner),
        "training.tokens": 20 * inner,
        "cluster.chips": 2,
        "cluster.learners": 2,
        "network.bandwidth": f"{mbit} Mbit/s",
        "network.latency": _ONE_WAY,
        "network.efficiency": 1.0,
        "network.sync_cost": f"{max(0.0, fixed)} s",
    }
    result = ddsim.run(ddsim.load("measured_grid", changes), ["diloco"])["diloco"]
    return inner * step / result.compute_utilization


def _row(line: Line, fixed: float, *, predict: bool = False) -> Row:
    mbit, inner, step, median = numbers(
        line, "link_mbit_s", "inner_steps", "step_s", "median_s_between_syncs"
    )
    guess = predicted(inner * step + 8 * _BYTES / (mbit * 1e6), _NO_COST, system=_SYSTEM)
    return Row(
        "time between synchronizations",
        f"H={inner:g}, {mbit:g} Mbit/s",
        between(line, fixed),
        "s",
        median,
        _HELD,
        line["source"].split(";")[0],
        settled=True,
        basis=guess if predict else _FITTED,
    )
