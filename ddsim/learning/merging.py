"""Merges: one update of a tensor from those of several learners."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np

from ddsim.learning.problem import Array

Rule = Literal["mean", "radial_directional"]
Merging = Callable[[Sequence[Array], Sequence[float]], Array]

CANCELLED = 1e-3
"""Length of the mean unit vector below which directions cancel: what is left is rounding."""


def weighted_mean(updates: Sequence[Array], weights: Sequence[float]) -> Array:
    """Return the mean of flat updates; equal weights where they add up to nothing."""
    weights = _normal(weights)
    total = weights[0] * updates[0]
    for weight, update in zip(weights[1:], updates[1:], strict=True):
        total += weight * update
    return total


def radial_directional(updates: Sequence[Array], weights: Sequence[float]) -> Array:
    """Return the weighted mean of norms, in the direction of the weighted mean of unit vectors.

    The plain mean of nearly orthogonal updates shrinks like 1/sqrt(M); this one does not
    (arXiv 2604.21428). Where the directions cancel it is the plain weighted mean.
    """
    weights = _normal(weights)
    norms = [_norm(update) for update in updates]
    direction = np.zeros_like(updates[0])
    for weight, norm, update in zip(weights, norms, updates, strict=True):
        if norm > 0.0:
            direction += (weight / norm) * update
    length = _norm(direction)
    if length < CANCELLED:
        return weighted_mean(updates, weights)
    radius = sum(weight * norm for weight, norm in zip(weights, norms, strict=True))
    result: Array = direction * (radius / length)
    return result


RULES: dict[Rule, Merging] = {"mean": weighted_mean, "radial_directional": radial_directional}


def _normal(weights: Sequence[float]) -> list[float]:
    total = sum(weights)
    if not total > 0.0:
        return [1.0 / len(weights)] * len(weights)
    return [weight / total for weight in weights]


def _norm(vector: Array) -> float:
    return float(np.sqrt(np.sum(vector * vector, dtype=np.float64)))
