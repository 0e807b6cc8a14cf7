"""The engine and the naive model, written apart from one text, agree event for event."""

from __future__ import annotations

import pytest
from naive.case import Case
from naive.model import simulate
from naive.random_cases import METHOD_NAMES, numbered_case
from naive.reckoning import NANOSECONDS
from naive_cases import EngineResult, run_engine
from naive_ties import Course, course_of_engine, course_of_naive

CASES = [
    pytest.param((method, seed), marks=[] if seed < 9 else pytest.mark.slow)
    for method in METHOD_NAMES
    for seed in range(20)
]


@pytest.fixture(scope="module", params=CASES, ids=lambda case: f"{case[0]}-{case[1]}")
def both(request: pytest.FixtureRequest) -> Both:
    """One random case, lived through by the naive model and by the engine, in nanoseconds."""
    method, seed = request.param
    case = numbered_case(seed, method)
    naive, engine = simulate(case, NANOSECONDS), run_engine(case)
    return case, course_of_naive(case, naive), course_of_engine(case, engine), engine


Both = tuple[Case, Course, Course, EngineResult]


def test_every_account_agrees(both: Both) -> None:
    """Chip-seconds by unit and account, to half a nanosecond of all chips."""
    case, naive, engine, _ = both
    for expected, found in zip(naive.accounts, engine.accounts, strict=True):
        for account, chip_seconds in found.items():
            here = expected.get(account, 0.0)
            assert chip_seconds == pytest.approx(here, rel=1e-12, abs=0.5e-9 * case.chips)


def test_every_account_closes(both: Both) -> None:
    """All accounts of a unit add up to its chips times the duration."""
    case, _, engine, _ = both
    for unit, found in zip(case.units, engine.accounts, strict=False):
        assert sum(found.values()) == pytest.approx(sum(unit.slices) * case.duration, rel=1e-9)


def test_states_change_at_the_same_nanoseconds(both: Both) -> None:
    """Every unit goes through the same states at the same times."""
    _, naive, engine, _ = both
    assert engine.changes == naive.changes


def test_steps_tokens_strikes_and_late_answers_agree(both: Both) -> None:
    """The same steps were done, the same tokens counted, the same strikes hit something; as many
    answers came too late.
    """
    _, naive, engine, _ = both
    assert engine.late_answers == naive.late_answers
    assert engine.tokens == pytest.approx(naive.tokens, rel=1e-12)
    assert engine.steps == naive.steps
    assert engine.strikes == naive.strikes


def test_the_busiest_site_sends_the_same_bytes(both: Both) -> None:
    """Bytes on the wide-area network agree, those of an unfinished transfer included."""
    _, naive, engine, _ = both
    assert engine.wan_bytes == pytest.approx(naive.wan_bytes, rel=1e-9, abs=1e-6)


def test_the_same_learners_merge_at_the_same_nanoseconds(both: Both) -> None:
    """Every synchronization starts and arrives at the same times with the same learners."""
    _, naive, engine, _ = both
    assert engine.merges == naive.merges


def test_merged_overwritten_and_pending_steps_agree(both: Both) -> None:
    """The same shares of all steps x fragments, and the same tokens merged."""
    _, naive, engine, _ = both
    assert engine.fates == (None if naive.fates is None else pytest.approx(naive.fates, abs=1e-9))
    assert engine.tokens_merged == pytest.approx(naive.tokens_merged, rel=1e-9, abs=1e-9)
