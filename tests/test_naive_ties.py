"""Scenarios in which much falls on one instant, and what tells two courses apart."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache

import pytest
from naive.case import Case
from naive.hand import run
from naive.model import simulate
from naive.reckoning import EXACT, NANOSECONDS
from naive_cases import run_engine
from naive_ties import (
    Course,
    course_of_engine,
    course_of_naive,
    differences,
    disagreements,
    scaled,
    tie_case,
)

SEEDS = range(40)


@cache
def cases() -> list[Case]:
    """The first scenarios."""
    return [tie_case(seed) for seed in SEEDS]


def course(case: Case) -> Course:
    """What the naive model makes of it in whole nanoseconds."""
    return course_of_naive(case, run(case, NANOSECONDS))


def test_a_scenario_is_the_same_whenever_it_is_asked_for() -> None:
    """And lived through twice it takes the same course."""
    assert not list(disagreements(range(5), course))
    assert tie_case(7) == tie_case(7)
    assert tie_case(7) != tie_case(8)


@pytest.mark.slow
def test_much_happens_at_one_instant() -> None:
    """In half of the scenarios with strikes at least, one falls on a multiple of a unit's steps."""
    aligned = [
        any(Fraction(str(s.time)) % Fraction(str(case.units[s.unit].step_time)) == 0 for s in hits)
        for case in cases()
        if (hits := case.strikes)
    ]
    assert sum(aligned) > len(aligned) / 2


@pytest.mark.slow
def test_nanoseconds_decide_as_fractions_do() -> None:
    """Tenths are whole nanoseconds: the same learners merge, and as many steps are done."""
    for case in cases():
        exact, whole = simulate(case, EXACT), simulate(case, NANOSECONDS)
        assert exact.steps == whole.steps
        assert [(n, who) for n, _, _, who in exact.merges] == [
            (n, who) for n, _, _, who in whole.merges
        ]


@pytest.mark.slow
@pytest.mark.parametrize("factor", ["3", "1.1"])
def test_all_times_scaled_change_nothing_dimensionless(factor: str) -> None:
    """Without grace every instant is scaled with them, to the nanosecond."""
    for case in cases():
        # A ring of all units: without the dropped it has thirds.
        plain = replace(case, grace=0.0, on_failure="wait")
        ours, theirs = course(plain), course(scaled(plain, factor))

        def later(at: int) -> int:
            return at * Fraction(factor).numerator // Fraction(factor).denominator

        assert [[(s, later(at)) for s, at in unit] for unit in ours.changes] == theirs.changes
        assert [(n, later(a), later(b), who) for n, a, b, who in ours.merges] == theirs.merges
        assert (ours.steps, ours.tokens, ours.fates) == (
            theirs.steps,
            theirs.tokens,
            theirs.fates,
        )


@pytest.mark.slow
def test_a_nanosecond_is_a_difference() -> None:
    """In a change of state, in a merge, and in what is booked; so is a learner more or less."""
    case = next(case for case in cases() if case.strikes and course(case).merges)
    true = course(case)
    slot, start, arrival, who = true.merges[0]
    (state, at), *rest = true.changes[-1]
    account, *accounts = true.accounts
    assert not differences(case, true, course(case))
    wrong = (
        replace(true, merges=[(slot, start, arrival + 1, who), *true.merges[1:]]),
        replace(true, merges=[(slot, start, arrival, who[1:]), *true.merges[1:]]),
        replace(true, merges=true.merges[:-1]),
        replace(true, changes=[*true.changes[:-1], [(state, at + 1), *rest]]),
        replace(true, changes=[*true.changes[:-1], [*rest, ("stranded", at)]]),
        replace(
            true, accounts=[{**account, "productive": account["productive"] + 1e-7}, *accounts]
        ),
        replace(true, steps=true.steps + 0.25),
        replace(true, strikes=true.strikes + 1),
    )
    assert all(differences(case, true, found) for found in wrong)


def test_the_engine_in_lockstep_agrees_in_times_that_floats_hold() -> None:
    """Eighths in place of tenths, so that its sums are exact."""
    for case in cases():
        if case.method != "decoupled_diloco":
            eighths = scaled(case, "1.25")
            found = course_of_engine(eighths, run_engine(eighths))
            assert not differences(eighths, course(eighths), found)
