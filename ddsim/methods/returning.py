"""Decoupled DiLoCo's learners and replicas that are lost, and what they need when they return."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

from ddsim.engine.clock import Rank
from ddsim.methods.peer_state import PeerState
from ddsim.world.instants import seconds
from ddsim.world.replica_faults import ReplicaLoss, replica_losses

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ddsim.engine.clock import Wake
    from ddsim.engine.learner import Learner
    from ddsim.methods.decoupled_diloco import DecoupledDiLoCo
    from ddsim.world.strike import Strike

NOTED = 1000


class Rejoin(TypedDict):
    """How a learner whose unit was lost, or joined late, came back; times in seconds.

    `copy_s` is how long its restart lasted for what it had to wait for, `bytes` what was sent for
    it, copies that were broken off included. `parameter_staleness_slots` is how many slots the
    oldest of its fragments lay behind the last update when it first answered, `moment_age_s` how
    old its moments were when it went on; None where there was nothing to measure, and `peer` where
    it took its last save.
    """

    unit: str
    left_s: float
    back_s: float
    copy_s: float
    bytes: float
    peer: str | None
    parameter_staleness_slots: int | None
    moment_age_s: float | None


class Returning(PeerState):
    """Sees to learners and replicas that are gone, and brings them back.

    A learner takes parameters from the replica beside it, which has kept what arrived meanwhile,
    and moments from a peer; where the replica was lost too it waits until that has caught up.
    """

    def __init__(self, method: DecoupledDiLoCo) -> None:
        super().__init__(method)
        run = method.run
        self._method = method
        self._server = run.scenario.network.server or next(iter(run.scenario.regions()), "")
        self._central = run.scenario.training.syncer == "central"
        self._hostless: set[int] = set()
        self.fresh: dict[int, Rejoin] = {}
        self.rejoins: list[Rejoin] = []
        for loss in replica_losses(run.scenario, run.cluster, run.replication):
            self._clock.after(loss.time, Rank.STRIKE, self._lose, loss)

    def _peers(self) -> Sequence[int]:
        return self._method.live

    # What a body tells.

    def gone(self, index: int, strike: Strike) -> None:
        """A learner has lost what it had; with its region it loses its replica."""
        learner = self._method.learners[index]
        if learner.lost_hardware:
            self.fresh.pop(index, None)
        super().gone(index, strike)
        if strike.domain == "region" and learner.body.lost and index not in self._hostless:
            self._hostless.add(index)
            self._lose_host(index)

    def back(self, index: int, *, restored: bool) -> None:
        """The first hardware of a lost unit is back, and its hosts with it."""
        super().back(index, restored=restored)
        if index in self._hostless:
            self._hostless.discard(index)
            self._find_host(index)

    def _lacks(self, index: int) -> bool:
        return super()._lacks(index) or index in self._method.replicas.empty

    # What replicas tell.

    def left(self, member: int) -> None:
        """A replica is cut off or lost: its learner is absent from merges, and waits for none."""
        method = self._method
        method.withheld[member] = []
        state = method.states[member]
        method.drop_answers(member)
        for slot in method.syncer.slots.values():
            if slot.answers.pop(member, None) is not None and slot.opened is None:
                slot.own -= 1
        state.answered.clear()
        state.blocked = None
        method.count_live()
        if method.learners[member].idle:
            self._clock.after(0, Rank.NEXT, method.next_step, method.learners[member])

    def came_back(self, member: int) -> None:
        """A replica has caught up: its learner receives what it missed at its next boundary.

        Its count went on with its steps; it becomes at most that of the furthest of those who were
        heard, and it is to answer what needs it to open.
        """
        method = self._method
        heard = [s.count for i, s in enumerate(method.states) if i not in method.withheld]
        unopened = [s.index - 1 for s in method.syncer.slots.values() if s.opened is None]
        state = method.states[member]
        state.count = min(state.count, max(heard, default=method.syncer.arrived), *unopened)
        state.inbox.extend(method.withheld.pop(member))
        method.count_live()
        self._proceed(member)

    # Hosts.

    def _lose(self, wake: Wake) -> None:
        loss: ReplicaLoss = wake.given
        for index in loss.units:
            self._method.replicas.lose(index)
        if self._central and loss.region == self._server:
            self._method.replicas.lose_syncer()
        self._clock.after(loss.end - self._clock.now, Rank.BACK, self._find, loss)

    def _find(self, wake: Wake) -> None:
        loss: ReplicaLoss = wake.given
        for index in loss.units:
            self._method.replicas.find(index)
        if self._central and loss.region == self._server:
            self._method.replicas.find_syncer()

    def _lose_host(self, index: int) -> None:
        self._method.replicas.lose(index)
        if self._central and self._regions[index] == self._server:
            self._method.replicas.lose_syncer()

    def _find_host(self, index: int) -> None:
        self._method.replicas.find(index)
        if self._central and self._regions[index] == self._server:
            self._method.replicas.find_syncer()

    # What is said of it.

    def rejoined(self, learner: Learner) -> int | None:
        """A learner takes up its steps; return whose moments it has, None where nobody's."""
        now, method = self._clock.now, self._method
        absence = self._absences.get(learner.index)
        peer = super().rejoined(learner)
        if absence is None or self.copies.free:
            return peer
        copy = absence.copy
        bits = method.replicas.fetched.pop(learner.index, 0.0) + (copy.sent if copy else 0.0)
        units = method.run.cluster.units
        rejoin = Rejoin(
            unit=units[learner.index].name,
            left_s=seconds(absence.left),
            back_s=seconds(absence.back),
            copy_s=0.0 if absence.begun is None else seconds(now - absence.begun),
            bytes=bits / 8,
            peer=units[copy.peer].name if copy else None,
            parameter_staleness_slots=None,
            moment_age_s=seconds(now - copy.since) if copy else None,
        )
        self.fresh[learner.index] = rejoin
        if len(self.rejoins) < NOTED:
            self.rejoins.append(rejoin)
        return peer

    def answered(self, index: int) -> None:
        """Measure, at a learner's first answer since, how stale its parameters are."""
        rejoin = self.fresh.pop(index, None)
        if rejoin is not None:
            oldest = min(self._method.states[index].bases)
            arrived = self._method.syncer.arrived
            rejoin["parameter_staleness_slots"] = max(0, arrived - oldest)
