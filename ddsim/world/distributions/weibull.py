"""Weibull lifetimes, plain and exponentiated."""

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


@register("weibull")
@dataclass(frozen=True)
class Weibull(Distribution):
    """Survival exp(-(x / scale)^shape): shape < 1 early deaths, 1 exponential, > 1 wear."""

    shape: float
    scale: float

    parameters: ClassVar[tuple[Parameter, ...]] = FAMILIES["weibull"].parameters
    forms: ClassVar[tuple[tuple[str, ...], ...]] = FAMILIES["weibull"].forms

    def __post_init__(self) -> None:
        check_number("weibull", "shape", self.shape)
        check_number("weibull", "scale", self.scale)

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, Any]) -> Self:
        """From `shape` and `scale`, or from `shape` and `mean`."""
        shape = check_number("weibull", "shape", parameters["shape"])
        if "mean" not in parameters:
            return cls(shape, parameters["scale"])
        mean = check_number("weibull", "mean", parameters["mean"])
        return cls(shape, scale_for_mean("weibull", mean, _moment(shape, 1)))

    def sample(self, rng: np.random.Generator, n: int) -> Array:
        """Draws n independent values; shape (n,)."""
        return self.scale * rng.weibull(self.shape, n)

    def mean(self) -> float:
        """scale Gamma(1 + 1/shape)."""
        return self.scale * _moment(self.shape, 1)

    def variance(self) -> float:
        """scale^2 (Gamma(1 + 2/shape) - Gamma(1 + 1/shape)^2)."""
        second = _moment(self.shape, 2)
        if math.isinf(second):
            return math.inf
        return self.scale**2 * (second - _moment(self.shape, 1) ** 2)

    def cdf(self, x: ArrayLike) -> Array:
        """P(X <= x)."""
        return np.asarray(-np.expm1(-self.cumulative_hazard(x)))

    def quantile(self, q: ArrayLike) -> Array:
        """The x with cdf(x) = q."""
        with np.errstate(divide="ignore"):
            return self.inverse_cumulative_hazard(-np.log1p(-np.asarray(q, dtype=float)))

    def log_pdf(self, x: ArrayLike) -> Array:
        """The logarithm of the density at x."""
        value = np.asarray(x, dtype=float)
        with np.errstate(divide="ignore", invalid="ignore"):
            z = np.log(value / self.scale)
            inside = math.log(self.shape / self.scale) - np.exp(self.shape * z)
            if self.shape != 1.0:
                inside = inside + (self.shape - 1.0) * z
        return np.where(value < 0.0, -np.inf, inside)

    def cumulative_hazard(self, x: ArrayLike) -> Array:
        """(x / scale)^shape."""
        return np.asarray((np.maximum(np.asarray(x, dtype=float), 0.0) / self.scale) ** self.shape)

    def inverse_cumulative_hazard(self, h: ArrayLike) -> Array:
        """scale h^(1/shape)."""
        return np.asarray(self.scale * np.asarray(h, dtype=float) ** (1.0 / self.shape))

    def first_of(self, n: int) -> "Weibull":
        """The law of the first failure among n fresh parts: scale n^(-1/shape), same shape."""
        return Weibull(self.shape, self.scale * n ** (-1.0 / self.shape))

    def describe(self) -> str:
        """One line for a person."""
        return (
            f"weibull: shape {self.shape:.4g}, scale {duration_text(self.scale)}, "
            f"mean {duration_text(self.mean())}"
        )


@register("exponentiated_weibull")
@dataclass(frozen=True)
class ExponentiatedWeibull(Distribution):
    """cdf (1 - exp(-(x / scale)^shape))^power, as of recovery delays (arXiv 2604.21428).

    With z = (x / scale)^shape the moments are scale^r times the integral over z of
    z^(r/shape) power (1 - e^-z)^(power - 1) e^-z, done numerically.
    """

    shape: float
    power: float
    scale: float

    parameters: ClassVar[tuple[Parameter, ...]] = FAMILIES["exponentiated_weibull"].parameters
    forms: ClassVar[tuple[tuple[str, ...], ...]] = FAMILIES["exponentiated_weibull"].forms

    def __post_init__(self) -> None:
        check_number("exponentiated_weibull", "shape", self.shape)
        check_number("exponentiated_weibull", "power", self.power)
        check_number("exponentiated_weibull", "scale", self.scale)

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, Any]) -> Self:
        """From `shape`, `power` and either `scale` or `mean`."""
        kind = "exponentiated_weibull"
        shape = check_number(kind, "shape", parameters["shape"])
        power = check_number(kind, "power", parameters["power"])
        if "mean" not in parameters:
            return cls(shape, power, parameters["scale"])
        mean = check_number(kind, "mean", parameters["mean"])
        return cls(shape, power, scale_for_mean(kind, mean, _powered_moment(shape, power, 1)))

    def sample(self, rng: np.random.Generator, n: int) -> Array:
        """Draws n independent values by the inverse of the cdf; shape (n,)."""
        return self._from_log_cdf(-rng.standard_exponential(n))

    def mean(self) -> float:
        """The expectation, by numerical integration."""
        return self.scale * _powered_moment(self.shape, self.power, 1)

    def variance(self) -> float:
        """The variance, by numerical integration."""
        first = _powered_moment(self.shape, self.power, 1)
        second = _powered_moment(self.shape, self.power, 2)
        return math.inf if math.isinf(second) else self.scale**2 * (second - first**2)

    def cdf(self, x: ArrayLike) -> Array:
        """P(X <= x)."""
        return np.asarray(np.exp(self.power * _log_less(self._z(x))))

    def quantile(self, q: ArrayLike) -> Array:
        """The x with cdf(x) = q."""
        with np.errstate(divide="ignore"):
            return self._from_log_cdf(np.log(np.asarray(q, dtype=float)))

    def log_pdf(self, x: ArrayLike) -> Array:
        """The logarithm of the density at x."""
        value = np.asarray(x, dtype=float)
        with np.errstate(divide="ignore", invalid="ignore"):
            log_ratio = np.log(np.maximum(value, 0.0) / self.scale)
            z = np.exp(self.shape * log_ratio)
            # near 0 the density goes like x^(shape power - 1): the two logarithms join there
            bend = np.where(z > 0.0, np.log(-np.expm1(-z) / z), 0.0)
            inside = math.log(self.power * self.shape / self.scale) - z
            inside = inside + (self.power - 1.0) * bend
            if self.shape * self.power != 1.0:
                inside = inside + (self.shape * self.power - 1.0) * log_ratio
        return np.where(value < 0.0, -np.inf, inside)

    def cumulative_hazard(self, x: ArrayLike) -> Array:
        """-log(1 - cdf), exact in the tail where the cdf rounds to 1."""
        z = self._z(x)
        exact = -_log_less(-self.power * _log_less(z))
        return np.where(z > 36.0, z - math.log(self.power), exact)

    def inverse_cumulative_hazard(self, h: ArrayLike) -> Array:
        """The x at which the cumulative hazard reaches h."""
        level = np.asarray(h, dtype=float)
        exact = self._from_log_cdf(_log_less(level))
        far = np.maximum(level + math.log(self.power), 0.0)
        tail = self.scale * far ** (1.0 / self.shape)
        return np.where(level > 36.0, tail, exact)

    def describe(self) -> str:
        """One line for a person."""
        return (
            f"exponentiated_weibull: shape {self.shape:.4g}, power {self.power:.4g}, "
            f"scale {duration_text(self.scale)}, mean {duration_text(self.mean())}"
        )

    def _z(self, x: ArrayLike) -> Array:
        return np.asarray((np.maximum(np.asarray(x, dtype=float), 0.0) / self.scale) ** self.shape)

    def _from_log_cdf(self, log_q: Array) -> Array:
        z = -_log_less(-log_q / self.power)
        return np.asarray(self.scale * z ** (1.0 / self.shape))


def _log_less(a: Array) -> Array:
    # log(1 - exp(-a)) for a >= 0, with all its digits at both ends
    with np.errstate(divide="ignore"):
        near, far = np.log(-np.expm1(-a)), np.log1p(-np.exp(-np.maximum(a, 0.5)))
    return np.where(a < 0.7, near, far)


def _moment(shape: float, order: int) -> float:
    try:
        return math.gamma(1.0 + order / shape)
    except OverflowError:
        return math.inf


def _powered_moment(shape: float, power: float, order: int) -> float:
    exponent = order / shape
    # over log z the integrand is analytic and dies away on both sides, so that the trapezium rule
    # is exact to rounding once its step is well below the width of the peak
    low = -60.0 / (exponent + power) - 5.0
    high = math.log(2.0 * (exponent + math.log1p(power)) + 60.0)
    step = 0.4 / math.sqrt(20.0 + exponent)
    log_z = np.linspace(low, high, min(1_000_000, math.ceil((high - low) / step) + 1))
    z = np.exp(log_z)
    log_less = np.where(log_z < -30.0, log_z, _log_less(z))
    logs = (exponent + 1.0) * log_z + (power - 1.0) * log_less - z
    top = float(logs.max())
    total = power * float(np.exp(logs - top).sum()) * float(log_z[1] - log_z[0])
    log_moment = top + math.log(total)
    return math.exp(log_moment) if log_moment < 709.0 else math.inf
