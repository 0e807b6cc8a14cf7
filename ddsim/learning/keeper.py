"""The syncer's part of a replay: global fragments, the outer optimizer, results of slots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ddsim.learning.config import OuterConfig
from ddsim.learning.layout import Layout
from ddsim.learning.merging import RULES, weighted_mean
from ddsim.learning.packing import fitting
from ddsim.learning.problem import Array
from ddsim.learning.quantization import quantized


class Keeper:
    """Holds the global parameters and merges what learners answer into them.

    `results` has the fragments that each slot made, until they are let go.
    """

    def __init__(
        self,
        config: OuterConfig,
        layout: Layout,
        embeddings: Sequence[str],
        initial: Array,
        learners: int,
    ) -> None:
        self.parameters = initial.copy()
        self.velocity = np.zeros_like(initial)
        self.results: dict[int, dict[int, Array]] = {}
        self.merges = 0
        self.left_out = np.zeros((learners if config.error_feedback else 0, layout.size), "f4")
        self._config = config
        self._layout = layout
        self._plain = frozenset(embeddings)
        self._initial = initial.copy()

    def merge(
        self,
        slot: int,
        fragments: Sequence[int],
        answers: Mapping[int, Mapping[int, Array]],
        weights: Sequence[float],
    ) -> None:
        """Merge fragments of a slot; `answers` has each learner's by fragment.

        The outer gradient of a learner is what the global fragment was before minus what the
        learner has, as it survives quantization. Without an answer nothing changes.
        """
        self.merges += 1
        if not answers:
            self._note(slot, fragments)
            return
        rule = RULES[self._config.merge]
        for fragment in fragments:
            stretch = self._layout.fragments[fragment]
            merged = np.empty_like(self.parameters[stretch])
            for name in self._layout.members[fragment]:
                span = self._layout.spans[name]
                inner = slice(span.start - stretch.start, span.stop - stretch.start)
                updates = [
                    self._sent(learner, span, self.parameters[span] - answer[fragment][inner])
                    for learner, answer in answers.items()
                ]
                merge = weighted_mean if name in self._plain else rule
                merged[inner] = merge(updates, weights)
            self._outer_step(stretch, merged)
        self._note(slot, fragments)

    def _note(self, slot: int, fragments: Sequence[int]) -> None:
        made = self.results.setdefault(slot, {})
        for fragment in fragments:
            made[fragment] = self.parameters[self._layout.fragments[fragment]].copy()

    def _sent(self, learner: int, span: slice, update: Array) -> Array:
        if not self._config.error_feedback:
            return quantized(update, self._config.bits)
        left = self.left_out[learner, span]
        update = update + left
        sent = quantized(update, self._config.bits)
        left[:] = update - sent
        return sent

    def _outer_step(self, stretch: slice, gradient: Array) -> None:
        """SGD with Nesterov momentum: v = m v + g, x = x - rate (g + m v)."""
        momentum = self._config.momentum
        velocity = self.velocity[stretch]
        velocity *= momentum
        velocity += gradient
        self.parameters[stretch] -= self._config.learning_rate * (gradient + momentum * velocity)

    def piece(self, slot: int | None, fragment: int) -> Array:
        """Return a fragment as a slot made it; None: as it was initially."""
        if slot is None:
            return self._initial[self._layout.fragments[fragment]]
        return self.results[slot][fragment]

    def keep(self) -> dict[str, Array]:
        """Return a copy of what a save holds of it."""
        return {
            "parameters": self.parameters.copy(),
            "velocity": self.velocity.copy(),
            "left_out": self.left_out.copy(),
        }

    def go_back(self, kept: Mapping[str, Array]) -> None:
        """Go back to a copy."""
        self.merges += 1  # what is merged is not what it was
        self.parameters[:], self.velocity[:] = kept["parameters"], kept["velocity"]
        self.left_out[:] = kept["left_out"]

    def state(self) -> dict[str, Any]:
        """Return everything that changes."""
        return {
            "parameters": self.parameters,
            "velocity": self.velocity,
            "results": self.results,
            "merges": self.merges,
            "left_out": self.left_out,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a state; ValueError where it is not one of this training."""
        self.parameters = fitting(state["parameters"], self.parameters)
        self.velocity = fitting(state["velocity"], self.velocity)
        self.left_out = fitting(state["left_out"], self.left_out)
        self.results, self.merges = state["results"], state["merges"]
