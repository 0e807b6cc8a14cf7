"""The levels that quantize a Gaussian best."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.linalg import solve_banded
from scipy.special import ndtr, ndtri

from ddsim.learning.problem import Array

MOST_ROUNDS = 60


@lru_cache(maxsize=32)
def gaussian_levels(count: int) -> Array:
    """Return the `count` levels, an even number, with the least mean square error for N(0, 1).

    Each level is the mean of the Gaussian between the borders half way to its neighbours (Lloyd,
    1957; Max, 1960). Newton's method from levels as dense as the cube root of the density, which
    is where they end for large numbers of them; the error of a level is below 1e-12.
    """
    if count < 2 or count % 2:
        raise ValueError(f"an even number of levels, 2 or more, not {count}")
    half = count // 2
    levels = np.sqrt(3.0) * ndtri((half + np.arange(half) + 0.5) / count)
    for _ in range(MOST_ROUNDS):
        step = _newton(levels)
        shrink = 1.0
        while not (np.diff(levels - shrink * step, prepend=0.0) > 0.0).all():
            shrink /= 2.0  # levels keep their order
        levels = levels - shrink * step
        if np.abs(step).max() < 1e-14 * count:
            break
    levels = np.concatenate([-levels[::-1], levels])
    levels.flags.writeable = False
    return levels


def _newton(levels: Array) -> Array:
    """Newton's step for level - mean between borders = 0, on the positive half."""
    borders = np.concatenate([[0.0], (levels[1:] + levels[:-1]) / 2.0])
    density = np.exp(-borders * borders / 2.0) / np.sqrt(2.0 * np.pi)
    beyond = ndtr(-borders)
    upper = np.append(density[1:], 0.0)
    mass = beyond - np.append(beyond[1:], 0.0)
    mean = (density - upper) / mass
    # how a mean follows the border below and the one above it
    by_lower = density * (mean - borders) / mass
    by_upper = upper * (np.append(borders[1:], 0.0) - mean) / mass
    by_lower[0] = 0.0  # at 0, for symmetry
    bands = np.zeros((3, len(levels)))
    bands[0, 1:] = -by_upper[:-1] / 2.0
    bands[1] = 1.0 - by_lower / 2.0 - by_upper / 2.0
    bands[2, :-1] = -by_lower[1:] / 2.0
    step: Array = solve_banded((1, 1), bands, levels - mean)
    return step
