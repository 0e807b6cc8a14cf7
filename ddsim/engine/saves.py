"""When a job saves its state, and what a save costs."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, inf, isfinite
from typing import TYPE_CHECKING

from ddsim.theory import checkpointing

if TYPE_CHECKING:
    from ddsim.scenario import Scenario

EDGE = 1e-9


@dataclass(frozen=True, slots=True)
class Saves:
    """A save of `length` seconds at the first step boundary `interval` seconds of running after
    the last, or, with `steps`, after that many steps. Neither: no saves.
    """

    interval: float = inf
    steps: int | None = None
    length: float = 0.0

    @property
    def none(self) -> bool:
        """Whether nothing is ever saved."""
        return self.steps is None and self.interval == inf

    def steps_left(self, step: float, run: float, taken: int) -> float:
        """Steps of `step` seconds until a save is due, `run` seconds and `taken` steps after the
        last; inf where none is.
        """
        if self.steps is not None:
            return max(1, self.steps - taken)
        if not isfinite(self.interval):
            return inf
        if step <= 0.0:
            return inf
        return max(1, ceil((self.interval * (1.0 - EDGE) - run) / step))

    def due(self, run: float, taken: int) -> bool:
        """Whether a save is due after `run` seconds and `taken` steps since the last."""
        if self.steps is not None:
            return taken >= self.steps
        return run >= self.interval * (1.0 - EDGE)


def saves_of(scenario: Scenario, job_mtbi: float) -> Saves:
    """Return the saves of the scenario's checkpoint policy for a job that is struck every
    `job_mtbi` seconds on average.
    """
    checkpoint = scenario.checkpoint
    length = checkpoint.save
    if checkpoint.policy == "none":
        return Saves()
    if checkpoint.policy == "in_memory":
        return Saves(steps=1, length=length)
    if checkpoint.policy == "fixed":
        interval = checkpoint.interval
        if interval is None:
            return Saves()
        if interval.steps is not None:
            return Saves(steps=interval.steps, length=length)
        return Saves(interval=inf if interval.seconds is None else interval.seconds, length=length)
    if job_mtbi == inf:
        return Saves()
    rules = {
        "young": checkpointing.young_interval,
        "daly": checkpointing.daly_interval,
        "optimal": checkpointing.optimal_interval,
    }
    return Saves(interval=rules[checkpoint.policy](job_mtbi, length), length=length)
