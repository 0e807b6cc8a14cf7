"""Intervals of means and of paired differences: Student's t and the bootstrap, from scipy."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ddsim.results.interval import student_interval

if TYPE_CHECKING:
    from numpy.typing import NDArray

LEVEL = 0.95
RESAMPLES = 999
_NONE = (math.nan, math.nan)
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Estimate:
    """The mean of `n` values with its 95% intervals, Student's t and bootstrap.

    The intervals are NaN for one value.
    """

    n: int
    mean: float
    low: float
    high: float
    boot_low: float
    boot_high: float

    @property
    def half_width(self) -> float:
        """Half the width of Student's interval."""
        return (self.high - self.low) / 2


def estimate(values: Sequence[float], rng: np.random.Generator) -> Estimate:
    """The mean of `values`; `rng` resamples them for the bootstrap."""
    array = np.asarray(values, dtype=float)
    low, high = student_interval([float(value) for value in array], LEVEL) or _NONE
    return Estimate(len(array), float(array.mean()), low, high, *_bootstrap(array, rng))


def _bootstrap(values: NDArray[np.float64], rng: np.random.Generator) -> tuple[float, float]:
    """The bias-corrected and accelerated interval; the percentile one where that has no value."""
    if len(values) < 2:
        return _NONE
    if np.ptp(values) <= _ROUNDING * float(np.abs(values).max()):
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
    return _NONE


@dataclass(frozen=True)
class Difference:
    """The mean of paired differences, and what pairing them gained.

    `variance` is that of a difference between pairs; `variance_apart` what it would be with
    histories drawn for each of the two alone.
    """

    estimate: Estimate
    variance: float
    variance_apart: float

    @property
    def cut(self) -> float:
        """How many times smaller pairing made the variance; NaN where nothing varied."""
        if self.variance == 0.0:
            return math.inf if self.variance_apart > 0.0 else math.nan
        return self.variance_apart / self.variance


def paired(one: Sequence[float], other: Sequence[float], rng: np.random.Generator) -> Difference:
    """The differences one - other, replication by replication."""
    a, b = np.asarray(one, dtype=float), np.asarray(other, dtype=float)
    many = len(a) > 1
    return Difference(
        estimate((a - b).tolist(), rng),
        float(np.var(a - b, ddof=1)) if many else math.nan,
        float(np.var(a, ddof=1) + np.var(b, ddof=1)) if many else math.nan,
    )


def apart(one: Sequence[float], other: Sequence[float]) -> tuple[float, float, float]:
    """The difference of two means on histories of their own, with Welch's 95% interval."""
    from scipy.stats import ttest_ind

    difference = float(np.mean(one) - np.mean(other))
    if len(one) < 2 or len(other) < 2:
        return difference, *_NONE
    if np.ptp(one) == 0.0 and np.ptp(other) == 0.0:
        return difference, difference, difference
    interval = ttest_ind(one, other, equal_var=False).confidence_interval(LEVEL)
    return difference, float(interval.low), float(interval.high)
