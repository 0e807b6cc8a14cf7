"""Error feedback: what learners have not been able to send yet, and send with the next."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ddsim.learning.layout import Layout
from ddsim.learning.packing import fitting
from ddsim.learning.problem import Array

Answered = tuple[int, int]
"""A slot, and a learner that answered it."""


class Feedback:
    """What each learner keeps back, beside its parameters, in memory that is lost with its unit.

    That is what quantization left out of its outer gradients, and the outer gradients that no
    merge took, as they came too late: `left`, a row for each learner. `orphans` are answers that a
    learner had given before it lost its hardware: of those it knows nothing.
    """

    def __init__(self, layout: Layout, initial: Array, learners: int) -> None:
        self.left: Array = np.zeros((learners, layout.size), initial.dtype)
        self.orphans: list[Answered] = []
        self._anchors = initial.copy()
        self._layout = layout

    def anchor(self, fragment: int, parameters: Array) -> None:
        """Note a fragment as it is before it is merged."""
        stretch = self._layout.fragments[fragment]
        self._anchors[stretch] = parameters[stretch]

    def added(self, slot: int, learner: int, span: slice, update: Array) -> Array:
        """Return what is to be sent of a tensor: an update with what was left out before."""
        if (slot, learner) in self.orphans:
            return update
        total: Array = update + self.left[learner, span]
        return total

    def note(self, slot: int, learner: int, span: slice, rest: Array) -> None:
        """Keep what is left of a tensor now that it was sent."""
        if (slot, learner) not in self.orphans:
            self.left[learner, span] = rest

    def dropped(self, slot: int, learner: int, answer: Mapping[int, Array]) -> None:
        """Keep all of an answer, by fragment, that no merge takes."""
        if (slot, learner) in self.orphans:
            return
        for fragment, values in answer.items():
            stretch = self._layout.fragments[fragment]
            self.left[learner, stretch] += self._anchors[stretch] - values

    def lost(self, learner: int, pending: Iterable[Answered]) -> None:
        """Begin anew for a learner that lost its hardware; of `pending` answers it has nothing."""
        self.left[learner] = 0.0
        self.orphans += [key for key in pending if key[1] == learner and key not in self.orphans]

    def settled(self, slot: int, learner: int) -> None:
        """Forget an answer that has been merged or dropped, or is given anew."""
        if (slot, learner) in self.orphans:
            self.orphans.remove((slot, learner))

    def state(self) -> dict[str, Any]:
        """Return everything that changes."""
        return {"left": self.left, "anchors": self._anchors, "orphans": self.orphans}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from a state; ValueError where it is not one of this training."""
        self.left = fitting(state["left"], self.left)
        self._anchors = fitting(state["anchors"], self._anchors)
        self.orphans = list(state["orphans"])
