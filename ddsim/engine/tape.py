"""The tape of a run: what happened to every learner's parameters, in the order of time.

A run writes it where something is to be trained on its schedule; times are seconds, learners
their units' indices, fragments 0..P-1.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple


class Steps(NamedTuple):
    """A learner completed that many local steps with `share` of its unit's chips up."""

    time: float
    learner: int
    steps: int
    share: float


class JobSteps(NamedTuple):
    """All units of a lock-step job took that many steps, each with its share of its chips up.

    The first began at `begun`, the last ended at `time`; all are equally long. After every `run`
    of them, if that is not 0, they paused for a save of `pause`, but not after the last.
    """

    time: float
    steps: int
    shares: tuple[float, ...]
    begun: float
    run: int = 0
    pause: float = 0.0

    def ends(self) -> Iterator[float]:
        """Yield when each of the steps ended."""
        pauses = (self.steps - 1) // self.run if self.run else 0
        each = (self.time - self.begun - pauses * self.pause) / max(1, self.steps)
        for index in range(self.steps):
            before = index // self.run if self.run else 0
            yield self.begun + (index + 1) * each + before * self.pause


class Answer(NamedTuple):
    """A learner handed its parameters of these fragments to a slot, round or step.

    One to a slot that has closed is in no merge: it came too late.
    """

    time: float
    learner: int
    slot: int
    fragments: tuple[int, ...]


class Merge(NamedTuple):
    """The answers of these learners to a slot were merged, with these weights."""

    time: float
    slot: int
    fragments: tuple[int, ...]
    learners: tuple[int, ...]
    weights: tuple[float, ...]


class Receive(NamedTuple):
    """A learner took in what a slot's merge made of its fragments."""

    time: float
    learner: int
    slot: int


class Fetch(NamedTuple):
    """A learner that had lost its hardware began to copy the moments that `peer` then had."""

    time: float
    learner: int
    peer: int


class Rejoin(NamedTuple):
    """A learner that had lost its hardware took in all that had arrived up to slot `arrived`.

    Its optimizer moments are those of `peer`, as old as its last `Fetch` or, where that took no
    time, as they are now; without a peer they begin anew. A learner whose round was discarded is
    its own peer: its moments and batches are again those of the last step that stands, or, where
    it has lost its hardware since, those with which it came back.
    """

    time: float
    learner: int
    peer: int | None
    arrived: int


class Waste(NamedTuple):
    """The last `steps` of a learner's steps have come to nothing, `full` of them at full strength.

    They count no more; where its parameters go back to, the learner's `Rejoin` says.
    """

    time: float
    learner: int
    steps: int
    full: float


class Save(NamedTuple):
    """A lock-step job saved its state."""

    time: float


class Rollback(NamedTuple):
    """A lock-step job went back to its last save, or to its beginning without one.

    That is the last before so many `saves` that were incomplete, or corrupt.
    """

    time: float
    saves: int = 0


class Corrupt(NamedTuple):
    """A learner's parameters, or those of the job that it is part of, are wrong from now on.

    Where that is `screened`, no merge takes in what it answers until it has begun anew.
    """

    time: float
    learner: int
    screened: int


class Kept(NamedTuple):
    """A learner saved its state and with it that of the syncer; its saves are numbered from 1."""

    time: float
    learner: int


class GoBack(NamedTuple):
    """Learners went back, each to one of its saves, and the syncer to what was in `source`.

    `source` is a learner and one of its saves; save 0 is the beginning.
    """

    time: float
    learners: tuple[int, ...]
    saves: tuple[int, ...]
    source: tuple[int, int]


Event = (
    Steps
    | JobSteps
    | Answer
    | Merge
    | Receive
    | Fetch
    | Rejoin
    | Waste
    | Save
    | Rollback
    | Corrupt
    | Kept
    | GoBack
)
Tape = list[Event]
