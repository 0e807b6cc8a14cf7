"""Laws that the naive model must keep on random small scenarios."""

from dataclasses import replace

import pytest
from naive.case import Case, NaiveResult, no_jitter
from naive.hand import about, books, nonzero, run
from naive.model import simulate
from naive.random_cases import METHOD_NAMES, random_case
from naive.reckoning import NANOSECONDS

SEVERAL_SEEDS = range(40)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHOD_NAMES)
def test_accounts_close_on_random_cases(method: str) -> None:
    """Whatever happens, every chip-second is in one account; and again the same."""
    for seed in SEVERAL_SEEDS:
        result = run(random_case(seed, method), NANOSECONDS)
        assert result == simulate(random_case(seed, method), NANOSECONDS)


def without_losses(case: Case) -> Case:
    """Only strikes on slice 0, with another slice that stays."""
    strikes = tuple(replace(strike, slices=(0,)) for strike in case.strikes)
    slices = tuple(replace(unit, slices=(3, 2)) for unit in case.units)
    return replace(case, units=slices, strikes=strikes, spares=0)


@pytest.mark.slow
def test_one_decoupled_unit_keeps_the_accounts_of_an_elastic_job() -> None:
    """While slice failures leave a slice, there is nothing to be decoupled from."""
    for seed in SEVERAL_SEEDS:
        case = without_losses(random_case(seed, "decoupled_diloco"))
        strikes = tuple(replace(strike, unit=0) for strike in case.strikes)
        case = replace(case, units=case.units[:1], strikes=strikes, quorum=1, grace=0.0)
        job = replace(case, method="elastic_data_parallel")
        ours, theirs = run(case), run(job)
        assert nonzero(ours.accounts[0]) == books(**nonzero(theirs.accounts[0]))
        assert ours.steps == theirs.steps


def in_full_quorum(case: Case) -> Case:
    """Everybody is waited for, and sends at the end of a step."""
    return replace(
        case,
        quorum=len(case.units),
        grace=0.0,
        below_quorum="block",
        release="end_of_step",
        age_while_down="runs",
    )


def like_equals(case: Case) -> Case:
    """Equal units, no jitter, no latency."""
    step_time = case.units[0].step_time
    equal = tuple(replace(unit, step_time=step_time) for unit in case.units)
    return replace(case, units=equal, jitter=no_jitter, latency=0.0)


def same_accounts_and_steps(ours: NaiveResult, theirs: NaiveResult) -> bool:
    """Whether two runs come to the same."""
    pairs = zip(ours.accounts, theirs.accounts, strict=True)
    return ours.steps == theirs.steps and all(
        nonzero(mine) == books(**nonzero(other)) for mine, other in pairs
    )


def same_fates(ours: NaiveResult, theirs: NaiveResult) -> bool:
    """Whether as much was merged, overwritten and left pending."""
    fates, others = ((r.merged, r.overwritten, r.pending) for r in (ours, theirs))
    return fates == others


def lost_whole(result: NaiveResult) -> bool:
    """Whether any unit ever was."""
    return any(state == "failed_hardware" for unit in result.spans for _, _, state, _ in unit)


@pytest.mark.slow
def test_decoupled_without_overlap_is_diloco() -> None:
    """tau = 0, K = M, P = 1: the accounts, steps and merged work of `diloco`, whatever fails."""
    for seed in SEVERAL_SEEDS:
        case = in_full_quorum(like_equals(random_case(seed, "decoupled_diloco")))
        case = replace(case, overlap_steps=0, fragments=1)
        ours, theirs = run(case, NANOSECONDS), run(replace(case, method="diloco"), NANOSECONDS)
        assert same_accounts_and_steps(ours, theirs), seed
        assert same_fates(ours, theirs), seed
        assert ours.wan_bytes == about(theirs.wan_bytes)


@pytest.mark.slow
def test_decoupled_applied_at_tau_steps_like_streaming() -> None:
    """Whatever fails, unequal units with jitter and latency too: both queue for one ring.

    And merge as much, but after a unit's return, with which one takes in all that there is.
    """
    for seed in SEVERAL_SEEDS:
        case = replace(in_full_quorum(random_case(seed, "decoupled_diloco")), apply="at_tau")
        streaming = replace(case, method="streaming_diloco")
        ours, theirs = run(case, NANOSECONDS), run(streaming, NANOSECONDS)
        assert same_accounts_and_steps(ours, theirs), seed
        assert lost_whole(ours) or same_fates(ours, theirs), seed
