"""Learners in lock-step: every synchronization waits for all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ddsim.engine import tape
from ddsim.engine.reduction import Pipe
from ddsim.methods.local import protocol as k
from ddsim.methods.local.absences import Absences
from ddsim.methods.local.leaving import Leaving
from ddsim.methods.local.method import LocalUpdates
from ddsim.world.instants import seconds

if TYPE_CHECKING:
    from ddsim.engine.body import ElasticBody
    from ddsim.engine.copies import Copy
    from ddsim.engine.hardware import Hardware
    from ddsim.engine.run import Outcome
    from ddsim.methods.local.learner import LocalLearner
    from ddsim.world.pace import Pace


class LockstepUpdates(LocalUpdates):
    """What `on_failure` says about units without hardware, and the queue on the links.

    - `wait`: a synchronization waits for them; a unit that was lost keeps its own count.
    - `drop`: once all others have completed a step whose fragments are due and are live, whoever
      has no hardware is left out of its reduction, which is one of fewer. Its steps of the round
      are wasted progress, and it goes on with the next: its own count becomes at least that of the
      step.
    - `rollback`: where somebody has no hardware then, all go back to the end of the step before at
      which fragments were due, to which every unit keeps a copy. All steps since, those ahead of
      the synchronization and the one in progress included, are wasted progress; what had been sent
      arrives as ever.
    - `leave`: as `drop`, but whoever is left out, for its hardware or its link, is not waited for
      when it is back: `Leaving` says who is counted on.

    Where nobody is there nothing happens. A unit in restart has hardware, and is waited for, but
    under `leave`.
    """

    def start(self) -> Hardware:
        """Set learners and slots up, all at the beginning of their first step."""
        run = self.run
        rule = run.scenario.training.on_failure
        self.absences: Absences | None = None
        if rule == "leave":
            self.absences = Leaving(self)
        elif rule != "wait":
            self.absences = Absences(self, roll_back=rule == "rollback")
        self.pipe = Pipe(run.ring(range(len(run.cluster.units))), run.meter)
        hardware = self.drive(self.pipe.ring)
        self.driver.queue = self.pipe
        return hardware

    def tape_fetch(self, copy: Copy) -> None:
        """A copy begins: what has been sent so far comes before it."""
        self.driver.tell_sent()
        super().tape_fetch(copy)

    def catching_up(self) -> None:
        """Where others go on without those that have no hardware, see who has any."""
        super().catching_up()
        if self.absences is not None:
            self.absences.look()

    def make_learner(self, body: ElasticBody, pace: Pace) -> LocalLearner:
        """Return the learner of a unit; who goes on without it is told that it is lost."""
        learner = super().make_learner(body, pace)
        if self.absences is not None:
            learner.on_lost = self.absences.lost
        return learner

    def judge(self, slot: int) -> None:
        """All that have hardware have completed a step: send it, or go back."""
        assert self.absences is not None
        self.absences.judge(slot)

    def rejoined(self, learner: int) -> None:
        """A learner that had been lost is about to take up its steps."""
        super().rejoined(learner)
        if self.absences is not None:
            self.absences.restored(self.learners[learner])

    def has_arrived(self, learner: int) -> int:
        """Return the last step up to a learner's own of which all fragments have arrived."""
        return self._arrived_by(self.state.learner[learner, k.COUNT])

    def _arrived_by(self, step: int) -> int:
        state = self.state
        for slot in range(state.number[k.OLDEST], min(step, state.number[k.TOP]) + 1):
            if state.slot[slot % len(state.slot), k.INDEX] == slot:
                return slot - 1
        return step

    def tape_own_rejoin(self, learner: LocalLearner, step: int) -> None:
        """A learner goes back to its own copy of a step's end."""
        if self.run.tape is not None and not learner.lost_hardware:
            now, index = seconds(self.run.clock.now), learner.index
            back = tape.Rejoin(now, index, index, self.driver.label(self._arrived_by(step)))
            self.driver.put_on_tape(back)

    def has_gone_back(self, learner: LocalLearner, slot: int) -> None:
        """A learner has gone back, and goes on with the step after this one."""
        if self.absences is not None:
            self.absences.begin_anew(learner, slot)

    def close(self, horizon: int) -> Outcome:
        """Book all time up to the end of the run."""
        outcome = super().close(horizon)
        if self.absences is not None:
            self.absences.close(horizon)
        self.pipe.close(horizon)
        return outcome
