"""A small language model over characters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ddsim.learning.problem import Array, Shard, StackedProblem, Tensors, problem
from ddsim.learning.softmax import cross_entropy
from ddsim.learning.text import ALPHABET, documents
from ddsim.learning.text_floor import text_floor

EPSILON = 1e-5
HELD_OUT = 10
STRIDE = 8
STACK = 64


class Normed(NamedTuple):
    """A vector at unit root mean square, the factor that made it so, and both after the gain."""

    unit: Array
    factor: Array
    out: Array


class Seen(NamedTuple):
    """What the layers of the model have seen: one-hot characters, embeddings, blocks, logits."""

    hot: Array
    joined: Array
    blocks: list[tuple[Normed, Array]]
    last: Normed
    logits: Array


@problem("language_model")
class LanguageModel(StackedProblem):
    """The next character of a made-up language, from those before it.

    The characters of a window are embedded and joined, residual blocks of two layers each follow,
    normalized at their entrance by the root of the mean square. One document in ten is held out.
    With skewed shards a learner sees its own stretch of the documents, which stand topic by topic.
    """

    embeddings = ("embedding",)
    heads = ("head",)

    def __init__(
        self,
        rng: np.random.Generator,
        window: int = 8,
        embedding: int = 12,
        width: int = 32,
        hidden: int = 64,
        blocks: int = 5,
        evaluated: int = 4096,
    ) -> None:
        self.floor = text_floor()
        self._window, self._embedding, self._width = window, embedding, width
        self._hidden, self._blocks = hidden, blocks
        self._one_hot = np.eye(len(ALPHABET), dtype=np.float32)
        texts = documents()
        test = [text for index, text in enumerate(texts) if index % HELD_OUT == 0]
        train = [text for index, text in enumerate(texts) if index % HELD_OUT]
        self._train = _codes(train)
        held = _windows(_codes(test), window + 1)[::STRIDE]
        # in stacks as small as a batch: larger products of matrices wait for threads
        stacks = max(1, min(evaluated, len(held)) // STACK)
        drawn = rng.permutation(len(held))[: stacks * STACK]
        self._test = held[drawn].reshape(stacks, -1, window + 1)

    def initial(self, rng: np.random.Generator) -> Tensors:
        """Draw weights of standard deviation 1/sqrt(inputs); what blocks add begins small."""
        width, hidden = self._width, self._hidden

        def matrix(into: int, out: int, scale: float = 1.0) -> Array:
            drawn: Array = rng.standard_normal((into, out)) * (scale / np.sqrt(into))
            return drawn.astype(np.float32)

        letters = len(ALPHABET)
        tensors = {
            "embedding": rng.standard_normal((letters, self._embedding)).astype(np.float32),
            "joined": matrix(self._window * self._embedding, width),
            "joined_bias": np.zeros(width, np.float32),
        }
        for block in range(self._blocks):
            tensors[f"gain{block}"] = np.ones(width, np.float32)
            tensors[f"into{block}"] = matrix(width, hidden, np.sqrt(2.0))
            tensors[f"bias{block}"] = np.zeros(hidden, np.float32)
            tensors[f"out{block}"] = matrix(hidden, width, (2 * self._blocks) ** -0.5)
        tensors["gain"] = np.ones(width, np.float32)
        tensors["head"] = matrix(width, letters, 0.1)
        tensors["head_bias"] = np.zeros(letters, np.float32)
        return tensors

    def batch(self, rng: np.random.Generator, size: int, shard: Shard) -> Array:
        """Draw windows, the last character of each to be predicted."""
        places = len(self._train) - self._window
        low, high = 0, places
        if shard.skewed:
            low = places * shard.learner // shard.learners
            high = places * (shard.learner + 1) // shard.learners
        starts = rng.integers(low, high, size)
        windows: Array = self._train[starts[:, None] + np.arange(self._window + 1)]
        return windows

    def gradients(self, parameters: Tensors, batches: Sequence[Array]) -> tuple[Array, Tensors]:
        """Return the mean cross-entropy over each learner's windows, in nats."""
        windows = np.stack(batches)
        stack, size = windows.shape[:2]
        seen = self._forward(parameters, windows)
        losses, slope = cross_entropy(seen.logits, windows[..., -1])
        tensors: dict[str, Array] = {
            "head": seen.last.out.swapaxes(1, 2) @ slope,
            "head_bias": slope.sum(axis=1),
        }
        above = slope @ parameters["head"].swapaxes(1, 2)
        slope, tensors["gain"] = _back(seen.last, parameters["gain"], above)
        for block in reversed(range(self._blocks)):
            normed, inside = seen.blocks[block]
            tensors[f"out{block}"] = inside.swapaxes(1, 2) @ slope
            above = slope @ parameters[f"out{block}"].swapaxes(1, 2)
            above *= inside > 0
            tensors[f"into{block}"] = normed.out.swapaxes(1, 2) @ above
            tensors[f"bias{block}"] = above.sum(axis=1)
            above = above @ parameters[f"into{block}"].swapaxes(1, 2)
            added, tensors[f"gain{block}"] = _back(normed, parameters[f"gain{block}"], above)
            slope = slope + added
        tensors["joined"] = seen.joined.swapaxes(1, 2) @ slope
        tensors["joined_bias"] = slope.sum(axis=1)
        below = slope @ parameters["joined"].swapaxes(1, 2)
        below = below.reshape(stack, size * self._window, self._embedding)
        tensors["embedding"] = seen.hot.swapaxes(1, 2) @ below
        return losses, tensors

    def evaluate(self, parameters: Tensors) -> float:
        """Return the cross-entropy on windows of documents held out, in nats a character."""
        stacked = {name: value[None] for name, value in parameters.items()}
        losses, _ = cross_entropy(self._forward(stacked, self._test).logits, self._test[..., -1])
        return float(np.mean(losses, dtype=np.float64))

    def _forward(self, parameters: Tensors, windows: Array) -> Seen:
        stack, size = windows.shape[:2]
        hot = self._one_hot[windows[..., :-1]].reshape(stack, size * self._window, -1)
        joined = (hot @ parameters["embedding"]).reshape(stack, size, -1)
        state = joined @ parameters["joined"]
        state += parameters["joined_bias"][:, None]
        blocks = []
        for block in range(self._blocks):
            normed = _normed(state, parameters[f"gain{block}"])
            inside = normed.out @ parameters[f"into{block}"]
            inside += parameters[f"bias{block}"][:, None]
            np.maximum(inside, 0.0, out=inside)
            state = state + inside @ parameters[f"out{block}"]
            blocks.append((normed, inside))
        last = _normed(state, parameters["gain"])
        logits = last.out @ parameters["head"]
        logits += parameters["head_bias"][:, None]
        return Seen(hot, joined, blocks, last, logits)


def _codes(texts: Sequence[str]) -> Array:
    place = {letter: index for index, letter in enumerate(ALPHABET)}
    return np.array([place[letter] for text in texts for letter in text], np.int64)


def _windows(codes: Array, length: int) -> Array:
    return np.lib.stride_tricks.sliding_window_view(codes, length)


def _normed(state: Array, gain: Array) -> Normed:
    factor = 1.0 / np.sqrt((state * state).mean(axis=-1, keepdims=True) + EPSILON)
    unit = state * factor
    return Normed(unit, factor, unit * gain[:, None])


def _back(normed: Normed, gain: Array, above: Array) -> tuple[Array, Array]:
    """Return the gradients of what was normalized and of the gain."""
    slope = (above * normed.unit).sum(axis=1)
    below = above * gain[:, None]
    along = (below * normed.unit).mean(axis=-1, keepdims=True)
    return normed.factor * (below - normed.unit * along), slope
