"""Quiet stretches may be counted: that changes nothing but the number of events."""

from __future__ import annotations

from dataclasses import replace

import pytest
from naive.case import Case, no_jitter
from naive.random_cases import random_case
from naive_cases import EngineResult, run_engine

pytestmark = pytest.mark.slow

SEEDS = range(50)
METHODS = ("decoupled_diloco", "streaming_diloco")
CASES = [(method, seed) for method in METHODS for seed in SEEDS]


@pytest.fixture(scope="module", params=CASES, ids=lambda case: f"{case[0]}-{case[1]}")
def both(request: pytest.FixtureRequest) -> tuple[Case, EngineResult, EngineResult]:
    """One random case without jitter, counted where that is possible and stepped through."""
    method, seed = request.param
    case = replace(random_case(seed, method), jitter=no_jitter)
    return case, run_engine(case), run_engine(case, counted=False)


Both = tuple[Case, EngineResult, EngineResult]


def test_counted_accounts_are_those_of_every_slot(both: Both) -> None:
    """Chip-seconds by unit and account agree to 1e-9 of the capacity."""
    case, counted, stepped = both
    for one, other in zip(counted.accounts(), stepped.accounts(), strict=True):
        for account, chip_seconds in one.items():
            tolerance = 1e-9 * case.chips * case.duration
            assert chip_seconds == pytest.approx(other[account], abs=tolerance)


def test_counted_merges_are_those_of_every_slot(both: Both) -> None:
    """The same learners merge at the same times with the same weights."""
    _, counted, stepped = both
    merges, others = counted.run.recorder.merges, stepped.run.recorder.merges
    assert [(m.slot, m.participants) for m in merges] == [(m.slot, m.participants) for m in others]
    assert [m.start for m in merges] == pytest.approx([m.start for m in others], rel=1e-9)
    assert [m.arrival for m in merges] == pytest.approx([m.arrival for m in others], rel=1e-9)
    weights = [weight for merge in merges for weight in merge.weights]
    assert weights == pytest.approx([weight for merge in others for weight in merge.weights])


def test_counted_summaries_are_those_of_every_slot(both: Both) -> None:
    """Steps, tokens, merged and overwritten steps, late answers, participation, bytes agree."""
    _, counted, stepped = both
    one, other = counted.outcome, stepped.outcome
    for name in ("steps", "merged", "overwritten", "late_answers", "participation"):
        assert getattr(one, name) == getattr(other, name), name
    assert one.tokens == pytest.approx(other.tokens, rel=1e-9)
    assert counted.run.meter.bits == pytest.approx(stepped.run.meter.bits, rel=1e-9)
    assert one.up == pytest.approx(other.up, rel=1e-9)
    assert one.moving == pytest.approx(other.moving, rel=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_counting_takes_fewer_events(method: str) -> None:
    """Over all cases at least a tenth of the events is saved; these cases are short."""
    counted = stepped = 0
    for seed in SEEDS:
        case = replace(random_case(seed, method), jitter=no_jitter)
        counted += run_engine(case).run.clock.events
        stepped += run_engine(case, counted=False).run.clock.events
    assert counted < 0.9 * stepped
