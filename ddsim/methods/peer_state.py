"""What units that were lost take from their peers before they step again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from ddsim.engine.copies import Copies, Copy
from ddsim.engine.ledger import Account
from ddsim.engine.returning import ReturningBody
from ddsim.world.instants import Ticks, ticks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ddsim.engine.run import Run
    from ddsim.engine.transfers import Fabric
    from ddsim.methods.learners import UnitLearner
    from ddsim.world.strike import Strike


class Units(Protocol):
    """Whose learners are seen to."""

    run: Run
    learners: Any

    @property
    def fabric(self) -> Fabric:
        """The links between the regions."""
        ...

    def peer_of(self, learner: UnitLearner) -> int | None:
        """Return a live learner that another can copy its state from, if there is one."""
        ...

    def tape_fetch(self, copy: Copy) -> None:
        """A copy begins."""
        ...


@dataclass(slots=True)
class Absence:
    """A learner that is gone: since when, and what of its state it has by now.

    `back` is when its first hardware was there again, `begun` when its restart's own time was
    over; `settled` says that its moments are there, or are not to come.
    """

    left: Ticks
    back: Ticks = 0
    begun: Ticks | None = None
    copy: Copy | None = None
    settled: bool = False
    alone: bool = False
    waiting: bool = False


class PeerState:
    """Lets a unit's restart last until what it has lost has come from a peer.

    That are the moments, of `restart.moment_bits`, and with them what nothing beside the unit
    holds: `besides` bits a parameter, for parameters and the outer optimizer's momentum. The copies
    go over the links of the regions under the cap for recovery. Lock-step methods do not feel them:
    while a unit restarts, the barrier holds their exchanges anyway.
    """

    besides = 32.0 + 32.0

    def __init__(self, method: Units) -> None:
        run = method.run
        moments = run.scenario.restart.moment_bits
        self._units = method
        self._clock = run.clock
        self._regions = [unit.region for unit in run.cluster.units]
        self.copies = Copies(
            run.clock,
            method.fabric,
            run.network,
            self._regions,
            bits=(moments + self.besides) * run.scenario.model.parameters if moments else 0.0,
            timeout=ticks(run.scenario.network.ring_timeout),
            peers=self._peers,
            done=self._copied,
            alone=self._alone,
            begun=method.tape_fetch,
        )
        self._absences: dict[int, Absence] = {}

    def _peers(self) -> Sequence[int]:
        return [learner.index for learner in self._units.learners if learner.body.live]

    # What a body tells.

    def gone(self, index: int, strike: Strike) -> None:
        """A learner has lost what it had."""
        if self._units.learners[index].lost_hardware:
            before = self._absences.get(index)
            left = self._clock.now if before is None else before.left
            self._absences[index] = Absence(left, self._clock.now)
            self.copies.lost(index)

    def back(self, index: int, *, restored: bool) -> None:
        """The first hardware of a lost unit is back."""
        absence = self._absences[index]
        absence.back = self._clock.now
        absence.settled = restored

    def awaits(self, index: int) -> Account | None:
        """Return what a learner whose stall is over has to wait in, None where it has its state."""
        absence = self._absences.get(index)
        if absence is None:
            return None
        if absence.begun is None:
            absence.begun = self._clock.now
        if not absence.settled and not self.copies.free:
            if index not in self.copies.under_way:
                self.copies.begin(index)
            if absence.alone:
                absence.settled = True
                return Account.CHECKPOINT_RESTORE
        absence.waiting = self._lacks(index)
        return Account.RESTART if absence.waiting else None

    def _lacks(self, index: int) -> bool:
        return index in self.copies.under_way

    # What copies tell.

    def _copied(self, copy: Copy) -> None:
        absence = self._absences[copy.learner]
        absence.copy, absence.settled = copy, True
        self._proceed(copy.learner)

    def _alone(self, index: int) -> None:
        self._absences[index].alone = True
        self._proceed(index)

    def _proceed(self, index: int) -> None:
        """Let a learner that waits go on, if there is nothing left to wait for."""
        absence = self._absences.get(index)
        if absence is None or not absence.waiting or self._lacks(index):
            return
        absence.waiting = False
        body = self._units.learners[index].body
        assert isinstance(body, ReturningBody)
        body.proceed()

    def rejoined(self, learner: UnitLearner) -> int | None:
        """A learner takes up its steps; return whose moments it has, None where nobody's."""
        absence = self._absences.pop(learner.index, None)
        if absence is None or self.copies.free:
            return self._units.peer_of(learner)
        return absence.copy.peer if absence.copy else None
