"""What a barrier does about units without hardware: who is there, and what is taken back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ddsim.engine.kept import Unsaved
from ddsim.engine.reduction import Pipe
from ddsim.world.instants import Ticks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ddsim.engine.learner import Learner
    from ddsim.engine.losses import Blame
    from ddsim.engine.run import Run

Members = tuple[int, ...]


def between(earlier: Unsaved, later: Unsaved) -> Unsaved:
    """What was done from one state of a learner's progress to a later one, never negative."""
    return Unsaved(
        [max(0.0, later.work[0] - earlier.work[0])],
        max(0, later.steps - earlier.steps),
        max(0.0, later.tokens - earlier.tokens),
        max(0, later.compute - earlier.compute),
    )


def without(progress: Unsaved, lost: Unsaved) -> Unsaved:
    """A state of progress, some of which has come to nothing."""
    return Unsaved(
        [progress.work[0] - lost.work[0]],
        progress.steps - lost.steps,
        progress.tokens - lost.tokens,
        progress.compute - lost.compute,
    )


def plus(progress: Unsaved, more: Unsaved) -> Unsaved:
    """A state of progress, and some more."""
    return Unsaved(
        [progress.work[0] + more.work[0]],
        progress.steps + more.steps,
        progress.tokens + more.tokens,
        progress.compute + more.compute,
    )


def at_most(progress: Unsaved, limit: Unsaved) -> Unsaved:
    """A state of progress that a restored save may have gone behind."""
    return Unsaved(
        [min(progress.work[0], limit.work[0])],
        min(progress.steps, limit.steps),
        min(progress.tokens, limit.tokens),
        min(progress.compute, limit.compute),
    )


def there(learners: Sequence[Learner]) -> Members:
    """Return the units that have hardware."""
    return tuple(learner.index for learner in learners if not learner.body.lost)


def blame_of(learners: Sequence[Learner]) -> Blame:
    """Return what took the first unit without hardware, on which a discarded round is blamed."""
    return next(learner.body.blame for learner in learners if learner.body.lost)


class Pipes:
    """The pipe among all units, and those among some of them: one queue, whoever takes part."""

    def __init__(self, run: Run, count: int) -> None:
        self.all = Pipe(run.ring(range(count)), run.meter)
        self._everyone = tuple(range(count))
        self._run = run
        self._some: dict[Members, Pipe] = {}

    def among(self, members: Members) -> Pipe:
        """Return the pipe of a ring of these units, free when the queue is."""
        if not self._some and members == self._everyone:
            return self.all
        pipe = self.all
        if members != self._everyone:
            if members not in self._some:
                self._some[members] = Pipe(self._run.ring(members), self._run.meter)
            pipe = self._some[members]
        pipe.free = max(self.all.free, *(other.free for other in self._some.values()))
        return pipe

    def close(self, horizon: Ticks) -> None:
        """Record on the meter what was sent by the end of the run."""
        for pipe in (self.all, *self._some.values()):
            pipe.close(horizon)
