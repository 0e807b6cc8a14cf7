"""What simulating so much takes: seconds of one core, and bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ddsim.forecast.pace import LOCAL, LOCKSTEP
from ddsim.learning.cost import cost_of
from ddsim.learning.errors import LearningError
from ddsim.learning.setup import config_of

if TYPE_CHECKING:
    from ddsim.forecast.pace import Amount
    from ddsim.scenario import Scenario

US = 1e-6
PER_METHOD = 0.01
JOBS = ("data_parallel", "elastic_data_parallel")
PER_STRIKE = {"data_parallel": 100 * US, "elastic_data_parallel": 100 * US}
STRIKE = 150 * US
"""Of a method that is not named."""
DRAWN = 5 * US
"""A strike of the history, which all methods share."""
UNEVEN_STEP, UNEVEN_UNIT, UNEVEN_REDUCTION = 20 * US, 2 * US, 40 * US
"""A step of a job, each unit in it, and what it sends over links, where steps differ: with jitter
or a wait for data."""
SLOT, LEARNER_STEP = 7 * US, 0.12 * US
"""A slot and a learner's step in machine code."""
SENT = 12 * US
"""What a slot's exchange puts on links, noted where rounds differ."""
SLOT_BY_HAND, ANSWER_BY_HAND, LEARNER_STEP_BY_HAND = 50 * US, 25 * US, 12 * US
"""A slot, an answer to it and a learner's step by hand, in runs that are short."""
COMPILED_FROM = 20_000.0
NOTED, PER_NOTED = 20_000.0, 25 * US
"""Merges of a run that are noted one by one, and what each takes."""
SYNCED, SYNCED_LEARNER = 60 * US, 3 * US
"""A merge at a syncer that is not made of replicas, and each learner of it."""
STEERED = 40 * US
"""A merge before which a policy is asked."""
JUDGED = 8 * US
"""A step of a lock-step learner that does not just wait for those without hardware, where steps
differ."""
SAVED = 30 * US
"""A save that holds a learner up."""
LAYER = 20 * US
"""A layer of a reduction over links, reckoned anew where a job loses a unit or gets it back."""
HANDED, BESIDE = 80 * US, 20 * US
"""A merge whose exchange lasts beyond `network.ring_timeout`, so that replicas may leave, or has
copies beside it, each learner of it."""
CHANGE, CHANGE_OF_ONE, CHANGE_AMONG_REPLICAS = 40 * US, 5 * US, 350 * US
"""An instant at which accesses change; a change of one, and of one where replicas may leave."""
ASYNC_STEP, ASYNC_EVEN_STEP = 1 * US, 0.2 * US
ASYNC_MERGE = 50 * US
REPLAYED_STEP, REPLAYED_LEARNER, REPLAYED_MERGE = 150 * US, 35 * US, 200 * US
"""Of a training beside its gradients: a step, each learner in it, and a merge."""
GOAL_STEP, GOAL_LEARNER = 40 * US, 0.5 * US
"""A step of async_local_sgd towards a goal, which is looked at then, and each learner of it."""

MEGABYTE = 1e6
BASE_MEMORY = 350 * MEGABYTE
PER_STRIKE_MEMORY, PER_SPAN, SPANS_OF_UNIT = 400.0, 200.0, 3.0
PER_NOTED_MEMORY, PER_PARTICIPANT = 400.0, 40.0
PER_LEARNER, PER_LEARNER_FRAGMENT = 25e3, 200.0
PER_RESULT = 12e3
PER_DRAWN_STEP = 40.0
"""How long a step of a unit takes, or waits for its data, where that is drawn."""


class Cost(NamedTuple):
    """Seconds of one core, those of them for what only a first replication keeps, and what most go
    to, "strikes" or "steps"; bytes of the result, and those that are free again once it is there.
    """

    seconds: float
    once: float
    memory: float
    passing: float
    most: str


def spent_on(scenario: Scenario, name: str, amount: Amount) -> Cost:
    """What it takes to simulate a method of a scenario that comes to so much."""
    count, struck, drawn = amount.units, amount.struck, amount.drawn
    spent = _seconds(name, scenario, amount)
    leaving = name == "decoupled_diloco" and scenario.network.ring_timeout < amount.exchange
    spent += amount.merges * count * (HANDED if leaving else BESIDE * amount.copying)
    if name == "decoupled_diloco" and scenario.training.syncer != "replicas":
        spent += amount.merges * (SYNCED + count * SYNCED_LEARNER)
    if name == "decoupled_diloco" and scenario.training.policy != "fixed":
        spent += amount.merges * STEERED
    even = not scenario.cluster.jitter and scenario.cluster.delay is None
    if name in LOCKSTEP and scenario.training.on_failure != "wait" and not even:
        spent += amount.steps * count * JUDGED
    spent += 0.0 if name in JOBS else amount.saves * count * SAVED
    changes, instants = _changes(scenario, amount.span) if amount.exchange > 0.0 else (0.0, 0.0)
    spent += changes * (CHANGE_AMONG_REPLICAS if leaving else CHANGE_OF_ONE)
    spent += 0.0 if leaving else instants * CHANGE
    falling = struck * PER_STRIKE.get(name, STRIKE) * max(1.0, count / 8.0) + drawn * DRAWN
    if name == "elastic_data_parallel" and amount.exchange > 0.0:
        falling += struck * 2.0 * scenario.model.layers * LAYER
    noted = min(amount.merges, NOTED)
    memory = (
        drawn * PER_STRIKE_MEMORY
        + struck * PER_SPAN * SPANS_OF_UNIT * count
        + noted * (PER_NOTED_MEMORY + PER_PARTICIPANT * count)
        + count * PER_LEARNER
    )
    if name in LOCAL:
        memory += count * scenario.training.fragments * PER_LEARNER_FRAGMENT
    drawn_steps = bool(scenario.cluster.jitter) + (scenario.cluster.delay is not None)
    passing = amount.steps * count * drawn_steps * PER_DRAWN_STEP
    most = "strikes" if falling > spent else "steps"
    seconds = PER_METHOD + spent + falling + _trained(scenario, name, amount)
    once = noted * PER_NOTED if name in LOCAL else 0.0
    return Cost(seconds + once, once, memory, passing, most)


def _trained(scenario: Scenario, name: str, amount: Amount) -> float:
    """Seconds of the numpy training along a run, from a step of it that is timed here."""
    learning = scenario.learning
    if learning.problem is None:
        return 0.0
    try:
        cost = cost_of(config_of(scenario, name))
    except LearningError:  # is said where the problem is made for the run
        return 0.0
    step = cost.step + REPLAYED_STEP + amount.units * REPLAYED_LEARNER
    trained = amount.steps * step + amount.merges * REPLAYED_MERGE
    evaluations = min(learning.evaluations, amount.steps + 1.0)  # once for the same parameters
    return learning.seeds * (trained + evaluations * cost.evaluation)


def _seconds(name: str, scenario: Scenario, amount: Amount) -> float:
    steps, merges, units = amount.steps, amount.merges, amount.units
    even = not scenario.cluster.jitter and scenario.cluster.delay is None
    if name in LOCAL:
        if amount.nominal * units < COMPILED_FROM:
            slots = merges * (SLOT_BY_HAND + units * ANSWER_BY_HAND)
            return slots + steps * units * LEARNER_STEP_BY_HAND
        slot = SLOT + (SENT if amount.exchange > 0.0 and not even else 0.0)
        return merges * slot + steps * units * LEARNER_STEP
    if name == "async_local_sgd":
        training = scenario.training
        to_goal = training.tokens is not None or training.loss is not None
        each = ASYNC_EVEN_STEP if even else ASYNC_STEP
        each = GOAL_STEP + units * GOAL_LEARNER if to_goal else each
        return steps * units * each + merges * ASYNC_MERGE
    sent = UNEVEN_REDUCTION if amount.exchange > 0.0 else 0.0
    return 0.0 if even else steps * (UNEVEN_STEP + units * UNEVEN_UNIT + sent)


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
