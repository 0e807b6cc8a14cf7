"""Reruns that explain: each cause of lost time at zero, each uncertain input at its ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ddsim.study.grid import Cell, Level

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ddsim.scenario import Scenario

CAUSES: Mapping[str, Mapping[str, object]] = {
    "failures": {"failures.chip_mtbi": "never"},
    "planned faults": {"chaos": []},
    "detection": {"failures.detection": "0 s"},
    "repair": {"failures.repair": "0 s"},
    "elastic stalls": {"elastic.downscale": "0 s", "elastic.upscale": "0 s"},
    "restarts": {"restart.time": "0 s"},
    "saves": {"checkpoint.save": "0 s"},
    "restores": {"checkpoint.restore": "0 s"},
    "bandwidth limits": {"network.bandwidth": "unlimited"},
    "latency": {"network.latency": "0 s"},
    "jitter": {"cluster.jitter": 0},
}
"""Causes of lost chip-time, and what sets each to zero."""


def cause_levels(cell: Cell) -> list[Level]:
    """The causes that a cell has, one by one; those of `failures.causes` by their names."""
    from ddsim.scenario import ScenarioError

    scenario, levels = cell.scenario, []
    for name, overrides in {**CAUSES, **_named(scenario)}.items():
        try:
            scenario.with_(overrides)
        except ScenarioError:
            continue  # cannot be zero there: an interval of saves that is computed from them
        levels.append(Level(name, overrides))
    return levels


def _named(scenario: Scenario) -> dict[str, dict[str, object]]:
    named = getattr(scenario.failures, "causes", None) or ()
    found: dict[str, dict[str, object]] = {}
    for index, cause in enumerate(named):
        path = f"failures.causes.{index}"
        if cause.mtbi is not None:
            found[f"failures: {cause.name}"] = {f"{path}.mtbi": "never"}
        elif cause.count is not None:
            found[f"failures: {cause.name}"] = {f"{path}.count": 0}
    if named:
        found["failures"] = {"failures.causes": None}
    return found


ENDS = (0.05, 0.95)
"""Quantiles of an uncertain input between which a tornado compares."""


def input_levels(cell: Cell) -> list[Level]:
    """Each uncertain input of a cell at its ends, all others at their medians.

    One level where both ends are the same number.
    """
    inputs = cell.scenario.uncertain
    medians = {item.path: item.value(0.5) for item in inputs}
    levels: dict[str, Level] = {}
    for item in inputs:
        for end in ENDS:
            value = item.spelled(float(f"{item.number(end):.4g}"))  # four digits are read easily
            label = f"{item.path} = {value}"
            levels[label] = Level(label, {**medians, item.path: value})
    return list(levels.values())
