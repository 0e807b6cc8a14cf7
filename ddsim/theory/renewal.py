"""Ages and renewals: Weibull lifetimes, many parts at once, and the renewal function.

Palm-Khintchine: the failures of many independent stationary parts, each renewed on its own, tend
to a Poisson process with the sum of their rates. It holds in the steady state only: parts that
all start new fail in a burst at first when the shape is below 1, and late when it is above; the
renewal function counts those failures from the fresh start on.
"""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ddsim.theory._checks import not_negative, positive

FloatArray = NDArray[np.float64]
Cdf = Callable[[FloatArray], FloatArray]


def weibull_scale_for_mean(shape: float, mean: float) -> float:
    """Scale of the Weibull distribution of given shape and mean: mean / Gamma(1 + 1/k)."""
    positive(shape=shape, mean=mean)
    return mean / math.gamma(1.0 + 1.0 / shape)


def weibull_first_failure_mean(shape: float, scale: float, parts: float) -> float:
    """Mean time to the first failure of n parts that are new at time 0.

    The least of n Weibull(k, s) is Weibull(k, s n^(-1/k)).
    """
    positive(shape=shape, scale=scale, parts=parts)
    return scale * math.pow(parts, -1.0 / shape) * math.gamma(1.0 + 1.0 / shape)


def weibull_fresh_failures(shape: float, scale: float, parts: float, time: float) -> float:
    """Expected failures of n new parts up to a time far below the scale: n (t / s)^k.

    First order: it counts no part twice. `renewal_function` has no such limit.
    """
    positive(shape=shape, scale=scale, parts=parts)
    not_negative(time=time)
    return parts * math.pow(time / scale, shape)


def superposed_rate(parts: float, mean: float) -> float:
    """Rate n / mean of the Poisson process that n stationary renewal streams tend to."""
    positive(parts=parts, mean=mean)
    return parts / mean


def weibull_cdf(shape: float, scale: float) -> Cdf:
    """Distribution function of Weibull(shape, scale); 0 for negative times."""
    positive(shape=shape, scale=scale)

    def cdf(time: FloatArray) -> FloatArray:
        return -np.expm1(-((np.maximum(time, 0.0) / scale) ** shape))

    return cdf


def renewal_function(
    lifetime: Cdf, time: float, *, cycle: Cdf | None = None, cells: int = 4000
) -> float:
    """Expected failures in (0, time] of one part that is new at 0 and renewed at each failure.

    Solves m(t) = F(t) + integral of m(t - x) dG(x) on a grid of `cells` equal cells, the Stieltjes
    integral taken at the middle of each (M. Xie, "On the solution of renewal-type integral
    equations", 1989), which needs no density and so bears shapes below 1.

    lifetime: distribution function F of the first life, of an array of times in seconds.
    cycle: distribution function G of the time from one failure to the next, for a repair that
        takes time of its own; `lifetime` when not given.
    """
    not_negative(time=time)
    if time == 0.0:
        return 0.0
    width = time / cells
    first = lifetime(width * np.arange(1.0, cells + 1.0))
    middles = (cycle or lifetime)(width * np.arange(0.5, cells))
    middle = float(middles[0])
    count = np.zeros(cells + 1)
    rises = np.zeros(cells + 1)
    for i in range(1, cells + 1):
        # rises[j] met G at the middle of the cell i - j away, for j = 1 .. i - 1
        carried = float(rises[1:i] @ middles[i - 1 : 0 : -1])
        count[i] = (first[i - 1] + carried - count[i - 1] * middle) / (1.0 - middle)
        rises[i] = count[i] - count[i - 1]
    return float(count[cells])
