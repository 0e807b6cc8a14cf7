"""From a scenario to results: the world is drawn, each method meets it, its books are closed."""

from __future__ import annotations

import logging
import os
import sys
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

import ddsim
from ddsim import methods, quality
from ddsim.engine.goal import goal_of, last_of, outlook_of
from ddsim.engine.hardware import Hardware
from ddsim.engine.run import Outcome, Run
from ddsim.engine.vain import Vain
from ddsim.engine.watch import Watch
from ddsim.loading import load, run_new_files
from ddsim.progress import Progress, of_training
from ddsim.remarks import found_late, remarks
from ddsim.results import MethodResult, Recording, Results, books, mean_of, run_log
from ddsim.results.goals import found_of
from ddsim.results.quality import predicted
from ddsim.users import blamed, returned
from ddsim.workers.dispatch import dispatch
from ddsim.workers.lanes import process_lanes
from ddsim.world.expected import chance_of
from ddsim.world.histories import Histories
from ddsim.world.instants import seconds, ticks

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from contextlib import AbstractContextManager

    from ddsim.methods.registry import Method
    from ddsim.quality import Outlook
    from ddsim.scenario import Scenario


class _Ways(NamedTuple):
    """How replications are simulated."""

    tape: bool
    timeline: bool
    every_slot: bool
    log: bool

    def of(self, replication: int) -> dict[str, bool]:
        """Return the same for one replication: the timeline of the first is the result's."""
        return self._asdict() | {"timeline": self.timeline and replication == 0}


_log = logging.getLogger(__name__)
_PRELOAD = ("ddsim.simulation", "ddsim.scenario.schema")


def run(
    scenario: Scenario | str | os.PathLike[str],
    methods: Sequence[str] | None = None,
    seed: int | None = None,
    replications: int = 1,
    jobs: int = 1,
    progress: Progress | None = None,
    *,
    tape: bool = False,
    timeline: bool = True,
    every_slot: bool = False,
    log: bool = False,
) -> Results:
    """Run the scenario's methods, or those named, on the same failure histories.

    `scenario` is one that was loaded, a file of one, or the name of a shipped one.

    Every replication has a history of its own, which all methods meet. `jobs` processes share the
    work; the results do not depend on their number. `progress` is called with what is done, out
    of how much, and what is under way, or was done last where several are. With `tape` every step
    and merge is kept, for `replay` to train on. Without `timeline` neither the units' states nor
    merges are; as it is, those of the first history, and of many merges only some of the whole run.
    With `every_slot` no step is left to machine code, and no round passed over: that takes longer
    and gives the same but for rounding. With `log` the first replication of each method leaves a
    run log, as a real run would. Raises ScenarioError for a method that is not known, and
    ValueError for less than one replication or job. What is worth knowing before it starts is told
    the log named `ddsim`.
    """
    if replications < 1 or jobs < 1:
        raise ValueError("replications and jobs are at least 1")
    if isinstance(scenario, str | os.PathLike):
        scenario = load(scenario)
    if methods is not None:
        scenario = scenario.choose(methods)
    if seed is not None:
        scenario = scenario.with_({"seed": seed})
    names = _in_order(scenario)
    settled = ((name, scenario.for_method(name)) for name in names)
    for said in [*remarks(scenario), *found_late(settled)]:
        _log.warning("%s", said)
    ways = _Ways(tape, timeline or log, every_slot, log)
    if jobs == 1:
        parts = _one_by_one(scenario, names, replications, progress, ways)
    else:
        parts = _side_by_side(scenario, names, replications, jobs, progress, ways)
    return Results(
        scenario=scenario.name,
        seed=scenario.seed,
        replications=replications,
        duration_s=scenario.duration,
        version=ddsim.__version__,
        results=[
            _mean(scenario, name, [rows[index] for rows in parts])
            for index, name in enumerate(names)
        ],
        resolved=scenario.resolved(),
        given=scenario.as_written,
    )


def _mean(scenario: Scenario, name: str, rows: Sequence[MethodResult]) -> MethodResult:
    """Return the mean of a method's replications, whose tokens are worth what all are together."""
    if len(rows) == 1:
        return mean_of(rows)
    settled = scenario.for_method(name)
    mean = mean_of(rows, chance_of(settled))
    if mean.quality is None:
        return mean
    return _valued(settled, _outlook(settled, name), mean)


def _in_order(scenario: Scenario) -> list[str]:
    wanted = {spec.name for spec in scenario.methods}
    return [name for name in methods.names() if name in wanted]


def _one_by_one(
    scenario: Scenario,
    names: Sequence[str],
    replications: int,
    progress: Progress | None,
    ways: _Ways,
) -> list[list[MethodResult]]:
    rows: list[list[MethodResult]] = []
    done = 0
    for replication in range(replications):
        histories = Histories(replication)
        row = []
        for name in names:
            settled = scenario.for_method(name)
            tell = of_training(progress, done, replications * len(names), name)
            if progress is not None:
                progress(done, replications * len(names), name)
            row.append(
                simulate(settled, name, replication, histories, tell, **ways.of(replication))
            )
            done += 1
        rows.append(row)
    if progress is not None:
        progress(done, done, names[-1])
    return rows


def _side_by_side(
    scenario: Scenario,
    names: Sequence[str],
    replications: int,
    jobs: int,
    progress: Progress | None,
    ways: _Ways,
) -> list[list[MethodResult]]:
    settled = {name: scenario.for_method(name) for name in names}
    tasks = [
        _Task(settled[name], name, replication, ways)
        for replication in range(replications)
        for name in names
    ]
    found: dict[tuple[int, str], MethodResult] = {}

    def take(task: _Task, result: MethodResult) -> Iterable[_Task]:
        found[task.replication, task.name] = result
        if progress is not None:
            progress(len(found), len(tasks), task.name)
        return ()

    with process_lanes(jobs, _PRELOAD) as lanes:
        dispatch(lanes, tasks, _in_worker, take, lambda task: f"method {task.name}")
    return [[found[replication, name] for name in names] for replication in range(replications)]


@dataclass(frozen=True)
class _Task:
    """One replication of one method, whose scenario is settled for it."""

    scenario: Scenario
    name: str
    replication: int
    ways: _Ways


def _in_worker(task: _Task) -> MethodResult:
    """Simulate in a process of its own, which may not have read the user's files yet."""
    with redirect_stdout(sys.stderr):  # the standard output is for results alone
        run_new_files(Path(file) for file in task.scenario.document.python_files())
        ways = task.ways.of(task.replication)
        return simulate(task.scenario, task.name, task.replication, None, None, **ways)


def simulate(
    scenario: Scenario,
    name: str,
    replication: int = 0,
    histories: Histories | None = None,
    training: Progress | None = None,
    *,
    tape: bool = False,
    timeline: bool = True,
    every_slot: bool = False,
    log: bool = False,
) -> MethodResult:
    """Run one method through one replication of a scenario that is settled for it.

    With a learning section a model is trained on the run's schedule, and `training` told how far
    it is. With `tape` that schedule is kept in the result; without `timeline` the units' states
    over time are not, which saves time where much fails. With `every_slot` no step is left to
    machine code, and no round of slots passed over. With `log` and `timeline` the result has the
    run's log.
    """
    started = perf_counter()
    learns = scenario.learning.problem is not None
    outlook = _outlook(scenario, name)
    with blamed(methods.get(name), f"method {name}"):
        cluster, history = (histories or Histories(replication)).of(scenario)
        one = Run(scenario, cluster, history, replication)
        one.recorder.keep = timeline
        one.every_slot = every_slot
        one.goal = goal_of(scenario, outlook)
        fastest = seconds(min(pace.nominal for pace in one.paces))
        one.horizon = ticks(last_of(scenario, one.goal, fastest))
        if not one.goal.endless and scenario.duration == inf and scenario.trace.file is None:
            one.vain = Vain(one.clock, one.goal.all_merged)
        if tape or learns:
            one.tape = []
        if log and timeline:
            run_log.begin(one)
        method, outcome, end, hardware, watch = _carry_out(name, one)
        if outcome.finished is not None:
            end = outcome.finished
        result = books.result_of(name, one, outcome, end, hardware, perf_counter() - started)
        if log and timeline:
            result = replace(result, run_log=run_log.events_of(one, result, method, hardware))
    why = next((by.reason for by in (one.vain, watch) if by and by.reason), None)
    if scenario.training.loss is not None or scenario.training.tokens is not None:
        result = replace(result, goal=found_of(scenario, outlook, result, why))
    result = _valued(scenario, outlook, result)
    if one.tape is None:
        return result
    kept = bool(one.tape) or not outcome.steps
    recording = Recording(replication, end, one.tape)
    if tape and kept:
        result = replace(result, tapes=(recording,))
    return _trained(scenario, result, recording if kept else None, training) if learns else result


def _outlook(scenario: Scenario, name: str) -> Outlook | None:
    """Return what tokens are worth to a method by the scenario's law, if it names one."""
    if scenario.quality.law is None:
        return None
    with _blamed_law(scenario):
        return outlook_of(scenario, methods.get(name).apart)


def _valued(scenario: Scenario, outlook: Outlook | None, result: MethodResult) -> MethodResult:
    """Return a result with what its tokens are worth."""
    if outlook is None:
        return result
    with _blamed_law(scenario):
        return replace(result, quality=predicted(scenario, outlook, result))


def _blamed_law(scenario: Scenario) -> AbstractContextManager[None]:
    name = scenario.quality.law or ""
    return blamed(quality.get(name), f"law {name}")


def _carry_out(name: str, one: Run) -> tuple[Method, Outcome, float, Hardware, Watch | None]:
    """Let a method live through a run; return it, what it did, its end in seconds, and on what.

    One that has a goal is watched over, so that it ends where that is out of reach.
    """
    method, what = methods.get(name)(one), f"method {name}"
    hardware = returned(Hardware, method.start(), method, "start", what)
    hardware.noted = None if one.tape is None else []
    watch = None if one.goal.endless else _watch(method, one, hardware)
    one.clock.run(one.horizon)
    end = min(one.horizon, one.clock.now if one.clock.stopped else one.horizon)
    outcome = returned(Outcome, method.close(end), method, "close", what)
    return method, outcome, seconds(end), hardware, watch


def _watch(method: Method, one: Run, hardware: Hardware) -> Watch:
    """Watch over a run; also over what is merged where nothing else counts for its goal."""
    counts = one.goal.counted < inf and one.goal.worth <= 0.0 and one.scenario.duration == inf
    merged = getattr(method, "merged_by_now", None) if counts else None
    regions = [unit.region for unit in one.cluster.units]

    def parted() -> bool:
        there = all(unit.healthy for unit in hardware.units)  # who comes back may merge at home
        return there and one.network.parted(regions, one.clock.now)

    return Watch(one.clock, one.ledger, hardware.bodies, merged, parted)


def _trained(
    scenario: Scenario,
    result: MethodResult,
    recording: Recording | None,
    progress: Progress | None,
) -> MethodResult:
    """Return a method's result with what its model learnt; LearningError without a recording."""
    from ddsim.learning import LearningError
    from ddsim.results.learning import learned
    from ddsim.training import train

    if recording is None:
        raise LearningError(
            f"method {result.method} keeps no tape of its steps: it cannot train a model"
        )
    return replace(result, learning=learned(train(scenario, result.method, recording, progress)))
