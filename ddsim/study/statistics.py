"""Estimates and paired differences: intervals of the mean, and the bootstrap, from scipy."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from ddsim.results.interval import LEVEL, ROUNDING, mean_interval
from ddsim.study.measures import Measured, apart_by, difference, parts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ddsim.study.work import Row
    from ddsim.world.chance import Chance

_Rows = np.ndarray[tuple[int, int], np.dtype[np.float64]]

RESAMPLES = 999
FEWEST = 10
"""Values of which resamples are drawn: of fewer, their intervals cover 51 to 90% at 95%."""
NONE = (math.nan, math.nan)
_TOGETHER = 64
"""Samples that are resampled together: as many as fit into some tens of megabytes."""


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
    (found,) = bootstraps([items], lambda _: rng)
    return found


def bootstraps(
    samples: Sequence[Sequence[float]], rng_of: Callable[[int], np.random.Generator]
) -> list[tuple[float, float]]:
    """The interval of each sample, as `bootstrap_of` has it.

    Samples of one length share their resamples, which `rng_of` that length draws, so that an
    interval does not depend on what else is asked for.
    """
    found = [NONE] * len(samples)
    by_length: dict[int, list[int]] = {}
    for place, items in enumerate(samples):
        if len(items) >= FEWEST:
            by_length.setdefault(len(items), []).append(place)
    for n, places in by_length.items():
        seed = int(rng_of(n).integers(2**63))
        for start in range(0, len(places), _TOGETHER):
            chosen = places[start : start + _TOGETHER]
            array = np.array([samples[place] for place in chosen], dtype=float)
            for place, ends in zip(chosen, _intervals(array, seed), strict=True):
                found[place] = ends
    return found


def _intervals(samples: _Rows, seed: int) -> list[tuple[float, float]]:
    """The interval of each row."""
    span = np.ptp(samples, axis=1)
    alike = span <= ROUNDING * np.abs(samples).max(axis=1)
    low, high = samples.min(axis=1), samples.max(axis=1)
    missing = ~alike
    methods: tuple[Literal["BCa", "percentile"], ...] = ("BCa", "percentile")
    for method in methods:
        rows = np.flatnonzero(missing)
        if not len(rows):
            break
        low[rows], high[rows] = _resampled(samples[rows], method, seed)
        missing = missing & ~(np.isfinite(low) & np.isfinite(high))
    low[missing] = high[missing] = math.nan
    return list(zip(low.tolist(), high.tolist(), strict=True))


def _resampled(
    samples: _Rows, method: Literal["BCa", "percentile"], seed: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    from scipy.stats import DegenerateDataWarning, bootstrap

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateDataWarning)
        warnings.simplefilter("ignore", RuntimeWarning)  # 0 / 0 on the way to the same
        interval = bootstrap(
            (samples,),
            np.mean,
            axis=1,
            n_resamples=RESAMPLES,
            confidence_level=LEVEL,
            method=method,
            rng=np.random.default_rng(seed),
        ).confidence_interval
    return np.asarray(interval.low), np.asarray(interval.high)


@dataclass(frozen=True)
class Difference:
    """A paired difference, and what pairing it gained.

    `items` are what a bootstrap of it resamples, none where it has no interval. `variance` is that
    of a difference between pairs; `variance_apart` what it would be with histories drawn for each
    of the two alone.
    """

    found: Measured
    items: Sequence[float]
    variance: float
    variance_apart: float

    @property
    def cut(self) -> float:
        """How many times smaller pairing made the variance; NaN where nothing varied."""
        if self.variance == 0.0:
            return math.inf if self.variance_apart > 0.0 else math.nan
        return self.variance_apart / self.variance


def paired(pairs: Sequence[tuple[Row, Row]], metric: str, chance: Chance) -> Difference | None:
    """The difference one - other over histories that both have; None where there is none."""
    found = difference(pairs, metric, chance)
    if found is None:
        return None
    items = apart_by(pairs, metric)
    one, other = (parts([pair[side] for pair in pairs], metric) for side in (0, 1))
    return Difference(
        found, items if found.enough else (), _variance(items), _variance(one) + _variance(other)
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
