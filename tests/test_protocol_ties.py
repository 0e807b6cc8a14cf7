"""Where much falls on one instant the engine decides as the naive model does on exact numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import pytest
from naive.case import Case
from naive_cases import run_engine
from naive_ties import Course, course_of_engine, disagreements, laden, scaled, tie_case
from protocol_runs import as_machine_code

QUICK, ALL = 60, 500


def course(case: Case) -> Course:
    """What the engine makes of a case."""
    return course_of_engine(case, run_engine(case))


def said(seeds: range, *dress: Callable[[Case, int], Case]) -> list[str]:
    """Where the engine departs from the naive model on these scenarios, in words."""
    return [
        f"seed {seed}, {case.method}: {line}"
        for seed, case, lines in disagreements(seeds, course, *dress)
        for line in lines
    ]


@pytest.mark.slow
def test_every_state_change_is_that_of_exact_numbers() -> None:
    """And every merge, account, step and token, in sixty scenarios, to the nanosecond."""
    assert said(range(QUICK)) == []


@pytest.mark.slow
def test_late_data_spares_and_mixing_fall_on_one_instant_with_the_rest() -> None:
    """In tenths of seconds too."""
    assert said(range(QUICK), laden) == []


@pytest.mark.slow
def test_every_state_change_is_that_of_exact_numbers_in_many() -> None:
    """The rest of five hundred."""
    assert said(range(QUICK, ALL)) == []


@pytest.mark.slow
def test_machine_code_decides_ties_alike() -> None:
    """It is the same protocol."""
    with as_machine_code():
        assert said(range(QUICK)) == []


@pytest.mark.slow
@pytest.mark.parametrize("factor", ["3", "1.1"])
def test_all_times_scaled_change_nothing_dimensionless(factor: str) -> None:
    """Without grace every instant is scaled with them, to the nanosecond."""
    by = Fraction(factor)
    for seed in range(QUICK):
        # A ring of all units: without the dropped it has thirds.
        plain = replace(tie_case(seed), grace=0.0, on_failure="wait")
        ours, theirs = course(plain), course(scaled(plain, factor))

        def later(at: int) -> int:
            return int(at * by)

        assert [[(s, later(at)) for s, at in unit] for unit in ours.changes] == theirs.changes
        assert [(n, later(a), later(b), who) for n, a, b, who in ours.merges] == theirs.merges
        assert (ours.steps, ours.tokens, ours.fates) == (
            theirs.steps,
            theirs.tokens,
            theirs.fates,
        )
