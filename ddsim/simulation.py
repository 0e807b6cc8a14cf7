"""From a scenario to results: the world is drawn, each method meets it, its books are closed."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from math import inf
from time import perf_counter
from typing import TYPE_CHECKING

import ddsim
from ddsim import methods
from ddsim.engine.ledger import Account
from ddsim.engine.run import Outcome, Run
from ddsim.results import Merge, MethodResult, Results, Span, mean_of
from ddsim.world import cluster as clusters
from ddsim.world.history import FailureHistory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ddsim.results import Wan
    from ddsim.scenario import Scenario

GIGA = 1e9


def run(
    scenario: Scenario,
    methods: Sequence[str] | None = None,
    seed: int | None = None,
    replications: int = 1,
    jobs: int = 1,
    progress: Callable[[int, int, str], None] | None = None,
) -> Results:
    """Run the scenario's methods, or those named, on the same failure histories.

    Every replication has a history of its own, which all methods meet. `jobs` processes share the
    work; the results do not depend on their number. `progress` is called with what is done, out
    of how much, and what was done last. Raises ScenarioError for a method that is not known, and
    ValueError for less than one replication or job.
    """
    if replications < 1 or jobs < 1:
        raise ValueError("replications and jobs are at least 1")
    if methods is not None:
        scenario = scenario.choose(methods)
    if seed is not None:
        scenario = scenario.with_({"seed": seed})
    names = _in_order(scenario)
    if jobs == 1:
        parts = _one_by_one(scenario, names, replications, progress)
    else:
        parts = _side_by_side(scenario, names, replications, jobs, progress)
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
) -> list[list[MethodResult]]:
    rows: list[list[MethodResult]] = []
    done = 0
    for replication in range(replications):
        histories = Histories(replication)
        row = []
        for name in names:
            row.append(simulate(scenario.for_method(name), name, replication, histories))
            done += 1
            if progress is not None:
                progress(done, replications * len(names), name)
        rows.append(row)
    return rows


def _side_by_side(
    scenario: Scenario,
    names: Sequence[str],
    replications: int,
    jobs: int,
    progress: Callable[[int, int, str], None] | None,
) -> list[list[MethodResult]]:
    settled = {name: scenario.for_method(name) for name in names}
    with ProcessPoolExecutor(jobs) as pool:
        futures = [
            [pool.submit(simulate, settled[name], name, replication) for name in names]
            for replication in range(replications)
        ]
        rows: list[list[MethodResult]] = []
        for replication, waiting in enumerate(futures):
            rows.append([])
            for index, future in enumerate(waiting):
                rows[-1].append(future.result())
                if progress is not None:
                    done = replication * len(names) + index + 1
                    progress(done, replications * len(names), names[index])
    return rows


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
    return all(
        getattr(one, part) == getattr(other, part)
        for part in ("seed", "cluster", "failures", "chaos", "chaos_only", "training", "restart")
    )


def simulate(
    scenario: Scenario, name: str, replication: int = 0, histories: Histories | None = None
) -> MethodResult:
    """Run one method through one replication of a scenario that is settled for it."""
    started = perf_counter()
    cluster, history = (histories or Histories(replication)).of(scenario)
    one = Run(scenario, cluster, history, replication)
    method = methods.get(name)(one)
    hardware = method.start()
    one.clock.run(one.horizon)
    end = min(one.horizon, one.clock.now if one.clock.stopped else one.horizon)
    outcome = method.close(end)
    if outcome.finished is not None:
        end = outcome.finished
    spare_time = cluster.spare_chips * end
    if spare_time:
        one.ledger.post(len(cluster.units), Account.UNALLOCATED, spare_time)
    return _result(name, one, outcome, end, hardware.strikes, perf_counter() - started)


def _result(
    name: str, one: Run, outcome: Outcome, end: float, strikes: int, elapsed: float
) -> MethodResult:
    totals = one.ledger.totals()
    capacity = (one.cluster.chips + one.cluster.spare_chips) * end
    productive = totals[Account.PRODUCTIVE.label]
    delayed = totals[Account.EXPOSED_COMMUNICATION.label] + totals[Account.WAITING_ON_PEERS.label]
    units = one.cluster.units
    return MethodResult(
        method=name,
        goodput=one.ledger.goodput(range(len(units))),
        goodput_by_chip_type={
            kind: one.ledger.goodput([unit.index for unit in units if unit.chip == kind])
            for kind in dict.fromkeys(unit.chip for unit in units)
        },
        time_goodput=outcome.moving / end,
        uptime=outcome.up / end,
        merge_uptime=None if outcome.merging is None else outcome.merging / end,
        participation=outcome.participation,
        merged_share=_share(outcome.merged, outcome.overwritten),
        compute_utilization=productive / (productive + delayed) if productive else 0.0,
        ettr=outcome.productive / end,
        accounts={account: value / capacity for account, value in totals.items()},
        steps=outcome.steps,
        tokens=outcome.tokens,
        wall_clock_s=end,
        failures=strikes,
        mtbi_s=end / outcome.interruptions if outcome.interruptions else None,
        mttr_s=outcome.interrupted / outcome.interruptions if outcome.interruptions else None,
        wan=_wan(one, outcome, end),
        learning=None,
        events=one.clock.events,
        elapsed_s=elapsed,
        tokens_merged=outcome.tokens_merged,
        extra={} if outcome.late_answers is None else {"late_answers": outcome.late_answers},
        timeline=[Span(*span) for span in one.recorder.timeline()],
        merges=list(_merges(one)),
    )


def _share(merged: float | None, overwritten: float | None) -> float | None:
    if merged is None or overwritten is None or merged + overwritten <= 0.0:
        return None
    return merged / (merged + overwritten)


def _merges(one: Run) -> Iterable[Merge]:
    names = [unit.name for unit in one.cluster.units]
    for merge in one.recorder.merges:
        learners = tuple(names[index] for index in merge.participants)
        yield Merge(
            merge.slot, merge.fragments, merge.start, merge.arrival, learners, merge.weights
        )


def _wan(one: Run, outcome: Outcome, end: float) -> Wan:
    meter = one.meter
    widths = ", ".join(f"{what} at {bits:g} bits" for what, bits in outcome.payload.items())
    return {
        "mean_gbps": meter.bits / end / GIGA if end < inf else 0.0,
        "peak_gbps": meter.peak / GIGA,
        "total_bytes": meter.bits / 8,
        "convention": (
            f"busiest site, one direction; {widths} a parameter; "
            "ring all-reduce of 2(M-1)/M of the payload; peak over 1 s"
        ),
    }
