"""Learners on units that take their steps in legs, when their method says so."""

from __future__ import annotations

from abc import abstractmethod
from itertools import accumulate
from typing import TYPE_CHECKING

from ddsim.engine.learner import Learner
from ddsim.methods.units import UnitsMethod

if TYPE_CHECKING:
    from ddsim.engine.body import ElasticBody
    from ddsim.engine.run import Run
    from ddsim.world.pace import Pace

AT_ONCE = 100_000
"""Steps that are laid out ahead at most: a leg may be as long as one likes."""


class SteppingMethod(UnitsMethod):
    """Learners that know of no protocol: each takes the steps that it is told to, and says when.

    They keep no tape, so that no model can be trained on what they do. A run that has a goal ends
    with the step that comes to it.
    """

    taped = False

    learners: list[Learner]

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self._ahead: dict[int, int] = {}

    def make_learner(self, body: ElasticBody, pace: Pace) -> Learner:
        """Return the learner of a unit, which tells what becomes of its steps."""
        run = self.run
        told = (self._piece_over, self.ready, self.live_changed)
        return Learner(body, pace, run.tokens_per_chip, (run.running, run.computing), *told)

    def take_steps(self, learner: Learner, count: int) -> None:
        """Let a learner, at a step boundary, take `count` steps; `leg_over` says when it has.

        Raises ValueError for less than one.
        """
        if count < 1:
            raise ValueError(f"take_steps with a count of {count}; at least 1")
        piece = min(count, AT_ONCE) if self.run.goal.endless else 1
        self._ahead[learner.index] = count - piece
        data = [learner.data(ahead) for ahead in range(piece)] if learner.pace.loads else []
        learner.start(list(accumulate(learner.computes(piece))), data)

    def _piece_over(self, learner: Learner) -> None:
        goal = self.run.goal
        if not goal.endless:
            done = sum(other.tokens for other in self.learners)
            if goal.reached(done, *self.merged_so_far()):
                self.run.clock.stop()
        left = self._ahead[learner.index]
        if left:
            self.take_steps(learner, left)
        else:
            self.leg_over(learner)

    def merged_so_far(self) -> tuple[float, float]:
        """Return the steps that were merged and overwritten by now; only their ratio counts.

        That is how far a run has come to `training.loss`. Who does not say is taken to merge all.
        """
        return 1.0, 0.0

    @abstractmethod
    def leg_over(self, learner: Learner) -> None:
        """A learner has taken the steps that it was told to."""

    @abstractmethod
    def ready(self, learner: Learner) -> None:
        """A learner's stall is over and no step is in progress; `lost_hardware` says what it lost.

        Of the steps that it was told to take those that are left have to be asked for anew.
        """

    def live_changed(self, learner: Learner) -> None:
        """Note, for `merge_uptime`, that one more learner can merge, or one fewer."""
        self.merging.change(self.run.clock.now, 1 if learner.body.live else -1)
