"""The engine and the naive model, written apart from one text, agree event for event."""

from __future__ import annotations

import pytest
from naive.case import Case, NaiveResult, Span
from naive.model import simulate
from naive.random_cases import METHOD_NAMES, random_case
from naive_cases import EngineResult, run_engine

SEEDS = range(24)
CASES = [(method, seed) for method in METHOD_NAMES for seed in SEEDS]
TIME = 1e-9


@pytest.fixture(scope="module", params=CASES, ids=lambda case: f"{case[0]}-{case[1]}")
def both(request: pytest.FixtureRequest) -> tuple[Case, NaiveResult, EngineResult]:
    """One random case, lived through by the naive model and by the engine."""
    method, seed = request.param
    case = random_case(seed, method)
    return case, simulate(case), run_engine(case)


Both = tuple[Case, NaiveResult, EngineResult]


def test_every_account_agrees_to_a_billionth(both: Both) -> None:
    """Chip-seconds by unit and account differ by at most 1e-9 of the capacity."""
    case, naive, engine = both
    capacity = case.duration * case.chips
    for expected, found in zip(naive.accounts, engine.accounts(), strict=True):
        for account, chip_seconds in found.items():
            assert chip_seconds == pytest.approx(expected.get(account, 0.0), abs=1e-9 * capacity)


def test_every_account_closes(both: Both) -> None:
    """All accounts of a unit add up to its chips times the duration."""
    case, _, engine = both
    for unit, found in zip(case.units, engine.accounts(), strict=False):
        assert sum(found.values()) == pytest.approx(sum(unit.slices) * case.duration, rel=1e-9)


def test_states_change_at_the_same_times(both: Both) -> None:
    """Every unit goes through the same states at the same times."""
    case, naive, engine = both
    for unit, expected in zip(case.units, naive.spans, strict=True):
        found = [s for s in engine.run.recorder.states() if s.unit == unit.name]
        assert [s.state for s in found] == [state for _, _, state, _ in _joined(unit, expected)]
        assert [s.start for s in found] == pytest.approx(
            [start for start, _, _, _ in _joined(unit, expected)], abs=TIME * case.duration
        )


def test_steps_tokens_and_strikes_agree(both: Both) -> None:
    """The same steps were done, the same tokens counted, the same strikes hit something."""
    _, naive, engine = both
    assert engine.outcome.tokens == pytest.approx(naive.tokens, rel=1e-9)
    assert engine.outcome.steps == pytest.approx(sum(naive.steps) / len(naive.steps))
    assert engine.strikes == naive.strikes


def test_the_busiest_site_sends_the_same_bytes(both: Both) -> None:
    """Bytes on the wide-area network agree, those of an unfinished transfer included."""
    _, naive, engine = both
    assert engine.run.meter.bits / 8 == pytest.approx(naive.wan_bytes, rel=1e-9, abs=1e-6)


def test_the_same_learners_merge_at_the_same_times(both: Both) -> None:
    """Every synchronization starts and arrives at the same times with the same learners."""
    case, naive, engine = both
    expected = sorted(naive.merges)
    found = _last_arrivals(engine)
    assert [(slot, who) for slot, _, _, who in found] == [(m[0], m[3]) for m in expected]
    for index in (1, 2):
        times = [merge[index] for merge in found]
        assert times == pytest.approx([m[index] for m in expected], abs=TIME * case.duration)


@pytest.mark.parametrize("seed", SEEDS)
def test_merged_and_overwritten_steps_agree(seed: int) -> None:
    """Decoupled DiLoCo merges and overwrites the same steps x fragments."""
    case = random_case(seed, "decoupled_diloco")
    naive, engine = simulate(case), run_engine(case)
    assert (engine.outcome.merged, engine.outcome.overwritten) == (naive.merged, naive.overwritten)


def _joined(unit: object, spans: list[Span]) -> list[Span]:
    """Spans of positive length; those that differ in nothing but rounding are one."""
    return [span for span in spans if span[1] - span[0] > TIME]


def _last_arrivals(engine: EngineResult) -> list[tuple[int, float, float, tuple[int, ...]]]:
    """One entry a synchronization: fragments that arrive apart count with the last of them."""
    merges: dict[int, tuple[int, float, float, tuple[int, ...]]] = {}
    for merge in engine.run.recorder.merges:
        merges[merge.slot] = (merge.slot, merge.start, merge.arrival, merge.participants)
    return sorted(merges.values())
