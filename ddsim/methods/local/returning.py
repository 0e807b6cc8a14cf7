"""Learners and replicas that are lost, and what they need when they return."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypedDict

from ddsim.engine.clock import Rank
from ddsim.methods.local import protocol as k
from ddsim.methods.peer_state import PeerState, Units
from ddsim.world.instants import seconds
from ddsim.world.replica_faults import ReplicaLoss, replica_losses

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ddsim.engine.clock import Wake
    from ddsim.methods.local.learner import LocalLearner
    from ddsim.methods.local.protocol import State
    from ddsim.methods.local.replicas import Replicas
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


class ReplicatedUnits(Units, Protocol):
    """Whose learners and replicas are seen to."""

    learners: list[LocalLearner]
    replicas: Replicas

    @property
    def state(self) -> State:
        """What the protocol knows, item by item."""
        ...

    def heard(self) -> list[int]:
        """Return the learners that are live and heard."""
        ...

    def count_live(self) -> None:
        """Look who is live and heard, and whether slots can close with those."""
        ...

    def hear(self) -> None:
        """Take note of all first answers by now."""
        ...

    def share_links(self) -> None:
        """Hand the exchange on the links over to those who share them with other transfers."""
        ...


class Returning(PeerState):
    """Sees to learners and replicas that are gone, and brings them back.

    A learner takes parameters from the replica beside it, which has kept what arrived meanwhile,
    and moments from a peer; where the replica was lost too it waits until that has caught up.
    """

    besides = 0.0

    def __init__(self, method: ReplicatedUnits) -> None:
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
        return self._method.heard()

    # What a body tells.

    def gone(self, index: int, strike: Strike) -> None:
        """A learner has lost what it had; with its region it loses its replica."""
        learner = self._method.learners[index]
        self._method.hear()
        if learner.lost_hardware:
            self.fresh.pop(index, None)
            self._method.state.learner[index, k.FRESH] = 0
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
        k.leave(self._method.state, member)
        self._method.count_live()

    def came_back(self, member: int) -> None:
        """A replica has caught up: its learner receives what it missed at its next boundary."""
        k.come_back(self._method.state, member)
        self._method.count_live()
        self._proceed(member)

    # Hosts.

    def _lose(self, wake: Wake) -> None:
        loss: ReplicaLoss = wake.given
        self._method.share_links()
        for index in loss.units:
            self._method.replicas.lose(index)
        self._lose_syncer(loss.region)
        self._clock.after(loss.end - self._clock.now, Rank.BACK, self._find, loss)

    def _find(self, wake: Wake) -> None:
        loss: ReplicaLoss = wake.given
        for index in loss.units:
            self._method.replicas.find(index)
        self._find_syncer(loss.region)

    def _lose_host(self, index: int) -> None:
        self._method.share_links()
        self._method.replicas.lose(index)
        self._lose_syncer(self._regions[index])

    def _find_host(self, index: int) -> None:
        self._method.replicas.find(index)
        self._find_syncer(self._regions[index])

    def _lose_syncer(self, region: str | None) -> None:
        if self._central and region == self._server:
            self._method.replicas.lose_syncer()
            self._method.count_live()  # no slot closes from now on

    def _find_syncer(self, region: str | None) -> None:
        if self._central and region == self._server:
            self._method.replicas.find_syncer()
            self._method.count_live()

    # What is said of it.

    def taken_up(self, index: int) -> int | None:
        """A learner takes up its steps; return whose moments it has, None where nobody's."""
        now, method = self._clock.now, self._method
        method.hear()
        absence = self._absences.get(index)
        peer = self.rejoined(method.learners[index])
        if absence is None or self.copies.free:
            return peer
        copy = absence.copy
        bits = method.replicas.fetched.pop(index, 0.0) + (copy.sent if copy else 0.0)
        units = method.run.cluster.units
        rejoin = Rejoin(
            unit=units[index].name,
            left_s=seconds(absence.left),
            back_s=seconds(absence.back),
            copy_s=0.0 if absence.begun is None else seconds(now - absence.begun),
            bytes=bits / 8,
            peer=units[copy.peer].name if copy else None,
            parameter_staleness_slots=None,
            moment_age_s=seconds(now - copy.since) if copy else None,
        )
        self.fresh[index] = rejoin
        method.state.learner[index, k.FRESH] = 1
        if len(self.rejoins) < NOTED:
            self.rejoins.append(rejoin)
        return peer

    def answered(self, index: int, staleness: int) -> None:
        """A learner's first answer since: how many slots its oldest fragment lies behind."""
        rejoin = self.fresh.pop(index, None)
        if rejoin is not None:
            rejoin["parameter_staleness_slots"] = staleness
