"""Copies of state from one learner to another, over the links between regions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ddsim.engine.clock import Rank

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ddsim.engine.clock import Clock, Wake
    from ddsim.engine.transfers import Fabric, Transfer
    from ddsim.world.instants import Ticks
    from ddsim.world.network import Network, Ring


@dataclass(slots=True, eq=False)
class Copy:
    """A copy to `learner` from `peer`, as it was at `since`; `sent` bits have gone before it.

    `transfer` is None where both stand in one region, and once the last bit is out.
    """

    learner: int
    peer: int
    since: Ticks
    sent: float = 0.0
    transfer: Transfer | None = None


class Copies:
    """State on its way to learners that have lost theirs.

    `regions[i]` is where learner i stands, `bits` what a copy takes, `peers` gives the learners
    that have something to copy. A copy comes from the learner that a message reaches soonest, the
    first on a tie; within a region it takes no time. It shares the links with everything else, and
    all that catches up takes at most a share of each. A copy whose peer is lost, or of which no
    bit has moved for `timeout`, begins anew with another. `begun` is told of every
    beginning, `done` when a copy is there, `alone` when nobody is left to copy from.
    """

    def __init__(
        self,
        clock: Clock,
        fabric: Fabric,
        network: Network,
        regions: Sequence[str],
        *,
        bits: float,
        timeout: Ticks,
        peers: Callable[[], Sequence[int]],
        done: Callable[[Copy], None],
        alone: Callable[[int], None],
        begun: Callable[[Copy], None],
    ) -> None:
        self._clock = clock
        self._fabric = fabric
        self._network = network
        self._regions = regions
        self.bits = bits
        self._timeout = timeout
        self._peers = peers
        self._done = done
        self._alone = alone
        self._begun = begun
        self._ways: dict[tuple[str, str], Ring] = {}
        self._stuck: dict[int, set[int]] = {}
        self.under_way: dict[int, Copy] = {}
        self.free = bits == 0.0 or len(set(regions)) < 2 or network.unlimited

    def begin(self, learner: int) -> None:
        """Begin a copy to a learner; `done` or `alone` may be called before this returns."""
        self._stuck[learner] = set()
        self._begin(learner, 0.0)

    def lost(self, learner: int) -> None:
        """A learner is gone, a copy to it with it; those from it begin anew."""
        mine = self.under_way.pop(learner, None)
        if mine is not None and mine.transfer is not None:
            self._fabric.cancel(mine.transfer)
        for copy in [copy for copy in self.under_way.values() if copy.peer == learner]:
            if copy.transfer is not None:  # else its last bit is out
                self._fabric.cancel(copy.transfer)
                self._begin(copy.learner, copy.sent + copy.transfer.sent)

    def _begin(self, learner: int, sent: float) -> None:
        peer = self._nearest(learner)
        if peer is None:
            self.under_way.pop(learner, None)
            self._alone(learner)
            return
        copy = self.under_way[learner] = Copy(learner, peer, self._clock.now, sent)
        self._begun(copy)
        way = self._way(peer, learner)
        if way is None:
            self._end(copy)
            return

        def out() -> None:
            copy.transfer = None
            self._clock.after(way.latency, Rank.ARRIVAL, self._there, copy)

        def stuck() -> None:
            assert copy.transfer is not None
            self._stuck[learner].add(peer)
            self._begin(learner, sent + copy.transfer.sent)

        copy.transfer = self._fabric.send(
            self.bits, way, out, timeout=self._timeout, given_up=stuck
        )

    def _there(self, wake: Wake) -> None:
        copy: Copy = wake.given
        if self.under_way.get(copy.learner) is copy:
            copy.sent += self.bits
            self._end(copy)

    def _end(self, copy: Copy) -> None:
        del self.under_way[copy.learner]
        self._done(copy)

    def _nearest(self, learner: int) -> int | None:
        """Return the peer to copy from: one that something reaches, and that was not stuck yet."""
        peers = [peer for peer in self._peers() if peer != learner]
        if not peers:
            return None
        stuck = self._stuck[learner]
        if stuck.issuperset(peers):
            stuck.clear()
        here, now = self._regions[learner], self._clock.now

        def far(peer: int) -> tuple[bool, bool, Ticks]:
            way = self._way(peer, learner)
            reached = way is None or way.rate.at(now) > 0.0
            return peer in stuck, not reached, self._network.distance(self._regions[peer], here)

        return min(peers, key=far)

    def _way(self, peer: int, learner: int) -> Ring | None:
        there, here = self._regions[peer], self._regions[learner]
        if there == here:
            return None
        if (there, here) not in self._ways:
            self._ways[there, here] = self._network.transfer(there, here)
        return self._ways[there, here]
