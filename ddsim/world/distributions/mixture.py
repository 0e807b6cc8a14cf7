"""Several distributions, one of which is chosen for each draw: early deaths beside long lives."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from ddsim.scenario.families import FAMILIES, Parameter
from ddsim.world.distributions.base import (
    Array,
    Distribution,
    DistributionError,
    check_number,
)
from ddsim.world.distributions.registry import from_spec, register


@register("mixture")
@dataclass(frozen=True)
class Mixture(Distribution):
    """Component i with probability weights[i]; weights within 1e-3 of a sum of 1 are scaled to it.

    A component `constant: never` is a share that never fails.
    """

    weights: tuple[float, ...]
    components: tuple[Distribution, ...]

    parameters: ClassVar[tuple[Parameter, ...]] = FAMILIES["mixture"].parameters
    forms: ClassVar[tuple[tuple[str, ...], ...]] = FAMILIES["mixture"].forms

    def __post_init__(self) -> None:
        if len(self.weights) != len(self.components) or not self.weights:
            raise DistributionError(
                "mixture",
                "weights",
                f"found {len(self.weights)} weights and {len(self.components)} components",
                "as many of one as of the other are needed, at least one",
            )
        for index, weight in enumerate(self.weights):
            check_number("mixture", f"weights[{index}]", weight, zero=True)
        total = math.fsum(self.weights)
        if abs(total - 1.0) > 1e-3:
            raise DistributionError(
                "mixture", "weights", f"their sum is {total:g}", "they must add up to 1"
            )
        object.__setattr__(self, "weights", tuple(w / total for w in self.weights))

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, Any]) -> Self:
        """From `weights` and `components`, each a Distribution or {kind: {parameter: value}}."""
        for name in ("weights", "components"):
            if isinstance(parameters[name], str) or not isinstance(parameters[name], Sequence):
                raise DistributionError(
                    "mixture", name, f"found {parameters[name]!r}", "a list is needed"
                )
        components = tuple(
            _component(index, given) for index, given in enumerate(parameters["components"])
        )
        return cls(tuple(parameters["weights"]), components)

    def specification(self) -> tuple[str, dict[str, Any]]:
        """The kind, the weights, and each component as {kind: parameters}."""
        components = [dict([part.specification()]) for part in self.components]
        return self.kind, {"weights": list(self.weights), "components": components}

    @property
    def continuous(self) -> bool:
        """True if every component is."""
        return all(component.continuous for component in self.components)

    def sample(self, rng: np.random.Generator, n: int) -> Array:
        """Draws n independent values; shape (n,)."""
        chosen = rng.choice(len(self.weights), size=n, p=self.weights)
        return self._gather(chosen, lambda part, where: part.sample(rng, int(where.sum())))

    def mean(self) -> float:
        """The weighted mean of the components' means."""
        return math.fsum(weight * part.mean() for weight, part in self._possible())

    def variance(self) -> float:
        """Weighted variances plus the spread of the means."""
        mean = self.mean()
        if math.isinf(mean):
            return math.inf
        return math.fsum(
            weight * (part.variance() + (part.mean() - mean) ** 2)
            for weight, part in self._possible()
        )

    def cdf(self, x: ArrayLike) -> Array:
        """The weighted mean of the components' cdfs."""
        parts = [w * c.cdf(x) for w, c in zip(self.weights, self.components, strict=True)]
        return np.asarray(np.minimum(np.sum(parts, axis=0), 1.0))

    def log_pdf(self, x: ArrayLike) -> Array:
        """The logarithm of the density at x; DistributionError if a component has atoms."""
        return self._log_mix([component.log_pdf(x) for component in self.components])

    def pdf(self, x: ArrayLike) -> Array:
        """The density at x; DistributionError if a component has atoms."""
        return np.asarray(np.exp(self.log_pdf(x)))

    def cumulative_hazard(self, x: ArrayLike) -> Array:
        """-log of the weighted mean of the components' survivals."""
        parts = [-component.cumulative_hazard(x) for component in self.components]
        return np.maximum(-self._log_mix(parts), 0.0)

    def quantile(self, q: ArrayLike) -> Array:
        """The x with cdf(x) = q, by bisection between the components' quantiles."""
        level = np.asarray(q, dtype=float)
        ends = np.stack([component.quantile(level) for component in self.components])
        return _bisect(self.cdf, level, ends.min(axis=0), ends.max(axis=0))

    def inverse_cumulative_hazard(self, h: ArrayLike) -> Array:
        """The x at which the cumulative hazard reaches h, by bisection between the components'."""
        level = np.asarray(h, dtype=float)
        ends = np.stack([part.inverse_cumulative_hazard(level) for part in self.components])
        return _bisect(self.cumulative_hazard, level, ends.min(axis=0), ends.max(axis=0))

    def sample_residual(self, rng: np.random.Generator, ages: ArrayLike) -> Array:
        """The remaining life, after drawing which component the part of that age belongs to."""
        age = np.asarray(ages, dtype=float)
        log_alive = np.stack([-component.cumulative_hazard(age) for component in self.components])
        best = log_alive.max(axis=0)
        scaled = np.exp(log_alive - np.where(np.isneginf(best), 0.0, best))
        chosen = _choose(rng, scaled * self._column(age.ndim))
        return self._gather(chosen, lambda part, where: part.sample_residual(rng, age[where]))

    def sample_between(self, rng: np.random.Generator, low: float, high: float, n: int) -> Array:
        """Draws n values given that each lies in (low, high]; shape (n,)."""
        hazards = np.stack([part.cumulative_hazard([low, high]) for part in self.components])
        lived, end = np.where(np.isfinite(hazards[:, :1]), hazards, 0.0).T
        # only ratios count: the least hazard lived through is taken out of all
        shares = np.exp(hazards[:, 0].min() - hazards[:, 0]) * -np.expm1(lived - end)
        shares *= self.weights
        chosen = rng.choice(len(shares), size=n, p=shares / shares.sum())
        return self._gather(
            chosen, lambda part, where: part.sample_between(rng, low, high, int(where.sum()))
        )

    def describe(self) -> str:
        """One line for a person."""
        return "mixture: " + " + ".join(
            f"{weight:.3g} ({component.describe()})"
            for weight, component in zip(self.weights, self.components, strict=True)
        )

    def _possible(self) -> list[tuple[float, Distribution]]:
        # a component of weight 0 must not bring in 0 times infinity
        pairs = zip(self.weights, self.components, strict=True)
        return [(weight, component) for weight, component in pairs if weight > 0.0]

    def _column(self, dimensions: int) -> Array:
        return np.asarray(self.weights).reshape((-1,) + (1,) * dimensions)

    def _log_mix(self, logs: list[Array]) -> Array:
        with np.errstate(divide="ignore"):
            stacked = np.stack(logs) + np.log(self._column(logs[0].ndim))
        return np.asarray(np.logaddexp.reduce(stacked, axis=0))

    def _gather(
        self, chosen: np.ndarray, draw: Callable[[Distribution, np.ndarray], Array]
    ) -> Array:
        values = np.empty(chosen.shape)
        for index, component in enumerate(self.components):
            where = chosen == index
            if where.any():
                values[where] = draw(component, where)
        return values


def _component(index: int, given: object) -> Distribution:
    place = f"components[{index}]"
    match given:
        case Distribution():
            return given
        case Mapping() if len(given) == 1:
            ((kind, params),) = given.items()
            if isinstance(params, Mapping):
                try:
                    return from_spec(str(kind), params)
                except DistributionError as error:
                    inner = ".".join(filter(None, (place, error.kind, error.parameter)))
                    raise DistributionError("mixture", inner, error.found, error.allowed) from error
    raise DistributionError(
        "mixture", place, f"found {given!r}", "{kind: {parameter: value}} is needed"
    )


def _choose(rng: np.random.Generator, likelihood: Array) -> np.ndarray:
    edges = np.cumsum(likelihood, axis=0)
    mark = rng.random(edges.shape[1:]) * edges[-1]
    return np.asarray(np.minimum((edges <= mark).sum(axis=0), len(edges) - 1))


def _bisect(rising: Callable[[ArrayLike], Array], level: Array, low: Array, high: Array) -> Array:
    """The smallest x in [low, high] with rising(x) >= level, to the last digits."""
    # a component that never ends leaves an open end: the largest float stands for it
    endless, largest = np.isinf(low), np.finfo(float).max
    low, high = np.minimum(low, largest), np.minimum(high, largest)
    for _ in range(1100):
        wide = (low > 0.0) & (high / 4.0 > low)
        middle = np.where(wide, np.sqrt(low) * np.sqrt(high), low + 0.5 * (high - low))
        if np.all((middle <= low) | (middle >= high) | (high - low <= 4e-16 * high)):
            break
        reached = rising(middle) >= level
        high = np.where(reached, middle, high)
        low = np.where(reached, low, middle)
    found = np.where(rising(low) >= level, low, high)
    return np.where(endless | (rising(high) < level), np.inf, found)
