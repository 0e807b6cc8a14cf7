"""A noisy quadratic: the problem whose answers are known."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ddsim.learning.problem import Array, Shard, StackedProblem, Tensors, problem


@problem("noisy_quadratic")
class NoisyQuadratic(StackedProblem):
    """Half of sum(curvature (x - optimum)^2), gradients with noise of known variance.

    Curvatures are spread evenly in their logarithm from `flattest` to 1. The gradient of one
    example has independent noise of standard deviation `noise` in every coordinate, that of a
    batch `noise` / sqrt(size). With skewed shards every learner has an optimum of its own, `skew`
    away in every coordinate; their mean is the optimum.
    """

    floor = 0.0

    def __init__(
        self,
        rng: np.random.Generator,
        dimensions: int = 96,
        tensors: int = 24,
        flattest: float = 0.05,
        noise: float = 1.0,
        skew: float = 1.0,
    ) -> None:
        if not 1 <= tensors <= dimensions:
            raise ValueError(f"{tensors} tensors of {dimensions} dimensions")
        self.noise, self.skew = noise, skew
        self.curvature = np.geomspace(1.0, flattest, dimensions).astype(np.float32)
        self.optimum = rng.standard_normal(dimensions).astype(np.float32)
        self._cuts = [dimensions * index // tensors for index in range(1, tensors)]

    def initial(self, rng: np.random.Generator) -> Tensors:
        """Begin at 0, wherever the seed."""
        return self._split(np.zeros(len(self.optimum), np.float32))

    def batch(self, rng: np.random.Generator, size: int, shard: Shard) -> Array:
        """Draw the shift of the gradient: the batch's noise, and what the shard's optimum adds."""
        noise = rng.standard_normal(len(self.optimum)) * (self.noise / np.sqrt(size))
        if shard.skewed and shard.learners > 1:
            # a wave over the learners, which adds up to nothing
            phases = (
                2.0 * np.pi * (shard.learner / shard.learners + np.arange(len(noise)) / len(noise))
            )
            noise -= self.curvature * self.skew * np.sqrt(2.0) * np.cos(phases)
        drawn: Array = noise.astype(np.float32)
        return drawn

    def gradients(self, parameters: Tensors, batches: Sequence[Array]) -> tuple[Array, Tensors]:
        """Return curvature (x - optimum) + noise, and the loss whose gradient that is."""
        away = self._join(parameters) - self.optimum
        noise = np.stack(batches)
        slope = self.curvature * away
        losses = (away * (0.5 * slope + noise)).sum(axis=-1)
        return losses, self._split(slope + noise)

    def evaluate(self, parameters: Tensors) -> float:
        """Return the loss without noise."""
        away = self._join(parameters) - self.optimum
        return float(0.5 * np.sum(self.curvature * away * away, dtype=np.float64))

    def _split(self, flat: Array) -> dict[str, Array]:
        parts = np.split(flat, self._cuts, axis=-1)
        return {f"x{index}": part for index, part in enumerate(parts)}

    def _join(self, parameters: Tensors) -> Array:
        return np.concatenate(
            [parameters[f"x{index}"] for index in range(len(self._cuts) + 1)], axis=-1
        )
