"""What a unit that was lost takes from a peer, in methods without a syncer's replicas."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ddsim.engine.copies import Copies, Copy
from ddsim.engine.ledger import Account
from ddsim.engine.returning import ReturningBody
from ddsim.engine.transfers import Fabric

if TYPE_CHECKING:
    from ddsim.methods.units import UnitsMethod
    from ddsim.world.strike import Strike


@dataclass(slots=True)
class _Absence:
    settled: bool = False
    alone: bool = False
    waiting: bool = False


class PeerState:
    """Lets a unit's restart last until what `restart.moment_bits` says has come from a peer.

    The copies go over the links of the regions under the cap for recovery. The others' exchanges
    do not feel them: while a unit restarts, the barrier holds these anyway. `taken` are the peers
    that returning units have copied from.
    """

    def __init__(self, method: UnitsMethod) -> None:
        run = method.run
        self._method = method
        self.fabric = Fabric(run.clock, run.network.lines, run.meter)
        self._copies = Copies(
            run.clock,
            self.fabric,
            run.network,
            [unit.region for unit in run.cluster.units],
            bits=run.scenario.restart.moment_bits * run.scenario.model.parameters,
            timeout=run.scenario.network.ring_timeout,
            peers=self._peers,
            done=self._copied,
            alone=self._alone,
            begun=method.tape_fetch,
        )
        self.free = self._copies.free
        self._absences: dict[int, _Absence] = {}
        self.taken: dict[int, int] = {}

    def _peers(self) -> list[int]:
        return [learner.index for learner in self._method.learners if learner.body.live]

    def gone(self, index: int, strike: Strike) -> None:
        """A learner has lost what it had."""
        if self._method.learners[index].lost_hardware:
            self._absences[index] = _Absence()
            self.taken.pop(index, None)
            self._copies.lost(index)

    def back(self, index: int, *, restored: bool) -> None:
        """The first hardware of a lost unit is back."""
        self._absences[index].settled = restored

    def awaits(self, index: int) -> Account | None:
        """Return what a unit whose stall is over has to wait in, None where it has its state."""
        absence = self._absences.get(index)
        if absence is None:
            return None
        if not absence.settled:
            if index not in self._copies.under_way:
                self._copies.begin(index)
            if absence.alone:
                absence.settled = True
                return Account.CHECKPOINT_RESTORE
        absence.waiting = not absence.settled
        if absence.waiting:
            return Account.RESTART
        del self._absences[index]
        return None

    def _copied(self, copy: Copy) -> None:
        self._absences[copy.learner].settled = True
        self.taken[copy.learner] = copy.peer
        self._proceed(copy.learner)

    def _alone(self, index: int) -> None:
        self._absences[index].alone = True
        self._proceed(index)

    def _proceed(self, index: int) -> None:
        absence = self._absences[index]
        if absence.waiting:
            absence.waiting = False
            body = self._method.learners[index].body
            assert isinstance(body, ReturningBody)
            body.proceed()
