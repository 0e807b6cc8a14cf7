"""Seconds of one core that simulating a method takes, by what a run of it consists of."""

from __future__ import annotations

from math import exp, gcd
from typing import TYPE_CHECKING

from ddsim.forecast.standing import JOBS, LOCKSTEP
from ddsim.world.network import LINK_FAULTS

if TYPE_CHECKING:
    from ddsim.forecast.pace import Amount
    from ddsim.scenario import Scenario

US = 1e-6
PER_METHOD = 3000 * US
COMPILED_FROM = 20_000.0
DRAWN = 5 * US
"""A strike of the history, which all methods share."""
STRIKE, STRIKE_ON_UNIT = 60 * US, 2 * US
"""A strike with its stalls, and for each unit that is told."""
STRIKE_BY_HAND = 150 * US
FOLDED = 20 * US
"""A strike on a job that stands for another."""
RECORDED = 4 * US
"""Bits that are put down as sent, on links that always carry the same."""
BACKWARD = 2 / 3
"""Share of a step in which its layers leave."""
CHANGE, CHANGE_OF_ONE = 30 * US, 7 * US
"""An instant at which accesses change, and each of them, while bits are on their way."""
JOB_STEP, JOB_UNIT, ALONE_STEP = 10 * US, 3 * US, 8 * US
"""A step of a job where steps differ, each unit in it; of a job of one unit."""
JOB_REDUCTION, JOB_SENT = 45 * US, 20 * US
"""What a step reduces between regions, and over links that take time."""
JOB_SAVED = 80 * US
"""A strike on a job that saves take time of."""
SLOT, SLOT_LEARNER, MERGE = 2 * US, 0.4 * US, 2.5 * US
"""A slot in machine code, each learner's answer to it, and each merge of it."""
STEP, UNEVEN_STEP = 0.11 * US, 0.55 * US
"""A learner's step in machine code: where all are alike, and where each is drawn."""
SLOT_BY_HAND, ANSWER_BY_HAND, MERGE_BY_HAND = 30 * US, 25 * US, 25 * US
STEP_BY_HAND, UNEVEN_STEP_BY_HAND = 13 * US, 30 * US
"""The same by hand, in runs that are short."""
NOTED, PER_NOTED = 20_000.0, 20 * US
"""Merges of a run that are noted one by one, and what each takes."""
SYNCED, SYNCED_LEARNER = 60 * US, 3 * US
"""A merge at a syncer that is not made of replicas, and each learner of it."""
STEERED, STEERED_LEARNER = 18 * US, 2 * US
"""A merge before which a policy is asked, and each learner that it sees."""
JUDGED, JUDGED_LEARNER, JUDGED_LAYER = 20 * US, 6 * US, 4 * US
"""A slot of lock-step learners that do not just wait for those without hardware, each learner, and
each layer that leaves."""
WATCHED, LOOKED_AT, PER_PAIR = 50 * US, 30 * US, 1.8 * US
"""A merge whose exchange lasts beyond `network.ring_timeout`, so that replicas may leave; each time
that it is looked at who is too slow, and each pair of regions for that."""
BESIDE, BESIDE_LEARNER = 60 * US, 8 * US
"""A merge whose exchange has copies beside it, and each learner of it."""
SAVED = 30 * US
"""A save of a learner's."""
ASYNC_STEP, ASYNC_MERGE, FLOWING = 0.1 * US, 60 * US, 12 * US
"""A step of a learner that nobody waits for, what it hands over, and each transfer beside that."""
ASYNC_CHANGE = 4 * US
"""A change of an access while transfers share the links, for each of them."""
GOAL_STEP, GOAL_LEARNER = 40 * US, 0.5 * US
"""A step of async_local_sgd towards a goal, which is looked at then, and each learner of it."""
LONGEST_TURN = 1.5
"""Of the least time that it is worth while to look for rounds that are alike, what is stepped
through before they are found and after they end."""


def seconds_of(scenario: Scenario, name: str, amount: Amount) -> tuple[float, float, float]:
    """Seconds that a replication takes; those of them for strikes, and those that only the first
    takes, which notes its merges.
    """
    falls = amount.stops * _strike(scenario, name, amount) + amount.drawn * DRAWN
    falls += (amount.struck - amount.stops) * FOLDED
    if name in JOBS:
        spent, once = _job(scenario, amount), 0.0
    elif name == "async_local_sgd":
        spent, once = _asynchronous(scenario, amount), 0.0
    else:
        spent, once = _local(scenario, name, amount)
    return PER_METHOD + spent + falls + once, falls, once


def changes_of(scenario: Scenario, span: float) -> tuple[float, float]:
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
    drawn += planned_changes(scenario, span)
    return changes + drawn, drawn + sum(by_clock.values())


def planned_changes(scenario: Scenario, span: float) -> float:
    """How often the faults of the plan change links: a flap's go down and up again in turn."""
    count = 0.0
    for fault in scenario.chaos:
        if fault.fault in LINK_FAULTS and fault.at < span:
            length = min(fault.duration, span - fault.at)
            count += 2.0 if fault.every is None else length / fault.every + 1.0
    return count


def changing_of(scenario: Scenario, amount: Amount) -> float:
    """Seconds for what changes of accesses hold up where bits cross links."""
    changes, instants = changes_of(scenario, amount.span) if amount.crosses else (0.0, 0.0)
    return instants * CHANGE + changes * CHANGE_OF_ONE


def _even(scenario: Scenario) -> bool:
    return not scenario.cluster.jitter and scenario.cluster.delay is None


def _by_hand(scenario: Scenario, name: str, amount: Amount) -> bool:
    return name not in (*JOBS, "async_local_sgd") and amount.nominal < COMPILED_FROM


def _strike(scenario: Scenario, name: str, amount: Amount) -> float:
    if _by_hand(scenario, name, amount):
        return STRIKE_BY_HAND
    saved = name in JOBS and scenario.checkpoint.policy != "none" and scenario.checkpoint.save > 0.0
    # the step that it breaks off is not like the others: its layers go over the links one by one
    sending = name in JOBS and amount.crosses and amount.sent > 0.0
    broken = sending * scenario.model.layers * RECORDED
    return STRIKE + amount.units * STRIKE_ON_UNIT + saved * JOB_SAVED + broken


def _stretches(step: float, sent: float, layers: float, of_all: int) -> float:
    """Stretches of what so many of all layers send: each its own if it is out before the next."""
    apart = step * BACKWARD / of_all
    return layers if sent / max(layers, 1.0) < apart else 1.0


def _job(scenario: Scenario, amount: Amount) -> float:
    changing, layers = changing_of(scenario, amount), scenario.model.layers
    if _even(scenario):
        return changing
    if amount.units == 1 and not amount.crosses:
        return amount.steps * ALONE_STEP
    each = JOB_STEP + amount.units * JOB_UNIT
    each += JOB_REDUCTION if amount.crosses else 0.0
    if amount.sent > 0.0:
        each += JOB_SENT + _stretches(amount.step, amount.sent, layers, layers) * RECORDED
    return changing + amount.steps * each


def _asynchronous(scenario: Scenario, amount: Amount) -> float:
    training, units = scenario.training, amount.units
    to_goal = training.tokens is not None or training.loss is not None
    even = _even(scenario)
    each = 0.0 if even else ASYNC_STEP
    each = GOAL_STEP + units * GOAL_LEARNER if to_goal else each
    flowing = amount.exchange * amount.slots / amount.span if amount.span else 0.0
    flowing = min(flowing, float(units))
    changes, _ = changes_of(scenario, amount.span) if amount.crosses else (0.0, 0.0)
    # where all are alike, all begin and end at once
    merges = amount.merges * (ASYNC_MERGE + (0.0 if even else flowing * FLOWING))
    return amount.steps * units * each + merges + changes * flowing * ASYNC_CHANGE


def _local(scenario: Scenario, name: str, amount: Amount) -> tuple[float, float]:
    """Seconds of a method of the DiLoCo family, and those that only the first run takes."""
    units, slots, merges = amount.units, amount.slots, amount.merges
    even, steps = _even(scenario), amount.steps * amount.units
    each = _exchanged(scenario, name, amount)
    noted = min(merges, NOTED)
    if _by_hand(scenario, name, amount):
        stepping = steps * (STEP_BY_HAND if even else UNEVEN_STEP_BY_HAND)
        more = merges - slots if name == "streaming_diloco" else 0.0
        each += SLOT_BY_HAND + units * ANSWER_BY_HAND
        alike, most = 0.0, stepping + slots * each + more * MERGE_BY_HAND
    else:
        stepping = steps * (STEP if even else UNEVEN_STEP)
        most = stepping + slots * (each + SLOT + units * SLOT_LEARNER) + merges * MERGE
        alike = _alike(scenario, name, amount)
    saves = amount.saves * units * SAVED
    beside = saves + changing_of(scenario, amount)
    singly = alike * most * noted / merges if merges else 0.0
    return (1.0 - alike) * most + beside, singly + noted * PER_NOTED


def _exchanged(scenario: Scenario, name: str, amount: Amount) -> float:
    """Seconds for what a slot's exchange takes beside the protocol."""
    training, units = scenario.training, amount.units
    layers = amount.merges / max(amount.slots, 1e-9) * scenario.model.layers
    layers /= 1.0 if name == "diloco" else training.fragments
    seconds = 0.0
    if name in LOCKSTEP:
        released = amount.crosses and training.release != "end_of_step"
        sent = layers if released else 1.0
        sent = _stretches(amount.step, amount.sent, sent, scenario.model.layers)
        seconds += sent * RECORDED * amount.parts if amount.crosses else 0.0
        if training.on_failure != "wait":
            seconds += JUDGED + units * JUDGED_LEARNER + sent * JUDGED_LAYER
        return seconds
    if not amount.crosses:
        return 0.0
    seconds += RECORDED + amount.copying * (BESIDE + units * BESIDE_LEARNER)
    if training.policy != "fixed":
        return seconds + STEERED + units * STEERED_LEARNER
    if training.syncer != "replicas":
        seconds += SYNCED + units * SYNCED_LEARNER
    looks = amount.exchange // scenario.network.ring_timeout
    pairs = len({unit.region for unit in scenario.units()}) ** 2
    if looks >= 1.0:
        seconds += WATCHED + looks * (LOOKED_AT + pairs * PER_PAIR)
    return seconds


def _alike(scenario: Scenario, name: str, amount: Amount) -> float:
    """Share of the rounds that are passed over, being like those before.

    Between two changes of the world they are looked for once there is time for as many as leave
    each slot of the protocol in its own row.
    """
    training = scenario.training
    watched = amount.crosses and (
        training.syncer != "replicas" or amount.exchange >= scenario.network.ring_timeout
    )
    steered = name in LOCKSTEP or training.policy != "fixed" or watched
    goal = training.tokens is not None or training.loss is not None
    if steered or goal or amount.saves or not _even(scenario) or scenario.learning.problem:
        return 0.0
    inner = training.inner_steps
    rows = max(64, 4 * training.overlap_steps + 2 * inner)
    taken = LONGEST_TURN * (1 + rows // gcd(rows, inner)) * inner
    instants = changes_of(scenario, amount.span)[1] if amount.crosses else 0.0
    calm = amount.steps / (1.0 + 2.0 * amount.struck + instants)
    return exp(-taken / calm) if calm else 0.0
