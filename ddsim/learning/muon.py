"""Muon: momentum, made orthogonal, for the matrices of a model."""

from __future__ import annotations

from collections.abc import Collection
from math import sqrt
from typing import Any

import numpy as np

from ddsim.learning.inner import AdamW
from ddsim.learning.layout import Layout
from ddsim.learning.problem import Array

COEFFICIENTS = 3.4445, -4.7750, 2.0315
ROUNDS = 5
LIKE_ADAMW = 0.2
"""Root mean square of a step beside the rate: about that of AdamW's (arXiv 2502.16982)."""


def orthogonal(matrix: Array, rounds: int = ROUNDS) -> Array:
    """Return a matrix with its singular vectors, and singular values near 1 for its own.

    Newton and Schulz's iteration with a polynomial of fifth degree: s -> a s + b s^3 + c s^5 for
    every singular value s, from the matrix over its Frobenius norm on. It does not converge to 1:
    the coefficients are for speed, and leave values between 0.68 and 1.21 of those that were above
    1/500 of the norm. Source: K. Jordan and others, Muon (2024).
    """
    norm = float(np.sqrt(np.sum(matrix * matrix, dtype=np.float64)))
    if not norm > 0.0:
        return matrix
    a, b, c = COEFFICIENTS
    tall = matrix.shape[0] > matrix.shape[1]
    x = (matrix.T if tall else matrix) / norm
    for _ in range(rounds):
        square = x @ x.T
        x = a * x + (b * square + c * (square @ square)) @ x
    return x.T if tall else x


class Muon:
    """Momentum with Nesterov's look ahead, orthogonal, for matrices; AdamW for all else.

    A tensor of more axes is a matrix of its first beside all others. Vectors and the tensors
    `by_adamw`, embeddings and output layers, take AdamW's steps at the same rate: matrices' steps
    are as long as those usually are. Weight decay is AdamW's.
    """

    slots = 2

    def __init__(
        self,
        momentum: float,
        layout: Layout,
        by_adamw: Collection[str],
        beta1: float,
        beta2: float,
        epsilon: float,
        weight_decay: float,
        dtype: Any = np.float32,
    ) -> None:
        self._momentum, self._decay = momentum, weight_decay
        self._matrices = [
            (layout.spans[name], (shape[0], -1))
            for name, shape in layout.shapes.items()
            if len(shape) > 1 and min(shape) > 0 and name not in by_adamw
        ]
        rest = np.ones(layout.size, bool)
        for span, _ in self._matrices:
            rest[span] = False
        self._rest = np.flatnonzero(rest)
        decayed = layout.matrices(dtype)[self._rest]
        self._adamw = AdamW(beta1, beta2, epsilon, weight_decay, decayed)

    def step(self, x: Array, gradient: Array, moments: Array, count: int, rate: float) -> None:
        """Go against the orthogonal momentum, and AdamW's way elsewhere."""
        for span, shape in self._matrices:
            momentum, slope = moments[0, span], gradient[span]
            momentum *= self._momentum
            momentum += slope
            ahead = (slope + self._momentum * momentum).reshape(shape)
            if self._decay:
                x[span] -= rate * self._decay * x[span]
            length = rate * LIKE_ADAMW * sqrt(max(ahead.shape))
            x[span] -= length * orthogonal(ahead).reshape(-1)
        rest = self._rest
        own, own_moments = x[rest], moments[:, rest]
        self._adamw.step(own, gradient[rest], own_moments, count, rate)
        x[rest], moments[:, rest] = own, own_moments
