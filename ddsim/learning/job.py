"""A lock-step job in a replay: one model, trained on the batches of all units together."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

import numpy as np

from ddsim.learning.config import LearningConfig
from ddsim.learning.crew import Wrong, batch_size, batch_streams, shards
from ddsim.learning.gradients import Gradients, draw
from ddsim.learning.inner import Inner
from ddsim.learning.layout import Layout
from ddsim.learning.packing import fitting
from ddsim.learning.problem import Array, Problem

START = -1
"""Number of the copy of the beginning."""


class LockstepModel:
    """Parameters and moments of a data-parallel job, and the copies that it can go back to.

    A rollback takes the streams of batches back as well, so that lost steps are taken again on
    the same examples. `saves` has the copies by their numbers; `wrong` makes steps wrong where the
    state is corrupt. `total` are the steps that the tape keeps, over which the learning-rate
    schedule is stretched.
    """

    def __init__(
        self,
        config: LearningConfig,
        problem: Problem,
        layout: Layout,
        inner: Inner,
        initial: Array,
        total: float,
        seed: int,
    ) -> None:
        self.parameters = initial.copy()
        self.moments: Array = np.zeros((inner.slots, layout.size), initial.dtype)
        self.steps = 0
        self._done = 0.0
        self._streams = batch_streams(config, seed)
        self._shards = shards(config)
        self._config = config
        self._problem = problem
        self._inner = inner
        self._total = total
        self._gradients = Gradients(problem, layout)
        self.wrong: Wrong | None = None
        self.saves: dict[int, dict[str, Any]] = {}
        self.save(START)

    def step(self, shares: Sequence[float]) -> None:
        """Take one step: the mean gradient over the examples of all units that are up."""
        config = self._config
        units = [index for index, share in enumerate(shares) if share > 0.0]
        if not units:
            return
        sizes = [batch_size(config.batches[index], shares[index]) for index in units]
        batches = [
            draw(self._problem, self._streams[index], size, self._shards[index], self.steps + 1)
            for index, size in zip(units, sizes, strict=True)
        ]
        self.steps += 1
        rows = np.broadcast_to(self.parameters, (len(units), len(self.parameters)))
        each = self._gradients.of(rows, batches, units, [self.steps] * len(units))
        total = sum(sizes)
        gradient = each[0] * (sizes[0] / total)
        for size, other in zip(sizes[1:], each[1:], strict=True):
            gradient += other * (size / total)
        done = step_tokens(config, shares)
        rate = config.schedule.at((self._done + 0.5 * done) / self._total)
        self._done += done
        self._inner.step(self.parameters, gradient, self.moments, self.steps, rate)
        if self.wrong is not None:
            self.wrong.spoil(self.parameters)

    def save(self, number: int) -> None:
        """Keep a copy."""
        self.saves[number] = deepcopy(self._live())

    def roll_back(self, number: int) -> None:
        """Go back to a copy."""
        self._go_to(deepcopy(self.saves[number]))

    def _live(self) -> dict[str, Any]:
        return {
            "parameters": self.parameters,
            "moments": self.moments,
            "steps": self.steps,
            "done": self._done,
            "streams": [item.bit_generator.state for item in self._streams],
            "wrong": None if self.wrong is None else self.wrong.rng.bit_generator.state,
        }

    def _go_to(self, state: dict[str, Any]) -> None:
        self.parameters, self.moments = state["parameters"], state["moments"]
        self.steps, self._done = state["steps"], state["done"]
        for item, saved in zip(self._streams, state["streams"], strict=True):
            item.bit_generator.state = saved
        self.wrong = None
        if state["wrong"] is not None:
            self.wrong = Wrong(self._config.corruption, 0, 0)
            self.wrong.rng.bit_generator.state = state["wrong"]

    def state(self) -> dict[str, Any]:
        """Return everything that changes."""
        return {"live": self._live(), "saves": self.saves}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a state; ValueError where it is not one of this training."""
        for copy in (state["live"], *state["saves"].values()):
            fitting(copy["parameters"], self.parameters)
            fitting(copy["moments"], self.moments)
        self._go_to(state["live"])
        self.saves = state["saves"]


def step_tokens(config: LearningConfig, shares: Sequence[float]) -> float:
    """Tokens of one step of a job whose units have these shares of their chips up."""
    return sum(tokens * share for tokens, share in zip(config.tokens, shares, strict=True))
