"""Lognormal lifetimes and repair times."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from ddsim.scenario.families import FAMILIES, Parameter
from ddsim.world.distributions.base import (
    Array,
    Distribution,
    check_number,
    duration_text,
    scale_for_mean,
)
from ddsim.world.distributions.registry import register


@register("lognormal")
@dataclass(frozen=True)
class Lognormal(Distribution):
    """exp of a normal variable with mean log(median) and standard deviation sigma."""

    median: float
    sigma: float

    parameters: ClassVar[tuple[Parameter, ...]] = FAMILIES["lognormal"].parameters
    forms: ClassVar[tuple[tuple[str, ...], ...]] = FAMILIES["lognormal"].forms

    def __post_init__(self) -> None:
        check_number("lognormal", "median", self.median)
        check_number("lognormal", "sigma", self.sigma)

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, Any]) -> Self:
        """From `sigma` and either `median` or `mean`."""
        sigma = check_number("lognormal", "sigma", parameters["sigma"])
        if "mean" not in parameters:
            return cls(parameters["median"], sigma)
        mean = check_number("lognormal", "mean", parameters["mean"])
        return cls(scale_for_mean("lognormal", mean, _exp(0.5 * sigma**2)), sigma)

    def sample(self, rng: np.random.Generator, n: int) -> Array:
        """Draws n independent values; shape (n,)."""
        return self.median * np.exp(self.sigma * rng.standard_normal(n))

    def mean(self) -> float:
        """median exp(sigma^2 / 2)."""
        return self.median * _exp(0.5 * self.sigma**2)

    def variance(self) -> float:
        """median^2 exp(sigma^2) (exp(sigma^2) - 1)."""
        growth = _exp(self.sigma**2)
        return self.median**2 * growth * (growth - 1.0)

    def cdf(self, x: ArrayLike) -> Array:
        """P(X <= x)."""
        from scipy.special import ndtr

        return np.asarray(ndtr(self._z(x)))

    def quantile(self, q: ArrayLike) -> Array:
        """The x with cdf(x) = q."""
        from scipy.special import ndtri

        return np.asarray(self.median * np.exp(self.sigma * ndtri(np.asarray(q, dtype=float))))

    def log_pdf(self, x: ArrayLike) -> Array:
        """The logarithm of the density at x."""
        value = np.asarray(x, dtype=float)
        inside = value > 0.0
        log_x = np.log(np.where(inside, value, 1.0))
        z = (log_x - math.log(self.median)) / self.sigma
        log_density = -0.5 * z**2 - log_x - math.log(self.sigma * math.sqrt(2.0 * math.pi))
        return np.where(inside, log_density, -np.inf)

    def cumulative_hazard(self, x: ArrayLike) -> Array:
        """-log of the survival, exact far out."""
        from scipy.special import log_ndtr

        return np.asarray(-log_ndtr(-self._z(x)))

    def inverse_cumulative_hazard(self, h: ArrayLike) -> Array:
        """The x at which the cumulative hazard reaches h."""
        from scipy.special import ndtri_exp

        z = -np.asarray(ndtri_exp(-np.asarray(h, dtype=float)))
        return np.asarray(self.median * np.exp(self.sigma * z))

    def describe(self) -> str:
        """One line for a person."""
        return (
            f"lognormal: median {duration_text(self.median)}, sigma {self.sigma:.4g}, "
            f"mean {duration_text(self.mean())}"
        )

    def _z(self, x: ArrayLike) -> Array:
        value = np.maximum(np.asarray(x, dtype=float), 0.0)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(value / self.median) / self.sigma)


def _exp(power: float) -> float:
    try:
        return math.exp(power)
    except OverflowError:
        return math.inf
