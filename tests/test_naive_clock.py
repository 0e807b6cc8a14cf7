"""The naive model's clock: whole nanoseconds or fractions, and half-open at the end."""

from dataclasses import replace
from fractions import Fraction

import pytest
from naive.case import Case, LinkChange
from naive.hand import decoupled, far_apart, run, slice_strike, units
from naive.random_cases import METHOD_NAMES
from naive.reckoning import EXACT, NANOSECONDS, Reckoning

CLOCKS = pytest.mark.parametrize("clock", [EXACT, NANOSECONDS], ids=["exact", "nanoseconds"])


@CLOCKS
@pytest.mark.parametrize("method", METHOD_NAMES)
@pytest.mark.parametrize(("step", "duration"), [(0.1, 10.0), (0.3, 30.0), (1.0, 100.0)])
def test_a_run_of_whole_steps_counts_one_less(
    method: str, step: float, duration: float, clock: Reckoning
) -> None:
    """The last of 100 steps ends at the horizon, in whatever decimals it is reached."""
    case = Case(method=method, duration=duration, units=units(step, step))
    assert run(case, clock).steps == [99, 99]


@pytest.mark.parametrize(
    ("ticks", "whole"),
    [("0", 0), ("0.2", 1), ("0.5", 1), ("1.4", 1), ("1.5", 2), ("2.5", 2), ("3.5", 4), ("7.6", 8)],
)
def test_a_length_rounds_to_the_nearest_half_to_even_and_is_never_lost(
    ticks: str, whole: int
) -> None:
    """A positive length is a nanosecond at least."""
    assert NANOSECONDS.length(Fraction(ticks)) == whole
    assert EXACT.length(Fraction(ticks)) == Fraction(ticks)


def test_the_compute_of_every_step_is_rounded() -> None:
    """1 s x 1/3, as written, is 333,333,333 ns: three steps end at 0.999999999 s."""
    case = decoupled(1.0, duration=1.1)
    case = replace(case, jitter=lambda unit, k: 0.3333333333)
    ends = [start for _, start, _, _ in run(case, NANOSECONDS).merges]
    assert ends == [0.333333333, 0.666666666, 0.999999999]


def test_the_end_of_a_transfer_is_rounded_from_its_last_change_of_rate() -> None:
    """From 1 s on 3 bit/s: 1 bit by 1.333333333 s; or 0.3 by 1.1 s and the rest at 1.5 bit/s."""
    case = far_apart(1.0, 1.0, seconds=1.0, method="decoupled_diloco", duration=1.75)
    case = replace(case, capacity=dict.fromkeys(case.capacity, 3.0))
    assert run(case, NANOSECONDS).merges == [(1, 1.0, 1.333333333, (0, 1))]
    slower = replace(case, link_changes=(LinkChange(1.1, "region 1", 1.5),))
    assert run(slower, NANOSECONDS).merges == [(1, 1.0, 1.566666667, (0, 1))]


def test_the_grace_is_rounded_when_the_slot_opens() -> None:
    """A third of a second, as written, after 1 s."""
    case = decoupled(1.0, 1.8, duration=1.5, overlap_steps=1, grace=0.3333333333)
    assert run(case, NANOSECONDS).merges == [(1, 1.333333333, 1.333333333, (0,))]
    assert run(case).merges == [(1, 1.3333333333, 1.3333333333, (0,))]


@CLOCKS
def test_a_strike_at_the_end_of_a_step_comes_after_it(clock: Reckoning) -> None:
    """Three steps of 0.1 s are completed when the unit is lost at 0.3 s."""
    case = decoupled(0.1, duration=0.55, strikes=(slice_strike(0.3),))
    assert run(case, clock).steps == [3]
