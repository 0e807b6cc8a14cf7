"""Every distribution keeps to its own theory."""

import math
from collections.abc import Mapping

import numpy as np
import pytest
from numpy.typing import NDArray

from ddsim.world.distributions import Distribution, family, from_spec, names

EXAMPLES: tuple[tuple[str, Mapping[str, object]], ...] = (
    ("constant", {"value": 1_200.0}),
    ("empirical", {"values": [30.0, 60.0, 60.0, 200.0, 1_000.0]}),
    ("exponential", {"mean": 1_200.0}),
    ("exponential", {"rate": 0.01}),
    ("exponentiated_weibull", {"shape": 0.8, "power": 3.0, "mean": 1_200.0}),
    ("exponentiated_weibull", {"shape": 2.0, "power": 0.4, "scale": 50.0}),
    ("gamma", {"shape": 0.6, "mean": 300.0}),
    ("gamma", {"shape": 4.0, "scale": 10.0}),
    ("lognormal", {"median": 600.0, "sigma": 0.5}),
    ("lognormal", {"mean": 600.0, "sigma": 0.8}),
    ("weibull", {"shape": 0.7, "mean": 3_600.0}),
    ("weibull", {"shape": 1.5, "scale": 100.0}),
    (
        "mixture",
        {
            "weights": [0.1, 0.9],
            "components": [
                {"weibull": {"shape": 0.6, "scale": 60.0}},
                {"weibull": {"shape": 1.4, "mean": 7_200.0}},
            ],
        },
    ),
    (
        "mixture",
        {
            "weights": [0.3, 0.7],
            "components": [{"constant": {"value": 10.0}}, {"exponential": {"mean": 40.0}}],
        },
    ),
)
DISTRIBUTIONS = [from_spec(kind, params) for kind, params in EXAMPLES]
SMOOTH = [distribution for distribution in DISTRIBUTIONS if distribution.continuous]
LEVELS = np.array([0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99])


def _label(distribution: Distribution) -> str:
    return distribution.describe().split(",")[0].replace(" ", "_")


each = pytest.mark.parametrize("dist", DISTRIBUTIONS, ids=_label)
each_smooth = pytest.mark.parametrize("dist", SMOOTH, ids=_label)


def _assert_mean(sample: NDArray[np.float64], expected: float) -> None:
    error = sample.std(ddof=1) / math.sqrt(len(sample))
    assert abs(sample.mean() - expected) <= 5.0 * error + 1e-12 * abs(expected)


def test_every_registered_family_is_held_against_its_theory() -> None:
    """The examples of this file leave no registered family and no form of parameters out."""
    tried = {(kind, frozenset(params)) for kind, params in EXAMPLES}
    known = {
        (name, frozenset(form))
        for name in names()
        if family(name).__module__.startswith("ddsim.")
        for form in family(name).forms
    }
    assert known <= tried


@each
def test_samples_have_the_mean_and_variance_of_the_theory(dist: Distribution) -> None:
    """Mean and variance of samples agree with the closed forms at 5 standard errors."""
    sample = dist.sample(np.random.default_rng(1), 200_000)
    assert sample.shape == (200_000,)
    _assert_mean(sample, dist.mean())
    _assert_mean((sample - dist.mean()) ** 2, dist.variance())


@each
def test_samples_have_the_quantiles_and_cdf_of_the_theory(dist: Distribution) -> None:
    """The share of samples at or below each quantile is the cdf there, at 5 standard errors."""
    sample = dist.sample(np.random.default_rng(2), 100_000)
    for x in dist.quantile(LEVELS):
        below = sample <= x
        # at an atom all is below: a share without spread must be met exactly
        _assert_mean(below.astype(float), float(dist.cdf(x)))


@each
def test_the_quantile_is_the_smallest_value_that_reaches_its_level(dist: Distribution) -> None:
    """cdf(quantile(q)) >= q, and just below it is not."""
    x = dist.quantile(LEVELS)
    assert np.all(dist.cdf(x) >= LEVELS - 1e-12)
    assert np.all(dist.cdf(x * (1.0 - 1e-6)) < LEVELS)


@each_smooth
def test_the_density_is_the_slope_of_the_cdf(dist: Distribution) -> None:
    """pdf agrees with the numerical derivative of the cdf."""
    x = dist.quantile(LEVELS)
    step = 1e-5 * x
    slope = (dist.cdf(x + step) - dist.cdf(x - step)) / (2.0 * step)
    assert dist.pdf(x) == pytest.approx(slope, rel=1e-5)


@each_smooth
def test_the_hazard_is_the_slope_of_the_cumulative_hazard(dist: Distribution) -> None:
    """hazard agrees with the numerical derivative of -log survival, and is pdf / survival."""
    x = dist.quantile(LEVELS)
    step = 1e-5 * x
    above, below = -np.log(1.0 - dist.cdf(x + step)), -np.log(1.0 - dist.cdf(x - step))
    assert dist.hazard(x) == pytest.approx((above - below) / (2.0 * step), rel=1e-5)
    assert dist.hazard(x) == pytest.approx(dist.pdf(x) / dist.survival(x), rel=1e-9)


@each_smooth
def test_the_cumulative_hazard_and_its_inverse_hold_in_both_tails(dist: Distribution) -> None:
    """From 1e-9 to 1e4 the inverse brings the cumulative hazard back to ten digits."""
    h = np.array([1e-9, 1e-4, 0.5, 0.8, 5.0, 35.9, 36.1, 600.0, 689.0, 691.0, 1e4])
    assert dist.cumulative_hazard(dist.inverse_cumulative_hazard(h)) == pytest.approx(h, rel=1e-10)


@pytest.mark.slow
@each
def test_residual_lives_are_those_of_samples_that_got_that_old(dist: Distribution) -> None:
    """The residual life at an age has the mean and spread of longer samples less the age."""
    age = float(dist.quantile(0.2)) * 0.9
    sample = dist.sample(np.random.default_rng(3), 200_000)
    older = sample[sample > age] - age
    residual = dist.sample_residual(np.random.default_rng(4), np.full(len(older), age))
    difference = residual - older
    _assert_mean(difference, 0.0)
    _assert_mean(residual**2 - older**2, 0.0)


@each
def test_residual_life_at_age_zero_is_a_life(dist: Distribution) -> None:
    """A fresh part has the whole distribution before it."""
    residual = dist.sample_residual(np.random.default_rng(5), np.zeros(100_000))
    _assert_mean(residual, dist.mean())


@each
def test_samples_between_two_ages_are_the_samples_that_lie_there(dist: Distribution) -> None:
    """sample_between agrees with samples that happen to lie in the interval."""
    low, high = float(dist.quantile(0.05)) * 0.9, float(dist.quantile(0.6))
    sample = dist.sample(np.random.default_rng(6), 200_000)
    inside = sample[(sample > low) & (sample <= high)]
    drawn = dist.sample_between(np.random.default_rng(7), low, high, len(inside))
    assert drawn.min() >= low
    assert drawn.max() <= high
    _assert_mean(drawn - inside, 0.0)


@each
def test_a_specification_builds_an_equal_distribution(dist: Distribution) -> None:
    """from_spec(*specification()) is the distribution again."""
    assert from_spec(*dist.specification()) == dist


@each
def test_equal_generators_give_equal_samples(dist: Distribution) -> None:
    """Sampling depends on the generator alone."""
    first, second = (dist.sample(np.random.default_rng(8), 50) for _ in range(2))
    assert np.array_equal(first, second)


@each
def test_the_description_is_one_line_that_begins_with_the_kind(dist: Distribution) -> None:
    """describe() fits a listing."""
    assert "\n" not in dist.describe()
    assert dist.describe().startswith(f"{dist.kind}: ")


@pytest.mark.parametrize(
    ("kind", "params", "mean", "variance"),
    [
        ("exponential", {"rate": 0.25}, 4.0, 16.0),
        ("weibull", {"shape": 2.0, "scale": 1.0}, math.sqrt(math.pi) / 2, 1.0 - math.pi / 4),
        ("gamma", {"shape": 3.0, "scale": 2.0}, 6.0, 12.0),
        ("lognormal", {"median": 1.0, "sigma": 1.0}, math.exp(0.5), math.e * (math.e - 1.0)),
        # of two exponentials of mean 1 the later: mean 3/2, variance 5/4
        ("exponentiated_weibull", {"shape": 1.0, "power": 2.0, "scale": 1.0}, 1.5, 1.25),
        ("constant", {"value": 7.0}, 7.0, 0.0),
        ("empirical", {"values": [1.0, 3.0]}, 2.0, 1.0),
    ],
)
def test_known_moments(
    kind: str, params: Mapping[str, object], mean: float, variance: float
) -> None:
    """Mean and variance have their textbook values."""
    dist = from_spec(kind, params)
    assert dist.mean() == pytest.approx(mean, rel=1e-12)
    assert dist.variance() == pytest.approx(variance, rel=1e-11)


@pytest.mark.parametrize(
    ("kind", "params"),
    [
        ("weibull", {"shape": 0.4, "mean": 5.0}),
        ("gamma", {"shape": 7.0, "mean": 5.0}),
        ("lognormal", {"sigma": 2.0, "mean": 5.0}),
        ("exponentiated_weibull", {"shape": 0.05, "power": 40.0, "mean": 5.0}),
        ("exponentiated_weibull", {"shape": 30.0, "power": 0.02, "mean": 5.0}),
        ("exponential", {"mean": 5.0}),
    ],
)
def test_a_given_mean_is_the_mean(kind: str, params: Mapping[str, object]) -> None:
    """Where the mean is a parameter, mean() returns it."""
    assert from_spec(kind, params).mean() == pytest.approx(5.0, rel=1e-9)


@pytest.mark.slow
def test_moments_of_the_exponentiated_weibull_agree_with_quadrature() -> None:
    """The trapezium rule over log z agrees with the integral of the quantile function."""
    dist = from_spec("exponentiated_weibull", {"shape": 1.3, "power": 0.2, "scale": 3.0})
    edges = np.linspace(0.0, 1.0, 2_000_001)
    middles = dist.quantile(0.5 * (edges[1:] + edges[:-1]))
    assert dist.mean() == pytest.approx(float(middles.mean()), rel=1e-5)


def test_a_power_of_one_is_a_weibull() -> None:
    """The exponentiated Weibull with power 1 has the Weibull's cdf, hazard and moments."""
    plain = from_spec("weibull", {"shape": 0.7, "scale": 9.0})
    powered = from_spec("exponentiated_weibull", {"shape": 0.7, "power": 1.0, "scale": 9.0})
    x = np.array([0.01, 1.0, 9.0, 200.0])
    assert powered.cdf(x) == pytest.approx(plain.cdf(x), rel=1e-12)
    assert powered.hazard(x) == pytest.approx(plain.hazard(x), rel=1e-12)
    assert powered.variance() == pytest.approx(plain.variance(), rel=1e-9)


def test_shape_below_one_means_that_survivors_live_longer() -> None:
    """The hazard falls with age below shape 1, is flat at 1, and rises above."""
    ages = np.array([1.0, 10.0, 100.0])
    for shape, sign in ((0.5, -1.0), (1.0, 0.0), (2.0, 1.0)):
        rise = np.diff(from_spec("weibull", {"shape": shape, "scale": 10.0}).hazard(ages))
        assert np.array_equal(np.sign(np.round(rise, 12)), np.full(2, sign))


def test_nothing_outlives_a_constant_or_the_largest_value_seen() -> None:
    """At or beyond the end of a bounded distribution no life is left."""
    ages = np.array([5.0, 8.0])
    rng = np.random.default_rng(0)
    assert from_spec("constant", {"value": 5.0}).sample_residual(rng, ages).tolist() == [0.0, 0.0]
    seen = from_spec("empirical", {"values": [1.0, 5.0]})
    assert seen.sample_residual(rng, ages).tolist() == [0.0, 0.0]


def test_a_mixture_with_never_has_no_mean_and_no_end() -> None:
    """A share that never fails makes mean and variance infinite, and high quantiles too."""
    dist = from_spec(
        "mixture",
        {
            "weights": [0.4, 0.6],
            "components": [{"exponential": {"mean": 1.0}}, {"constant": {"value": math.inf}}],
        },
    )
    assert math.isinf(dist.mean())
    assert math.isinf(dist.variance())
    assert dist.quantile(np.array([0.2, 0.5])) == pytest.approx([math.log(2.0), math.inf])
