"""A measured grid, each cell predicted by constants fitted to the others."""

import numpy as np
from scipy.optimize import nnls

import ddsim
from ddsim.reference import Row as Line
from ddsim.reference import numbers, rows
from ddsim.reproduce.basis import predicted
from ddsim.reproduce.registry import Found, Pace, reproduction
from ddsim.reproduce.rows import Row

_BITS = 30.8e6 * 32
_RING = 2 * 3 / 4  # of the payload through each link, four workers
_SYSTEM = "diloco-measured on throttled links"
_NOMINAL = "a ring at the link's nominal rate"
_TWO_CONSTANTS = (
    "On each link a synchronization took longer at H = 128 than at H = 8: no one efficiency and "
    "fixed cost does both."
)


@reproduction("held-out", "DiLoCo on throttled links, each cell by the other seven")
def held_out(pace: Pace) -> Found:
    """Utilization of eight cells; step, efficiency and fixed cost are fitted to the others."""
    table = rows("measured_diloco_grid")
    found = [_cell(line, [other for other in table if other is not line]) for line in table]
    return Found(
        found,
        note="The efficiency and the fixed cost are those whose times blocked are relatively the "
        "nearest to the seven others', the step is their mean.",
    )


def _ring(line: Line) -> float:
    """Seconds of a ring at the link's nominal rate."""
    return _RING * _BITS / numbers(line, "link_bps")[0]


def _fitted(others: list[Line]) -> tuple[float, float, float]:
    """Efficiency, fixed seconds a synchronization and seconds a step of these cells."""
    weighted, wanted = [], []
    for line in others:
        inner, steps, blocked = numbers(line, "H", "budget_steps", "sync_blocked_s")
        each = blocked / (steps // inner)
        weighted.append([_ring(line) / each, 1.0 / each])
        wanted.append(1.0 - _ring(line) / each)  # beyond the nominal rate
    (slower, fixed), _ = nnls(np.array(weighted), np.array(wanted))
    compute, steps = (
        sum(numbers(line, column)[0] for line in others) for column in ("compute_s", "budget_steps")
    )
    return 1.0 / (1.0 + float(slower)), float(fixed), compute / steps


def _cell(line: Line, others: list[Line]) -> Row:
    efficiency, fixed, step = _fitted(others)
    inner, bandwidth, steps, share = numbers(
        line, "H", "link_bps", "budget_steps", "compute_utilization"
    )
    changes = {
        "training.inner_steps": int(inner),
        "training.step_time": f"{step} s",
        "training.tokens": steps,
        "network.bandwidth": f"{bandwidth} bit/s",
        "network.efficiency": efficiency,
        "network.sync_cost": f"{fixed} s",
    }
    result = ddsim.run(ddsim.load("measured_grid", changes), ["diloco"])["diloco"]
    guess = 100 / (1 + _ring(line) / (inner * step))
    return Row(
        "compute utilization",
        f"H={inner:.0f}, {bandwidth / 1e9:g} Gbit/s, by the others",
        100 * result.compute_utilization,
        "%",
        100 * share,
        source=line["source"],
        settled=True,
        basis=predicted(guess, _NOMINAL, system=_SYSTEM, beyond=_TWO_CONSTANTS),
    )
