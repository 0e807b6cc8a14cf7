"""Rules of the protocol that random cases seldom meet, each on a case made by hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import inf
from types import ModuleType
from typing import Any

import pytest
import test_naive_exchanges
import test_naive_units
from naive.case import Case, NaiveResult, StrikeCase, no_jitter
from naive.hand import decoupled, run
from naive.reckoning import NANOSECONDS
from naive_cases import EngineResult, run_engine
from naive_ties import METHODS, course_of_engine, course_of_naive, differences, narrow, tie_case

BY_HAND = [
    pytest.param(module, name, id=name.removeprefix("test_"))
    for module in (test_naive_exchanges, test_naive_units)
    for name in vars(module)
    if name.startswith("test_")
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


@pytest.mark.parametrize("seed", range(24))
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
