"""Reproductions whose simulations are replaced by results made by hand.

The figures and rows are made by the package's own code; only what a run, a sweep, a search for
bandwidths and a training give is put in its place, a little different each time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from types import SimpleNamespace
from typing import Any

import pytest
from sample_results import GOES_ON, LOST_AND_BACK, STOPS, record

import ddsim
from ddsim.reproduce import Found, names, reproduce, trends
from ddsim.results import Merge, Results
from ddsim.scenario import Scenario
from ddsim.study.grid import CellName
from ddsim.study.results import Study
from ddsim.study.work import Row

_CAUSES = ddsim.load("llama3_16k").failures.causes


class Stand:
    """What stands in for the simulator: values between 0 and 1 that differ from call to call."""

    def __init__(self) -> None:
        self._calls = 0

    def _value(self) -> float:
        self._calls += 1
        return 0.3 + 0.6 * (self._calls * 0.618034 % 1.0)

    def run(
        self,
        scenario: Scenario,
        methods: Sequence[str] = ("decoupled_diloco",),
        replications: int = 1,
        **_: Any,
    ) -> Results:
        """A result of each method; of DiLoCo where its scenario has no other."""
        if methods == ("decoupled_diloco",) and scenario.name == "measured_grid":
            methods = ("diloco",)
        return Results(
            "sample",
            1,
            1,
            36000.0,
            "0",
            [self._record(name, replications > 1) for name in methods],
            "",
        )

    def _record(self, method: str, several: bool) -> Any:
        value = self._value()
        stops = method == "data_parallel"
        causes = {cause.name: {"failures": value * (cause.count or 0.0)} for cause in _CAUSES}
        return record(
            method,
            value,
            (*LOST_AND_BACK, *(STOPS if stops else GOES_ON)),
            goodput_ci95=(value - 0.03, value + 0.03) if several else None,
            compute_utilization=value,
            ettr=value,
            failures=400 * value,
            tokens=1e9 * value,
            merged_share=value,
            goodput_by_chip_type={"fast": value, "slow": value / 2},
            merges=(Merge(1, (0,), 0.0, 100 * value, ("fast 0", "slow 1")),),
            learning={
                "initial_loss": 3.3,
                "final_loss": 3.3 - 2 * value,
                "final_losses": [3.3 - 2 * value + apart for apart in (-0.02, 0.0, 0.02)],
                "curve": [[600.0 * at, 1e8 * at, 3.3 - 2 * value * at / 6] for at in range(7)],
            },
            extra={"blast_radius": {"by_cause": causes}},
        )

    def sweep(self, scenario: Scenario, vary: Mapping[str, Any], **_: Any) -> Study:
        """The goodput table's cells with three histories each."""
        chips, learners = vary["cluster.chips"], vary["decoupled_diloco"]["cluster.learners"]
        cells: list[CellName] = []
        rows: dict[int, list[Row]] = {}
        kinds = [("data_parallel", None), ("elastic_data_parallel", None)]
        for method, count in [*kinds, *(("decoupled_diloco", m) for m in learners)]:
            for place, many in enumerate(chips):
                settings = {"cluster.chips": many}
                settings |= {} if count is None else {"cluster.learners": count}
                cell = CellName(len(cells), method, settings)
                mean = (1 if count is None else 1 - 0.3 / count) * (0.97 - 0.12 * place)
                rows[cell.index] = [{"goodput": mean + d, "uptime": mean} for d in (-0.02, 0, 0.02)]
                cells.append(cell)
        return Study(scenario.name, 1, "0", "goodput", ("cluster.chips",), tuple(cells), rows)

    def required_bandwidth(self, scenario: Scenario, targets: Sequence[float], **_: Any) -> Any:
        """A bandwidth a method."""
        found = [
            SimpleNamespace(
                method=method, required_gbps=dict.fromkeys(targets, size * self._value())
            )
            for method, size in (
                ("data_parallel", 900.0),
                ("elastic_data_parallel", 900.0),
                ("diloco", 60.0),
                ("streaming_diloco", 8.0),
                ("decoupled_diloco", 5.0),
            )
        ]
        return SimpleNamespace(results=found)

    def replay(self, tape: Any, config: Any, seeds: Sequence[int]) -> list[Any]:
        """Trainings that ended somewhere."""
        return [SimpleNamespace(final_loss=1.0 + 0.1 * self._value()) for _ in seeds]


@contextmanager
def _in_place() -> Iterator[None]:
    stand = Stand()
    with pytest.MonkeyPatch.context() as patch:
        for name in ("run", "sweep", "required_bandwidth"):
            patch.setattr(ddsim, name, getattr(stand, name))
        patch.setattr(trends, "replay", stand.replay)
        yield


@cache
def made() -> dict[str, Found]:
    """Every reproduction, with results made by hand in place of runs."""
    found: dict[str, Found] = {}
    for name in names():  # which imports them all before anything is replaced
        with _in_place():
            found |= reproduce([name])
    return found
