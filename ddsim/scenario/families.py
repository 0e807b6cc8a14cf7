"""The distributions that a scenario can spell: what each takes, stated here and nowhere else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

Dimension = Literal["time", "rate", "number", "numbers", "times", "distributions"]


@dataclass(frozen=True)
class Parameter:
    """One parameter of a distribution: what kind of value it is, and what it means."""

    name: str
    dimension: Dimension
    meaning: str


@dataclass(frozen=True)
class Family:
    """What a distribution takes: its parameters, and the complete sets of them (``forms``)."""

    parameters: tuple[Parameter, ...]
    forms: tuple[tuple[str, ...], ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Every parameter, in the order of the forms."""
        return tuple(dict.fromkeys(name for form in self.forms for name in form))

    @property
    def times(self) -> frozenset[str]:
        """The parameters that are times, or lists of times."""
        return self._of("time", "times")

    @property
    def lists(self) -> frozenset[str]:
        """The parameters that are lists of numbers or times."""
        return self._of("numbers", "times")

    @property
    def nested(self) -> frozenset[str]:
        """The parameters that are lists of distributions."""
        return self._of("distributions")

    def _of(self, *dimensions: Dimension) -> frozenset[str]:
        return frozenset(item.name for item in self.parameters if item.dimension in dimensions)


def spelled(parameters: Iterable[Parameter], forms: Iterable[tuple[str, ...]]) -> Family:
    """What a scenario can say of a distribution: a rate has no unit there, so no form with one."""
    rates = {item.name for item in parameters if item.dimension == "rate"}
    kept = tuple(item for item in parameters if item.name not in rates)
    return Family(kept, tuple(form for form in forms if not rates & set(form)))


_HAZARD = Parameter("shape", "number", "below 1 the hazard falls with age, above 1 it rises")
_MEAN = Parameter("mean", "time", "expected value, in place of scale")

FAMILIES: Mapping[str, Family] = {
    "constant": Family(
        (Parameter("value", "time", "the one value; `never` is allowed"),),
        (("value",),),
    ),
    "exponential": Family(
        (Parameter("mean", "time", "expected value"),),
        (("mean",),),
    ),
    "gamma": Family(
        (
            _HAZARD,
            Parameter("scale", "time", "mean / shape; the hazard tends to its inverse"),
            _MEAN,
        ),
        (("shape", "scale"), ("shape", "mean")),
    ),
    "lognormal": Family(
        (
            Parameter("median", "time", "half of the values lie below it"),
            Parameter("mean", "time", "expected value, in place of median"),
            Parameter("sigma", "number", "standard deviation of the logarithm"),
        ),
        (("median", "sigma"), ("mean", "sigma")),
    ),
    "weibull": Family(
        (_HAZARD, Parameter("scale", "time", "the age that a share 1/e survives"), _MEAN),
        (("shape", "scale"), ("shape", "mean")),
    ),
    "exponentiated_weibull": Family(
        (
            Parameter("shape", "number", "shape of the Weibull that is raised to a power"),
            Parameter("power", "number", "exponent of its cdf; 1 is a Weibull"),
            Parameter("scale", "time", "scale of that Weibull"),
            _MEAN,
        ),
        (("shape", "power", "scale"), ("shape", "power", "mean")),
    ),
    "empirical": Family(
        (Parameter("values", "times", "a list of observed values"),),
        (("values",),),
    ),
    "mixture": Family(
        (
            Parameter("weights", "numbers", "probability of each component; they add up to 1"),
            Parameter("components", "distributions", "as many distributions"),
        ),
        (("weights", "components"),),
    ),
}
"""The distributions that ship with ddsim, in the order in which messages list them."""
