"""A distribution that is nothing but the values seen."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from ddsim.scenario.families import FAMILIES, Parameter
from ddsim.world.distributions.base import (
    Array,
    Distribution,
    DistributionError,
    check_number,
    duration_text,
)
from ddsim.world.distributions.registry import register


@register("empirical")
@dataclass(frozen=True)
class Empirical(Distribution):
    """Each of the given values, equally likely (a value given twice twice as likely)."""

    values: tuple[float, ...]

    parameters: ClassVar[tuple[Parameter, ...]] = FAMILIES["empirical"].parameters
    forms: ClassVar[tuple[tuple[str, ...], ...]] = FAMILIES["empirical"].forms

    def __post_init__(self) -> None:
        if not self.values:
            raise DistributionError("empirical", "values", "found none", "at least one is needed")
        for index, value in enumerate(self.values):
            check_number("empirical", f"values[{index}]", value, zero=True)

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, Any]) -> Self:
        """From `values`, any sequence of numbers."""
        values = parameters["values"]
        if isinstance(values, str) or not isinstance(values, Iterable):
            raise DistributionError(
                "empirical", "values", f"found {values!r}", "a list of numbers is needed"
            )
        return cls(tuple(values))

    @property
    def continuous(self) -> bool:
        """False: all mass is at the values."""
        return False

    @cached_property
    def _sorted(self) -> Array:
        return np.sort(np.asarray(self.values, dtype=float))

    def sample(self, rng: np.random.Generator, n: int) -> Array:
        """Draws n of the values with replacement; shape (n,)."""
        return np.asarray(self._sorted[rng.integers(0, len(self.values), n)])

    def mean(self) -> float:
        """The mean of the values."""
        return math.fsum(self.values) / len(self.values)

    def variance(self) -> float:
        """The mean square distance of the values from their mean."""
        return float(np.var(self._sorted))

    def cdf(self, x: ArrayLike) -> Array:
        """The share of the values that are at most x."""
        below = np.searchsorted(self._sorted, np.asarray(x, dtype=float), side="right")
        return np.asarray(below / len(self.values))

    def quantile(self, q: ArrayLike) -> Array:
        """The smallest value with a share of at least q at or below it."""
        n = len(self.values)
        shares = np.arange(1, n + 1) / n
        # 1 - exp(-h) comes back from a hazard a rounding above the share that it stands for
        place = np.searchsorted(shares, np.asarray(q, dtype=float) - 1e-12, side="left")
        return np.asarray(self._sorted[np.clip(place, 0, n - 1)])

    def sample_residual(self, rng: np.random.Generator, ages: ArrayLike) -> Array:
        """What is left of one of the values above the age; 0 where there is none."""
        age = np.asarray(ages, dtype=float)
        first = np.searchsorted(self._sorted, age, side="right")
        above = len(self.values) - first
        chosen = np.minimum(first + (rng.random(age.shape) * above).astype(int), first + above - 1)
        return np.where(above > 0, self._sorted[chosen] - age, 0.0)

    def describe(self) -> str:
        """One line for a person."""
        low, high = duration_text(float(self._sorted[0])), duration_text(float(self._sorted[-1]))
        return (
            f"empirical: {len(self.values)} values from {low} to {high}, "
            f"mean {duration_text(self.mean())}"
        )
