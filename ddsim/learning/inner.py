"""Inner optimizers, each a rule for one flat vector in place, and the learning-rate schedule."""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, pi
from typing import Literal, Protocol

import numpy as np

from ddsim.learning.problem import Array

Decay = Literal["cosine", "linear", "constant"]


class Inner(Protocol):
    """An inner optimizer."""

    @property
    def slots(self) -> int:
        """Number of vectors of moments."""
        ...

    def step(self, x: Array, gradient: Array, moments: Array, count: int, rate: float) -> None:
        """Take step number `count` (from 1) of the moments: change `x` and `moments` in place."""
        ...


@dataclass(frozen=True)
class SGD:
    """Plain stochastic gradient descent."""

    slots: int = 0

    def step(self, x: Array, gradient: Array, moments: Array, count: int, rate: float) -> None:
        """Go against the gradient."""
        x -= rate * gradient


@dataclass(frozen=True)
class Momentum:
    """Heavy-ball momentum: v = m v + g, x = x - rate v."""

    momentum: float = 0.9
    slots: int = 1

    def step(self, x: Array, gradient: Array, moments: Array, count: int, rate: float) -> None:
        """Go against the velocity."""
        velocity = moments[0]
        velocity *= self.momentum
        velocity += gradient
        x -= rate * velocity


class AdamW:
    """Adam with decoupled weight decay, which acts on tensors of two axes or more.

    Source: arXiv 1711.05101.
    """

    slots = 2

    def __init__(
        self, beta1: float, beta2: float, epsilon: float, weight_decay: float, decayed: Array
    ) -> None:
        self._beta1, self._beta2, self._epsilon = beta1, beta2, epsilon
        self._decay = weight_decay * decayed if weight_decay else None
        self._room = np.empty_like(decayed)
        self._other = np.empty_like(decayed)

    def step(self, x: Array, gradient: Array, moments: Array, count: int, rate: float) -> None:
        """Go against the mean gradient over the root of the mean square."""
        first, second = moments
        room, other = self._room, self._other
        first *= self._beta1
        np.multiply(gradient, 1.0 - self._beta1, out=room)
        first += room
        second *= self._beta2
        np.multiply(gradient, gradient, out=room)
        room *= 1.0 - self._beta2
        second += room
        if self._decay is not None:
            np.multiply(self._decay, rate, out=room)
            room *= x
            x -= room
        np.sqrt(second, out=room)
        room *= (1.0 - self._beta2**count) ** -0.5
        room += self._epsilon
        np.divide(first, room, out=other)
        other *= rate / (1.0 - self._beta1**count)
        x -= other


@dataclass(frozen=True)
class Schedule:
    """The learning rate over a run's tokens: a linear warm-up, then a decay to `final` of it.

    `warmup` and what `at` is asked for are shares of all the tokens that the run has, whatever
    their number.
    """

    rate: float
    decay: Decay = "cosine"
    warmup: float = 0.05
    final: float = 0.0

    def at(self, progress: float) -> float:
        """Return the learning rate when a share `progress` of the tokens is done."""
        if progress < self.warmup:
            return self.rate * progress / self.warmup
        if self.decay == "constant":
            return self.rate
        left = min(1.0, (progress - self.warmup) / (1.0 - self.warmup))
        shape = 0.5 * (1.0 + cos(pi * left)) if self.decay == "cosine" else 1.0 - left
        return self.rate * (self.final + (1.0 - self.final) * shape)
