"""The naive model against pencil and paper: which steps were merged, and which were overwritten."""

from dataclasses import replace

import pytest
from naive.case import Case, NaiveResult
from naive.hand import about, decoupled, far_apart, run, slice_strike, units
from naive.random_cases import METHOD_NAMES, random_case
from naive.reckoning import NANOSECONDS


def fates(result: NaiveResult) -> tuple[float, float, float]:
    """Steps x fragments merged, overwritten and pending."""
    return result.merged, result.overwritten, result.pending


def share(result: NaiveResult) -> float:
    """The merged share."""
    return result.merged / (result.merged + result.overwritten)


def lockstep(method: str, duration: float, **settings: object) -> Case:
    """Two units of 1 s a step at one place, H = 4; a lost one restarts at once."""
    case = Case(method, duration, units(1.0, 1.0), inner_steps=4, release="end_of_step")
    return replace(case, **settings)  # type: ignore[arg-type]


@pytest.mark.parametrize("method", ["decoupled_diloco", "streaming_diloco"])
@pytest.mark.parametrize("tau", [0, 1, 3, 4, 6])
def test_equal_learners_merge_what_is_not_behind_an_answer(method: str, tau: int) -> None:
    """H = 4, all are waited for: of four steps tau mod 4 come between an answer and its update."""
    case = lockstep(method, 200.5, overlap_steps=tau, fragments=2, quorum=2, apply="at_tau")
    result = run(case)
    assert share(result) == pytest.approx(1 - (tau % 4) / 4, abs=0.03)
    assert result.tokens_merged / result.tokens == pytest.approx(share(result), abs=0.05)


def test_what_is_applied_on_arrival_overwrites_nothing_where_links_are_free() -> None:
    """It arrives with the answer."""
    case = lockstep("decoupled_diloco", 40.5, overlap_steps=3, fragments=2, quorum=2)
    assert share(run(case)) == 1.0


@pytest.mark.parametrize(("alpha", "lost"), [(0.0, 2.0), (0.25, 1.5), (0.5, 1.0), (1.0, 0.0)])
def test_mixing_keeps_its_share_of_the_steps_since_the_answer(alpha: float, lost: float) -> None:
    """H = 4, tau = 2: steps 5 and 6 when update 4 comes; what is kept of them is in answer 8."""
    result = run(lockstep("streaming_diloco", 9.5, overlap_steps=2, mixing=alpha))
    assert fates(result) == (2 * (8 - lost), 2 * lost, 2 * 1)


@pytest.mark.parametrize("method", ["diloco", "streaming_diloco"])
def test_steps_of_a_round_in_which_a_unit_is_lost_are_overwritten(method: str) -> None:
    """Lost at 2.5 s with two steps, back at 3.5 s: the two others of its round end at 5.5 s."""
    strikes = (slice_strike(2.5, detection=0.0, repair=1.0),)
    result = run(lockstep(method, 6.25, strikes=strikes))
    assert result.merges == [(1 if method == "diloco" else 4, 5.5, 5.5, (0, 1))]
    assert fates(result) == (2 + 4, 2, 0)
    assert result.tokens_merged == about(0.5 * 6)


def test_a_unit_lost_after_its_steps_has_nothing_to_merge() -> None:
    """Its four steps are done at 4 s and lost at 4.5 s; it is waited for, until 5.5 s."""
    strikes = (slice_strike(4.5, detection=0.0, repair=1.0),)
    case = lockstep("diloco", 8.25, units=units(1.0, 2.0), inner_steps=4, strikes=strikes)
    result = run(case)
    assert result.merges == [(1, 8.0, 8.0, (0, 1))]
    assert fates(result) == (4, 4, 0)


def test_steps_that_are_rolled_back_are_in_neither() -> None:
    """Round 2 is discarded at 8 s for the unit lost at 5.5 s, which had one step of it."""
    strikes = (slice_strike(5.5, detection=0.0, repair=3.0),)
    case = lockstep("diloco", 13.25, strikes=strikes, on_failure="rollback")
    result = run(case)
    assert [merge[:1] for merge in result.merges] == [(1,), (2,)]
    assert fates(result) == (8 + 8, 0, 0)
    assert result.merged == sum(result.steps)


def test_steps_that_were_dropped_are_in_neither() -> None:
    """Round 2 goes on without the unit lost at 5.5 s; the round after that counts for both."""
    strikes = (slice_strike(5.5, detection=0.0, repair=4.0),)
    case = lockstep("diloco", 14.25, strikes=strikes, on_failure="drop")
    result = run(case)
    assert [merge[3] for merge in result.merges] == [(0, 1), (1,), (0, 1)]
    assert result.steps == [8, 12]
    assert fates(result) == (8 + 12, 0, 0)


def test_a_step_is_merged_with_the_first_answer_that_is_in_a_merge() -> None:
    """tau = 3, H = 1, updates take 1.5 s: step 1 is in answers 1 and 2, and counts once.

    Update 1 comes at 2.5 s and finds nothing that was in no answer; step 3 is in answer 3.
    """
    case = far_apart(1.0, 1.0, seconds=0.0, method="decoupled_diloco", duration=3.75, latency=0.75)
    result = run(replace(case, overlap_steps=3, quorum=2))
    assert [merge[:3] for merge in result.merges] == [(1, 1.0, 2.5), (2, 2.0, 3.5)]
    assert fates(result) == (6, 0, 0)


def test_what_is_answered_late_is_overwritten() -> None:
    """H = 2, 1 s and 1.5 s, K = 1: slot 2 closes at 2 s, before the slower's second step, at 3 s.

    That boundary takes update 2 in, over two steps; the boundary at 4.5 s update 4, over the third.
    """
    case = decoupled(1.0, 1.5, duration=4.75, inner_steps=2, overlap_steps=2)
    result = run(case)
    assert [(number, who) for number, _, _, who in result.merges] == [(2, (0,)), (4, (0,))]
    assert fates(result) == (4, 3, 0)


def test_an_answer_of_a_lost_learner_is_not_its_work_any_more() -> None:
    """K = 2 of 3: it answers slot 1 at 1 s and is lost at 1.5 s; the slot opens at 2 s with it."""
    strikes = (slice_strike(1.5, detection=0.0),)
    case = decoupled(1.0, 2.0, 2.0, duration=2.5, overlap_steps=1, quorum=2, strikes=strikes)
    result = run(case)
    assert result.merges == [(1, 2.0, 2.0, (0, 1, 2))]
    assert fates(result) == (2, 1, 0)


@pytest.mark.parametrize("method", METHOD_NAMES[2:])
def test_every_step_of_every_fragment_has_one_fate(method: str) -> None:
    """Merged, overwritten and pending are all of the steps that were not rolled back."""
    for seed in range(6):
        rule = ("wait", "drop", "rollback")[seed % 3]
        case = replace(random_case(seed, method), on_failure=rule, mixing=(seed % 4) / 4)
        result = run(case, NANOSECONDS)
        fragments = 1 if method in ("diloco", "async_local_sgd") else case.fragments
        assert sum(fates(result)) == about(sum(result.steps) * fragments)
        assert 0 <= result.tokens_merged <= result.tokens * (1 + 1e-12)
