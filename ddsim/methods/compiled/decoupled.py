"""Decoupled DiLoCo with compiled slots: only what happens to hardware is an event."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ddsim.engine.merge_log import MergeLog
from ddsim.engine.returning import ReturningBody
from ddsim.engine.run import StepThrough
from ddsim.methods.compiled import kernel as k
from ddsim.methods.compiled.arrays import begin
from ddsim.methods.compiled.learner import SlotLearner
from ddsim.methods.compiled.slots import Slots
from ddsim.methods.units import UnitsMethod

if TYPE_CHECKING:
    from ddsim.engine.body import ElasticBody
    from ddsim.engine.hardware import Hardware, UnitState
    from ddsim.engine.ledger import Account
    from ddsim.engine.run import Outcome
    from ddsim.world.pace import Pace
    from ddsim.world.strike import Strike


class CompiledSlots(UnitsMethod):
    """Decoupled DiLoCo where nothing but hardware and links changes from outside."""

    name = "decoupled_diloco"
    learners: list[SlotLearner]  # type: ignore[assignment]  # of which the family needs this much

    def start(self) -> Hardware:
        """Set learners and slots up, all fragments received at step 0."""
        run = self.run
        training = run.scenario.training
        ring = run.network.ring([unit.region for unit in run.cluster.units])
        self.log = MergeLog(training.fragments, ring.rate)
        self.slots = Slots(run, begin(run, ring), ring, self.log)
        return self.make_learners(_never, _never, self._live_changed, training.quorum)

    def make_body(self, unit: UnitState, **options: Any) -> ElasticBody:
        """Return the body of a unit; of what it would have to copy the slots know nothing."""
        run = self.run
        returns = _Returns(free=self.returning.copies.free)
        return ReturningBody(
            run.clock, [unit], run.ledger, run.recorder, returns=returns, **options
        )

    def make_learner(self, body: ElasticBody, pace: Pace, *told: Any) -> Any:
        """Return the learner of a unit, which tells only when it becomes live, or is no longer."""
        return SlotLearner(body, self.slots, self.run.tokens_per_chip, told[-1])

    def note_live(self, learner: Any) -> None:
        """Leave it to `_live_changed`."""

    def _live_changed(self, learner: Any) -> None:
        state, index = self.slots.view, learner.index
        live = int(learner.body.live)
        change = live - state.learner[index, k.IS_LIVE]
        self.merging.change(self.run.clock.now, change)
        state.learner[index, k.IS_LIVE] = live
        state.number[k.LIVE] += change
        state.number[k.CHECK] = 1
        if state.number[k.STEP_ON]:
            for other in range(len(self.learners)):
                if state.learner[other, k.BLOCKED] and not state.learner[other, k.STEPPING]:
                    k.wake(state, other)

    def close(self, horizon: float) -> Outcome:
        """Book all time up to the end of the run."""
        self.slots.close(horizon)
        self.close_learners(horizon)
        self.slots.tell()
        number = self.slots.state.number
        late = self.slots.state.learner[:, k.LATE].tolist()
        merges = int(number[k.MERGES])
        possible = merges * len(self.learners)
        outcome = self.outcome(
            tokens_merged=float(self.slots.state.clock[k.TOKENS_MERGED]),
            participation=int(number[k.PARTICIPANTS]) / possible if possible else None,
            merged=float(number[k.MERGED]),
            overwritten=float(number[k.OVERWRITTEN]),
            late_answers=sum(late),
        )
        outcome.extra["merges"] = self.log.spreads(late)
        spells = self.log.spells(horizon)
        if spells:
            outcome.extra["spells"] = spells
        return outcome


class _Returns:
    """Learners that were lost and take their state from beside them, in no time."""

    def __init__(self, *, free: bool) -> None:
        self._free = free

    def gone(self, index: int, strike: Strike) -> None:
        """A unit has lost what it had; where that has to be copied, it is not for us."""
        if not self._free or strike.domain == "region":
            raise StepThrough("a unit that was lost needs more than its own learner")

    def back(self, index: int, *, restored: bool) -> None:
        """The first hardware of a lost unit is back."""

    def awaits(self, index: int) -> Account | None:
        """Return what the learner has to wait for: nothing."""
        return None


def _never(learner: Any) -> None:
    """Stand in for what is told of steps: compiled code knows."""
