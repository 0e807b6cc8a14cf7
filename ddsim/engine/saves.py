"""When a job saves its state, and what a save costs."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from math import ceil, inf, isfinite
from typing import TYPE_CHECKING

from ddsim.theory import checkpointing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ddsim.scenario import Scenario

EDGE = 1e-9


@dataclass(frozen=True, slots=True)
class Saves:
    """A save at the first step boundary `interval` seconds of running after the last, or, with
    `steps`, after that many steps. Neither: no saves.

    It holds the job up for `length` seconds. Its copy is complete then, or, where it overlaps with
    running, `flight` seconds after it began; until then no other save begins.
    """

    interval: float = inf
    steps: int | None = None
    length: float = 0.0
    flight: float = 0.0

    @property
    def none(self) -> bool:
        """Whether nothing is ever saved."""
        return self.steps is None and self.interval == inf

    @property
    def free(self) -> bool:
        """Whether there is a save after every step that costs nothing."""
        return self.steps == 1 and self.length == 0.0

    def steps_left(self, step: float, run: float, taken: int) -> float:
        """Steps of `step` seconds until a save is due, `run` seconds and `taken` steps after the
        last; inf where none is.
        """
        if self.steps is not None:
            left = max(1, self.steps - taken)
            if self.flight > 0.0 and step > 0.0:
                left = max(left, ceil((self.flight * (1.0 - EDGE) - run) / step))
            return left
        if not isfinite(self.interval):
            return inf
        if step <= 0.0:
            return inf
        return max(1, ceil((max(self.interval, self.flight) * (1.0 - EDGE) - run) / step))

    def wait(self, ends: Sequence[float], at: float, run: float, taken: int) -> float:
        """Seconds of compute until the first of some ends of steps at which a save is due.

        The compute stands at `at`, `run` seconds and `taken` steps after the last save; inf where
        none of them is late enough.
        """
        if self.steps is not None:
            index = max(1, self.steps - taken) - 1
        else:
            index = bisect_left(ends, at + self.interval * (1.0 - EDGE) - run)
        return ends[index] - at if index < len(ends) else inf

    def due(self, run: float, taken: int) -> bool:
        """Whether a save is due after `run` seconds and `taken` steps since the last."""
        if run < self.flight * (1.0 - EDGE):
            return False
        if self.steps is not None:
            return taken >= self.steps
        return run >= self.interval * (1.0 - EDGE)


def saves_of(scenario: Scenario, job_mtbi: float) -> Saves:
    """Return the saves of the scenario's checkpoint policy for a job that is struck every
    `job_mtbi` seconds on average.
    """
    checkpoint = scenario.checkpoint
    length, flight = checkpoint.save, 0.0
    if checkpoint.asynchronous:
        length, flight = checkpoint.stall, max(checkpoint.stall, checkpoint.save)
    if checkpoint.policy == "none":
        return Saves()
    if checkpoint.policy == "in_memory":
        return Saves(steps=1, length=length, flight=flight)
    if checkpoint.policy == "fixed":
        interval = checkpoint.interval
        if interval is None:
            return Saves()
        if interval.steps is not None:
            return Saves(steps=interval.steps, length=length, flight=flight)
        seconds = inf if interval.seconds is None else interval.seconds
        return Saves(interval=seconds, length=length, flight=flight)
    if job_mtbi == inf:
        return Saves()
    rules = {
        "young": checkpointing.young_interval,
        "daly": checkpointing.daly_interval,
        "optimal": checkpointing.optimal_interval,
    }
    if length == 0.0:  # nothing to weigh: one save after the other
        return Saves(interval=flight, flight=flight)
    return Saves(interval=rules[checkpoint.policy](job_mtbi, length), length=length, flight=flight)
