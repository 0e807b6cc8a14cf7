"""The syncer's replicas: the exchange among them, and who leaves it and comes back.

Quorum alone does not protect against a slow link: an exchange waits for its slowest member. With
a timeout, what an exchange would have to wait for longer leaves, the others begin anew without
it, and it comes back once its link would let the exchange finish in time, with what it missed
fetched from a neighbour.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Protocol

from ddsim.engine.clock import Rank

if TYPE_CHECKING:
    from collections.abc import Callable

    from ddsim.engine.clock import Clock, Wake
    from ddsim.engine.syncer import Slot
    from ddsim.engine.transfers import Fabric, Transfer
    from ddsim.world.network import Network, Ring


class Listener(Protocol):
    """Who is told that a member left or is back."""

    def left(self, member: int) -> None:
        """A replica has left; nothing reaches it, and nothing comes from it."""
        ...

    def came_back(self, member: int) -> None:
        """A replica has caught up and takes part again."""
        ...


class Replicas:
    """One replica beside each unit, and the updates under way among those that take part.

    `regions[i]` is where member i stands, `payload` is a fragment's outer gradient in bits,
    `missed_bits` what fetching one fragment takes, `timeout` in seconds. `form` is the syncer's:
    where it is not `replicas`, `down` bits come back for each that is handed in. `out` are those
    that no exchange can wait for, `stale` those that are out or catching up, with the fragments of
    which they missed a merge: a member takes part in the exchanges of its other fragments
    meanwhile. `bandwidth` is what the exchanges got from their slowest hop when one last ended, in
    bit/s. `sent` is called with a slot, and the latency until it is there, once its last bit is
    out.
    """

    def __init__(
        self,
        clock: Clock,
        fabric: Fabric,
        network: Network,
        regions: list[str],
        *,
        payload: float,
        missed_bits: float,
        form: str,
        down: float,
        timeout: float,
        sent: Callable[[Slot, float], None],
    ) -> None:
        self._clock = clock
        self._fabric = fabric
        self._everyone = frozenset(range(len(regions)))
        self._network = network
        self._regions = regions
        self.payload = payload
        self._missed_bits = missed_bits
        self._sent = sent
        self._transfers: dict[int, tuple[Slot, Transfer]] = {}
        self._form = form
        self._down = down
        self._rings: dict[tuple[frozenset[int], frozenset[int]], Ring] = {}
        self._turns: dict[int, int] = {}
        self._moved = 0.0
        self._mark = (0.0, 0.0)
        self.bandwidth: float | None = None
        self.timeout = timeout
        self.out: set[int] = set()
        self.stale: dict[int, set[int]] = {}
        self.listener: Listener
        self.ring = self._without(frozenset())

    @property
    def fragment_bits(self) -> float:
        """Bits on every hop for one fragment among all."""
        return self.ring.bits(self.payload)

    def _without(self, absent: frozenset[int], silent: frozenset[int] = frozenset()) -> Ring:
        """Return the exchange among all but the absent, of whom the silent hand nothing in.

        Among replicas that saves nothing: their hop passes on what the others sum up.
        """
        if self._form == "replicas":
            silent = frozenset()
        if (absent, silent) not in self._rings:
            members = [i for i in range(len(self._regions)) if i not in absent]
            regions = [self._regions[i] for i in members]
            if self._form == "replicas":
                ring = self._network.ring(regions)
            else:
                sending = [i not in silent for i in members]
                ring = self._network.merge(self._form, regions, sending, self._down)
            self._rings[absent, silent] = ring
        return self._rings[absent, silent]

    def _absent(self, slot: Slot) -> frozenset[int]:
        """Return who does not take part in a slot's exchange."""
        if not self.stale:
            return frozenset()
        missed = {m for m, stale in self.stale.items() if not stale.isdisjoint(slot.fragments)}
        return frozenset(self.out | missed)

    def send(self, slot: Slot) -> None:
        """Exchange a slot's outer gradients among those that take part."""
        absent = self._absent(slot)
        ring = self._without(absent, self._everyone.difference(slot.answers, absent))
        for fragment in slot.fragments:
            self._turns[fragment] = slot.index
            for member in absent:
                self.stale[member].add(fragment)
        if not ring.crosses:
            self._sent(slot, 0.0)
            return

        bits = ring.bits(self.payload) * len(slot.fragments)
        if not self._transfers:
            self._mark = (self._clock.now, self._moved)

        def done() -> None:
            self._transfers.pop(slot.index)
            self._moved += bits
            self._measure()
            self._sent(slot, ring.latency)

        transfer = self._fabric.send(bits, ring, done)
        self._transfers[slot.index] = (slot, transfer)
        self._clock.after(self.timeout, Rank.COUNT, self._overdue, (slot.index, transfer))

    def _measure(self) -> None:
        """Take what the exchanges have moved on a hop since the last one ended, or they began."""
        now = self._clock.now
        moved = self._moved + sum(other.sent for _, other in self._transfers.values())
        since, before = self._mark
        if now > since:
            self.bandwidth = (moved - before) / (now - since)
        self._mark = (now, moved)

    def withdraw(self) -> bool:
        """Take back the exchange that has just begun, if any: somebody else reckons with it."""
        self._transfers.clear()
        return self._fabric.withdraw()

    # Leaving.

    def _overdue(self, wake: Wake) -> None:
        index, transfer = wake.given
        slot, current = self._transfers.get(index, (None, None))
        if slot is None or current is not transfer:
            return
        leaving = self._too_slow(slot)
        if not leaving:
            self._clock.after(self.timeout, Rank.COUNT, self._overdue, (index, transfer))
            return
        under_way = list(self._transfers.values())
        self._transfers.clear()
        for _, other in under_way:
            self._fabric.cancel(other)
        self.out |= leaving
        for member in sorted(leaving):
            if member not in self.stale:
                self.stale[member] = set()
                self.listener.left(member)
                self._clock.after(0.0, Rank.COUNT, self._look_again, member)
        for other_slot, _ in under_way:
            self.send(other_slot)

    def _too_slow(self, slot: Slot) -> set[int]:
        """Return the members without whom a slot would be exchanged in time; none if it can't."""
        absent = self._absent(slot)
        if self._in_time(absent, len(slot.fragments)):
            return set()  # the links are merely busy
        present = [i for i in range(len(self._regions)) if i not in absent]
        regions = [self._regions[i] for i in present]
        cut = self._network.cut_off(regions, self._clock.now)
        slow = cut or {min(regions, key=self._pace)}
        leaving = {i for i in present if self._regions[i] in slow}
        in_time = self._in_time(absent | leaving, len(slot.fragments))
        return leaving if len(leaving) < len(present) and in_time else set()

    def _pace(self, region: str) -> float:
        now, lines = self._clock.now, self._network.lines
        return min(lines[f"up:{region}"].at(now), lines[f"down:{region}"].at(now))

    def _in_time(self, absent: frozenset[int], fragments: int = 1) -> bool:
        """Whether an exchange without these would be over within the timeout, as links are now."""
        ring = self._without(absent)
        bits = ring.bits(self.payload) * fragments
        rate = ring.rate.at(self._clock.now)
        return bits == 0.0 or rate == inf or (rate > 0.0 and bits / rate <= self.timeout)

    # Coming back.

    def _look(self, member: int) -> None:
        """See whether a replica that left can come back, now or when a link changes."""
        others = frozenset(self.out - {member})
        if not self._in_time(others):
            self.out.add(member)
            change = self._without(others).rate.next_change(self._clock.now)
            self._clock.after(change - self._clock.now, Rank.COUNT, self._look_again, member)
            return
        self.out.discard(member)
        stale = self.stale[member]
        way = self._way_to(member)
        if not stale or way is None:
            del self.stale[member]
            self.listener.came_back(member)
            return
        # What was merged last has the longest until its next merge makes the copy stale again.
        fragment = max(stale, key=lambda p: self._turns[p])
        turn = self._turns[fragment]

        def fetched() -> None:
            if self._turns[fragment] == turn:
                stale.discard(fragment)
            self._look(member)

        self._fabric.send(self._missed_bits, way, fetched)

    def _look_again(self, wake: Wake) -> None:
        self._look(wake.given)

    def _way_to(self, member: int) -> Ring | None:
        """Return the way from the nearest region that takes part; None within a region."""
        here = self._regions[member]
        there = [r for i, r in enumerate(self._regions) if i not in self.stale]
        return None if here in there or not there else self._network.transfer(there[0], here)
