"""The published bandwidth tables: their grid, their rounding, their rows.

Table 4 of arXiv 2501.18512 (Streaming DiLoCo) and Table 5 of arXiv 2502.12996 (eager updates). Both
try bandwidths on a grid of 50 points, ratio 1.207, print the last one still below the target, and
take two sites (ring factor 1), 16-bit payloads (4 for FP4) and fragments of three layers.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ddsim.bandwidth.model import (
    LONG_RUN,
    Reading,
    StepModel,
    pure_compute,
    table_period,
    table_reading,
)
from ddsim.bandwidth.solve import utilization

FloatArray = NDArray[np.float64]

TARGETS = (0.5, 0.8, 0.9, 0.95, 0.99)
"""The utilizations of the tables' columns."""

_LAYERS_PER_FRAGMENT = 3
_DATA_PARALLEL_STEPS = 200
_EVERY_STEP_ROUND = 30
_SCALE = {"M": 1e6, "B": 1e9, "T": 1e12}


def published_grid() -> FloatArray:
    """The bandwidths that the tables try, in Gbit/s: 0.1 to 1000, 50 points."""
    return np.logspace(-1, 3, 50)


def printed(gbps: float) -> str:
    """A bandwidth as the tables print it: rounded to two digits, and then to one."""
    return f"{float(f'{gbps:.2f}'):.1f}"


def read_off(gbps: FloatArray, reached: FloatArray, target: float) -> float:
    """The last grid point still below the target; the first where none is, nan where all are."""
    above = np.flatnonzero(reached >= target)
    if above.size == 0:
        return float("nan")
    return float(gbps[max(int(above[0]) - 1, 0)])


def required_on_grid(
    method: str,
    model: StepModel,
    targets: Iterable[float] = TARGETS,
    reading: Reading = LONG_RUN,
    grid: FloatArray | None = None,
) -> dict[float, str]:
    """Required bandwidths as the tables print them."""
    points = published_grid() if grid is None else grid
    reached = utilization(method, model, points, reading)
    return {target: printed(read_off(points, reached, target)) for target in targets}


@dataclass(frozen=True, slots=True)
class TableRow:
    """One row of a published table, in the terms of the step model."""

    method: str
    model: StepModel
    reading: Reading


def table_row(
    size: str,
    layers: int,
    printed_step_time: float,
    label: str,
    inner_steps: int | None = None,
    every_step: bool | None = None,
) -> TableRow:
    """Read a row's heading: "1B", 24 layers, 0.1 s, "Streaming DiLoCo overlapped tau=1 FP4 H=100".

    inner_steps: H where the table gives it a column of its own instead of a place in the label.
    every_step: whether a fragment leaves at every step; by default in the rows with H = 30, where
        the eager table has it so.
    Raises ValueError for a label that names no known method.
    """
    rounds = _number(r"H=(\d+)", label) if inner_steps is None else inner_steps
    overlap = _number(r"tau=(\d+)", label) or 0
    if match := re.search(r"(\d+)-(inner|outer)-step", label):
        overlap = int(match[1]) * (1 if match[2] == "inner" else rounds or 1)
    method = _method(label)
    bits = float(_number(r"FP(\d+)", label) or 16)
    fragments = max(1, layers // _LAYERS_PER_FRAGMENT)
    model = StepModel(
        parameters=float(size[:-1]) * _SCALE[size[-1]],
        layers=layers,
        step_time=pure_compute(printed_step_time, layers),
        inner_steps=rounds or _DATA_PARALLEL_STEPS // 2,
        fragments=fragments,
        overlap_steps=overlap,
        gradient_bits=16.0,
        payload_bits=bits,
        datacenters=2,
    )
    if every_step is None:
        every_step = model.inner_steps == _EVERY_STEP_ROUND
    period = 1 if every_step else table_period(model.inner_steps, fragments)
    return TableRow(method, model, table_reading(model.inner_steps, fragments, period))


def published_row(row: Mapping[str, str]) -> TableRow:
    """Read a row of the reference data of either table."""
    column = row.get("H")
    return table_row(
        row["model"],
        int(row["layers"]),
        float(row["step_time_s"]),
        row["method"],
        int(column) if column else None,
    )


def wall_clock_hours(compute_hours: float, row: TableRow, gbps: float) -> float:
    """Hours that a run with so many hours of pure compute takes at a bandwidth."""
    reached = utilization(row.method, row.model, gbps, row.reading)
    return compute_hours / float(reached)


def _method(label: str) -> str:
    lowered = label.lower()
    if lowered.startswith("data-parallel"):
        return "data_parallel"
    if "streaming" in lowered:
        return "streaming_diloco"
    if "diloco" in lowered:
        return "diloco"
    raise ValueError(f"no method is known by the label {label!r}")


def _number(pattern: str, text: str) -> int | None:
    match = re.search(pattern, text)
    return int(match[1]) if match else None
