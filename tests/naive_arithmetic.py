"""The arithmetic of a training, in double precision, written from the words of the domain.

Rates, outer gradients in few bits, steps of inner optimizers, and merges, a tensor at a time.
"""

from __future__ import annotations

from copy import deepcopy
from functools import cache
from math import cos, pi, sqrt
from typing import Any

import numpy as np
from scipy.stats import norm

Named = dict[str, Any]


def scheduled(schedule: Any, progress: float) -> float:
    """A rise from 0 over the warm-up, then constant, a line or half a cosine down to the rest."""
    if progress < schedule.warmup:
        return float(schedule.rate * progress / schedule.warmup)
    done = min(1.0, (progress - schedule.warmup) / (1.0 - schedule.warmup))
    left = {"constant": 1.0, "linear": 1.0 - done, "cosine": (1.0 + cos(pi * done)) / 2.0}
    above = left[schedule.decay] * (1.0 - schedule.final)
    if schedule.decay == "constant":
        return float(schedule.rate)
    return float(schedule.rate * (schedule.final + above))


# Few bits.


@cache
def gaussian_levels(count: int) -> tuple[float, ...]:
    """Lloyd's own iteration: borders half way between levels, levels at the means between them."""
    levels = norm.ppf((np.arange(count) + 0.5) / count)
    for _ in range(200_000):
        borders = np.concatenate([[-np.inf], (levels[1:] + levels[:-1]) / 2.0, [np.inf]])
        means = -np.diff(norm.pdf(borders)) / np.diff(norm.cdf(borders))
        if np.abs(means - levels).max() < 1e-14:
            break
        levels = means
    return tuple(levels)


def levels_of(quantizer: str, bits: int) -> list[float]:
    """All levels for a scale of 1."""
    if quantizer == "sign" or (bits == 1 and quantizer == "uniform"):
        return [-1.0, 1.0]
    if quantizer == "gaussian":
        return list(gaussian_levels(2**bits))
    if quantizer == "uniform":
        most = 2 ** (bits - 1) - 1
        return [k / most for k in range(-most, most + 1)]
    powers = [2.0**-k for k in range(2 ** (bits - 1) - 1)]
    return sorted([0.0, *powers, *(-power for power in powers)])


def scale_of(block: Any, quantizer: str, bits: int, top: float, *, stochastic: bool) -> float:
    """The scale of a block."""
    sizes = abs(block)
    if stochastic:
        return float(sizes.max()) / top
    if quantizer == "sign":
        return sqrt(float((block**2).sum()) / max(1, int((block != 0).sum())))
    if quantizer == "gaussian":
        return sqrt(float((block**2).mean()))
    if quantizer == "uniform" and bits == 1:
        return float(sizes.mean())
    return float(sizes.max())


def in_few_bits(tensor: Any, outer: Any, draws: Any) -> Any:
    """A tensor as its receiver sees it."""
    if outer.bits >= 32:
        return tensor
    flat = tensor.ravel()
    uniform = draws.random(flat.size) if outer.rounding == "stochastic" else None
    length = outer.block or flat.size
    levels = np.array(levels_of(outer.quantizer, outer.bits))
    seen = np.zeros(flat.size)
    for start in range(0, flat.size, length):
        block = flat[start : start + length]
        scale = scale_of(
            block, outer.quantizer, outer.bits, levels[-1], stochastic=uniform is not None
        )
        for index, value in enumerate(block, start):
            if value == 0.0 or scale == 0.0:
                continue
            x = value / scale
            if uniform is None:
                seen[index] = scale * levels[np.abs(levels - x).argmin()]
                continue
            x = min(max(x, levels[0]), levels[-1])
            below, above = levels[levels <= x].max(), levels[levels >= x].min()
            share = 0.0 if above == below else (x - below) / (above - below)
            seen[index] = scale * (above if uniform[index] < share else below)
    return seen.reshape(tensor.shape)


# One step.


def orthogonal(matrix: Any) -> Any:
    """Five rounds of Newton and Schulz, by way of singular values."""
    left, sizes, right = np.linalg.svd(matrix, full_matrices=False)
    total = sqrt(float((sizes**2).sum()))
    if total == 0.0:
        return matrix
    sizes = sizes / total
    for _ in range(5):
        sizes = 3.4445 * sizes - 4.7750 * sizes**3 + 2.0315 * sizes**5
    return left @ np.diag(sizes) @ right


class One:
    """A model with the moments of its inner optimizer; `done` are the tokens of a job."""

    def __init__(self, tensors: Named) -> None:
        self.x = deepcopy(tensors)
        self.forget()
        self.done = 0.0

    def forget(self) -> None:
        """Begin the moments anew."""
        self.first = {name: np.zeros(value.shape) for name, value in self.x.items()}
        self.second = {name: np.zeros(value.shape) for name, value in self.x.items()}
        self.age = 0

    def copy_moments(self, peer: One) -> None:
        """Have the moments that a peer has."""
        self.first, self.second = deepcopy(peer.first), deepcopy(peer.second)
        self.age = peer.age

    def step(self, inner: Any, gradient: Named, rate: float, *, by_adam: tuple[str, ...]) -> None:
        """One step; Muon leaves vectors and the tensors `by_adam` to AdamW."""
        self.age += 1
        for name, g in gradient.items():
            matrix = g.ndim >= 2
            rule = inner.optimizer
            if rule == "muon" and (not matrix or name in by_adam):
                rule = "adamw"
            x = self.x[name]
            if rule == "sgd":
                self.x[name] = x - rate * g
            elif rule == "momentum":
                self.first[name] = inner.momentum * self.first[name] + g
                self.x[name] = x - rate * self.first[name]
            elif rule == "muon":
                self.first[name] = inner.momentum * self.first[name] + g
                ahead = g + inner.momentum * self.first[name]
                rows = ahead.reshape(len(ahead), -1)
                move = 0.2 * sqrt(max(rows.shape)) * orthogonal(rows).reshape(g.shape)
                self.x[name] = x - rate * (move + inner.weight_decay * x)
            else:
                b1, b2 = inner.beta1, inner.beta2
                self.first[name] = b1 * self.first[name] + (1.0 - b1) * g
                self.second[name] = b2 * self.second[name] + (1.0 - b2) * g**2
                mean = self.first[name] / (1.0 - b1**self.age)
                root = np.sqrt(self.second[name] / (1.0 - b2**self.age))
                decay = inner.weight_decay if matrix else 0.0
                self.x[name] = x - rate * (mean / (root + inner.epsilon) + decay * x)


# One merge.


def merged(updates: list[Any], weights: list[float], *, radial: bool) -> Any:
    """The weighted mean, or the mean norm along the direction of the mean unit vector."""
    share = [weight / sum(weights) for weight in weights]
    plain = sum(part * update for part, update in zip(share, updates, strict=True))
    if not radial:
        return plain
    norms = [float(np.linalg.norm(update)) for update in updates]
    units = [update / (size or 1.0) for size, update in zip(norms, updates, strict=True)]
    direction: Any = sum(part * unit for part, unit in zip(share, units, strict=True))
    length = float(np.linalg.norm(direction))
    if length < 1e-3:  # directions cancel
        return plain
    radius = sum(part * size for part, size in zip(share, norms, strict=True))
    return radius * direction / length
