"""Estimates and paired differences: intervals of the mean, and the bootstrap, from scipy."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ddsim.results.interval import LEVEL, ROUNDING, mean_interval
from ddsim.study.measures import Measured, apart_by, difference, parts

if TYPE_CHECKING:
    from ddsim.study.work import Row
    from ddsim.world.expected import Chance

RESAMPLES = 999
FEWEST = 10
"""Values of which resamples are drawn: of fewer, their intervals cover 51 to 90% at 95%."""
NONE = (math.nan, math.nan)


@dataclass(frozen=True)
class Estimate:
    """The mean of `n` values with its 95% intervals, of the mean and bootstrap.

    The intervals are NaN for one value, the bootstrap for fewer than `FEWEST`.
    """

    n: int
    mean: float
    low: float
    high: float
    boot_low: float
    boot_high: float

    @property
    def half_width(self) -> float:
        """Half the width of the interval of the mean."""
        return (self.high - self.low) / 2


def estimate(values: Sequence[float], rng: np.random.Generator) -> Estimate:
    """The mean of `values`; `rng` resamples them for the bootstrap."""
    array = np.asarray(values, dtype=float)
    low, high = mean_interval(array.tolist()) or NONE
    return Estimate(len(array), float(array.mean()), low, high, *bootstrap_of(values, rng))


def bootstrap_of(items: Sequence[float], rng: np.random.Generator) -> tuple[float, float]:
    """The bias-corrected and accelerated interval; the percentile one where that has no value.

    NaN for fewer than `FEWEST` values, from which resamples tell too little.
    """
    if len(items) < FEWEST:
        return NONE
    values = np.asarray(items, dtype=float)
    if np.ptp(values) <= ROUNDING * float(np.abs(values).max()):
        return float(values.min()), float(values.max())
    from scipy.stats import DegenerateDataWarning, bootstrap

    seed = int(rng.integers(2**63))
    for method in ("BCa", "percentile"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DegenerateDataWarning)
            warnings.simplefilter("ignore", RuntimeWarning)  # 0 / 0 on the way to the same
            interval = bootstrap(
                (values,),
                np.mean,
                n_resamples=RESAMPLES,
                confidence_level=LEVEL,
                method=method,
                rng=np.random.default_rng(seed),
            ).confidence_interval
        low, high = float(interval.low), float(interval.high)
        if math.isfinite(low) and math.isfinite(high):
            return low, high
    return NONE


@dataclass(frozen=True)
class Difference:
    """A paired difference, and what pairing it gained.

    `boot` are the ends of its bootstrap interval. `variance` is that of a difference between
    pairs; `variance_apart` what it would be with histories drawn for each of the two alone.
    """

    found: Measured
    boot: tuple[float, float]
    variance: float
    variance_apart: float

    @property
    def cut(self) -> float:
        """How many times smaller pairing made the variance; NaN where nothing varied."""
        if self.variance == 0.0:
            return math.inf if self.variance_apart > 0.0 else math.nan
        return self.variance_apart / self.variance


def paired(
    pairs: Sequence[tuple[Row, Row]], metric: str, chance: Chance, rng: np.random.Generator
) -> Difference | None:
    """The difference one - other over histories that both have; None where there is none."""
    found = difference(pairs, metric, chance)
    if found is None:
        return None
    boot = bootstrap_of(apart_by(pairs, metric), rng) if found.enough else NONE
    one, other = (parts([pair[side] for pair in pairs], metric) for side in (0, 1))
    return Difference(
        found,
        boot,
        _variance(apart_by(pairs, metric)),
        _variance(one) + _variance(other),
    )


def _variance(items: Sequence[float]) -> float:
    return float(np.var(items, ddof=1)) if len(items) > 1 else math.nan


def apart(one: Sequence[float], other: Sequence[float]) -> tuple[float, float, float]:
    """The difference of two means on histories of their own, with Welch's 95% interval."""
    from scipy.stats import ttest_ind

    between = float(np.mean(one) - np.mean(other))
    if len(one) < 2 or len(other) < 2:
        return between, *NONE
    if np.ptp(one) == 0.0 and np.ptp(other) == 0.0:
        return between, between, between
    interval = ttest_ind(one, other, equal_var=False).confidence_interval(LEVEL)
    return between, float(interval.low), float(interval.high)
