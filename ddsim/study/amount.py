"""How much a study is to do, worked out before its cells are built."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING

from ddsim.forecast import Forecast, forecast
from ddsim.remarks import reads
from ddsim.scenario import ScenarioError
from ddsim.study.likely import likely_axes
from ddsim.study.vary import Vary, axes_of

if TYPE_CHECKING:
    from ddsim.scenario import Scenario
    from ddsim.study.grid import Axis, Level

PER_CELL = 8e-3
"""Seconds to check the scenario of a cell."""
CELL_MEMORY, ROW_MEMORY = 40e3, 6e3
LOOKED_AT = 4
"""Values of an axis that are looked at; what others cost lies between."""


@dataclass(frozen=True)
class Amount:
    """Cells, simulations of one method, and what all of them are expected to come to."""

    cells: int
    runs: float
    whole: Forecast


def amount(
    scenario: Scenario,
    vary: Vary | None,
    replications: int,
    *,
    jobs: int = 1,
    race: bool = False,
    reruns: float = 1.0,
    tries: bool = False,
) -> Amount:
    """What a sweep over these axes comes to, or with `race` at most what a plan does.

    Every cell is simulated `reruns` times over, to say why or what matters. With `tries` the
    beginning of each method's run is simulated to see how long it takes. Raises like `sweep` for
    what cannot vary so.
    """
    axes = axes_of(scenario, vary)
    axes = axes or (likely_axes(scenario) if race else ())
    cells = 0
    seconds = memory = strikes = steps = merges = 0.0
    most = "steps"
    for spec in scenario.methods:
        own = [axis for axis in axes if axis.method in (None, spec.name)]
        if race:
            settled = scenario.for_method(spec.name)
            own = [axis for axis in own if any(reads(spec.name, settled, p) for p in axis.paths)]
        count = prod(len(axis.levels) for axis in own)
        alone = scenario.choose([spec.name])
        one = forecast(alone)
        longer = prod(_longer(alone, one, axis) for axis in own)
        one = forecast(alone, tries=True) if tries else one
        cells += count
        seconds += count * (one.seconds - one.once) * longer
        strikes += count * one.strikes
        steps += count * one.steps * longer
        merges += count * one.merges * longer
        memory = max(memory, one.memory)
        most = one.most
    each = float(replications) * reruns
    runs = cells * each
    found = Forecast(
        strikes * each, steps * each, merges * each, seconds * each / jobs, memory, most
    )
    held = cells * reruns * CELL_MEMORY + runs * ROW_MEMORY
    built = cells * reruns * PER_CELL
    whole = replace(found, seconds=found.seconds + built, memory=found.memory * jobs + held)
    return Amount(cells, runs, whole)


def _longer(scenario: Scenario, base: Forecast, axis: Axis) -> float:
    """How many times longer a cell takes on average for what an axis sets."""
    found = [
        one.seconds / base.seconds
        for level in _spread(axis.levels)
        if (one := _tried(scenario, level)) is not None
    ]
    return sum(found) / len(found) if found else 1.0


def _tried(scenario: Scenario, level: Level) -> Forecast | None:
    """The forecast with a value, None where no scenario can have it alone."""
    try:
        return forecast(scenario.with_(level.overrides))
    except ScenarioError:
        return None


def _spread(levels: Sequence[Level]) -> list[Level]:
    """The first, the last and some between."""
    if len(levels) <= LOOKED_AT:
        return list(levels)
    last = len(levels) - 1
    return [levels[round(index * last / (LOOKED_AT - 1))] for index in range(LOOKED_AT)]
