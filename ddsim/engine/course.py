"""The course of a leg: at which time how much of its compute was done."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class Course:
    """Stretches of one rate, each with its start, the compute done by then and the rate.

    Compute counts from the beginning of the leg under way; of the step in progress what earlier
    legs did is negative.
    """

    __slots__ = ("_runs",)

    def __init__(self) -> None:
        self._runs: list[tuple[float, float, float]] = []

    def next_leg(self, done: float, *, mid_step: bool) -> None:
        """Begin another leg after one of `done` seconds of compute, within a step or anew."""
        runs = self._runs if mid_step else []
        self._runs = [(time, at - done, rate) for time, at, rate in runs]

    def run(self, now: float, at: float, rate: float) -> None:
        """Go on from now at a rate."""
        self._runs.append((now, at, rate))

    def shift(self, seconds: float) -> None:
        """Let everything have been that much later."""
        self._runs = [(time + seconds, at, rate) for time, at, rate in self._runs]

    def times_of(self, ats: Iterable[float]) -> list[float]:
        """Return when so much of the compute was done, for each."""
        time, begun, rate = self._runs[-1]
        return [time + (at - begun) / rate if begun < at else self.time_of(at) for at in ats]

    def time_of(self, at: float) -> float:
        """Return when so much of the compute was done."""
        for time, begun, rate in reversed(self._runs):
            if begun < at:
                return time + (at - begun) / rate
        return self._runs[0][0]
