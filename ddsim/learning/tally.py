"""What a replay has done so far."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from ddsim.learning.config import LearningConfig
from ddsim.learning.job import START
from ddsim.learning.tape import Event, Steps, Waste


@dataclass
class Tally:
    """What has been done so far, counted as the tape goes by.

    Of each fragment, `held` are a learner's tokens when it received it last, `settled` those that
    it had when an answer of its own was merged last; `carried` are those of an answer, and `held`
    then. `saved` are the tokens and steps of a job at its saves.
    """

    held: list[list[float]]
    settled: list[list[float]]
    steps: list[float]
    tokens: list[float]
    merged: float = 0.0
    job_tokens: float = 0.0
    job_steps: int = 0
    saved: dict[int, tuple[float, int]] = field(default_factory=lambda: {START: (0.0, 0)})
    carried: dict[tuple[int, int], dict[int, tuple[float, float]]] = field(default_factory=dict)

    def merge(self, learner: int, fragment: int, slot: int, mixing: float) -> float:
        """Count the tokens that nobody has counted; none where the fragment was received since."""
        now, then = self.carried[slot, learner][fragment]
        held, settled = self.held[learner][fragment], self.settled[learner][fragment]
        if held != then or now <= settled:
            return 0.0
        self.settled[learner][fragment] = now
        kept = mixing * max(0.0, held - settled)
        return now - max(held, settled) + kept


def kept_tokens(tape: Iterable[Event], config: LearningConfig) -> float:
    """Return the tokens of all learners that a tape ends with: what a `Tally` has at its end.

    Infinite where there are none.
    """
    total = 0.0
    for event in tape:
        if isinstance(event, Steps):
            total += event.steps * event.share * config.tokens[event.learner]
        elif isinstance(event, Waste):
            total -= event.full * config.tokens[event.learner]
    return total if total > 0.0 else float("inf")
