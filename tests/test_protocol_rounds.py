"""Rounds of the protocol that are like the last are passed over: that changes nothing."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest
from naive_cases import run_engine
from protocol_runs import (
    METHODS,
    as_machine_code,
    assert_same,
    by_hand,
    few_notes,
    long_case,
    of_case,
    of_world,
)
from protocol_worlds import STREAMS, TEXT, TIES_BASE, WORLDS

from ddsim.methods.local import rounds
from ddsim.methods.local.protocol import State
from ddsim.methods.local.rounds import Rounds
from ddsim.scenario import Known, read_text, validate
from ddsim.simulation import simulate

QUIET = """\
duration: 3 h
methods: [decoupled_diloco]
model: {parameters: 1e9, layers: 24}
training: {step_time: 1 s, tokens_per_step: 64, inner_steps: 12, fragments: 12}
cluster: {chips: 64, chips_per_slice: 4, learners: 4}
network: {bandwidth: 5 Gbit/s, latency: 20 ms}
failures: {chip_mtbi: 2 day, repair: 10 min, detection: 2 s}
elastic: {downscale: 8.3 s, upscale: 10.6 s}
"""
SETTINGS: list[dict[str, Any]] = [
    {},
    {"training.quorum": 3},
    {"training.quorum": 4, "training.grace": 0},
    {"training.fragments": 4, "training.overlap_steps": 5},
    {"training.fragments": 6, "seed": 3},
    {"training.fragments": 24, "seed": 4},
    {"network.bandwidth": "unlimited", "failures.chip_mtbi": "never"},
    {"training.apply": "at_tau", "training.payload_bits": 4},
    {"training.apply": "at_tau", "network.bandwidth": "unlimited", "seed": 2},
]
MIXED = {
    "duration": "4 h",
    "training": {"step_time": "1 s", "quorum": 2, "overlap_steps": 3},
    "cluster": {"units": [{"chips": 4}, {"chips": 4, "speed": 0.85}, {"chips": 4}]},
    "network": {"bandwidth": "3 Gbit/s", "latency": "30 ms"},
}
DRIFT = {
    "duration": "20000 s",
    "training": {"step_time": "1 s", "inner_steps": 24, "grace": 5e-7},
    "cluster": {"units": [{"chips": 4}, {"chips": 4, "step_time": "1.0000000008 s"}]},
}


@pytest.fixture(autouse=True)
def quick(request: pytest.FixtureRequest) -> Any:
    """A record of merges that is full from the start; machine code where a test is slow."""
    slow = request.node.get_closest_marker("slow") is not None
    with as_machine_code() if slow else by_hand(), few_notes():
        yield


@pytest.mark.parametrize(
    "seed",
    [
        *(2, 3),
        *(pytest.param(n, id=f"{n}, compiled", marks=pytest.mark.slow) for n in range(20)),
    ],
)
def test_rounds_that_are_passed_over_change_nothing(seed: int) -> None:
    """Cases sixty times as long, most of it quiet; `every_slot` takes them step by step.

    Two by hand, and all of them as machine code.
    """
    case = long_case(seed)
    assert_same(of_case(case), of_case(case, every_slot=True))


@pytest.mark.slow
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_hours_are_those_of_every_slot(settings: dict[str, Any]) -> None:
    """Everything that a result tells, with failures in between."""
    passed, stepped = (
        of_world(settings, "decoupled_diloco", text=QUIET, every_slot=every_slot)
        for every_slot in (False, True)
    )
    assert_same(passed, stepped)


@pytest.mark.slow
@pytest.mark.parametrize("world", [*WORLDS, *STREAMS])
def test_worlds_are_those_of_every_slot(world: str) -> None:
    """Links that change, units that are lost and copy, learners that are alone."""
    passed, stepped = (
        of_world((WORLDS | STREAMS)[world], "decoupled_diloco", every_slot=every_slot)
        for every_slot in (False, True)
    )
    assert_same(passed, stepped)


@pytest.mark.slow
@pytest.mark.parametrize("sections", [MIXED, DRIFT], ids=["mixed speeds", "a slow drift"])
def test_what_only_seems_alike_is_not_passed_over(sections: dict[str, Any]) -> None:
    """Steps that meet every 20 s; and steps that differ by less than a nanosecond."""
    text = json.dumps({**TIES_BASE, **sections})
    passed, stepped = (
        of_world({}, "decoupled_diloco", text=text, every_slot=every_slot)
        for every_slot in (False, True)
    )
    assert_same(passed, stepped)


@cache
def passed_over(seeds: int) -> tuple[int, float]:
    """Slots that were passed over in so many quiet cases, and steps of a learner in all."""
    passed: list[int] = []
    pass_over = Rounds.pass_over

    def noted(self: Rounds, rounds: int) -> None:
        passed.append(rounds * self.shift)
        pass_over(self, rounds)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Rounds, "pass_over", noted)
        steps = sum(run_engine(long_case(seed)).outcome.steps for seed in range(seeds))
    return sum(passed), steps


@pytest.mark.slow
def test_most_of_a_quiet_case_is_passed_over() -> None:
    """In those cases rounds are found that repeat themselves, by far the most of all."""
    passed, steps = passed_over(8)
    assert passed > 0.3 * steps


@pytest.mark.slow
def test_by_hand_as_many_are_passed_over() -> None:
    """What is alike is alike for both."""
    with by_hand():
        case = long_case(1)
        expected = of_case(case)
    assert of_case(case) == expected


def test_no_array_is_left_out_of_what_repeats_itself() -> None:
    """Everything is compared with a round before, but buffers and what never changes."""
    constant = {"turns", "sizes", "share_from", "shares", "link_from", "link_rate"}
    drawn = {"draws", "loads"}  # never looked at where steps differ
    in_lockstep = {"course", "course_rate", "releases", "heads", "fragment_at", "marks", "marked"}
    exchange = {"sent_bits", "sent_at", "sent_in"}
    told = {"lags", "steps", "spill", "ages", "tokens_in", "waits", "sent", "sent_size", "tape"}
    told |= {"tape_weights", "settings", "notes", "weights"}
    assert rounds.COMPARED.isdisjoint(constant | drawn | in_lockstep | exchange | told)
    known = rounds.COMPARED | constant | drawn | in_lockstep | exchange | told
    assert known == set(State._fields)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_a_change_of_the_world_is_all_that_costs_an_event(method: str) -> None:
    """Ten times the steps in the same time take no more events."""
    counts = []
    for fast in ({}, {"training.step_time": "0.1 s", "training.inner_steps": 120}):
        document = read_text(TEXT, "rounds.yaml").with_overrides({**fast, "methods": [method]})
        scenario = validate(document, Known(methods=METHODS))
        counts.append(simulate(scenario.for_method(method), method).events)
    assert counts[1] <= 1.05 * counts[0] + 5


def test_a_month_without_failures_takes_no_more_events_than_a_day() -> None:
    """What is alike is not stepped through, however long it lasts."""
    results = []
    for length in ("1 day", "30 day"):
        calm = {"failures.chip_mtbi": "never", "duration": length}
        scenario = validate(read_text(QUIET, "rounds.yaml").with_overrides(calm))
        results.append(simulate(scenario, "decoupled_diloco"))
    day, month = results
    assert month.events == day.events
    assert month.steps == 30 * 86400 - 1
