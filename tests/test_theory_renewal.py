"""The renewal function and Weibull lifetimes, against known answers."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from ddsim.theory import renewal as rn


def weibull_series(shape: float, time: float, terms: int = 60) -> float:
    """The renewal function of Weibull(shape, 1) as a power series (Smith and Leadbetter 1963)."""
    gammas = [math.gamma(1 + n * shape) / math.factorial(n) for n in range(terms + 1)]
    factors = [0.0]
    for n in range(1, terms + 1):
        factors.append(gammas[n] - sum(gammas[j] * factors[n - j] for j in range(1, n)))
    return math.fsum(
        (-1) ** (n - 1) * factors[n] * time ** (n * shape) / math.gamma(1 + n * shape)
        for n in range(1, terms + 1)
    )


@pytest.mark.parametrize("shape", [0.5, 0.7, 1.5])
@pytest.mark.parametrize("time", [0.05, 0.5, 1.5])
def test_renewal_function_of_weibull_agrees_with_its_series(shape: float, time: float) -> None:
    """Discretised and as a power series, for shapes on both sides of 1."""
    value = rn.renewal_function(rn.weibull_cdf(shape, 1.0), time)
    assert value == pytest.approx(weibull_series(shape, time), rel=1e-3)


def test_renewal_function_of_exponential_is_a_straight_line() -> None:
    """Constant hazard: t / mean."""
    value = rn.renewal_function(rn.weibull_cdf(1.0, 50.0), 400.0)
    assert value == pytest.approx(8.0, rel=1e-4)


def test_renewal_function_of_two_stages() -> None:
    """Erlang(2) lifetimes: l t / 2 - (1 - exp(-2 l t)) / 4."""

    def cdf(t: NDArray[np.float64]) -> NDArray[np.float64]:
        return 1.0 - np.exp(-t) * (1.0 + t)

    expected = 3.0 / 2 - (1 - math.exp(-6.0)) / 4
    assert rn.renewal_function(cdf, 3.0) == pytest.approx(expected, rel=1e-4)


def test_renewal_function_with_repair_falls_towards_its_cycle() -> None:
    """With constant repair r the long-run rate is 1 / (mean + r)."""
    life = rn.weibull_cdf(1.5, 1.0)

    def cycle(t: NDArray[np.float64]) -> NDArray[np.float64]:
        return life(t - 0.5)

    late = rn.renewal_function(life, 40.0, cycle=cycle) - rn.renewal_function(
        life, 30.0, cycle=cycle
    )
    assert late == pytest.approx(10.0 / (math.gamma(1 + 1 / 1.5) + 0.5), rel=2e-3)


def test_fresh_parts_fail_by_the_first_order_at_first() -> None:
    """Far below the scale n parts fail n (t / s)^k times."""
    exact = 4096 * rn.renewal_function(rn.weibull_cdf(0.7, 1e6), 10.0)
    assert rn.weibull_fresh_failures(0.7, 1e6, 4096, 10.0) == pytest.approx(exact, rel=1e-3)


def test_nothing_fails_in_no_time() -> None:
    """The renewal function starts at 0."""
    assert rn.renewal_function(rn.weibull_cdf(0.5, 1.0), 0.0) == 0.0


def test_scale_gives_the_mean_back() -> None:
    """One part's first failure comes after the mean lifetime."""
    scale = rn.weibull_scale_for_mean(0.7, 3600.0)
    assert rn.weibull_first_failure_mean(0.7, scale, 1) == pytest.approx(3600.0, rel=1e-12)
