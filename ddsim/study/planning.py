"""The best setting of what may vary: candidates race on common histories."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ddsim.quality import Interval
from ddsim.remarks import reads
from ddsim.results.metrics import LOSS, RANKING, refusal
from ddsim.results.telling import Told, told
from ddsim.study.errors import StudyError
from ddsim.study.executors import open_lanes
from ddsim.study.first import FIRST_BY, interval_of
from ddsim.study.grid import Cell, Grid, Label, build, distinct
from ddsim.study.lacking import refuse_lacking
from ddsim.study.likely import likely_axes
from ddsim.study.measures import mean
from ddsim.study.racing import Race
from ddsim.study.rows import table_text
from ddsim.study.rules import Rule
from ddsim.study.store import Store
from ddsim.study.sweeping import (
    Gathering,
    Progress,
    files_of_tasks,
    question_of,
    tell_before,
)
from ddsim.study.tables import Table
from ddsim.study.vary import Vary, axes_of
from ddsim.study.work import METRICS, Row
from ddsim.workers.lanes import Lane

if TYPE_CHECKING:
    from ddsim.scenario import Scenario

COSTS = {
    "cost": "usd_per_billion_merged_tokens",
    "energy": "energy_kwh_per_billion_merged_tokens",
    "hours_to_target": "hours_to_target",
    "cost_to_target": "cost_to_target",
}
"""Short names of objectives, and their metric."""


@dataclass(frozen=True)
class Candidate:
    """One setting: how it did on the histories that it met.

    `behind` is by how much the best one is better on the same histories: positive, and 0 for the
    best itself. Its ends hold for all candidates together at 95%; None where the histories give
    none. `told` is what there is to say of the best and it. `interval` is that of a metric that is
    one, from its better end to its worse; `loss` what its tokens are worth by the scenario's law,
    None without one.
    """

    method: str
    settings: Mapping[str, Label]
    histories: int
    value: float
    behind: float
    behind_low: float | None
    behind_high: float | None
    told: Told = Told.AHEAD
    interval: Interval | None = None
    loss: float | None = None


@dataclass(frozen=True)
class Plan:
    """The candidates, best first, and how sure the choice is.

    `sure` is how sure it is that no candidate is better than the best, over all that began; those
    that gave the same in every history, `tied` of them, are not better. `untold` are those that
    nothing told apart from it. `finalists` met all histories; the others were so clearly behind
    before that all such errors together stay within 5%. `at_most` is the upper 95% end of what any
    finalist could be better by, None where that is not known; `low` and `high` are the ends of the
    best's own interval, which hold although it was chosen. `struck` of its histories met a failure,
    where `expected` are expected in each. `runs` were needed, of `exhaustive`. `left_out` are
    combinations that no scenario can be, and why; `unread` what varied, and the methods that do not
    read it: to them it makes one candidate.
    """

    scenario: str
    objective: str
    metric: str
    candidates: tuple[Candidate, ...]
    finalists: int
    sure: float
    at_most: float | None
    low: float | None
    high: float | None
    tied: int
    untold: int
    struck: int
    expected: float
    runs: int
    exhaustive: int
    left_out: tuple[tuple[str, str], ...] = ()
    unread: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @property
    def best(self) -> Candidate:
        """The best candidate."""
        return self.candidates[0]

    @property
    def least_loss(self) -> Candidate | None:
        """The candidate whose predicted loss is the least; None without a law."""
        known = [(item.loss, rank) for rank, item in enumerate(self.candidates) if item.loss]
        return self.candidates[min(known)[1]] if known else None

    @property
    def rivals(self) -> tuple[Candidate, ...]:
        """The candidates that may be better than the best by what a law leaves open alone."""
        return tuple(item for item in self.candidates[1:] if item.told is Told.LAW)

    @property
    def near(self) -> tuple[Candidate, ...]:
        """The candidates that are behind the best by too little to matter."""
        return tuple(item for item in self.candidates[1:] if item.told is Told.SMALL)

    def table(self) -> Table:
        """The candidates as a table."""
        names = list(dict.fromkeys(name for item in self.candidates for name in item.settings))
        ends = ["behind", "behind_low", "behind_high"]
        rows: list[list[Any]] = []
        for rank, item in enumerate(self.candidates, 1):
            settings = [item.settings.get(name, "") for name in names]
            numbers = [item.value, item.behind, item.behind_low, item.behind_high]
            rows.append([rank, item.method, *settings, item.histories, *numbers])
        table = Table(["rank", "method", *names, "histories", self.metric, *ends], rows)
        if self.least_loss is not None and self.metric != LOSS:
            table.columns.append(LOSS)
            for row, item in zip(rows, self.candidates, strict=True):
                row.append(item.loss)
        return table


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
    """Find the best setting of what may vary, and how sure that is.

    `vary` says what may vary, as for `sweep`; without it the scenario's `study` does, and without
    that what usually matters for each method. `objective` is `cost` (USD per billion merged
    tokens), `energy`, `hours_to_target`, `cost_to_target`, or a metric, made large or small as its
    direction says. All candidates meet a few histories, and those that are not clearly behind
    `replications` of them. Raises like `sweep`.
    """
    if replications < 1 or jobs < 1:
        raise ValueError("replications and jobs are at least 1")
    metric = metric_of(objective)
    scenario = scenario.choose(methods) if methods is not None else scenario
    scenario = scenario.with_({"seed": seed}) if seed is not None else scenario
    axes = axes_of(scenario, vary)
    whole = build(scenario, axes or likely_axes(scenario))
    grid = distinct(whole, reads)
    refuse_lacking(metric, grid.cells)
    tell_before(grid.cells)
    rule = Rule(replications, metric=metric)
    store = None
    if out is not None:
        store = Store(Path(out), scenario.resolved(), question_of(scenario, grid, rule))
    try:
        if store is not None:
            store.open()
        kept = store.cells() if store is not None else {}
        rows = {cell.index: kept.get(cell.index, []) for cell in grid.cells}
        chances = {cell.index: cell.chance for cell in grid.cells}
        race = Race(rows, chances, metric, replications)
        with open_lanes(executor, jobs, scheduler, files_of_tasks(scenario)) as lanes:
            _gathered(grid.cells, race, rows, store, progress, lanes, replications)
        found = _plan(scenario, objective, grid.cells, race, replications)
        found = replace(found, left_out=grid.left_out, unread=_unread(whole, grid))
        if store is not None:
            table = found.table()
            store.write("plan.csv", table_text(table.columns, table.rows))
    finally:
        if store is not None:
            store.close()
    return found


def _unread(whole: Grid, grid: Grid) -> tuple[tuple[str, tuple[str, ...]], ...]:
    read = {(cell.method, name) for cell in grid.cells for name in cell.settings}
    found: dict[str, dict[str, None]] = {}
    for cell in whole.cells:
        for name in cell.settings:
            if (cell.method, name) not in read:
                found.setdefault(name, {})[cell.method] = None
    return tuple((name, tuple(those)) for name, those in found.items())


def metric_of(objective: str) -> str:
    """The metric of an objective; StudyError for what is none."""
    metric = COSTS.get(objective, objective)
    if metric not in METRICS:
        raise StudyError(refusal(objective, "objective", COSTS))
    return metric


def _gathered(
    cells: Sequence[Cell],
    race: Race,
    rows: dict[int, list[Row]],
    store: Store | None,
    progress: Callable[[Progress], None] | None,
    lanes: Sequence[Lane],
    replications: int,
) -> None:
    """Run the race on these lanes; `rows` grow as candidates meet histories."""

    last: list[Progress] = []

    def meet(numbers: Sequence[int], histories: int) -> None:
        chosen = [cells[number] for number in numbers]
        rule = Rule(histories, metric=race.metric)
        racing = {cell.index for cell in chosen}
        gone = sum(len(rows[cell.index]) for cell in cells if cell.index not in racing)

        def tell(state: Progress) -> None:
            """Say how far the race is if all that are in it meet every history."""
            done, expected = gone + state.replications, gone + len(chosen) * replications
            out = len(cells) if done == expected else len(cells) - len(chosen)
            state = replace(state, cells=len(cells), cells_done=out, replications=done)
            last[:] = [replace(state, expected=expected)]
            if progress is not None:
                progress(last[0])

        gathering = Gathering(chosen, rule, store, tell, rows)
        gathering.run(lanes)
        rows.update(gathering.rows)

    race.run(meet)
    if progress is not None and last and last[0].replications < (last[0].expected or 0):
        progress(replace(last[0], cells_done=len(cells), expected=last[0].replications))


def _plan(
    scenario: Scenario, objective: str, cells: Sequence[Cell], race: Race, replications: int
) -> Plan:
    best = race.winner()
    if best is None:
        raise StudyError(
            f"no candidate has a {race.metric} in every history: what is reckoned per merged token "
            "needs methods that merge, and hours or cost to a target one within reach"
        )
    candidates = tuple(_candidate(cells[number], race) for number in race.order)
    others = candidates[1 : len(race.alive)]
    open_ends = [item.behind_low for item in others if item.behind != 0.0]
    known = [-end for end in open_ends if end is not None]
    return Plan(
        scenario=scenario.name,
        objective=objective,
        metric=race.metric,
        candidates=candidates,
        finalists=len(race.alive),
        sure=race.sure,
        at_most=max([0.0, *known]) if len(known) == len(open_ends) else None,
        low=best.low if best.enough else None,
        high=best.high if best.enough else None,
        tied=len(race.tied),
        untold=len(race.untold),
        struck=best.struck,
        expected=cells[race.best].chance.strikes,
        runs=sum(race.met.values()),
        exhaustive=len(cells) * replications,
    )


def _candidate(cell: Cell, race: Race) -> Candidate:
    value = race.value(cell.index)
    found = race.behind(cell.index) if cell.index != race.best else None
    ends: tuple[float | None, float | None] = (None, None)
    if found is not None and found.enough:
        ends = (found.low, found.high)
    gaps = race.gaps(cell.index) if cell.index != race.best else []
    said = told(gaps) if gaps else Told.AHEAD if value is None else Told.UNKNOWN
    interval = None
    if race.metric in FIRST_BY:
        interval = interval_of(race.rows(cell.index), race.metric)
    return Candidate(
        cell.method,
        cell.settings,
        race.met[cell.index],
        float("nan") if value is None else value,
        0.0 if found is None else found.value,
        *ends,
        said,
        interval,
        mean(race.rows(cell.index), LOSS),
    )
