"""What the methods of the DiLoCo family share: a learner on every unit, elastic inside."""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ddsim.engine.body import ElasticBody
from ddsim.engine.recorder import Presence
from ddsim.engine.returning import ReturningBody
from ddsim.engine.run import Outcome
from ddsim.engine.saves import saves_on
from ddsim.engine.spares import hardware_of
from ddsim.engine.tape import Fetch
from ddsim.engine.transfers import Fabric
from ddsim.methods.peer_state import PeerState
from ddsim.methods.registry import Method
from ddsim.methods.spreading import Spread
from ddsim.world.corruptions import corrupting
from ddsim.world.instants import Ticks, seconds, ticks
from ddsim.world.stalls import nothing, restarts, restores

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ddsim.engine.copies import Copy
    from ddsim.engine.hardware import Hardware, UnitState
    from ddsim.engine.saves import Saves
    from ddsim.methods.learners import UnitLearner
    from ddsim.world.pace import Pace
    from ddsim.world.strike import Strike


class UnitsMethod(Method):
    """A learner on every unit; the unit shrinks and grows by stalls, and restarts when lost."""

    uses_spares = True
    apart = True
    learners: Sequence[Any]  # of UnitLearner, as each method has them
    merging: Presence
    returning: PeerState
    spread: Spread | None = None

    @cached_property
    def fabric(self) -> Fabric:
        """The links between the regions, which the transfers of a run share."""
        return Fabric(self.run.clock, self.run.network.lines, self.run.meter)

    def make_learners(self, quorum: int) -> Hardware:
        """Set the learners up, each on its own body, and let the failure history begin."""
        run = self.run
        scenario = run.scenario
        hardware = hardware_of(run)
        self.merging = Presence(quorum, len(hardware.units))
        self.returning = self.make_returning()
        learners: list[UnitLearner] = []

        def alone() -> bool:
            return not any(learner.body.live for learner in learners)

        saves = saves_on(scenario, run.cluster, run.replication)
        self.follow_corruption(saves)
        for unit, pace in zip(hardware.units, run.paces, strict=True):
            body = self.make_body(
                unit,
                downscale=ticks(scenario.elastic.downscale),
                upscale=ticks(scenario.elastic.upscale),
                restart=restarts(scenario, unit.plan.chips, unit.plan.index, run.replication),
                extend=scenario.elastic.stall_rule == "extend",
                alone=alone,
                restore=nothing if saves.none else self._restores(unit),
                noticed=None if self.spread is None else self.spread.noticed,
            )
            learner = self.make_learner(body, pace)
            if not (saves.none or (saves.free and (self.spread is None or saves.last_only))):
                learner.save_by(saves)
            learners.append(learner)
        self.learners = learners
        hardware.start([learner.body for learner in learners])
        return hardware

    def _restores(self, unit: UnitState) -> Callable[[], Ticks]:
        return restores(self.run.scenario, unit.plan.index, self.run.replication)

    def make_body(self, unit: UnitState, **options: Any) -> ElasticBody:
        """Return the body of a unit; a subclass may have one of its own."""
        run = self.run
        common = (run.clock, [unit], run.ledger, run.recorder)
        if self.returning.copies.free:
            return ElasticBody(*common, **options)
        return ReturningBody(*common, returns=self.returning, **options)

    @abstractmethod
    def make_learner(self, body: ElasticBody, pace: Pace) -> UnitLearner:
        """Return the learner of a unit."""

    def make_returning(self) -> PeerState:
        """Return what sees to units that were lost; a subclass may have one of its own."""
        return PeerState(self)

    def follow_corruption(self, saves: Saves) -> None:
        """Follow what may become corrupt, if anything may."""
        run = self.run
        if corrupting(run.scenario, screened=run.tape is not None):
            self.spread = Spread(self)

    def corrupted(self, strike: Strike) -> None:
        """A learner's state has become corrupt."""

    def listen(self, on: bool) -> None:
        """Have answers, merges and what learners receive told to `spread`, or no more."""

    def hear(self) -> None:
        """Have all told that has happened by now."""

    def go_back(self, strike: Strike, concerned: list[int], steps: list[int]) -> None:
        """Have these learners, and what they merged into, go back to before a corruption.

        A method that tells `spread` of no merges is never asked to.
        """
        raise NotImplementedError

    def peer_of(self, learner: UnitLearner) -> int | None:
        """Return a live learner that another can copy its state from, if there is one."""
        live = (x.index for x in self.learners if x.body.running and x is not learner)
        return next(live, None)

    def tape_fetch(self, copy: Copy) -> None:
        """Note, where a tape is kept, that a learner copies its peer's moments as they are now."""
        if self.run.tape is not None:
            self.learners[copy.peer].body.settle()
            now = seconds(self.run.clock.now)
            self.run.tape.append(Fetch(now, copy.learner, copy.peer))

    def outcome(
        self,
        *,
        tokens_merged: float,
        participation: float | None,
        merged: float,
        overwritten: float,
        fragments: int = 1,
        late_answers: int | None = None,
    ) -> Outcome:
        """Say what the learners did, in terms of the whole job; merged steps are x fragments."""
        run = self.run
        count = len(self.learners)
        steps = sum(learner.steps - learner.undone for learner in self.learners)
        tokens = sum(learner.tokens for learner in self.learners)
        return Outcome(
            steps=steps / count,
            tokens=tokens,
            tokens_merged=min(tokens, tokens_merged),  # sums in another order round otherwise
            up=seconds(run.running.total),
            moving=seconds(run.computing.total),
            productive=seconds(sum(learner.productive for learner in self.learners)) / count,
            interruptions=run.running.breaks,
            interrupted=seconds(run.running.absent),
            merging=seconds(self.merging.total),
            participation=participation,
            merged=merged,
            overwritten=overwritten,
            pending=max(0.0, fragments * steps - merged - overwritten),
            late_answers=late_answers,
            payload={"outer gradients": run.scenario.training.payload_bits},
        )

    def close_learners(self, horizon: Ticks) -> None:
        """Book all time up to the end of the run."""
        for learner in self.learners:
            learner.body.close(horizon)
            learner.close(horizon)
        self.fabric.settle_until(horizon)
        for presence in (self.run.running, self.run.computing, self.merging):
            presence.close(horizon)
