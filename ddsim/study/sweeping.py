"""From a question to a study: cells, their replications wherever they run, the store."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from math import ceil, inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ddsim
from ddsim import sources
from ddsim.remarks import found_late
from ddsim.results.metrics import RANKING, refusal
from ddsim.study import identity, kept
from ddsim.study.causes import cause_levels, input_levels
from ddsim.study.errors import StudyError
from ddsim.study.executors import open_lanes
from ddsim.study.grid import INPUT, WITHOUT, Axis, Cell, Grid, build, variants
from ddsim.study.lacking import refuse_lacking
from ddsim.study.measures import measured
from ddsim.study.results import KEPT, Study
from ddsim.study.rows import table_text
from ddsim.study.rules import Rule, read_half_width
from ddsim.study.store import GIVEN, Store, is_in_order
from ddsim.study.vary import Vary, axes_of
from ddsim.study.work import ACCOUNT, METRICS, Batch, Row, Task, work
from ddsim.workers.dispatch import WorkersError, dispatch
from ddsim.workers.lanes import Lane

if TYPE_CHECKING:
    from ddsim.scenario import Scenario

_log = logging.getLogger(__name__)
_TASKS_EACH = 8
"""Tasks that a worker gets at least, so that all end at about the same time."""


@dataclass(frozen=True)
class Progress:
    """How far a study is; `half_width` is the widest that a cell's interval is so far, if known."""

    cells_done: int
    cells: int
    replications: int
    expected: int
    half_width: float | None
    last: str


def sweep(
    scenario: Scenario,
    vary: Vary | None = None,
    *,
    methods: Sequence[str] | None = None,
    seed: int | None = None,
    replications: int = 20,
    half_width: str | float | None = None,
    most: int = 200,
    metric: str = RANKING,
    why: bool = False,
    tornado: bool | None = None,
    out: str | Path | None = None,
    jobs: int = 1,
    executor: str | Executor = "local",
    scheduler: str | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Study:
    """Simulate every cell of a grid, replicated, all cells on the same failure histories.

    `vary` maps scenario paths to lists of values, and a method's name to such a mapping for that
    method alone; without it the scenario's own `study` does. A cell gets `replications`, or as many
    (at most `most`) as make the 95% interval of `metric` no wider on each side than `half_width`:
    `"0.5%"` is a share of the mean, `0.005` is in the metric's unit. `why` reruns each cell with
    each cause of lost time at zero; `tornado` with each uncertain input at its ends (as a rule
    where there are such inputs and nothing varies).

    With `out` the study is kept in that folder, and goes on where it stopped. `jobs` worker
    processes, a Dask scheduler (`executor="dask"`) or any `concurrent.futures.Executor` share the
    work; the results do not depend on who did it. Raises ScenarioError for what cannot vary so,
    StudyError for what else cannot be done, StoreError where the folder cannot be written.
    """
    if replications < 1 or jobs < 1 or most < 1:
        raise ValueError("replications, jobs and most are at least 1")
    scenario = scenario.choose(methods) if methods is not None else scenario
    scenario = scenario.with_({"seed": seed}) if seed is not None else scenario
    metric = known_metric(metric)
    width, relative = (None, False) if half_width is None else read_half_width(half_width, metric)
    rule = Rule(replications, width, relative, most, metric)
    axes = axes_of(scenario, vary)
    resolved = scenario.resolved()
    asked = _asked(scenario, axes, rule, [why, tornado], resolved)
    if out is not None and (finished := _finished(Path(out), asked)) is not None:
        return finished
    grid = build(scenario, axes)
    grid = variants(grid, WITHOUT, cause_levels) if why else grid
    if tornado or (tornado is None and not grid.axes):
        inputs = any(cell.scenario.uncertain for cell in grid.cells)
        if tornado and not inputs:
            raise StudyError("a tornado needs uncertain inputs, and the scenario has none")
        grid = variants(grid, INPUT, input_levels) if inputs else grid
    refuse_lacking(metric, grid.cells)
    tell_before(grid.cells)
    question = question_of(scenario, grid, rule)
    store = None if out is None else Store(Path(out), resolved, question)
    try:
        if store is not None:
            store.open()
            if scenario.as_written:
                store.write(GIVEN, scenario.as_written)
        gathering = Gathering(grid.cells, rule, store, progress)
        with open_lanes(executor, jobs, scheduler, files_of_tasks(scenario)) as lanes:
            gathering.run(lanes)
        manifest = {"version": ddsim.__version__, **question}
        folder = None if out is None else Path(out)
        study = Study.of(manifest, gathering.rows, resolved, folder, scenario.as_written)
        if store is not None:
            write_tables(study, store)
            store.write(kept.FILE, kept_of(study, asked).text(store.folder))
    finally:
        if store is not None:
            store.close()
    return study


def tell_before(cells: Sequence[Cell]) -> None:
    """Tell the log what of these cells is worth knowing before they run."""
    for said in found_late((cell.method, cell.scenario) for cell in cells):
        _log.warning("%s", said)


def _asked(
    scenario: Scenario, axes: Sequence[Axis], rule: Rule, flags: Sequence[object], resolved: str
) -> str:
    """The hash of what is asked, before any cell is laid out."""
    question = {
        "axes": Grid(tuple(axes), ()).document()["axes"],
        "rule": rule.document(),
        "flags": flags,
        "files": sources.hashes_of(identity.named_files(scenario)),
    }
    return kept.asked_of(question, resolved)


def _finished(folder: Path, asked: str) -> Study | None:
    """The study of a folder that has answered this in full, by the same ddsim."""
    found = kept.read(folder)
    if found is None or found.asked != asked or not is_in_order(folder):
        return None
    files = [folder / f"{name}.csv" for name in (*found.tables, "replications")]
    return Study.load(folder, found) if all(file.is_file() for file in files) else None


def kept_of(study: Study, asked: str) -> kept.Kept:
    """What is worth keeping of a study."""
    tables = study.tables()
    small = {name: tables[name] for name in KEPT if name in tables}
    return kept.Kept(asked, len(study.rows), small, study.measured)


def files_of_tasks(scenario: Scenario) -> dict[str, str]:
    """The files that whoever simulates needs, absolute, with their hashes."""
    return sources.hashes_of({str(file): file for file in identity.python_files(scenario)})


def question_of(scenario: Scenario, grid: Grid, rule: Rule) -> dict[str, Any]:
    """What a study asks, as plain data."""
    return {
        "scenario": scenario.name,
        "seed": scenario.seed,
        "methods": list(dict.fromkeys(cell.method for cell in grid.cells)),
        "rule": rule.document(),
        "files": sources.hashes_of(identity.named_files(scenario)),
        "sources": sources.of_ddsim(),
        **grid.document(),
    }


def known_metric(metric: str) -> str:
    """The metric; StudyError for what is none."""
    if metric not in METRICS and not metric.startswith(ACCOUNT):
        raise StudyError(refusal(metric))
    return metric


class Gathering:
    """Brings the replications of cells together, until each has those that the rule wants.

    It begins with the rows in `begun`, or else with those of the store.
    """

    def __init__(
        self,
        cells: Sequence[Cell],
        rule: Rule,
        store: Store | None = None,
        progress: Callable[[Progress], None] | None = None,
        begun: Mapping[int, Sequence[Row]] | None = None,
    ) -> None:
        self._cells = {cell.index: cell for cell in cells}
        self._python = tuple(identity.python_files(cells[0].scenario)) if cells else ()
        self._rule = rule
        self._store = store
        self._progress = progress
        if begun is None:
            begun = store.cells() if store is not None else {}
        self.rows: dict[int, list[Row]] = {
            index: list(begun.get(index, ())) for index in self._cells
        }
        self._coming: dict[int, dict[int, Batch]] = {index: {} for index in self._cells}
        self._until = {index: self._wanted(index) for index in self._cells}
        self._done = {i for i in self._cells if self._until[i] <= len(self.rows[i])}
        self._elapsed = dict.fromkeys(self._cells, 0.0)
        self._widths: dict[int, float] = {}

    def run(self, lanes: Sequence[Lane]) -> None:
        """Do what is missing."""
        missing = sum(self._missing(index) for index in self._cells)
        workers = sum(lane.width for lane in lanes)
        self._size = max(1, ceil(missing / (_TASKS_EACH * workers)))
        self._tell("")
        tasks = [task for index in self._cells for task in self._tasks(index)]
        try:
            dispatch(lanes, tasks, work, self._take, lambda task: self._cells[task.cell].words)
        except WorkersError as error:
            raise StudyError(f"{error}; what was done before is kept") from error

    def _wanted(self, index: int) -> int:
        return self._rule.wanted(self.rows[index], self._cells[index].chance)

    def _missing(self, index: int) -> int:
        return max(0, self._until[index] - len(self.rows[index]))

    def _tasks(self, index: int) -> Iterator[Task]:
        cell, end = self._cells[index], self._until[index]
        for start in range(len(self.rows[index]), end, self._size):
            stop = min(start + self._size, end)
            yield Task(index, cell.method, cell.scenario, start, stop, self._python)

    def _take(self, task: Task, batch: Batch) -> Sequence[Task]:
        index = task.cell
        coming = self._coming[index]
        coming[task.start] = batch
        self._elapsed[index] += batch.elapsed
        more: list[Task] = []
        if sum(len(item.rows) for item in coming.values()) == self._missing(index):
            for start in sorted(coming):
                self.rows[index].extend(coming[start].rows)
            coming.clear()
            self._until[index] = self._wanted(index)
            found = measured(self.rows[index], self._rule.metric, self._cells[index].chance)
            self._widths[index] = inf if found is None else found.half_width
            if self._missing(index):
                more = list(self._tasks(index))
            else:
                self._done.add(index)
                if self._store is not None:
                    self._store.commit(index, self.rows[index], self._elapsed[index])
        self._tell(self._cells[index].words)
        return more

    def _tell(self, last: str) -> None:
        if self._progress is None:
            return
        flying = sum(len(b.rows) for coming in self._coming.values() for b in coming.values())
        self._progress(
            Progress(
                len(self._done),
                len(self._cells),
                sum(map(len, self.rows.values())) + flying,
                sum(max(self._until[i], len(self.rows[i])) for i in self._cells),
                max((width for width in self._widths.values() if width < inf), default=None),
                last,
            )
        )


def write_tables(study: Study, store: Store) -> None:
    """Write every table as CSV, and as Parquet where pyarrow is installed."""
    for name, table in study.tables().items():
        store.write(f"{name}.csv", table_text(table.columns, table.rows))
    try:
        import pyarrow  # type: ignore[import-untyped,unused-ignore]  # noqa: F401
    except ImportError:
        return
    from io import BytesIO

    import pandas as pd

    for name, table in study.tables().items():
        frame = pd.DataFrame(table.rows, columns=table.columns)
        for column in study.columns:
            # values of a path may be numbers and words
            if column in frame and frame[column].map(type).nunique() > 1:
                frame[column] = frame[column].map(str)
        content = BytesIO()
        frame.to_parquet(content, index=False)
        store.write(f"{name}.parquet", content.getvalue())
