"""The best setting of what may vary: candidates race on common histories (successive halving).

All candidates meet the first histories; the better part of them meets more, and so on until a few
are left that have met all. On common histories a difference between two candidates is known far
better than either's own goodput, so that few histories tell them apart.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np

from ddsim.quality import Interval
from ddsim.results.metrics import METRICS as BY_NAME
from ddsim.results.metrics import RANKING, refusal
from ddsim.study.errors import StudyError
from ddsim.study.executors import open_lanes
from ddsim.study.first import FIRST_BY, interval_of
from ddsim.study.grid import Cell, CellName, Label, build
from ddsim.study.likely import likely_axes
from ddsim.study.rules import Rule
from ddsim.study.statistics import RESAMPLES, paired
from ddsim.study.store import Store, table_text
from ddsim.study.sweeping import Gathering, Progress, question_of
from ddsim.study.tables import Table, values_of
from ddsim.study.vary import Vary, axes_of
from ddsim.study.work import METRICS, Row
from ddsim.world.streams import stream

if TYPE_CHECKING:
    from ddsim.scenario import Scenario

COSTS = {
    "cost": "usd_per_billion_merged_tokens",
    "energy": "energy_kwh_per_billion_merged_tokens",
    "hours_to_target": "hours_to_target",
    "cost_to_target": "cost_to_target",
}
"""Short names of objectives, and their metric."""
FINALISTS = 3
_ROUNDING = 1e-12
_SHARE = 0.2  # of the runs of an exhaustive search


@dataclass(frozen=True)
class Candidate:
    """One setting: how it did on the histories that it met.

    `behind` is by how much the best one is better on the same histories, with its 95% interval
    (None on one history); positive, and 0 for the best itself. `interval` is that of a metric that
    is one, from its better end to its worse.
    """

    method: str
    settings: Mapping[str, Label]
    histories: int
    value: float
    behind: float
    behind_low: float | None
    behind_high: float | None
    interval: Interval | None = None


@dataclass(frozen=True)
class Plan:
    """The candidates, best first, and how sure the choice is.

    `finalists` of them met all histories. `sure` is the share of bootstrap resamples of these
    histories in which no finalist beats the best; `at_most` the upper 95% end of what any other
    finalist could be better by. `runs` were needed, of `exhaustive`.
    """

    scenario: str
    objective: str
    metric: str
    candidates: tuple[Candidate, ...]
    finalists: int
    sure: float
    at_most: float
    runs: int
    exhaustive: int
    left_out: tuple[tuple[str, str], ...] = ()

    @property
    def best(self) -> Candidate:
        """The best candidate."""
        return self.candidates[0]

    @property
    def rivals(self) -> tuple[Candidate, ...]:
        """The candidates that cannot be told from the best, since their intervals overlap."""
        best = self.best.interval
        return tuple(
            item
            for item in self.candidates[1:]
            if best is not None and item.interval is not None and item.interval.overlaps(best)
        )

    def table(self) -> Table:
        """The candidates as a table."""
        names = list(dict.fromkeys(name for item in self.candidates for name in item.settings))
        ends = ["behind", "behind_low", "behind_high"]
        rows: list[list[Any]] = []
        for rank, item in enumerate(self.candidates, 1):
            settings = [item.settings.get(name, "") for name in names]
            numbers = [item.value, item.behind, item.behind_low, item.behind_high]
            rows.append([rank, item.method, *settings, item.histories, *numbers])
        return Table(["rank", "method", *names, "histories", self.metric, *ends], rows)


def plan(
    scenario: Scenario,
    vary: Vary | None = None,
    *,
    methods: Sequence[str] | None = None,
    seed: int | None = None,
    objective: str = RANKING,
    replications: int = 20,
    out: str | Path | None = None,
    jobs: int = 1,
    executor: str | Executor = "local",
    scheduler: str | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Plan:
    """Find the best setting of what may vary, in about a fifth of the runs of a full search.

    `vary` says what may vary, as for `sweep`; without it the scenario's `study` does, and without
    that what usually matters for each method. `objective` is `cost` (USD per billion merged
    tokens), `energy`, `hours_to_target`, `cost_to_target`, or a metric, made large or small as its
    direction says. Finalists meet `replications` histories. Raises like `sweep`.
    """
    if replications < 1 or jobs < 1:
        raise ValueError("replications and jobs are at least 1")
    metric = COSTS.get(objective, objective)
    if metric not in METRICS:
        raise StudyError(refusal(objective, "objective", COSTS))
    scenario = scenario.choose(methods) if methods is not None else scenario
    scenario = scenario.with_({"seed": seed}) if seed is not None else scenario
    axes = axes_of(scenario, vary)
    grid = build(scenario, axes or likely_axes(scenario))
    rule = Rule(replications, metric=metric)
    store = None
    if out is not None:
        store = Store(Path(out), scenario.resolved(), question_of(scenario, grid, rule))
    try:
        if store is not None:
            store.open()
        race = _Race(grid.cells, rule, BY_NAME[metric].sign, store, progress)
        with open_lanes(executor, jobs, scheduler) as lanes:
            race.run(lanes)
        found = race.plan(scenario, objective, grid.left_out)
        if store is not None:
            table = found.table()
            store.write("plan.csv", table_text(table.columns, table.rows))
    finally:
        if store is not None:
            store.close()
    return found


def rungs(candidates: int, replications: int) -> list[tuple[int, int]]:
    """How many candidates meet how many histories in all, step by step.

    Of the races that stay within a fifth of the runs of a full search, the one that begins with
    most histories, then has most finalists, then uses most runs; the shortest where none does.
    """
    races = [
        _halving(candidates, replications, first, factor, finalists)
        for first in range(1, replications + 1)
        for factor in range(2, 7)
        for finalists in (FINALISTS, FINALISTS - 1)
    ]
    budget = _SHARE * candidates * replications
    within = [race for race in races if cost(race) <= budget]
    if within:
        return max(within, key=lambda race: (race[0][1], race[-1][0] >= FINALISTS, cost(race)))
    return min(races, key=cost)


def _halving(
    candidates: int, replications: int, first: int, factor: int, finalists: int
) -> list[tuple[int, int]]:
    """A race whose field shrinks by a factor whenever its histories grow by it."""
    race = [(candidates, first)]
    while race[-1][1] < replications:
        alive, met = race[-1]
        left = min(alive, max(finalists, ceil(alive / factor)))
        race.append((left, min(replications, met * factor)))
    return race


def cost(race: Sequence[tuple[int, int]]) -> int:
    """Runs of a race."""
    met = 0
    total = 0
    for alive, histories in race:
        total += alive * (histories - met)
        met = histories
    return total


class _Race:
    """Candidates, the rows that they have, and who is still in the race."""

    def __init__(
        self,
        cells: Sequence[Cell],
        rule: Rule,
        sign: float,
        store: Store | None,
        progress: Callable[[Progress], None] | None,
    ) -> None:
        self._cells, self._rule, self._sign = cells, rule, sign
        self._store, self._progress = store, progress
        kept = store.cells() if store is not None else {}
        self._rows: dict[int, list[Row]] = {cell.index: kept.get(cell.index, []) for cell in cells}
        self._met: dict[int, int] = {}

    def run(self, lanes: Sequence[Any]) -> None:
        alive = list(self._cells)
        for count, histories in rungs(len(alive), self._rule.replications):
            alive = self._ranked(alive)[:count]
            rule = Rule(histories, metric=self._rule.metric)
            gathering = Gathering(alive, rule, self._store, self._progress, self._rows)
            gathering.run(lanes)
            self._rows.update(gathering.rows)
            self._met.update((cell.index, histories) for cell in alive)
        self._alive = self._ranked(alive)

    def _ranked(self, cells: Sequence[Cell]) -> list[Cell]:
        return sorted(cells, key=lambda cell: (-self._score(cell), cell.index))

    def _score(self, cell: CellName) -> float:
        values = self._values(cell)
        return self._sign * fmean(values) if values else float("-inf")

    def _values(self, cell: CellName) -> list[float]:
        # no more than it met in this race: a store may hold more
        rows = self._rows[cell.index][: self._met.get(cell.index, 0)]
        values = values_of(rows, self._rule.metric)
        return values if len(values) == len(rows) else []

    def plan(
        self, scenario: Scenario, objective: str, left_out: tuple[tuple[str, str], ...]
    ) -> Plan:
        best = self._alive[0]
        if not self._values(best):
            raise StudyError(
                f"no candidate has a {self._rule.metric}; cost needs prices.chip_hour, energy "
                "power.chip, and both methods that merge tokens; hours_to_target needs "
                "quality.law and a target within reach, cost_to_target prices besides"
            )
        others = sorted(
            (cell for cell in self._cells if cell not in self._alive),
            key=lambda cell: (-self._met[cell.index], -self._score(cell), cell.index),
        )
        candidates = [self._candidate(cell, best) for cell in (*self._alive, *others)]
        tiny = _ROUNDING * abs(candidates[0].value)
        ends = [
            -item.behind_low
            for item in candidates[1 : len(self._alive)]
            if item.behind_low is not None and -item.behind_low > tiny
        ]
        total = self._rule.replications
        return Plan(
            scenario.name,
            objective,
            self._rule.metric,
            tuple(candidates),
            len(self._alive),
            self._sure(),
            max([0.0, *ends]),
            sum(self._met.values()),
            len(self._cells) * total,
            left_out,
        )

    def _candidate(self, cell: Cell, best: Cell) -> Candidate:
        mine, leader = self._values(cell), self._values(best)
        n = min(len(mine), len(leader))
        ends: tuple[float | None, float | None] = (None, None)
        behind = 0.0
        if n and cell is not best:
            rng = stream(0, "plan", cell.words)
            found = paired(leader[:n], mine[:n], rng).estimate
            low, high = sorted((self._sign * found.low, self._sign * found.high))
            behind = self._sign * found.mean
            if abs(behind) <= _ROUNDING * abs(fmean(mine)):
                behind = low = high = 0.0
            ends = (low, high) if n > 1 else ends
        value = fmean(mine) if mine else float("nan")
        met, metric = self._met[cell.index], self._rule.metric
        interval = interval_of(self._rows[cell.index][:met], metric) if metric in FIRST_BY else None
        return Candidate(cell.method, cell.settings, met, value, behind, *ends, interval)

    def _sure(self) -> float:
        values = [self._values(cell) for cell in self._alive]
        table = self._sign * np.array([item for item in values if item])
        if len(table) == 1:
            return 1.0
        rng = stream(0, "plan", "sure")
        drawn = rng.integers(table.shape[1], size=(RESAMPLES, table.shape[1]))
        means = table[:, drawn].mean(axis=2)
        # equal ones do not beat each other, whatever rounding makes of them
        tolerance = _ROUNDING * np.abs(means).max()
        return float(np.mean(means[0] >= means[1:].max(axis=0) - tolerance))
