"""Constant hazard, and no randomness at all."""

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


@register("exponential")
@dataclass(frozen=True)
class Exponential(Distribution):
    """Constant hazard 1 / mean: the past tells nothing."""

    mean_life: float

    parameters: ClassVar[tuple[Parameter, ...]] = (
        *FAMILIES["exponential"].parameters,
        Parameter("rate", "rate", "events per second, 1 / mean"),
    )
    forms: ClassVar[tuple[tuple[str, ...], ...]] = (*FAMILIES["exponential"].forms, ("rate",))

    def __post_init__(self) -> None:
        check_number("exponential", "mean", self.mean_life)

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, Any]) -> Self:
        """From `mean`, or from `rate`."""
        if "rate" in parameters:
            return cls(1.0 / check_number("exponential", "rate", parameters["rate"]))
        return cls(check_number("exponential", "mean", parameters["mean"]))

    def specification(self) -> tuple[str, dict[str, Any]]:
        """The kind and its mean."""
        return self.kind, {"mean": self.mean_life}

    def sample(self, rng: np.random.Generator, n: int) -> Array:
        """Draws n independent values; shape (n,)."""
        return rng.exponential(self.mean_life, n)

    def mean(self) -> float:
        """The expectation."""
        return self.mean_life

    def variance(self) -> float:
        """The variance, mean squared."""
        return self.mean_life**2

    def cdf(self, x: ArrayLike) -> Array:
        """P(X <= x)."""
        return np.asarray(-np.expm1(-self.cumulative_hazard(x)))

    def quantile(self, q: ArrayLike) -> Array:
        """The x with cdf(x) = q."""
        with np.errstate(divide="ignore"):
            return np.asarray(-self.mean_life * np.log1p(-np.asarray(q, dtype=float)))

    def log_pdf(self, x: ArrayLike) -> Array:
        """The logarithm of the density at x."""
        value = np.asarray(x, dtype=float)
        inside = -value / self.mean_life - math.log(self.mean_life)
        return np.where(value < 0.0, -np.inf, inside)

    def cumulative_hazard(self, x: ArrayLike) -> Array:
        """x / mean."""
        return np.asarray(np.maximum(np.asarray(x, dtype=float), 0.0) / self.mean_life)

    def inverse_cumulative_hazard(self, h: ArrayLike) -> Array:
        """h times the mean."""
        return np.asarray(h, dtype=float) * self.mean_life

    def sample_residual(self, rng: np.random.Generator, ages: ArrayLike) -> Array:
        """The remaining life, which does not depend on the age."""
        return rng.exponential(self.mean_life, np.shape(ages))

    def describe(self) -> str:
        """One line for a person."""
        return f"exponential: mean {duration_text(self.mean_life)}"


@register("constant")
@dataclass(frozen=True)
class Constant(Distribution):
    """Always the same value; inf means never."""

    value: float

    parameters: ClassVar[tuple[Parameter, ...]] = FAMILIES["constant"].parameters
    forms: ClassVar[tuple[tuple[str, ...], ...]] = FAMILIES["constant"].forms

    def __post_init__(self) -> None:
        check_number("constant", "value", self.value, zero=True, infinite=True)

    @property
    def continuous(self) -> bool:
        """False: all mass is at one value."""
        return False

    def sample(self, rng: np.random.Generator, n: int) -> Array:
        """n times the value; takes nothing from `rng`."""
        return np.full(n, float(self.value))

    def mean(self) -> float:
        """The value."""
        return float(self.value)

    def variance(self) -> float:
        """0."""
        return 0.0

    def cdf(self, x: ArrayLike) -> Array:
        """0 before the value, 1 from it on."""
        return np.where(np.asarray(x, dtype=float) >= self.value, 1.0, 0.0)

    def quantile(self, q: ArrayLike) -> Array:
        """The value, whatever q."""
        return np.full(np.shape(q), float(self.value))

    def sample_residual(self, rng: np.random.Generator, ages: ArrayLike) -> Array:
        """What is left of the value; 0 where it has been reached."""
        return np.maximum(self.value - np.asarray(ages, dtype=float), 0.0)

    def describe(self) -> str:
        """One line for a person."""
        return f"constant: {duration_text(float(self.value))}"
