"""Gamma lifetimes: the sum of exponential stages, and what lies between."""

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
)
from ddsim.world.distributions.registry import register

# the largest cumulative hazard whose survival exp(-h) still is a normal float
_DEEPEST = 690.0


@register("gamma")
@dataclass(frozen=True)
class Gamma(Distribution):
    """Density proportional to x^(shape - 1) exp(-x / scale)."""

    shape: float
    scale: float

    parameters: ClassVar[tuple[Parameter, ...]] = FAMILIES["gamma"].parameters
    forms: ClassVar[tuple[tuple[str, ...], ...]] = FAMILIES["gamma"].forms

    def __post_init__(self) -> None:
        check_number("gamma", "shape", self.shape)
        check_number("gamma", "scale", self.scale)

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, Any]) -> Self:
        """From `shape` and `scale`, or from `shape` and `mean`."""
        shape = check_number("gamma", "shape", parameters["shape"])
        if "mean" not in parameters:
            return cls(shape, parameters["scale"])
        return cls(shape, check_number("gamma", "mean", parameters["mean"]) / shape)

    def sample(self, rng: np.random.Generator, n: int) -> Array:
        """Draws n independent values; shape (n,)."""
        return rng.gamma(self.shape, self.scale, n)

    def mean(self) -> float:
        """shape times scale."""
        return self.shape * self.scale

    def variance(self) -> float:
        """shape times scale squared."""
        return self.shape * self.scale**2

    def cdf(self, x: ArrayLike) -> Array:
        """P(X <= x)."""
        from scipy.special import gammainc

        return np.asarray(gammainc(self.shape, self._z(x)))

    def quantile(self, q: ArrayLike) -> Array:
        """The x with cdf(x) = q."""
        from scipy.special import gammaincinv

        return np.asarray(self.scale * gammaincinv(self.shape, np.asarray(q, dtype=float)))

    def log_pdf(self, x: ArrayLike) -> Array:
        """The logarithm of the density at x."""
        value = np.asarray(x, dtype=float)
        inside = -math.lgamma(self.shape) - math.log(self.scale) - value / self.scale
        if self.shape != 1.0:
            with np.errstate(divide="ignore"):
                inside = inside + (self.shape - 1.0) * np.log(self._z(value))
        return np.where(value < 0.0, -np.inf, inside)

    def cumulative_hazard(self, x: ArrayLike) -> Array:
        """-log of the survival; beyond exp(-690), by the first terms of its asymptotic series."""
        from scipy.special import gammainc, gammaincc

        z = self._z(x)
        lower, upper = gammainc(self.shape, z), gammaincc(self.shape, z)
        with np.errstate(divide="ignore"):
            # each side of the median keeps its digits in its own tail
            exact = np.where(lower < 0.5, -np.log1p(-np.minimum(lower, 0.5)), -np.log(upper))
        deep = exact > _DEEPEST
        return np.where(deep, self._far_hazard(np.where(deep, z, _DEEPEST)), exact)

    def inverse_cumulative_hazard(self, h: ArrayLike) -> Array:
        """The x at which the cumulative hazard reaches h."""
        from scipy.special import gammainccinv, gammaincinv

        level = np.asarray(h, dtype=float)
        near = np.minimum(level, _DEEPEST)
        low = gammaincinv(self.shape, -np.expm1(-near))
        exact = np.where(near < math.log(2.0), low, gammainccinv(self.shape, np.exp(-near)))
        if not (level > _DEEPEST).any():
            return np.asarray(self.scale * exact)
        # h = z - (shape - 1) log z + ...: slope near 1 out there, so z + (h - h(z)) settles at once
        far = np.where((level > _DEEPEST) & np.isfinite(level), level, _DEEPEST)
        z = np.maximum(far, exact)
        for _ in range(60):
            z = np.maximum(z + far - self._far_hazard(z), _DEEPEST / 2.0)
        z = np.where(np.isfinite(level), z, np.inf)
        return np.asarray(self.scale * np.where(level > _DEEPEST, z, exact))

    def describe(self) -> str:
        """One line for a person."""
        return (
            f"gamma: shape {self.shape:.4g}, scale {duration_text(self.scale)}, "
            f"mean {duration_text(self.mean())}"
        )

    def _z(self, x: ArrayLike) -> Array:
        return np.asarray(np.maximum(np.asarray(x, dtype=float), 0.0) / self.scale)

    def _far_hazard(self, z: Array) -> Array:
        lower = self.shape - 1.0
        series = lower / z + lower * (lower - 1.0) / z**2
        return np.asarray(
            z - lower * np.log(z) + math.lgamma(self.shape) - np.log1p(np.maximum(series, -0.5))
        )
