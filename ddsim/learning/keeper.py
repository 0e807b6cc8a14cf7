"""The syncer's part of a replay: global fragments, the outer optimizer, results of slots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ddsim.learning.config import OuterConfig
from ddsim.learning.feedback import Feedback
from ddsim.learning.layout import Layout
from ddsim.learning.merging import RULES, weighted_mean
from ddsim.learning.packing import fitting
from ddsim.learning.problem import Array
from ddsim.world.streams import stream

NO_SLOT = -1


class Keeper:
    """Holds the global parameters and merges what learners answer into them.

    `results` has the fragments that each slot made, until they are let go; `newest` is the slot
    that merged each fragment last, before the first of which there is none. `feedback` keeps what
    outer gradients left out.
    """

    def __init__(
        self,
        config: OuterConfig,
        layout: Layout,
        embeddings: Sequence[str],
        initial: Array,
        learners: int,
        seed: int = 0,
    ) -> None:
        self.parameters = initial.copy()
        self.velocity = np.zeros_like(initial)
        self.results: dict[int, dict[int, Array]] = {}
        self.merges = 0
        self.newest = [NO_SLOT] * len(layout.fragments)
        self.feedback = Feedback(layout, initial, learners) if config.error_feedback else None
        self._seed = seed
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
        progress: float = 0.0,
    ) -> None:
        """Merge fragments of a slot; `answers` has each learner's by fragment.

        The outer gradient of a learner is what the global fragment was before minus what the
        learner has, as it survives quantization. `progress` is the share of the job that is done,
        by which the outer rate goes. Without an answer nothing changes.
        """
        self.merges += 1
        for fragment in fragments:
            self.newest[fragment] = max(self.newest[fragment], slot)
            if self.feedback is not None:
                self.feedback.anchor(fragment, self.parameters)
        if not answers:
            self._note(slot, fragments)
            return
        config = self._config
        rng = {
            learner: stream(self._seed, "learning", "rounding", slot, learner)
            for learner in (answers if config.coding.draws else ())
        }
        for fragment in fragments:
            stretch = self._layout.fragments[fragment]
            merged = np.empty_like(self.parameters[stretch])
            for name in self._layout.members[fragment]:
                span = self._layout.spans[name]
                inner = slice(span.start - stretch.start, span.stop - stretch.start)
                updates = [
                    self._sent(
                        slot,
                        learner,
                        span,
                        self.parameters[span] - answer[fragment][inner],
                        rng.get(learner),
                    )
                    for learner, answer in answers.items()
                ]
                merge = weighted_mean if name in self._plain else RULES[config.merge]
                merged[inner] = merge(updates, weights)
            self._outer_step(stretch, merged, config.schedule.at(progress))
        self._note(slot, fragments)

    def is_late(self, slot: int, fragments: Sequence[int]) -> bool:
        """Whether an answer to a slot comes after its merge."""
        return any(slot <= self.newest[fragment] for fragment in fragments)

    def _note(self, slot: int, fragments: Sequence[int]) -> None:
        made = self.results.setdefault(slot, {})
        for fragment in fragments:
            made[fragment] = self.parameters[self._layout.fragments[fragment]].copy()

    def _sent(
        self, slot: int, learner: int, span: slice, update: Array, rng: np.random.Generator | None
    ) -> Array:
        if self.feedback is None:
            return self._config.coding.sent(update, rng)
        update = self.feedback.added(slot, learner, span, update)
        sent = self._config.coding.sent(update, rng)
        self.feedback.note(slot, learner, span, update - sent)
        return sent

    def _outer_step(self, stretch: slice, gradient: Array, rate: float) -> None:
        """SGD with Nesterov momentum: v = m v + g, x = x - rate (g + m v)."""
        momentum = self._config.momentum
        velocity = self.velocity[stretch]
        velocity *= momentum
        velocity += gradient
        self.parameters[stretch] -= rate * (gradient + momentum * velocity)

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
        }

    def go_back(self, kept: Mapping[str, Array]) -> None:
        """Go back to a copy."""
        self.merges += 1  # what is merged is not what it was
        self.parameters[:], self.velocity[:] = kept["parameters"], kept["velocity"]

    def state(self) -> dict[str, Any]:
        """Return everything that changes."""
        return {
            "parameters": self.parameters,
            "velocity": self.velocity,
            "results": self.results,
            "merges": self.merges,
            "newest": self.newest,
            "feedback": None if self.feedback is None else self.feedback.state(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a state; ValueError where it is not one of this training."""
        self.parameters = fitting(state["parameters"], self.parameters)
        self.velocity = fitting(state["velocity"], self.velocity)
        self.results, self.merges = state["results"], state["merges"]
        self.newest = list(state["newest"])
        if self.feedback is not None:
            self.feedback.restore(state["feedback"])
