"""Delays that hold up each step of a unit besides its compute."""

from __future__ import annotations

import numpy as np
import pytest

from ddsim.world.cluster import UnitPlan
from ddsim.world.distributions import from_spec
from ddsim.world.instants import seconds
from ddsim.world.pace import Pace, pace

PLAN = UnitPlan(0, "unit 0", "here", "chip", 8, 1, 2.0)
SECOND = from_spec("exponential", {"mean": 1.0})


def drawn(found: Pace, count: int = 40_000) -> np.ndarray:
    """The compute of that many steps."""
    return np.array([seconds(found.of(index)) for index in range(count)])


def test_a_delay_comes_on_top_of_every_step() -> None:
    """Steps are never shorter than their compute, and longer by the delay's mean on average."""
    times = drawn(pace(PLAN, 0.0, 1, 0, delay=SECOND))
    assert times.min() >= 2.0
    error = times.std() / np.sqrt(len(times))
    assert abs(times.mean() - 3.0) <= 5.0 * error


def test_a_delay_leaves_the_jitter_alone() -> None:
    """Both together are the sum of each: the delay has random numbers of its own."""
    both, jitter, delay = (
        drawn(pace(PLAN, spread, 1, 0, delay=kind), 3000)
        for spread, kind in ((0.1, SECOND), (0.1, None), (0.0, SECOND))
    )
    assert both == pytest.approx(jitter + delay - 2.0, abs=1.5e-9)  # each rounds to a nanosecond


def test_a_unit_with_delays_is_not_even() -> None:
    """Its steps differ, and are not counted as if they did not."""
    assert not pace(PLAN, 0.0, 1, 0, delay=SECOND).even
    assert pace(PLAN, 0.0, 1, 0).even


def test_units_and_replications_have_delays_of_their_own() -> None:
    """Other names and other replications draw other delays; the same ones draw the same."""
    first = drawn(pace(PLAN, 0.0, 1, 0, delay=SECOND), 10).tolist()
    assert drawn(pace(PLAN, 0.0, 1, 0, delay=SECOND), 10).tolist() == first
    assert drawn(pace(PLAN, 0.0, 1, 1, delay=SECOND), 10).tolist() != first
