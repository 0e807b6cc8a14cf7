"""How far units come beside what befalls them: alone, or waiting for one another."""

from __future__ import annotations

from collections import deque
from math import inf, nextafter
from typing import TYPE_CHECKING, NamedTuple

from ddsim.forecast.walk import MOST, Rules, apart, walk
from ddsim.scenario.stalls import seconds_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ddsim.forecast.walk import Spans, Walk
    from ddsim.scenario import Scenario
    from ddsim.world.cluster import Cluster
    from ddsim.world.histories import Histories

LOCKSTEP = ("diloco", "streaming_diloco")
JOBS = ("data_parallel", "elastic_data_parallel")


class Pace(NamedTuple):
    """What a unit does that nothing makes stand: seconds of compute of a step, from one step to the
    next, of an exchange, and of that on its links; the steps at which something is merged, of each.
    """

    step: float
    round: float
    exchange: float
    sent: float
    slots: float


class Met(NamedTuple):
    """What befalls a method.

    `moving` is the share of its time in which it moves, `hits` the share of the strikes that hit
    what is up, `apart` the share of those that do not come while it stands for others. A unit is
    lost whole `losses` times a second, and the progress of a job taken back to the last save
    `undone` times a second of its moving.
    """

    moving: float
    hits: float
    losses: float
    undone: float
    apart: float


def meet(
    scenario: Scenario,
    name: str,
    cluster: Cluster,
    pace: Pace,
    copy: float,
    span: float,
    histories: Sequence[Histories],
) -> Met:
    """What befalls a method within the beginning of some histories.

    A unit that was lost whole copies its state for `copy` seconds.
    """
    training = scenario.training
    meets = pace.round / pace.slots if pace.slots else pace.round
    if name == "streaming_diloco":
        meets += training.overlap_steps * pace.round
    rules = _rules(scenario, name, cluster, copy, meets, pace.step / pace.round)
    drawn = struck = losses = undone = 0
    walked = moved = stops = 0.0
    for each in histories:
        met = walk(scenario, cluster, rules, each, span)
        walked += met.span
        moved += met.span * _moving(scenario, name, len(cluster.units), met, meets)
        drawn, struck, losses = drawn + met.drawn, struck + met.struck, losses + len(met.lost)
        undone += _undone(scenario, name, met)
        stops += len(met.stalls) + len(met.lost)
        if drawn >= MOST or met.span < span:
            break
    hits = (struck + 1) / (drawn + 1)
    if not walked:
        return Met(1.0, 1.0, 0.0, 0.0, 1.0)
    stops /= 2.0 if name == JOBS[1] else 1.0  # it stands for the return as well
    alone = min(1.0, (stops + 1) / (struck + 1))
    return Met(moved / walked, hits, losses / walked, undone / moved if moved else inf, alone)


def _undone(scenario: Scenario, name: str, met: Walk) -> int:
    """How often a job goes back: for each strike, or where it shrinks when it has lost all."""
    if name == JOBS[0]:
        return len(met.stalls) + len(met.lost)
    return len(met.lost) if name == JOBS[1] and scenario.checkpoint.policy != "none" else 0


def _rules(
    scenario: Scenario, name: str, cluster: Cluster, copy: float, meets: float, steps: float
) -> Rules:
    chips, time = float(cluster.chips), scenario.restart.time
    whole = name == JOBS[0]
    extends = (scenario.restart if whole else scenario.elastic).stall_rule == "extend"
    if name in JOBS:
        restore = 0.0 if scenario.checkpoint.policy == "none" else scenario.checkpoint.restore
        again = seconds_of(time, chips) + restore
        return Rules(again, one=True, needs_all=whole, extends=extends)
    again = seconds_of(time, chips / len(cluster.units)) + copy
    waits = name in LOCKSTEP and scenario.training.on_failure == "wait"
    return Rules(again, extends=extends, together=waits, ahead=meets, steps=steps)


def _moving(scenario: Scenario, name: str, units: int, met: Walk, meets: float) -> float:
    """Share of the time of a walk in which what it met let a method move."""
    if not met.span:
        return 1.0
    stands = apart([*met.lost, *met.stalls], met.span)
    training = scenario.training
    if name in LOCKSTEP:
        spoils: Spans = []
        if training.on_failure == "leave" and units > 1:
            back = {(until, unit) for _, until, unit in met.lost}
            stands = [item for item in met.stalls if (item[0], item[2]) not in back]
        elif training.on_failure != "wait" and units > 1:
            stands = met.stalls
            spoils = met.lost if training.on_failure == "rollback" else []
        return rounds(stands, meets, met.span, spoils) * meets / met.span
    if name == "decoupled_diloco":
        return share_with(stands, met.span, units - min(training.quorum, units))
    if name in JOBS:
        return share_with(stands, met.span, 0)
    return 1.0 - sum(until - since for since, until, _ in stands) / (units * met.span)


def rounds(stands: Spans, length: float, span: float, spoils: Spans) -> float:
    """Rounds in `span` seconds that take each unit `length` seconds, all waiting for all.

    `stands` says from when until when which unit stands, in the order of time and without overlaps
    for one unit. A round that ends while a unit is among `spoils` begins anew. The last counts for
    the share of it that was reached.
    """
    begun = done = 0.0
    left: Spans = []
    coming, spoiling = deque(stands), deque(spoils)
    while begun < span:
        while spoiling and spoiling[0][1] <= begun:
            spoiling.popleft()
        spoiled = spoiling[0] if spoiling else (span, span, 0)
        if spoiled[0] <= begun and spoiled[1] - begun > length:
            begun += (spoiled[1] - begun) // length * length
            continue
        first = begun if left else min(coming[0][0] if coming else span, span)
        count = (min(first, spoiled[0]) - begun) // length
        if count >= 1.0:
            begun, done = begun + count * length, done + count
            continue
        end, left = _round(begun, length, left, coming)
        if end > span:
            done += (span - begun) / (end - begun)
            break
        done += not any(since < end < until for since, until, _ in spoiling)
        begun = max(end, nextafter(begun, inf))
    return done


def _round(
    begun: float, length: float, left: Spans, coming: deque[tuple[float, float, int]]
) -> tuple[float, Spans]:
    """When a round ends, and what of those that stand goes on after that."""
    ends: dict[int, float] = {}
    end = begun + length
    here, later = deque(left), list[tuple[float, float, int]]()
    while here or (coming and coming[0][0] < end):
        item = here.popleft() if here else coming.popleft()
        since, until, unit = max(item[0], begun), item[1], item[2]
        own = ends.get(unit, begun + length)
        if since >= own:
            later.append(item)
        elif until > since:
            ends[unit] = own + until - since
            end = max(end, ends[unit])
    return end, [item for item in later if item[1] > end]


def share_with(stands: Spans, span: float, most: int) -> float:
    """Share of `span` seconds in which at most so many units stand."""
    changes = [(since, 1) for since, _, _ in stands] + [(until, -1) for _, until, _ in stands]
    there, before, count = 0.0, 0.0, 0
    for time, change in sorted(changes):
        there += (time - before) * (count <= most)
        before, count = time, count + change
    return (there + (span - before) * (count <= most)) / span
