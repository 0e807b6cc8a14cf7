"""The reduction of a job's step that a unit joins, or leaves, while it is under way."""

from __future__ import annotations

from dataclasses import replace

from naive.case import StrikeCase
from naive.hand import far_apart
from naive_cases import EngineResult, run_engine


def joined(lost: float, back: float, *, duration: float, layers: int = 1) -> EngineResult:
    """Two units of 1 s a step and one of 2 s that is away in between; a gradient takes 1 s.

    On the ring of the two it takes three quarters of that.
    """
    strikes = (StrikeCase(lost, 2, (0,), 0.0, back - lost),)
    case = far_apart(
        1.0, 1.0, 2.0, seconds=1.0, method="elastic_data_parallel", duration=duration, layers=layers
    )
    return run_engine(replace(case, strikes=strikes))


def steps(lost: float, back: float, *, duration: float, layers: int = 1) -> float:
    """Steps completed by then."""
    return joined(lost, back, duration=duration, layers=layers).outcome.steps


def test_a_slower_unit_that_joins_delays_the_reduction() -> None:
    """Step 1, without it, until 2 s; it joins step 2 at 2.5 s, which it has computed at 4 s."""
    assert steps(0.25, 2.5, duration=4.7) == 1
    assert steps(0.25, 2.5, duration=4.8) == 2


def test_layers_that_have_gone_do_not_wait_for_who_joins() -> None:
    """Layer 2 was released at 2.6 s; layer 1 is at 3.8 s, and takes 0.375 s."""
    assert steps(0.25, 2.7, duration=4.17, layers=2) == 1
    assert steps(0.25, 2.7, duration=4.2, layers=2) == 2


def test_a_step_goes_by_the_slowest_unit_that_is_left() -> None:
    """Without the slow one two layers are released at 0.8 and 1 s, and take half a second each."""
    assert steps(0.25, 99.0, duration=1.79, layers=2) == 0
    assert steps(0.25, 99.0, duration=1.9, layers=2) == 1
