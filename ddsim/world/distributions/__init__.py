"""Distributions of lifetimes and durations, each with its own theory, chosen by name.

`from_spec("weibull", {"shape": 0.7, "mean": 3600.0})` builds one; a user's own is a `Distribution`
under the decorator `register`. Times are in seconds.
"""

from ddsim.scenario.families import Parameter
from ddsim.world.distributions.base import (
    Distribution,
    DistributionError,
    duration_text,
)
from ddsim.world.distributions.empirical import Empirical
from ddsim.world.distributions.exponential import Constant, Exponential
from ddsim.world.distributions.gamma import Gamma
from ddsim.world.distributions.lognormal import Lognormal
from ddsim.world.distributions.mixture import Mixture
from ddsim.world.distributions.registry import family, from_spec, names, register
from ddsim.world.distributions.weibull import ExponentiatedWeibull, Weibull

__all__ = [
    "Constant",
    "Distribution",
    "DistributionError",
    "Empirical",
    "Exponential",
    "ExponentiatedWeibull",
    "Gamma",
    "Lognormal",
    "Mixture",
    "Parameter",
    "Weibull",
    "duration_text",
    "family",
    "from_spec",
    "names",
    "register",
]
