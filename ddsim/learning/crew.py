"""The learners of a replay: parameters, moments, and what each has still to do.

A learner's steps are put off until something needs their result; then all learners go through
what they have put off side by side, which is faster and changes no bit of it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ddsim.learning.config import LearningConfig
from ddsim.learning.gradients import Gradients, draw
from ddsim.learning.inner import Inner
from ddsim.learning.layout import Layout
from ddsim.learning.packing import fitting
from ddsim.learning.problem import Array, Problem, Shard
from ddsim.world.streams import stream

Piece = tuple[int, Array]
"""A fragment and its values."""


def batch_streams(config: LearningConfig, seed: int) -> list[np.random.Generator]:
    """Return each learner's stream of batches."""
    return [stream(seed, "learning", "batches", index) for index in range(config.learners)]


def shards(config: LearningConfig) -> list[Shard]:
    """Return each learner's part of the data."""
    return [Shard(index, config.learners, config.skewed) for index in range(config.learners)]


def batch_size(full: int, share: float) -> int:
    """Examples of a step with a share of the chips up: their share, at least one."""
    return max(1, round(full * share))


@dataclass
class Stint:
    """Steps that are still to be taken: the `left` last of `count`, with `share` of the chips up.

    The job gets from `begin` to `end` of its progress over all of them.
    """

    count: int
    left: int
    share: float
    begin: float
    end: float

    @property
    def progress(self) -> float:
        """How far the job is in the middle of the next step."""
        part = (self.count - self.left + 0.5) / self.count
        return self.begin + part * (self.end - self.begin)


class Wrong:
    """What silent corruption adds to parameters, step after step.

    `size` is the standard deviation of the error, as a share of their root mean square.
    """

    def __init__(self, size: float, seed: int, which: int) -> None:
        self._size = size
        self.rng = stream(seed, "learning", "corruption", which)

    def spoil(self, parameters: Array) -> None:
        """Make parameters wrong."""
        scale = self._size * float(np.sqrt(np.mean(parameters * parameters, dtype=np.float64)))
        error = self.rng.standard_normal(parameters.shape, np.float32)
        parameters += np.float32(scale) * error


class Crew:
    """Learners that step on their own, each with its optimizer's moments.

    `marks` are after how many steps each learner keeps what it goes back to when its round is
    discarded, in `marked`: moments, their age and the stream of batches. `taken` counts steps,
    whether they came to nothing or not. `answers` holds what was handed to the syncer's slots,
    `wrong` what makes the steps of those wrong that are corrupt.
    """

    def __init__(
        self,
        config: LearningConfig,
        problem: Problem,
        layout: Layout,
        inner: Inner,
        initial: Array,
        marks: Sequence[Collection[int]],
        seed: int,
    ) -> None:
        count = config.learners
        self.parameters: Array = np.repeat(initial[None], count, axis=0)
        self.moments: Array = np.zeros((count, inner.slots, layout.size), initial.dtype)
        self.ages = [0] * count
        self.fetched: dict[int, tuple[Array, int]] = {}
        self.steps = [0] * count
        self.answers: dict[tuple[int, int], dict[int, Array]] = {}
        self.wrong: dict[int, Wrong] = {}
        self.taken = [0] * count
        self.marked: dict[tuple[int, int], dict[str, Any]] = {}
        self._queues: list[deque[Any]] = [deque() for _ in range(count)]
        self._streams = batch_streams(config, seed)
        self._config = config
        self._problem = problem
        self._layout = layout
        self._inner = inner
        self._marks = marks
        self._shards = shards(config)
        self._gradients = Gradients(problem, layout)
        for learner in range(count):
            self._mark(learner)

    # What a learner does, put off.

    def step(self, learner: int, count: int, share: float, progress: tuple[float, float]) -> None:
        """Take local steps while the job gets from one share of its work to another."""
        self._queues[learner].append(Stint(count, count, share, *progress))

    def answer(self, learner: int, slot: int, fragments: Sequence[int]) -> None:
        """Keep fragments as they are now for a slot."""
        self._queues[learner].append((slot, tuple(fragments)))

    def receive(self, learner: int, pieces: Sequence[Piece]) -> None:
        """Overwrite fragments, but for the share that it keeps of its own."""
        self._queues[learner].append(tuple(pieces))

    # And at once.

    def rejoin(self, learner: int, peer: int | None, pieces: Sequence[Piece]) -> None:
        """Begin anew with these fragments and a peer's moments, those fetched before if any."""
        self.settle()
        self.wrong.pop(learner, None)
        self._put(learner, pieces)
        fetched = self.fetched.pop(learner, None)
        if peer is None:
            self.moments[learner] = 0.0
            self.ages[learner] = 0
        elif fetched is not None:
            self.moments[learner], self.ages[learner] = fetched
        else:
            self.moments[learner] = self.moments[peer]
            self.ages[learner] = self.ages[peer]
        self._mark(learner)

    def discard(self, learner: int, mark: int, pieces: Sequence[Piece], *, last: bool) -> None:
        """Take up these fragments, with all else as it was after so many steps.

        `last` says that nobody goes back to that any more.
        """
        self.settle()
        self._put(learner, pieces)
        self.fetched.pop(learner, None)
        then = self.marked[learner, mark]
        if last:
            del self.marked[learner, mark]
        self.moments[learner], self.ages[learner] = then["moments"], then["age"]
        self._streams[learner].bit_generator.state = then["stream"]

    def _mark(self, learner: int) -> None:
        """Keep what a learner goes back to, if it is to be kept now."""
        if self.taken[learner] in self._marks[learner]:
            self.marked[learner, self.taken[learner]] = {
                "moments": self.moments[learner].copy(),
                "age": self.ages[learner],
                "stream": self._streams[learner].bit_generator.state,
            }

    def fetch(self, learner: int, peer: int) -> None:
        """Keep a peer's moments as they are now until the learner rejoins."""
        self.settle()
        self.fetched[learner] = self.moments[peer].copy(), self.ages[peer]

    def corrupt(self, learner: int, wrong: Wrong) -> None:
        """Let all of a learner's steps be wrong from now on."""
        self.settle()
        self.wrong[learner] = wrong

    def keep(self, learner: int) -> dict[str, Any]:
        """Return a copy of a learner's state, to which it can go back."""
        self.settle()
        return {
            "parameters": self.parameters[learner].copy(),
            "moments": self.moments[learner].copy(),
            "age": self.ages[learner],
            "steps": self.steps[learner],
            "stream": self._streams[learner].bit_generator.state,
        }

    def go_back(self, learner: int, kept: Mapping[str, Any]) -> None:
        """Go back to a copy, and take the steps since on the same examples again."""
        self.settle()
        self.wrong.pop(learner, None)
        self.parameters[learner], self.moments[learner] = kept["parameters"], kept["moments"]
        self.ages[learner], self.steps[learner] = kept["age"], kept["steps"]
        self._streams[learner].bit_generator.state = kept["stream"]

    def settle(self) -> None:
        """Do everything that was put off."""
        queues = self._queues
        while True:
            ready = [index for index in range(len(queues)) if self._to_step(index)]
            if not ready:
                return
            self._step(ready)

    def _to_step(self, learner: int) -> bool:
        """Do what comes before the learner's next step; return whether there is one."""
        queue = self._queues[learner]
        while queue:
            head = queue[0]
            if isinstance(head, Stint):
                return True
            queue.popleft()
            if head and isinstance(head[0], int):
                slot, fragments = head
                row = self.parameters[learner]
                self.answers[slot, learner] = {
                    p: row[self._layout.fragments[p]].copy() for p in fragments
                }
            else:
                self._put(learner, head, self._config.mixing)
        return False

    def _put(self, learner: int, pieces: Sequence[Piece], kept: float = 0.0) -> None:
        for fragment, values in pieces:
            place = learner, self._layout.fragments[fragment]
            if kept > 0.0:
                values = kept * self.parameters[place] + (1.0 - kept) * values
            self.parameters[place] = values

    def _step(self, learners: list[int]) -> None:
        config = self._config
        batches = []
        rates = []
        for index in learners:
            stint = self._queues[index][0]
            size = batch_size(config.batches[index], stint.share)
            shard, step = self._shards[index], self.steps[index] + 1
            batches.append(draw(self._problem, self._streams[index], size, shard, step))
            rates.append(config.schedule.at(stint.progress))
            self.steps[index] += 1
            self.taken[index] += 1
            stint.left -= 1
            if not stint.left:
                self._queues[index].popleft()
        alone = len(learners) == len(self.steps)
        rows = self.parameters if alone else self.parameters[learners]
        steps = [self.steps[index] for index in learners]
        gradients = self._gradients.of(rows, batches, learners, steps)
        for index, gradient, rate in zip(learners, gradients, rates, strict=True):
            self.ages[index] += 1
            self._inner.step(
                self.parameters[index], gradient, self.moments[index], self.ages[index], rate
            )
            if index in self.wrong:
                self.wrong[index].spoil(self.parameters[index])
            self._mark(index)

    # To be resumed.

    def state(self) -> dict[str, Any]:
        """Return everything that changes; what was put off is done first."""
        self.settle()
        return {
            "parameters": self.parameters,
            "moments": self.moments,
            "ages": self.ages,
            "fetched": self.fetched,
            "steps": self.steps,
            "answers": self.answers,
            "taken": self.taken,
            "marked": self.marked,
            "streams": [item.bit_generator.state for item in self._streams],
            "wrong": {who: wrong.rng.bit_generator.state for who, wrong in self.wrong.items()},
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a state; ValueError where it is not one of this training."""
        self.parameters = fitting(state["parameters"], self.parameters)
        self.moments = fitting(state["moments"], self.moments)
        self.ages, self.steps = state["ages"], state["steps"]
        self.fetched = state["fetched"]
        self.answers = state["answers"]
        self.taken, self.marked = state["taken"], state["marked"]
        for item, saved in zip(self._streams, state["streams"], strict=True):
            item.bit_generator.state = saved
        for who, saved in state["wrong"].items():
            self.wrong[who] = Wrong(self._config.corruption, 0, 0)
            self.wrong[who].rng.bit_generator.state = saved
