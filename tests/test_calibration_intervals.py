"""Intervals of few, skewed or correlated values hold the truth about as often as they say."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from ddsim.calibration.intervals import Interval, line, mean_of_times, of_series, poisson

SAMPLES = 150
Draw = Callable[[np.random.Generator, int], NDArray[np.float64]]
SHAPES: dict[str, Draw] = {
    "exponential": lambda rng, n: rng.exponential(1.0, n),
    "nearly_even": lambda rng, n: rng.gamma(50.0, 0.02, n),
    "lognormal": lambda rng, n: rng.lognormal(-0.18, 0.6, n),
}


def coverage(made: Callable[[np.random.Generator], Interval], truth: float) -> float:
    """How often intervals of samples hold the truth."""
    rng = np.random.default_rng(3)
    found = [made(rng) for _ in range(SAMPLES)]
    return float(np.mean([item.low <= truth <= item.high for item in found]))


@pytest.mark.parametrize("shape", SHAPES)
def test_five_times_of_any_shape_give_an_interval_of_their_mean(shape: str) -> None:
    """Student's t holds the mean of five exponential times in 88% of all cases."""
    assert coverage(lambda rng: mean_of_times(SHAPES[shape](rng, 5).tolist()), 1.0) >= 0.91


def test_steps_that_hang_together_count_for_fewer() -> None:
    """An interval that takes neighbours for independent holds the mean in half of all cases."""

    def correlated(rng: np.random.Generator) -> Interval:
        level, values = 0.0, []
        for shock in rng.normal(size=400):
            level = 0.8 * level + 0.6 * shock
            values.append(2.0 + 0.1 * level)
        return of_series([values]).mean

    assert coverage(correlated, 2.0) >= 0.9


def test_a_rate_without_failures_is_bounded_from_above() -> None:
    """By the 3.69 that an exact interval of 95% on two sides has."""
    none = poisson(0, 100.0)
    assert (none.value, none.low) == (0.0, 0.0)
    assert none.high == pytest.approx(0.0369, rel=1e-2)


def test_an_exact_rate_is_garwoods() -> None:
    """Five events: 1.62 to 11.67."""
    five = poisson(5, 1.0)
    assert (five.low, five.high) == pytest.approx((1.6235, 11.6683), rel=1e-4)


@pytest.mark.parametrize("power", [0.0, 1.0])
def test_a_transfer_has_a_fixed_cost_and_one_a_byte(power: float) -> None:
    """Whether its scatter is even or grows with its size."""
    sizes = np.tile([1e6, 2e6, 4e6, 8e6], 10)

    def fitted(rng: np.random.Generator) -> tuple[Interval, Interval]:
        scatter = 0.02 * (sizes / 4e6) ** power
        times = 0.3 + 1e-7 * sizes + scatter * rng.normal(size=len(sizes))
        found = line(sizes.tolist(), times.tolist())
        assert found is not None
        return found

    assert coverage(lambda rng: fitted(rng)[0], 0.3) >= 0.89
    assert coverage(lambda rng: fitted(rng)[1], 1e-7) >= 0.89


def test_transfers_of_one_size_tell_no_cost_a_byte() -> None:
    """Nothing says which part of their time is which."""
    assert line([1e6] * 9, [0.3] * 9) is None


def test_one_time_is_taken_for_exponential() -> None:
    """Its interval is that of a mean of which one value is known."""
    one = mean_of_times([10.0])
    assert one.low == pytest.approx(2.71, rel=1e-2)
    assert one.high == pytest.approx(395.0, rel=1e-2)
