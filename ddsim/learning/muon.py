"""Muon: momentum, made orthogonal, for the matrices of a model."""

from __future__ import annotations

from collections.abc import Collection
from math import prod, sqrt
from typing import Any

import numpy as np

from ddsim.learning.inner import AdamW
from ddsim.learning.layout import Layout
from ddsim.learning.problem import Array

COEFFICIENTS = 3.4445, -4.7750, 2.0315
ROUNDS = 5
LIKE_ADAMW = 0.2
"""Root mean square of a step beside the rate: about that of AdamW's (arXiv 2502.16982)."""


def orthogonal(matrices: Array, rounds: int = ROUNDS) -> Array:
    """Return a matrix, or each of a stack of equal shape, with singular values near 1 for its own.

    Newton and Schulz's iteration with a polynomial of fifth degree: s -> a s + b s^3 + c s^5 for
    every singular value s, from the matrix over its Frobenius norm on. It does not converge to 1:
    the coefficients are for speed, and leave values between 0.68 and 1.21 of those that were above
    1/500 of the norm. Source: K. Jordan and others, Muon (2024).
    """
    squares = np.sum(matrices * matrices, axis=(-2, -1), keepdims=True, dtype=np.float64)
    norms = np.sqrt(squares).astype(matrices.dtype)
    tall = matrices.shape[-2] > matrices.shape[-1]
    x = matrices / np.where(norms > 0.0, norms, 1.0)
    x = x.swapaxes(-2, -1) if tall else x
    a, b, c = COEFFICIENTS
    for _ in range(rounds):
        square = x @ x.swapaxes(-2, -1)
        x = a * x + (b * square + c * (square @ square)) @ x
    return x.swapaxes(-2, -1) if tall else x


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
        # those of one shape, lying down, go side by side, which is faster
        self._groups: dict[tuple[int, int], list[tuple[slice, tuple[int, int]]]] = {}
        rest = np.ones(layout.size, bool)
        for name, shape in layout.shapes.items():
            if len(shape) > 1 and min(shape) > 0 and name not in by_adamw:
                sides = shape[0], prod(shape[1:])
                span = layout.spans[name]
                self._groups.setdefault((min(sides), max(sides)), []).append((span, sides))
                rest[span] = False
        self._rest = np.flatnonzero(rest)
        decayed = layout.matrices(dtype)[self._rest]
        self._adamw = AdamW(beta1, beta2, epsilon, weight_decay, decayed)

    def step(self, x: Array, gradient: Array, moments: Array, count: int, rate: float) -> None:
        """Go against the orthogonal momentum, and AdamW's way elsewhere."""
        for (short, long), members in self._groups.items():
            ahead = np.empty((len(members), short, long), x.dtype)
            for row, (span, sides) in zip(ahead, members, strict=True):
                momentum, slope = moments[0, span], gradient[span]
                momentum *= self._momentum
                momentum += slope
                matrix = (slope + self._momentum * momentum).reshape(sides)
                row[:] = matrix if sides == (short, long) else matrix.T
            steps = rate * LIKE_ADAMW * sqrt(long) * orthogonal(ahead)
            for step, (span, sides) in zip(steps, members, strict=True):
                if self._decay:
                    x[span] -= rate * self._decay * x[span]
                x[span] -= (step if sides == (short, long) else step.T).reshape(-1)
        rest = self._rest
        own, own_moments = x[rest], moments[:, rest]
        self._adamw.step(own, gradient[rest], own_moments, count, rate)
        x[rest], moments[:, rest] = own, own_moments
