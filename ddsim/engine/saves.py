"""When a job saves its state, and what a save costs."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING

from ddsim.theory import checkpointing
from ddsim.world.causes import failure_rate
from ddsim.world.distributions.base import duration_text
from ddsim.world.instants import NEVER, Ticks, seconds, ticks
from ddsim.world.stalls import scattered

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ddsim.scenario import Scenario
    from ddsim.world.cluster import Cluster


@dataclass(frozen=True, slots=True)
class Saves:
    """A save at the first step boundary after `interval` of running since the last, or, with
    `steps`, after that many steps. Neither: no saves. All times are ticks.

    It holds the job up for `length`. Its copy is complete then, or, where it overlaps with running,
    `flight` after it began; until then no other save begins. With `last_only` a save takes the
    place of the one before it. `draw` says how long the next save holds the job up, where those
    differ; `length` is their mean then.
    """

    interval: Ticks = NEVER
    steps: int | None = None
    length: Ticks = 0
    flight: Ticks = 0
    last_only: bool = False
    draw: Callable[[], Ticks] | None = None

    def next_length(self) -> Ticks:
        """How long the next save holds the job up."""
        return self.length if self.draw is None else self.draw()

    @property
    def none(self) -> bool:
        """Whether nothing is ever saved."""
        return self.steps is None and self.interval == NEVER

    @property
    def free(self) -> bool:
        """Whether there is a save after every step that costs nothing."""
        return self.steps == 1 and self.length == 0

    @property
    def words(self) -> str:
        """When it saves: `every 23.4 min of running`."""
        if self.none:
            return "never"
        if self.steps is not None:
            return "after every step" if self.steps == 1 else f"after every {self.steps} steps"
        if self.interval == 0:
            return "one after the other"
        return f"every {duration_text(seconds(self.interval))} of running"

    def steps_left(self, step: Ticks, run: Ticks, taken: int) -> int | None:
        """Steps of length `step` until a save is due, `run` and `taken` steps after the last; None
        where none is.
        """
        if self.none:
            return None
        after = self.flight if self.steps is not None else max(self.interval, self.flight)
        left = -((run - after) // step)
        if self.steps is not None:
            left = max(left, self.steps - taken)
        return max(1, left)

    def first_due(self, ends: Sequence[Ticks], at: Ticks, run: Ticks, taken: int) -> Ticks | None:
        """Return the first of some ends of steps at which a save is due, None where none is.

        The compute stands at `at`, `run` and `taken` steps after the last save.
        """
        if self.steps is not None:
            index = max(1, self.steps - taken) - 1
        else:
            index = bisect_left(ends, at + self.interval - run)
        return ends[index] if index < len(ends) else None

    def due(self, run: Ticks, taken: int) -> bool:
        """Whether a save is due after running for `run` and `taken` steps since the last."""
        if run < self.flight:
            return False
        if self.steps is not None:
            return taken >= self.steps
        return run >= self.interval


def saves_on(scenario: Scenario, cluster: Cluster, replication: int = 0) -> Saves:
    """Return the saves of the scenario's checkpoint policy, by how often the cluster is struck."""
    rate = failure_rate(scenario, cluster)
    return saves_of(scenario, 1.0 / rate if rate > 0.0 else inf, replication)


def saves_of(scenario: Scenario, job_mtbi: float, replication: int) -> Saves:
    """Return the saves of the scenario's checkpoint policy for a job that is struck every
    `job_mtbi` seconds on average.
    """
    saves = _saves_of(scenario, job_mtbi)
    spread = scenario.checkpoint.spread
    if saves.none or not saves.length or not spread:
        return saves
    draw = scattered(saves.length, spread, scenario.seed, ("save", replication))
    return replace(saves, draw=draw)


def _saves_of(scenario: Scenario, job_mtbi: float) -> Saves:
    checkpoint = scenario.checkpoint
    length, flight = ticks(checkpoint.save), 0
    if checkpoint.asynchronous:
        length = ticks(checkpoint.stall)
        flight = max(length, ticks(checkpoint.save))
    if checkpoint.policy == "none":
        return Saves()
    if checkpoint.policy == "in_memory":
        return Saves(steps=1, length=length, flight=flight, last_only=True)
    if checkpoint.policy == "fixed":
        interval = checkpoint.interval
        if interval is None:
            return Saves()
        if interval.steps is not None:
            return Saves(steps=interval.steps, length=length, flight=flight)
        seconds = inf if interval.seconds is None else interval.seconds
        return Saves(interval=ticks(seconds), length=length, flight=flight)
    if job_mtbi == inf:
        return Saves()
    rules = {
        "young": checkpointing.young_interval,
        "daly": checkpointing.daly_interval,
        "optimal": checkpointing.optimal_interval,
    }
    if length == 0:  # nothing to weigh: one save after the other
        return Saves(interval=flight, flight=flight)
    holds = checkpoint.stall if checkpoint.asynchronous else checkpoint.save
    apart = ticks(rules[checkpoint.policy](job_mtbi, holds))
    return Saves(interval=apart, length=length, flight=flight)
