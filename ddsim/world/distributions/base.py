"""What every distribution of a lifetime or a duration can do."""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ddsim.errors import InputError
from ddsim.scenario.families import Parameter

Array = NDArray[np.float64]


class DistributionError(InputError, ValueError):
    """A distribution was named or parametrised wrongly.

    `parameter` is the parameter at fault (None: the distribution as a whole), `found` what stood
    there, `allowed` what may stand there; the message joins the three.
    """

    def __init__(self, kind: str, parameter: str | None, found: str, allowed: str) -> None:
        self.kind = kind
        self.parameter = parameter
        self.found = found
        self.allowed = allowed
        where = kind if parameter is None else f"{kind}.{parameter}"
        super().__init__(f"{where}: {found}; {allowed}")


class Distribution(ABC):
    """A distribution on [0, inf), of seconds unless said otherwise.

    A family is a frozen dataclass that derives from this class. It must give `sample`, `mean`,
    `variance`, `cdf` and `quantile`; with `pdf` and `cumulative_hazard` of its own it gains
    accuracy far out in the tail. Functions of x or q take and return arrays of one shape.
    """

    kind: ClassVar[str] = ""
    """The name in scenarios; `register` sets it."""

    parameters: ClassVar[tuple[Parameter, ...]] = ()
    """Every parameter that a specification may give."""

    forms: ClassVar[tuple[tuple[str, ...], ...]] = ()
    """The complete sets of parameter names that specify a member of the family.

    What ships with ddsim has these two from `ddsim.scenario.families`, which scenarios read too.
    """

    @property
    def continuous(self) -> bool:
        """False where the distribution has atoms, and so no density and no hazard."""
        return True

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, Any]) -> Self:
        """Builds the distribution from one of its `forms`; the constructor's own by default."""
        return cls(**parameters)

    def specification(self) -> tuple[str, dict[str, Any]]:
        """The kind and parameters from which `from_spec` builds an equal distribution."""
        form = self.forms[0] if self.forms else tuple(f.name for f in fields(cast(Any, self)))
        return self.kind, {name: getattr(self, name) for name in form}

    @abstractmethod
    def sample(self, rng: np.random.Generator, n: int) -> Array:
        """Draws n independent values; shape (n,)."""

    @abstractmethod
    def mean(self) -> float:
        """The expectation; inf where there is none."""

    @abstractmethod
    def variance(self) -> float:
        """The variance; inf where there is none."""

    @abstractmethod
    def cdf(self, x: ArrayLike) -> Array:
        """P(X <= x)."""

    @abstractmethod
    def quantile(self, q: ArrayLike) -> Array:
        """The smallest x with cdf(x) >= q, for q in [0, 1]."""

    def pdf(self, x: ArrayLike) -> Array:
        """The density at x; DistributionError for a distribution with atoms."""
        if not self.continuous:
            raise DistributionError(
                self.kind, None, "no density or hazard: it has atoms", "ask for its cdf or quantile"
            )
        return np.asarray(np.exp(self.log_pdf(x)))

    def log_pdf(self, x: ArrayLike) -> Array:
        """The logarithm of the density at x; -inf outside the support."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.pdf(x)))

    def survival(self, x: ArrayLike) -> Array:
        """P(X > x)."""
        return np.asarray(np.exp(-self.cumulative_hazard(x)))

    def cumulative_hazard(self, x: ArrayLike) -> Array:
        """-log P(X > x): 0 at the start of life, inf once nothing can have survived."""
        with np.errstate(divide="ignore"):
            return np.asarray(-np.log1p(-self.cdf(x)))

    def inverse_cumulative_hazard(self, h: ArrayLike) -> Array:
        """The x at which the cumulative hazard reaches h, for h in [0, inf]."""
        return self.quantile(-np.expm1(-np.asarray(h, dtype=float)))

    def hazard(self, x: ArrayLike) -> Array:
        """The failure rate at age x, pdf / survival, in 1/s."""
        with np.errstate(invalid="ignore", over="ignore"):
            return np.asarray(np.exp(self.log_pdf(x) + self.cumulative_hazard(x)))

    def sample_residual(self, rng: np.random.Generator, ages: ArrayLike) -> Array:
        """Draws the remaining life of parts that have reached the given ages; one per age.

        By inverse of the conditional survival: the cumulative hazard that a part has still to live
        through is a standard exponential. An age that nothing reaches leaves no life.
        """
        age = np.asarray(ages, dtype=float)
        lived = self.cumulative_hazard(age)
        end = self.inverse_cumulative_hazard(lived + rng.standard_exponential(age.shape))
        with np.errstate(invalid="ignore"):
            return np.where(np.isfinite(lived), np.maximum(end - age, 0.0), 0.0)

    def sample_between(self, rng: np.random.Generator, low: float, high: float, n: int) -> Array:
        """Draws n values given that each lies in (low, high]; shape (n,).

        The interval must have probability. Of many parts only those that fail at all need a draw.
        """
        lived, end = self.cumulative_hazard(np.array([low, high]))
        share = -np.expm1(lived - end) * (1.0 - rng.random(n))
        with np.errstate(divide="ignore"):
            drawn = self.inverse_cumulative_hazard(lived - np.log1p(-share))
        return np.clip(drawn, low, high)

    def describe(self) -> str:
        """One line for a person: the family, its parameters, the mean."""
        return f"{self.kind or type(self).__name__}: mean {duration_text(self.mean())}"


def duration_text(seconds: float, digits: int = 4) -> str:
    """A time in the unit that suits it: `3 h`, `2.5 min`; inf is `never`."""
    if not math.isfinite(seconds):
        return "never"
    for unit, size in (("yr", 31_557_600.0), ("day", 86_400.0), ("h", 3_600.0), ("min", 60.0)):
        if abs(seconds) >= size:
            return f"{seconds / size:.{digits}g} {unit}"
    return f"{seconds:.{digits}g} s"


def check_number(
    kind: str, parameter: str, value: object, *, zero: bool = False, infinite: bool = False
) -> float:
    """The value as a float, if it is a number above 0 (`zero`: or 0; `infinite`: or inf).

    Raises DistributionError that names the parameter, what was found and what is allowed.
    """
    allowed = f"a {'' if infinite else 'finite '}number {'>= 0' if zero else '> 0'} is needed"
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise DistributionError(kind, parameter, f"found {value!r}", allowed)
    number = float(value)
    too_small = number < 0.0 if zero else number <= 0.0
    if math.isnan(number) or too_small or (math.isinf(number) and not infinite):
        raise DistributionError(kind, parameter, f"found {number:g}", allowed)
    return number


def scale_for_mean(kind: str, mean: float, unit_mean: float) -> float:
    """The scale that gives `mean`, from the mean at scale 1; DistributionError if out of range."""
    if not (0.0 < unit_mean < math.inf) or not (0.0 < mean / unit_mean < math.inf):
        raise DistributionError(
            kind,
            "mean",
            f"found {mean:g}, which the other parameters put out of reach",
            "less extreme ones are needed",
        )
    return mean / unit_mean
