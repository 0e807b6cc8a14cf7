"""Learners on units that take their steps in legs, when their method says so."""

from __future__ import annotations

from abc import abstractmethod
from itertools import accumulate
from typing import TYPE_CHECKING

from ddsim.engine.learner import Learner
from ddsim.methods.units import UnitsMethod

if TYPE_CHECKING:
    from ddsim.engine.body import ElasticBody
    from ddsim.world.pace import Pace


class SteppingMethod(UnitsMethod):
    """Learners that know of no protocol: each takes the steps that it is told to, and says when.

    They keep no tape, so that no model can be trained on what they do.
    """

    taped = False

    learners: list[Learner]

    def make_learner(self, body: ElasticBody, pace: Pace) -> Learner:
        """Return the learner of a unit, which tells what becomes of its steps."""
        run = self.run
        told = (self.leg_over, self.ready, self.live_changed)
        return Learner(body, pace, run.tokens_per_chip, (run.running, run.computing), *told)

    def take_steps(self, learner: Learner, count: int) -> None:
        """Let a learner, at a step boundary, take `count` steps; `leg_over` says when it has."""
        data = [learner.data(ahead) for ahead in range(count)] if learner.pace.loads else []
        learner.start(list(accumulate(learner.computes(count))), data)

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
