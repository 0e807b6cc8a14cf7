"""Whether a job that keeps nothing can come to its goal between two failures."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ddsim.engine.clock import Clock

STRETCHES = 1000
"""Failures that took back everything, from which on the best of them is judged."""
SHARE = 0.5
"""Of the goal: what one of so many stretches has to come to."""


class Vain:
    """Counts what failures took back, all that there was, and ends a run that has no prospect.

    Where failures have no memory, if one stretch of q comes to the goal, one of the square root
    of q comes half way. So of 1,000 stretches that all ended short of half way one
    comes to the goal in a million or so: a run that would come to it within a thousand more is
    ended with a chance of 0.06% at the most, whatever q is. `reason` then says so, in words.
    """

    def __init__(self, clock: Clock, tokens: float) -> None:
        self.reason: str | None = None
        self._clock = clock
        self._goal = tokens
        self._stretches = 0
        self._furthest = 0.0

    def lost(self, tokens: float) -> None:
        """A failure has taken back so many tokens, and nothing is left."""
        if self.reason is not None:
            return
        self._stretches += 1
        self._furthest = max(self._furthest, tokens)
        if self._stretches >= STRETCHES and self._furthest < SHARE * self._goal:
            share = self._furthest / self._goal
            self.reason = (
                f"it keeps nothing: every failure takes back all work, there were "
                f"{self._stretches:,} of them, and the furthest that it came is {share:.2g} of the "
                "goal"
            )
            self._clock.stop()
