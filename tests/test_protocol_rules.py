"""Rules of the protocol that random cases seldom meet, each on a case made by hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from inspect import signature
from math import inf
from types import ModuleType
from typing import Any

import pytest
import test_naive_exchanges
import test_naive_units
from naive.case import Case, NaiveResult, StrikeCase, no_jitter
from naive.hand import books, decoupled, far_apart, nonzero, run
from naive.reckoning import NANOSECONDS
from naive_cases import EngineResult, run_engine
from naive_ties import METHODS, course_of_engine, course_of_naive, differences, narrow, tie_case
from scenario_text import scenario

import ddsim
from ddsim.engine import run as run_of

BY_HAND = [
    pytest.param(module, name, id=name.removeprefix("test_"))
    for module in (test_naive_exchanges, test_naive_units)
    for name, rule in vars(module).items()
    if name.startswith("test_") and not signature(rule).parameters
]
Merged = tuple[int, float, float, tuple[int, ...]]


def merges(result: EngineResult) -> list[Merged]:
    """Slot, start and arrival of every merge, and who took part."""
    return [(m.slot, m.start, m.arrival, m.participants) for m in result.run.recorder.merges]


def agreed(case: Case) -> list[Merged]:
    """The engine's merges of a case in which it takes the course of the naive model."""
    result = run_engine(case)
    expected = course_of_naive(case, run(case, NANOSECONDS))
    assert not differences(case, expected, course_of_engine(case, result))
    return merges(result)


def at_one_place(*step_times: float, **settings: Any) -> Case:
    """Decoupled learners between which sending takes no time, for 20 s, tau = 3."""
    fields = {"duration": 20.0, "overlap_steps": 3, "restart_time": 1.0, **settings}
    return decoupled(*step_times, capacity={"region 0": inf}, **fields)


def losses(at: float, *lost: int, repair: float = 4.0) -> tuple[StrikeCase, ...]:
    """Units that lose all of their hardware at one instant; they are back a second after that."""
    return tuple(StrikeCase(at, unit, (0,), 0.0, repair) for unit in lost)


@pytest.mark.parametrize("slow", [1.9, 5.0], ids=["all others answer", "its grace ends"])
def test_no_slot_closes_while_fewer_than_the_quorum_are_live(slow: float) -> None:
    """K = 2 of 3: slot 1 opens at 1 s with 1 s of grace; both that opened it are lost in that.

    They are back at 6.5 s: live from then on.
    """
    case = at_one_place(1.0, 1.0, slow, quorum=2, grace=0.9, strikes=losses(1.5, 0, 1))
    assert agreed(case)[0] == (1, 6.5, 6.5, (0, 1, 2))
    closes = 1.9 if slow < 2.0 else 2.0
    assert agreed(replace(case, quorum=1))[0][:2] == (1, closes)


@pytest.mark.parametrize(
    "seed", [*range(12), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(12, 24))]
)
def test_several_fragments_of_one_slot_are_exchanged_as_one_is(seed: int) -> None:
    """Up to six fragments in periods of one step to three."""
    agreed(narrow(tie_case(seed), seed))


def endless(jitter: Callable[[int, int], float]) -> Callable[[int, int], float]:
    """The same, also of steps that come after the end: the engine draws them ahead."""
    if jitter is no_jitter:
        return jitter

    def of(unit: int, k: int) -> float:
        try:
            return jitter(unit, k)
        except IndexError:
            return 1.0

    return of


@pytest.mark.parametrize(("module", "name"), BY_HAND)
def test_the_engine_takes_the_course_worked_out_by_hand(
    module: ModuleType, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the naive model is held to with pencil and paper."""
    cases: list[Case] = []

    def noted(case: Case) -> NaiveResult:
        cases.append(case)
        return run(case)

    monkeypatch.setattr(module, "run", noted)
    getattr(module, name)()
    for case in cases:
        if case.method in METHODS:
            regions = {unit.region for unit in case.units}
            free = dict.fromkeys(regions, inf)
            agreed(replace(case, capacity={**free, **case.capacity}, jitter=endless(case.jitter)))


def test_a_learner_waits_for_the_link_where_just_the_quorum_is_live() -> None:
    """K = 2 of 4, tau = 1, exchanges of 3 s: slot 1 has the ring from 0.5 to 3.5 s.

    Units 0 and 1 open slot 2 at 2 s. At 2.5 s units 1 and 2 are lost; unit 3 has answered nothing.
    """
    steps = ((1.0, 1.0, 0.25), (0.5, 1.5, 9.0), (0.5, 9.0), (9.0,))
    case = far_apart(
        1.0,
        1.0,
        1.0,
        1.0,
        seconds=3.0,
        method="decoupled_diloco",
        duration=4.0,
        overlap_steps=1,
        quorum=2,
        jitter=endless(lambda unit, k: steps[unit][k]),
        strikes=losses(2.5, 1, 2),
    )
    agreed(case)
    account = run_engine(case).accounts()[0]
    assert nonzero(account) == books(productive=2.25, exposed_communication=1.75)


# What is told.


def lockstep(*step_times: float, **settings: Any) -> Case:
    """A fragment every second step that is sent at the end of it, in a second."""
    return far_apart(
        *step_times,
        **{
            "seconds": 1.0,
            "method": "streaming_diloco",
            "inner_steps": 2,
            "release": "end_of_step",
            **settings,
        },
    )


def test_a_wait_is_told_under_its_account() -> None:
    """For the slower at step 2, and for its bytes from then on."""
    spans = run_engine(lockstep(1.0, 2.0, duration=7.25)).run.recorder.timeline()
    assert [(s.start, s.state) for s in spans if s.unit == "unit 0"] == [
        (0.0, "running"),
        (2.0, "waiting_on_peers"),
        (4.0, "exposed_communication"),
        (5.0, "running"),
        (7.0, "waiting_on_peers"),
    ]


@pytest.mark.parametrize("seed", range(24))
def test_a_run_is_up_while_somebody_runs_and_moves_while_somebody_computes(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever waits for bytes runs, whoever waits for peers does not."""
    monkeypatch.setattr(run_of, "RECORDED_WAITS", 10**9)  # the shortest wait is told too
    result = run_engine(replace(tie_case(seed), strikes=()))
    spans = result.run.recorder.timeline()
    computing = [(s.start, s.end) for s in spans if s.state == "running"]
    sending = [(s.start, s.end) for s in spans if s.state == "exposed_communication"]
    assert result.outcome.moving == pytest.approx(length(computing), abs=1e-6)
    assert result.outcome.up == pytest.approx(length(computing + sending), abs=1e-6)


def length(spans: list[tuple[float, float]]) -> float:
    """How long at least one lasts."""
    covered, until = 0.0, 0.0
    for start, end in sorted(spans):
        covered += max(0.0, end - max(start, until))
        until = max(until, end)
    return covered


@pytest.mark.parametrize("every", [2, 3])
@pytest.mark.parametrize("tau", range(6))
def test_a_merge_in_lockstep_has_the_steps_since_the_last_and_since_the_receipt(
    every: int, tau: int
) -> None:
    """An update is received tau steps after its slot; those since the answer are overwritten."""
    case = lockstep(1.0, 1.0, seconds=0.0, duration=24.5, inner_steps=every, overlap_steps=tau)
    outcome = run_engine(case).outcome
    slots = range(every, 25, every)
    received = {n: max([s + tau for s in slots if s + tau < n], default=0) for n in slots}
    overwritten = [max(0, received[n] - (n - every)) for n in slots]
    assert outcome.overwritten == 2 * sum(overwritten)
    assert outcome.merged == 2 * sum(every - lost for lost in overwritten)
    assert outcome.tokens_merged == outcome.merged / 2
    assert outcome.participation == 1.0


def test_merges_are_told_with_what_they_carried() -> None:
    """tau = 0, exchanges of 1.5 s: slot 1 from 1 s, the faster's, slot 2 the other's."""
    case = far_apart(1.0, 1.2, seconds=1.5, method="decoupled_diloco", duration=4.25)
    outcome = run_engine(case).outcome
    assert (outcome.merged, outcome.overwritten, outcome.late_answers) == (3.0, 0.0, 2)
    assert (outcome.participation, outcome.tokens_merged) == (0.5, 1.5)
    told = outcome.extra["merges"]
    means = {name: (of["count"], of["mean"]) for name, of in told.items()}
    assert means == {
        "fragment_age_s": (2, 2.0),
        "base_version_lag_slots": (2, 0.5),
        "achieved_inner_steps": (2, 1.5),
        "tokens_per_merge": (2, 0.75),
        "late_answers_per_learner": (2, 1.0),
    }


def test_who_answered_from_behind_is_not_late_with_its_own_step() -> None:
    """K = 1, an exchange of 10 s: the slower misses slot 1 at 1.6 s; at 3.2 s it answers slots 2
    and 3, which close at once, so that its own step 3, at 4.8 s, is no answer any more.
    """
    case = far_apart(
        1.0, 1.6, seconds=10.0, method="decoupled_diloco", overlap_steps=3, duration=5.0
    )
    assert run(case, NANOSECONDS).late_answers == run_engine(case).outcome.late_answers == 1


def test_a_learner_weighs_tokens_times_tokens_a_step() -> None:
    """Of 1 token a step on two chips: one token in two steps of half a token."""
    result = run_engine(at_one_place(1.0, 1.0, quorum=2, inner_steps=2, duration=2.5))
    assert [merge.weights for merge in result.run.recorder.merges] == [(0.5, 0.5)]


def test_who_computes_at_half_speed_releases_layers_as_with_steps_twice_as_long() -> None:
    """Layer by layer, within a step."""

    def sent(**changes: Any) -> list[tuple[float, float]]:
        settings = {
            "duration": "60 s",
            "training.inner_steps": 4,
            "training.fragments": 4,
            "training.overlap_steps": 1,
            "training.release": "by_layer",
            "network": {"bandwidth": "20 Gbit/s"},
        }
        result = ddsim.run(scenario("", {**settings, **changes}), ["streaming_diloco"])
        return [(m.start, m.arrival) for m in result["streaming_diloco"].merges]

    half = {"at": "0 s", "fault": "slow", "for": "never", "to": 0.5}
    slow = [{**half, "target": f"unit {unit}"} for unit in range(4)]
    assert sent(chaos=slow) == sent(**{"training.step_time": "2 s"})
