"""From a scenario to results: the world is drawn, each method meets it, its books are closed."""

from __future__ import annotations

import os
import sys
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeVar

import ddsim
from ddsim import methods
from ddsim.engine.blast import blast_radius
from ddsim.engine.hardware import Hardware
from ddsim.engine.ledger import Account
from ddsim.engine.run import Outcome, Run, StepThrough
from ddsim.loading import load, run_new_files
from ddsim.results import Merge, MethodResult, Recording, Results, Span, mean_of
from ddsim.results.costs import costs
from ddsim.users import blamed
from ddsim.workers.dispatch import dispatch
from ddsim.workers.lanes import process_lanes
from ddsim.world import cluster as clusters
from ddsim.world.history import FailureHistory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from ddsim.results import Learning, Wan
    from ddsim.scenario import Scenario

T = TypeVar("T")
GIGA = 1e9
ROUNDING = 1e-9
_PRELOAD = ("ddsim.simulation", "ddsim.scenario.schema")


def run(
    scenario: Scenario | str | os.PathLike[str],
    methods: Sequence[str] | None = None,
    seed: int | None = None,
    replications: int = 1,
    jobs: int = 1,
    progress: Callable[[int, int, str], None] | None = None,
    *,
    tape: bool = False,
    every_slot: bool = False,
) -> Results:
    """Run the scenario's methods, or those named, on the same failure histories.

    `scenario` is one that was loaded, a file of one, or the name of a shipped one.

    Every replication has a history of its own, which all methods meet. `jobs` processes share the
    work; the results do not depend on their number. `progress` is called with what is done, out
    of how much, and what is under way, or was done last where several are. With `tape` every step
    and merge is kept, for `replay` to train on. With `every_slot` every step and slot of Decoupled
    DiLoCo, and every round of Streaming DiLoCo, is an event: that takes longer and gives the same
    but for rounding. Raises ScenarioError for a method that is not known, and ValueError for less
    than one replication or job.
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
    ways = {"tape": tape, "every_slot": every_slot}
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
        results=[mean_of([rows[index] for rows in parts]) for index in range(len(names))],
        resolved=scenario.resolved(),
    )


def _in_order(scenario: Scenario) -> list[str]:
    wanted = {spec.name for spec in scenario.methods}
    return [name for name in methods.names() if name in wanted]


def _one_by_one(
    scenario: Scenario,
    names: Sequence[str],
    replications: int,
    progress: Callable[[int, int, str], None] | None,
    ways: Mapping[str, bool],
) -> list[list[MethodResult]]:
    rows: list[list[MethodResult]] = []
    done = 0
    for replication in range(replications):
        histories = Histories(replication)
        row = []
        for name in names:
            settled = scenario.for_method(name)
            tell = told(progress, done, replications * len(names), name)
            first = replication == 0  # whose timeline is the result's
            if progress is not None:
                progress(done, replications * len(names), name)
            row.append(
                simulate(settled, name, replication, histories, tell, timeline=first, **ways)
            )
            done += 1
        rows.append(row)
    if progress is not None:
        progress(done, done, names[-1])
    return rows


def told(
    progress: Callable[[int, int, str], None] | None, done: int, total: int, name: str
) -> Callable[[int, int, str], None] | None:
    """Return what a training reports to: it stands in the label, the count is of methods."""
    if progress is None:
        return None

    def tell(part: int, parts: int, what: str) -> None:
        progress(done, total, f"{name}, training {what}: {part / parts:.0%}")

    return tell


def _side_by_side(
    scenario: Scenario,
    names: Sequence[str],
    replications: int,
    jobs: int,
    progress: Callable[[int, int, str], None] | None,
    ways: Mapping[str, bool],
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
    ways: Mapping[str, bool]


def _in_worker(task: _Task) -> MethodResult:
    """Simulate in a process of its own, which may not have read the user's files yet."""
    with redirect_stdout(sys.stderr):  # the standard output is for results alone
        run_new_files(Path(file) for file in task.scenario.document.python_files())
        first = task.replication == 0
        return simulate(
            task.scenario, task.name, task.replication, None, None, timeline=first, **task.ways
        )


class Histories:
    """The failure histories of one replication: methods that meet the same world share one."""

    def __init__(self, replication: int) -> None:
        self._replication = replication
        self._drawn: list[tuple[Scenario, clusters.Cluster, FailureHistory]] = []

    def of(self, scenario: Scenario) -> tuple[clusters.Cluster, FailureHistory]:
        """Return the cluster that the scenario describes, and what befalls it."""
        for other, cluster, history in self._drawn:
            if _same_world(scenario, other):
                return cluster, history
        cluster = clusters.build(scenario)
        history = FailureHistory(scenario, cluster, self._replication)
        self._drawn.append((scenario, cluster, history))
        return cluster, history


def _same_world(one: Scenario, other: Scenario) -> bool:
    parts = [
        "seed",
        "cluster",
        "failures",
        "chaos",
        "chaos_only",
        "training",
        "restart",
        "scavenging",
        "trace",
    ]
    if one.warned:  # what a warning spares depends on how long a save takes
        parts.append("checkpoint")
    return all(getattr(one, part) == getattr(other, part) for part in parts)


def simulate(
    scenario: Scenario,
    name: str,
    replication: int = 0,
    histories: Histories | None = None,
    training: Callable[[int, int, str], None] | None = None,
    *,
    tape: bool = False,
    timeline: bool = True,
    every_slot: bool = False,
) -> MethodResult:
    """Run one method through one replication of a scenario that is settled for it.

    With a learning section a model is trained on the run's schedule, and `training` told how far
    it is. With `tape` that schedule is kept in the result; without `timeline` the units' states
    over time are not, which saves time where much fails. With `every_slot` there is an event
    wherever something happens.
    """
    started = perf_counter()

    def made(*, counted: bool) -> Run:
        one = Run(scenario, cluster, history, replication)
        one.recorder.keep = timeline
        one.counted = counted
        if tape or scenario.learning.problem is not None:
            one.tape = []
        return one

    with blamed(methods.get(name), f"method {name}"):
        cluster, history = (histories or Histories(replication)).of(scenario)
        try:
            one = made(counted=not every_slot)
            outcome, end, hardware = _carry_out(name, one)
        except StepThrough:
            one = made(counted=False)
            outcome, end, hardware = _carry_out(name, one)
        if outcome.finished is not None:
            end = outcome.finished
        spare_time = cluster.spare_chips * end
        if spare_time:
            one.ledger.post(len(cluster.units), Account.UNALLOCATED, spare_time)
        result = _result(name, one, outcome, end, hardware, perf_counter() - started)
    if one.tape is None:
        return result
    kept = bool(one.tape) or not outcome.steps
    recording = Recording(replication, end, one.tape)
    if tape and kept:
        result = replace(result, tapes=(recording,))
    if scenario.learning.problem is None:
        return result
    if not kept:
        from ddsim.learning import LearningError

        raise LearningError(f"method {name} keeps no tape of its steps: it cannot train a model")
    return replace(result, learning=train(scenario, name, recording, training))


def _carry_out(name: str, one: Run) -> tuple[Outcome, float, Hardware]:
    """Let a method live through a run; return what it did, when it ended, and on what."""
    method = methods.get(name).for_run(one)
    hardware = _of_kind(Hardware, method.start(), "start")
    one.clock.run(one.horizon)
    end = min(one.horizon, one.clock.now if one.clock.stopped else one.horizon)
    return _of_kind(Outcome, method.close(end), "close"), end, hardware


def _of_kind(kind: type[T], found: object, what: str) -> T:
    """Return what a method gave, if it is what it has to give; TypeError where it is not."""
    if not isinstance(found, kind):
        given = "nothing" if found is None else f"something of type {type(found).__name__}"
        raise TypeError(f"its {what} returned {given}, not its {kind.__name__}")
    return found


def train(
    scenario: Scenario,
    name: str,
    recording: Recording,
    progress: Callable[[int, int, str], None] | None = None,
) -> Learning:
    """Train the model of a scenario that is settled for a method along the tape of a run of it."""
    from ddsim.learning import replay
    from ddsim.learning.setup import config_of, seeds_of
    from ddsim.results.learning import learned

    folder = scenario.learning.checkpoints
    curves = replay(
        recording.events,
        config_of(scenario, name),
        seeds_of(scenario, recording.replication),
        progress,
        end=recording.end,
        checkpoints=None if folder is None else Path(folder),
    )
    return learned(curves)


def _result(
    name: str, one: Run, outcome: Outcome, end: float, hardware: Hardware, elapsed: float
) -> MethodResult:
    totals = one.ledger.totals()
    capacity = (one.cluster.chips + one.cluster.spare_chips) * end
    productive = totals[Account.PRODUCTIVE.label]
    delayed = totals[Account.EXPOSED_COMMUNICATION.label] + totals[Account.WAITING_ON_PEERS.label]
    units = one.cluster.units
    return MethodResult(
        method=name,
        goodput=_within(one.ledger.goodput(range(len(units)))),
        goodput_by_chip_type={
            kind: _goodput_of(one, kind) for kind in dict.fromkeys(unit.chip for unit in units)
        },
        time_goodput=_within(outcome.moving / end),
        uptime=_within(outcome.up / end),
        merge_uptime=None if outcome.merging is None else _within(outcome.merging / end),
        participation=outcome.participation,
        merged_share=_share(outcome.merged, outcome.overwritten),
        compute_utilization=productive / (productive + delayed) if productive else 0.0,
        ettr=_within(outcome.productive / end),
        accounts={account: _within(value / capacity) for account, value in totals.items()},
        steps=outcome.steps,
        tokens=outcome.tokens,
        wall_clock_s=end,
        failures=hardware.strikes,
        mtbi_s=end / outcome.interruptions if outcome.interruptions else None,
        mttr_s=outcome.interrupted / outcome.interruptions if outcome.interruptions else None,
        wan=_wan(one, outcome, end),
        learning=None,
        events=one.clock.events,
        elapsed_s=elapsed,
        tokens_merged=outcome.tokens_merged,
        extra=_extra(one, outcome, hardware, end),
        timeline=[Span(*span) for span in one.recorder.timeline()],
        merges=list(_merges(one)),
    )


def _goodput_of(one: Run, kind: str) -> float:
    return _within(one.ledger.goodput([u.index for u in one.cluster.units if u.chip == kind]))


def _within(share: float) -> float:
    """Return a share without what rounding put beyond 0 or 1; more than that is an error."""
    if not -ROUNDING <= share <= 1.0 + ROUNDING:
        raise AssertionError(f"a share of time or chip-time is {share!r}")
    return min(1.0, max(0.0, share))


def _extra(one: Run, outcome: Outcome, hardware: Hardware, end: float) -> dict[str, Any]:
    """What no column of the comparison has a place for."""
    extra: dict[str, Any] = dict(outcome.extra)
    if outcome.late_answers is not None:
        extra["late_answers"] = outcome.late_answers
    links = one.meter.links(end, one.network.prices)
    if links:
        extra["links"] = links
    if hardware.strikes:
        extra["blast_radius"] = blast_radius(one.ledger.losses, hardware, one.cluster.chips, end)
    egress = sum(link["usd"] for link in links)
    spent = costs(one.scenario, one.ledger.totals(), outcome.tokens_merged, egress)
    if spent:
        extra["costs"] = spent
    return extra


def _share(merged: float | None, overwritten: float | None) -> float | None:
    if merged is None or overwritten is None or merged + overwritten <= 0.0:
        return None
    return merged / (merged + overwritten)


def _merges(one: Run) -> Iterable[Merge]:
    names = [unit.name for unit in one.cluster.units]
    known: dict[tuple[int, ...], tuple[str, ...]] = {}  # mostly the same ones
    for merge in one.recorder.merges:
        who = merge.participants
        learners = known.get(who)
        if learners is None:
            learners = known[who] = tuple(names[index] for index in who)
        yield Merge(
            merge.slot, merge.fragments, merge.start, merge.arrival, learners, merge.weights
        )


def _wan(one: Run, outcome: Outcome, end: float) -> Wan:
    meter = one.meter
    widths = ", ".join(f"{what} at {bits:g} bits" for what, bits in outcome.payload.items())
    mean = meter.bits / end if end < inf else 0.0
    return {
        "mean_gbps": mean / GIGA,
        "peak_gbps": max(meter.peak, mean) / GIGA,  # a run shorter than a second has no other
        "total_bytes": meter.bits / 8,
        "convention": (
            f"busiest site, one direction; {widths} a parameter; "
            f"{outcome.convention or one.network.convention}; peak over 1 s"
        ),
    }
