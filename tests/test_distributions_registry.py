"""Distributions by name: what is accepted, and what a person is told otherwise."""

import math
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import FrozenInstanceError, dataclass

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

from ddsim.world.distributions import (
    Constant,
    Distribution,
    DistributionError,
    family,
    from_spec,
    names,
    register,
)
from ddsim.world.distributions.registry import DISTRIBUTIONS


@pytest.fixture(autouse=True)
def _own_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DISTRIBUTIONS, "_things", dict(DISTRIBUTIONS._things))


def test_the_families_stand_in_alphabetical_order() -> None:
    """names() lists what is shipped, sorted."""
    assert names() == (
        "constant",
        "empirical",
        "exponential",
        "exponentiated_weibull",
        "gamma",
        "lognormal",
        "mixture",
        "weibull",
    )


@pytest.mark.parametrize("name", names())
def test_every_parameter_is_documented(name: str) -> None:
    """The parameter table covers the forms exactly, with a meaning for each."""
    cls = family(name)
    assert {p.name for p in cls.parameters} == {name for form in cls.forms for name in form}
    assert all(p.meaning for p in cls.parameters)


@pytest.mark.parametrize(
    ("kind", "params", "message"),
    [
        ("weibul", {}, 'did you mean "weibull"?'),
        ("weibull", {"shap": 1.0, "mean": 2.0}, "weibull.shap: no such parameter.*mean shape"),
        ("weibull", {"shape": 1.0}, "found shape; it takes shape and scale, or shape and mean"),
        ("exponential", {}, "found nothing; it takes mean, or rate"),
        ("exponential", {"mean": 1.0, "rate": 1.0}, "found mean and rate"),
        ("exponential", {"mean": 0.0}, "exponential.mean: found 0; a finite number > 0"),
        ("exponential", {"mean": "20 min"}, "exponential.mean: found '20 min'"),
        ("exponential", {"mean": True}, "exponential.mean: found True"),
        ("exponential", {"mean": math.inf}, "exponential.mean: found inf"),
        ("weibull", {"shape": -1.0, "mean": 2.0}, "weibull.shape: found -1"),
        ("weibull", {"shape": 1e-3, "mean": 2.0}, "weibull.mean: found 2, which"),
        ("gamma", {"shape": math.nan, "mean": 2.0}, "gamma.shape: found nan"),
        ("lognormal", {"median": 1.0, "sigma": 0.0}, "lognormal.sigma: found 0"),
        ("constant", {"value": -1.0}, "constant.value: found -1; a number >= 0"),
        ("empirical", {"values": []}, "empirical.values: found none"),
        ("empirical", {"values": [1.0, "x"]}, r"empirical.values\[1\]: found 'x'"),
        ("empirical", {"values": 3.0}, "a list of numbers is needed"),
        (
            "mixture",
            {"weights": [0.5, 0.6], "components": [Constant(1.0), Constant(2.0)]},
            "mixture.weights: their sum is 1.1; they must add up to 1",
        ),
        (
            "mixture",
            {"weights": [1.0], "components": []},
            "found 1 weights and 0 components",
        ),
        (
            "mixture",
            {"weights": [1.0], "components": [{"weibull": {"shape": 1.0}}]},
            r"mixture.components\[0\].weibull: found shape",
        ),
        ("mixture", {"weights": [1.0], "components": [3.0]}, r"components\[0\]: found 3.0"),
        ("mixture", {"weights": 1.0, "components": []}, "mixture.weights: found 1.0; a list"),
    ],
)
def test_a_faulty_specification_says_what_and_where(
    kind: str, params: Mapping[str, object], message: str
) -> None:
    """The message names the parameter, what was found and what is allowed."""
    with pytest.raises(DistributionError, match=message):
        from_spec(kind, params)


def test_an_error_carries_its_parameter() -> None:
    """A reader of scenarios can put the error at the parameter's own line."""
    with pytest.raises(DistributionError) as caught:
        from_spec("lognormal", {"median": 1.0, "sigma": -2.0})
    assert (caught.value.kind, caught.value.parameter) == ("lognormal", "sigma")
    assert caught.value.found == "found -2"


@pytest.mark.parametrize("value", [0.0, math.inf])
def test_a_constant_may_be_nothing_or_never(value: float) -> None:
    """0 and inf are repair times like others."""
    dist = from_spec("constant", {"value": value})
    assert dist.sample(np.random.default_rng(0), 2).tolist() == [value, value]


def test_weights_rounded_in_print_are_scaled_to_one() -> None:
    """A sum within a thousandth of 1 is taken as 1."""
    dist = from_spec("mixture", {"weights": [0.333, 0.6665], "components": [Constant(0.0)] * 2})
    assert float(dist.cdf(0.0)) == pytest.approx(1.0, abs=1e-15)


@pytest.mark.parametrize("kind", ["constant", "empirical"])
def test_atoms_have_no_density(kind: str) -> None:
    """Asked for a density or a hazard, a distribution with atoms says that it has none."""
    dist = from_spec(kind, {"value": 1.0} if kind == "constant" else {"values": [1.0]})
    for function in (dist.pdf, dist.hazard):
        with pytest.raises(DistributionError, match="it has atoms"):
            function(1.0)


def test_distributions_do_not_change() -> None:
    """A distribution can be shared: its parameters are frozen."""
    with pytest.raises(FrozenInstanceError):
        Constant(1.0).value = 2.0  # type: ignore[misc]


@dataclass(frozen=True)
class _Uniform(Distribution):
    """A user's own: the least that a class must give."""

    width: float

    def sample(self, rng: np.random.Generator, n: int) -> NDArray[np.float64]:
        return rng.uniform(0.0, self.width, n)

    def mean(self) -> float:
        return self.width / 2.0

    def variance(self) -> float:
        return self.width**2 / 12.0

    def cdf(self, x: ArrayLike) -> NDArray[np.float64]:
        return np.clip(np.asarray(x, dtype=float) / self.width, 0.0, 1.0)

    def quantile(self, q: ArrayLike) -> NDArray[np.float64]:
        return np.asarray(q, dtype=float) * self.width

    def pdf(self, x: ArrayLike) -> NDArray[np.float64]:
        return np.where(np.asarray(x, dtype=float) <= self.width, 1.0 / self.width, 0.0)


def test_a_registered_class_is_found_by_name() -> None:
    """A user's class under the decorator takes its constructor's parameters."""
    register("uniform")(_Uniform)
    dist = from_spec("uniform", {"width": 4.0})
    assert dist == _Uniform(4.0)
    assert dist.specification() == ("uniform", {"width": 4.0})
    with pytest.raises(DistributionError, match=r"uniform.widht: no such parameter.*mean width"):
        from_spec("uniform", {"widht": 4.0})
    with pytest.raises(DistributionError, match=r"missing.*it takes width"):
        from_spec("uniform", {})


def test_a_class_with_the_bare_minimum_ages() -> None:
    """Hazard and residual life come from the cdf and quantile where a class has no better."""
    dist = _Uniform(4.0)
    assert dist.hazard(np.array([1.0, 3.0])) == pytest.approx([1.0 / 3.0, 1.0])
    residual = dist.sample_residual(np.random.default_rng(0), np.full(10_000, 3.0))
    assert abs(residual.mean() - 0.5) <= 5.0 * residual.std() / 100.0
    assert residual.max() <= 1.0


def test_a_name_belongs_to_one_class() -> None:
    """A second class under a name is refused."""
    with pytest.raises(ValueError, match="'weibull' is already registered, by Weibull"):
        register("weibull")(_Uniform)


def test_drawing_the_common_families_needs_numpy_alone() -> None:
    """Without a cdf asked for, scipy stays unimported."""
    code = (
        "import sys, numpy\n"
        "from ddsim.world.distributions import from_spec\n"
        "for kind, params in [('exponential', {'mean': 1.0}), ('constant', {'value': 1.0}),\n"
        "        ('weibull', {'shape': 0.7, 'mean': 1.0}),\n"
        "        ('gamma', {'shape': 2.0, 'mean': 1.0}),\n"
        "        ('lognormal', {'median': 1.0, 'sigma': 1.0}),\n"
        "        ('exponentiated_weibull', {'shape': 1.0, 'power': 2.0, 'mean': 1.0})]:\n"
        "    from_spec(kind, params).sample(numpy.random.default_rng(0), 3)\n"
        "assert not any(name.split('.')[0] == 'scipy' for name in sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
