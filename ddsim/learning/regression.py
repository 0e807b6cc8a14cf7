"""Regressions and a multi-layer perceptron on data drawn once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ddsim.learning.problem import Array, Shard, StackedProblem, Tensors, problem
from ddsim.learning.softmax import cross_entropy

HELD_OUT = 4


@problem("linear_regression")
class LinearRegression(StackedProblem):
    """Half the squared error of a linear model, on noisy answers of another one.

    With skewed shards a learner sees its own stretch of the examples, sorted by their answers.
    """

    def __init__(
        self,
        rng: np.random.Generator,
        features: int = 32,
        examples: int = 8192,
        noise: float = 0.5,
    ) -> None:
        inputs = rng.standard_normal((examples, features))
        truth = rng.standard_normal(features) / np.sqrt(features)
        answers = inputs @ truth + 0.5 + noise * rng.standard_normal(examples)
        held = examples // HELD_OUT
        order = held + np.argsort(answers[held:])
        self._test = inputs[:held].astype(np.float32), answers[:held].astype(np.float32)
        self._train = inputs[order].astype(np.float32), answers[order].astype(np.float32)

    def initial(self, rng: np.random.Generator) -> Tensors:
        """Begin at 0."""
        features = self._test[0].shape[1]
        return {"weights": np.zeros(features, np.float32), "bias": np.zeros(1, np.float32)}

    def batch(self, rng: np.random.Generator, size: int, shard: Shard) -> tuple[Array, Array]:
        """Draw examples with replacement."""
        inputs, answers = self._train
        rows = draw_rows(rng, len(answers), size, shard)
        return inputs[rows], answers[rows]

    def gradients(
        self, parameters: Tensors, batches: Sequence[tuple[Array, Array]]
    ) -> tuple[Array, Tensors]:
        """Return the mean over each learner's batch."""
        inputs = np.stack([batch[0] for batch in batches])
        error = self._error(parameters, inputs, np.stack([batch[1] for batch in batches]))
        share = error / error.shape[1]
        weights = (share[:, None, :] @ inputs)[:, 0]
        losses = 0.5 * (error * share).sum(axis=-1)
        return losses, {"weights": weights, "bias": share.sum(axis=-1, keepdims=True)}

    def evaluate(self, parameters: Tensors) -> float:
        """Return the loss on examples held out."""
        inputs, answers = self._test
        stacked = {name: value[None] for name, value in parameters.items()}
        error = self._error(stacked, inputs[None], answers[None])
        return float(0.5 * np.mean(error * error))

    @staticmethod
    def _error(parameters: Tensors, inputs: Array, answers: Array) -> Array:
        error: Array = (inputs @ parameters["weights"][:, :, None])[:, :, 0]
        return error + parameters["bias"] - answers


class Classifier(StackedProblem):
    """Layers of a perceptron with ReLU, on examples labelled by a random network."""

    def __init__(
        self,
        rng: np.random.Generator,
        features: int,
        classes: int,
        examples: int,
        widths: Sequence[int],
    ) -> None:
        inputs = rng.standard_normal((examples, features)).astype(np.float32)
        hidden = np.tanh(inputs @ rng.standard_normal((features, 64)) * (2.0 / np.sqrt(features)))
        scores = hidden @ rng.standard_normal((64, classes)) + 0.5 * rng.gumbel(
            size=(examples, classes)
        )
        labels = scores.argmax(axis=1)
        held = examples // HELD_OUT
        order = held + np.argsort(labels[held:], kind="stable")
        self._test = inputs[:held], labels[:held]
        self._train = inputs[order], labels[order]
        self._sizes = [features, *widths, classes]
        self.heads = (f"weights{len(widths)}",)

    def initial(self, rng: np.random.Generator) -> Tensors:
        """Draw weights that keep the size of what passes through; biases are 0."""
        tensors = {}
        pairs = zip(self._sizes, self._sizes[1:], strict=False)
        for index, (into, out) in enumerate(pairs):
            tensors[f"weights{index}"] = (
                rng.standard_normal((into, out)) * np.sqrt(1.0 / into)
            ).astype(np.float32)
            tensors[f"bias{index}"] = np.zeros(out, np.float32)
        return tensors

    def batch(self, rng: np.random.Generator, size: int, shard: Shard) -> tuple[Array, Array]:
        """Draw examples with replacement; a skewed shard has few of the classes."""
        inputs, labels = self._train
        rows = draw_rows(rng, len(labels), size, shard)
        return inputs[rows], labels[rows]

    def gradients(
        self, parameters: Tensors, batches: Sequence[tuple[Array, Array]]
    ) -> tuple[Array, Tensors]:
        """Return the mean cross-entropy over each learner's batch."""
        seen, logits = self._forward(parameters, np.stack([batch[0] for batch in batches]))
        labels = np.stack([batch[1] for batch in batches])
        losses, slope = cross_entropy(logits, labels)
        tensors = {}
        for index in reversed(range(len(seen))):
            below = seen[index]
            tensors[f"weights{index}"] = below.swapaxes(1, 2) @ slope
            tensors[f"bias{index}"] = slope.sum(axis=1)
            if index:
                slope = slope @ parameters[f"weights{index}"].swapaxes(1, 2)
                slope *= below > 0
        return losses, tensors

    def evaluate(self, parameters: Tensors) -> float:
        """Return the cross-entropy on examples held out, in nats."""
        inputs, labels = self._test
        stacked = {name: value[None] for name, value in parameters.items()}
        losses, _ = cross_entropy(self._forward(stacked, inputs[None])[1], labels[None])
        return float(losses[0])

    def _forward(self, parameters: Tensors, inputs: Array) -> tuple[list[Array], Array]:
        """Return what every layer sees, and the logits."""
        seen = [inputs]
        last = len(self._sizes) - 2
        for index in range(last + 1):
            out = seen[-1] @ parameters[f"weights{index}"]
            out += parameters[f"bias{index}"][:, None]
            if index == last:
                break
            seen.append(np.maximum(out, 0.0))
        return seen, out


@problem("softmax_regression")
class SoftmaxRegression(Classifier):
    """Cross-entropy of a linear classifier; with skewed shards a learner sees few classes."""

    def __init__(
        self,
        rng: np.random.Generator,
        features: int = 32,
        classes: int = 8,
        examples: int = 8192,
    ) -> None:
        super().__init__(rng, features, classes, examples, ())


@problem("mlp")
class MLP(Classifier):
    """Cross-entropy of a perceptron with hidden layers; skewed shards see few classes."""

    def __init__(
        self,
        rng: np.random.Generator,
        features: int = 32,
        classes: int = 8,
        examples: int = 16384,
        width: int = 64,
        hidden_layers: int = 2,
    ) -> None:
        super().__init__(rng, features, classes, examples, [width] * hidden_layers)


def draw_rows(rng: np.random.Generator, count: int, size: int, shard: Shard) -> Array:
    """Draw `size` of `count` rows: of all, or of a skewed shard's own stretch."""
    low, high = 0, count
    if shard.skewed:
        low = count * shard.learner // shard.learners
        high = max(low + 1, count * (shard.learner + 1) // shard.learners)
    return rng.integers(low, high, size)
