"""What a replay has done so far."""

from __future__ import annotations

from dataclasses import dataclass, field

from ddsim.learning.job import START


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
