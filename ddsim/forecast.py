"""What a scenario will cost to simulate, worked out before it runs: strikes, steps, merges, memory
and time.

Strikes and merges are what the scenario implies. Times are those of one core of a server of the
2020s, within a factor of about three, without what numba takes to compile once on a fresh machine;
a training is timed on a step of its own problem.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from math import inf, isfinite
from typing import TYPE_CHECKING

from ddsim.learning.cost import cost_of
from ddsim.learning.errors import LearningError
from ddsim.learning.setup import config_of
from ddsim.world import cluster as clusters
from ddsim.world.causes import (
    Away,
    cause_rate,
    goes_on_at_its_age,
    lifetime_of,
    repair_of,
)
from ddsim.world.distributions import from_spec
from ddsim.world.domains import DOMAINS, Parts
from ddsim.world.renewal import expected_unrenewed
from ddsim.world.stalls import detection_time

if TYPE_CHECKING:
    from ddsim.scenario import Scenario
    from ddsim.scenario.failures import Cause
    from ddsim.world.cluster import Cluster

US = 1e-6
PER_METHOD = 0.01
PER_STRIKE = {"data_parallel": 100 * US, "elastic_data_parallel": 250 * US}
STRIKE = 250 * US
"""Of a method that is not named."""
DRAWN = 5 * US
"""A strike of the history, which all methods share."""
UNEVEN_STEP = 60 * US
"""A step of a job, where steps differ: with jitter or a wait for data."""
SLOT, LEARNER_STEP = 7 * US, 0.12 * US
"""A slot and a learner's step in machine code, and by hand in runs that are short."""
SLOT_BY_HAND, ANSWER_BY_HAND, LEARNER_STEP_BY_HAND = 50 * US, 25 * US, 12 * US
COMPILED_FROM = 20_000.0
NOTED, PER_NOTED = 20_000.0, 25 * US
"""Merges of a run that are noted one by one, and what each takes."""
HANDED = 470 * US
"""A merge whose exchange lasts beyond `network.ring_timeout`, so that replicas may leave."""
CHANGE, CHANGE_AMONG_REPLICAS = 40 * US, 350 * US
"""An instant at which accesses change; a change of one where replicas may leave."""
ASYNC_STEP = 1 * US
ASYNC_MERGE = 50 * US

MEGABYTE = 1e6
BASE_MEMORY = 350 * MEGABYTE
PER_STRIKE_MEMORY, PER_SPAN, SPANS_OF_UNIT = 400.0, 200.0, 3.0
PER_NOTED_MEMORY, PER_PARTICIPANT = 400.0, 40.0
PER_LEARNER, PER_LEARNER_FRAGMENT = 25e3, 200.0
PER_RESULT = 12e3

LOCKSTEP = ("diloco", "streaming_diloco")
LOCAL = (*LOCKSTEP, "decoupled_diloco")


@dataclass(frozen=True)
class Forecast:
    """What is to be expected of a run: of one replication, or of as many as `times` said.

    `strikes` on what is up, in one history; `steps` of all learners and `merges` of all methods
    together; `seconds` of one core; `memory` in bytes. `most` is what most of the time goes to:
    "strikes" or "steps".
    """

    strikes: float
    steps: float
    merges: float
    seconds: float
    memory: float
    most: str = "steps"

    def times(self, runs: float, *, kept: bool = True, jobs: int = 1) -> Forecast:
        """The same of so many runs, one after another; results are `kept` until the end or not."""
        held = PER_RESULT * (runs - 1.0) if kept else 0.0
        return replace(
            self,
            strikes=self.strikes * runs,
            steps=self.steps * runs,
            merges=self.merges * runs,
            seconds=self.seconds * runs / jobs,
            memory=self.memory * jobs + held,
        )


def forecast(scenario: Scenario, units: int | None = None) -> Forecast:
    """What one replication of all the scenario's methods comes to.

    With `units` it is told as if there were so many equal ones: scenarios of very many take long
    to lay out.
    """
    names = [spec.name for spec in scenario.methods]
    parts = [_of_method(scenario.for_method(name), name, units) for name in names]
    longest = max(parts, key=lambda part: part.seconds)
    return Forecast(
        strikes=max(part.strikes for part in parts),
        steps=sum(part.steps for part in parts),
        merges=sum(part.merges for part in parts),
        seconds=sum(part.seconds for part in parts),
        memory=BASE_MEMORY + sum(part.memory for part in parts),
        most=longest.most,
    )


def strikes(scenario: Scenario, span: float) -> tuple[float, float]:
    """Strikes in `span` seconds: those on what is up, and all that the history holds."""
    planned = _planned(scenario, span)
    if scenario.chaos_only:
        return planned, planned
    cluster = clusters.build(scenario)
    failures = scenario.failures
    rate = cluster.chips / failures.chip_mtbi
    slices = sum(unit.slice_count for unit in cluster.units)
    away = detection_time(scenario) + from_spec(failures.repair.kind, failures.repair.params).mean()
    up = planned + span * rate / (1.0 + rate / slices * _finite(away))
    drawn = planned + span * rate
    for cause in failures.causes:
        if cause.domain in DOMAINS:
            some = _of_cause(cause, cluster, scenario, span)
            up, drawn = up + some, drawn + some
    return up, drawn


def _of_cause(cause: Cause, cluster: Cluster, scenario: Scenario, span: float) -> float:
    parts = Parts(cause.domain, cluster).count
    detection = detection_time(scenario, cause.detection)
    away = _finite(Away(detection, repair_of(cause, scenario)).mean())
    if cause.lifetime is not None and goes_on_at_its_age(cause):
        found = expected_unrenewed(lifetime_of(cause), parts, span, away)
    else:
        rate = cause_rate(cause, parts)
        found = span * rate / (1.0 + rate / max(parts, 1) * away)
    return found * cause.burst.size


def _finite(time: float) -> float:
    return time if isfinite(time) else 0.0


def _planned(scenario: Scenario, span: float) -> float:
    """Planned faults, and what joins and leaves, each time."""
    coming = sum(2.0 * (span / item.every if item.every else 1.0) for item in scenario.scavenging)
    return len(scenario.chaos) + coming + _replayed(scenario, span)


def _replayed(scenario: Scenario, span: float) -> float:
    """Nodes that leave in a trace, each time."""
    trace = scenario.trace.file
    if trace is None or trace.end <= 0.0:
        return 0.0
    leave = sum(max(0, before - after) for before, after in pairwise(trace.counts))
    passes = span / trace.end
    return leave * (passes if scenario.trace.repeat else min(passes, 1.0))


def _of_method(scenario: Scenario, name: str, units: int | None) -> Forecast:
    built = scenario.units()
    count = units or len(built)
    slowest = max(unit.step_time for unit in built)
    wait = scenario.cluster.delay
    if wait is not None:
        slowest += _finite(from_spec(wait.kind, wait.params).mean())
    exchange = _exchange(scenario, name)
    training = scenario.training
    inner = training.inner_steps
    rounds = slowest
    if name == "diloco":
        rounds += exchange / inner
    elif name in LOCAL:
        rounds = max(rounds, exchange / inner)
    elif name != "async_local_sgd":
        rounds += exchange
    goal = training.tokens / training.tokens_per_step * rounds if training.tokens else inf
    span = min(scenario.duration, goal)
    up, drawn = strikes(scenario, span)
    steps = span / rounds
    merges = steps * _slots_of_step(scenario, name, count)
    spent = _seconds(name, scenario, steps, merges, count)
    leaving = False
    if name == "decoupled_diloco":
        each = exchange / min(training.fragments, inner)
        leaving = scenario.network.ring_timeout < each
        spent += merges * HANDED if leaving else 0.0
    changes, instants = _changes(scenario, span)
    spent += changes * CHANGE_AMONG_REPLICAS if leaving else instants * CHANGE
    struck = up * PER_STRIKE.get(name, STRIKE) * max(1.0, count / 8.0) + drawn * DRAWN
    noted = min(merges, NOTED)
    memory = (
        drawn * PER_STRIKE_MEMORY
        + up * PER_SPAN * SPANS_OF_UNIT * count
        + noted * (PER_NOTED_MEMORY + PER_PARTICIPANT * count)
        + count * PER_LEARNER
    )
    if name in LOCAL:
        memory += count * training.fragments * PER_LEARNER_FRAGMENT
    most = "strikes" if struck > spent else "steps"
    total = PER_METHOD + spent + struck + _trained(scenario, name, steps)
    return Forecast(up, steps * (count if name in LOCAL else 1), merges, total, memory, most)


def _trained(scenario: Scenario, name: str, steps: float) -> float:
    """Seconds of the numpy training along a run, from a step of it that is timed here."""
    learning = scenario.learning
    if learning.problem is None:
        return 0.0
    try:
        cost = cost_of(config_of(scenario, name))
    except LearningError:  # is said where the problem is made for the run
        return 0.0
    return learning.seeds * (steps * cost.step + learning.evaluations * cost.evaluation)


def _slots_of_step(scenario: Scenario, name: str, units: int) -> float:
    inner = scenario.training.inner_steps
    if name == "diloco":
        return 1.0 / inner
    if name in LOCAL:
        return min(scenario.training.fragments, inner) / inner
    return units / inner if name == "async_local_sgd" else 0.0


def _seconds(name: str, scenario: Scenario, steps: float, merges: float, units: int) -> float:
    if name in LOCAL:
        noted = min(merges, NOTED) * PER_NOTED
        if steps * units < COMPILED_FROM:
            slots = merges * (SLOT_BY_HAND + units * ANSWER_BY_HAND)
            return slots + steps * units * LEARNER_STEP_BY_HAND
        return noted + merges * SLOT + steps * units * LEARNER_STEP
    if name == "async_local_sgd":
        return steps * units * ASYNC_STEP + merges * ASYNC_MERGE
    even = not scenario.cluster.jitter and scenario.cluster.delay is None
    return 0.0 if even else steps * UNEVEN_STEP


def _changes(scenario: Scenario, span: float) -> tuple[float, float]:
    """How often regions' accesses change, and at how many instants: those by a clock coincide."""
    changes = drawn = 0.0
    by_clock: dict[float, float] = {}
    for region in scenario.regions().values():
        known = len(region.trace.rates) if region.trace is not None else len(region.schedule)
        planned = known * (span / region.repeat if region.repeat else 1.0)
        by_clock[0.0] = max(planned, by_clock.get(0.0, 0.0))
        changes += planned
        if region.random is None:
            continue
        times = region.random.params
        if region.random.kind == "two_state":
            drawn += 2.0 * span / (times["high_for"] + times["low_for"])
        else:
            by_clock[times["every"]] = span / times["every"]
            changes += span / times["every"]
    return changes + drawn, drawn + sum(by_clock.values())


def _exchange(scenario: Scenario, name: str) -> float:
    """Seconds in which all of a model goes round a ring of the regions once, by the thinnest."""
    regions = scenario.regions()
    used = {unit.region for unit in scenario.units()}
    if len(used) < 2:
        return 0.0
    training, network = scenario.training, scenario.network
    thinnest = min(min(regions[name].upload, regions[name].download) for name in used)
    bits = training.payload_bits if name in LOCAL else training.gradient_bits
    factor = 2.0 * (len(used) - 1) / len(used)
    latency = max(regions[name].latency or 0.0 for name in used) * 2.0 * (len(used) - 1)
    efficiency = network.efficiency or 1.0
    return scenario.model.parameters * bits * factor / (thinnest * efficiency) + latency
