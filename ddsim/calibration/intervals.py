"""Intervals of 95% from few, skewed or correlated values.

Textbook intervals fall short here: Student's t on five exponential times covers 88%, one that takes
correlated steps for independent 65 to 85%.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, inf, isfinite, log, sqrt

import numpy as np
from numpy.typing import NDArray

LEVEL = 0.95
TAILS = ((1.0 - LEVEL) / 2.0, (1.0 + LEVEL) / 2.0)
DRAWS = 2000
"""Resamples of a bootstrap."""
LARGEST_SHAPE = 1e6
FEW = 4
"""Values below which a sample says nothing of the shape of its distribution."""
Reals = NDArray[np.float64]


@dataclass(frozen=True)
class Interval:
    """A value with the 95% interval that `count` observations give it, and by which method."""

    value: float
    low: float
    high: float
    count: int
    how: str

    @property
    def spread(self) -> bool:
        """Whether the observations differed at all."""
        return self.high > self.low

    def scaled(self, by: float) -> Interval:
        """The interval of a multiple of the value."""
        ends = sorted((self.low * by, self.high * by))
        return Interval(self.value * by, ends[0], ends[1], self.count, self.how)

    def inverse(self, numerator: float) -> Interval:
        """The interval of a number over the value; an end at 0 makes the other infinite."""
        ends = [numerator / x if x > 0.0 else inf for x in (self.value, self.high, self.low)]
        return Interval(ends[0], ends[1], ends[2], self.count, self.how)


def poisson(count: int, exposure: float) -> Interval:
    """The rate of events of which `count` were seen in `exposure`, exactly."""
    from ddsim.logs.rates import interval

    least, most = interval(count, exposure)  # of the time between two
    return Interval(count / exposure, 1.0 / most, 1.0 / least, count, "exact Poisson")


def mean_of_times(values: Sequence[float]) -> Interval:
    """The mean of independent positive times, whatever their shape.

    The studentized logarithm of the mean is compared with what samples of a gamma and of a
    lognormal distribution of the same shape give (a parametric bootstrap-t); the wider end of the
    two counts. Of a single value the shape is not known: it is taken for exponential.
    """
    x = np.asarray([value for value in values if value > 0.0], dtype=float)
    n = len(x)
    if n == 0:
        raise ValueError("no positive time")
    mean = float(x.mean())
    if n == 1:
        from scipy.special import chdtri

        low, high = (2.0 * mean / float(chdtri(2, tail)) for tail in TAILS)
        return Interval(mean, low, high, 1, "exponential, from one value")
    relative = float(x.std(ddof=1)) / mean / sqrt(n)
    if relative < 1e-12:
        return Interval(mean, mean, mean, n, "all alike")
    rng = np.random.default_rng(n)
    shape = _gamma_shape(x)
    pivots = [_pivot(rng.gamma(shape, 1.0 / shape, (DRAWS, n)))]
    if n >= FEW:
        sigma = min(2.0, float(np.log(x).std(ddof=1)))
        pivots.append(_pivot(np.exp(rng.normal(-sigma * sigma / 2.0, sigma, (DRAWS, n)))))
    ends = [np.quantile(pivot, TAILS) for pivot in pivots]
    low = mean * exp(-max(float(end[1]) for end in ends) * relative)
    high = mean * exp(-min(float(end[0]) for end in ends) * relative)
    return Interval(mean, low, high, n, "bootstrap-t of gamma and lognormal samples")


def _pivot(samples: Reals) -> Reals:
    """The studentized logarithms of the means of samples whose mean is 1."""
    means = samples.mean(axis=1)
    spread = samples.std(axis=1, ddof=1) / means / sqrt(samples.shape[1])
    return np.asarray(np.log(means) / np.maximum(spread, 1e-300))


def _gamma_shape(x: Reals) -> float:
    """The shape of a gamma distribution, nearly the likeliest, without most of its bias.

    Minka's starting point, and the correction of Ye and Chen (2017).
    """
    gap = log(float(x.mean())) - float(np.log(x).mean())
    if gap <= 1.0 / LARGEST_SHAPE:
        return LARGEST_SHAPE
    k = (3.0 - gap + sqrt((gap - 3.0) ** 2 + 24.0 * gap)) / (12.0 * gap)
    n = len(x)
    k -= (3.0 * k - 2.0 / 3.0 * k / (1.0 + k) - 0.8 * k / (1.0 + k) ** 2) / n
    return min(LARGEST_SHAPE, max(0.3, k))


@dataclass(frozen=True)
class Series:
    """The mean of correlated values, their standard deviation, and how they hang together.

    `correlation` is that of neighbours; `effective` how many independent values would say as much.
    """

    mean: Interval
    deviation: Interval
    correlation: float
    effective: float


def of_series(series: Sequence[Sequence[float]], steps: int = 1) -> Series:
    """The mean of values in the order of time, in stretches between which nothing is assumed.

    Each is itself the mean of `steps` values, whose deviation is asked for. The sum of the
    autocorrelations is cut off at the first pair that is not positive (Geyer, 1992).
    """
    from scipy.special import chdtri, stdtrit

    stretches = [np.asarray(values, dtype=float) for values in series if len(values)]
    everything = np.concatenate(stretches)
    n, mean = len(everything), float(everything.mean())
    if n < 2 or float(np.ptp(everything)) <= 1e-12 * abs(mean):
        alike = Interval(mean, mean, mean, n, "all alike")
        return Series(alike, Interval(0.0, 0.0, 0.0, n, "all alike"), 0.0, float(n))
    centred = [values - mean for values in stretches]
    variance = float((everything - mean) @ (everything - mean)) / n
    time, first = 1.0, 0.0
    longest = max(len(values) for values in stretches)
    for lag in range(1, max(2, longest // 2), 2):
        pair = [_autocorrelation(centred, variance, at) for at in (lag, lag + 1)]
        if lag == 1:
            first = pair[0]
        if sum(pair) <= 0.0:
            break
        time += 2.0 * sum(pair)
    effective = max(2.0, n / max(1.0, time))
    half = float(stdtrit(effective - 1.0, TAILS[1])) * sqrt(variance * n / (n - 1) / effective)
    how = f"Student's t on {effective:.0f} effective values"
    sd = sqrt(variance * n / (n - 1) * steps)
    free = effective - 1.0
    low, high = (sd * sqrt(free / float(chdtri(free, tail))) for tail in TAILS)
    return Series(
        Interval(mean, max(0.0, mean - half), mean + half, n, how),
        Interval(sd, low, high, n, "chi-squared on the effective values"),
        first,
        effective,
    )


def _autocorrelation(centred: Sequence[Reals], variance: float, lag: int) -> float:
    products = [float(x[lag:] @ x[:-lag]) for x in centred if len(x) > lag]
    pairs = sum(len(x) - lag for x in centred if len(x) > lag)
    return sum(products) / pairs / variance if pairs else 0.0


def line(sizes: Sequence[float], times: Sequence[float]) -> tuple[Interval, Interval] | None:
    """What a transfer costs at size 0, and for each unit of size; None where sizes do not differ.

    Least squares, with an even scatter or one that grows with the size, whichever is likelier.
    """
    from scipy.special import stdtrit

    x, y = np.asarray(sizes, dtype=float), np.asarray(times, dtype=float)
    n = len(x)
    if n < 4 or float(np.ptp(x)) <= 1e-6 * float(x.max()):
        return None
    scale = float(x.mean())
    best: tuple[float, list[float], list[float]] | None = None
    for power in (0.0, 1.0):
        weights = (x / scale) ** -power
        design = np.column_stack([weights, x / scale * weights])
        solution, *_ = np.linalg.lstsq(design, y * weights, rcond=None)
        left = y * weights - design @ solution
        variance = float(left @ left) / (n - 2)
        if variance <= (1e-12 * float(np.abs(y).max())) ** 2:
            variance = 0.0
        likely = float(np.log(weights).sum()) - n / 2.0 * log(max(variance, 1e-300))
        errors = np.sqrt(variance * np.diag(np.linalg.inv(design.T @ design)))
        if best is None or likely > best[0]:
            best = likely, solution.tolist(), errors.tolist()
    assert best is not None
    t = float(stdtrit(n - 2, TAILS[1]))
    how = "least squares"
    found = [
        Interval(
            max(0.0, value),
            max(0.0, value - t * error),
            max(0.0, value + t * error),
            n,
            how,
        )
        for value, error in zip(best[1], best[2], strict=True)
    ]
    return found[0], found[1].scaled(1.0 / scale)


def finite(interval: Interval) -> bool:
    """Whether both ends are numbers."""
    return isfinite(interval.low) and isfinite(interval.high)
