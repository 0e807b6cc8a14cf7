"""The syncer's replicas where they may leave: the exchange among them, and who comes back.

Quorum alone does not protect against a slow link: an exchange waits for its slowest member. With
a timeout, what an exchange would have to wait for longer leaves, the others begin anew without
it, and it comes back once its link would let the exchange finish in time, with what it missed
fetched from a neighbour. A replica that is lost, with all that it held, is noticed at once, as a
learner's loss is; once its host is back it fetches every fragment. While a central syncer is lost,
or every replica, nothing is merged.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Protocol

from ddsim.engine.clock import Rank
from ddsim.world.instants import NEVER, SECOND
from ddsim.world.timeline import taking

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ddsim.engine.clock import Clock, Wake
    from ddsim.engine.transfers import Fabric, Transfer
    from ddsim.world.network import Network, Ring


class Slots(Protocol):
    """Who knows the slots, and is told of their exchanges and of who takes part in them."""

    def fragments(self, slot: int) -> tuple[int, ...]:
        """Return the fragments due at a slot."""
        ...

    def answered(self, slot: int) -> frozenset[int]:
        """Return the members that have answered a slot."""
        ...

    def payload(self) -> float:
        """Bits of a mean fragment's outer gradient."""
        ...

    def sent_in(self, fragment: int) -> int:
        """Return the slot in which a fragment was sent last, 0 before the first."""
        ...

    def out(self, slot: int, latency: int) -> None:
        """The last bit of a slot's exchange is out, and there after its latency."""
        ...


class Listener(Protocol):
    """Who is told that a member left or is back."""

    def left(self, member: int) -> None:
        """A replica has left; nothing reaches it, and nothing comes from it."""
        ...

    def came_back(self, member: int) -> None:
        """A replica has caught up and takes part again."""
        ...


class Replicas:
    """One replica beside each unit, and the exchange under way among those that take part.

    `regions[i]` is where member i stands, `missed_bits` what fetching a mean fragment takes,
    `sizes` how large each is beside the mean, `timeout` in nanoseconds. `form` is the syncer's:
    where it is not `replicas`, `down` bits come back for each that is handed in; a `central` one
    stands at `server`. `out` are those that no exchange can wait for, `stale` those that are out or
    catching up, with the fragments of which they missed a merge: a member takes part in the
    exchanges of its other fragments meanwhile. `empty` are those that were lost and have not caught
    up since, `fetched` what each has fetched after its last loss, in bits. `bandwidth` is what the
    last exchange got from its slowest hop, in bit/s. `quorum` gives how many a merge needs.
    """

    def __init__(
        self,
        clock: Clock,
        fabric: Fabric,
        network: Network,
        regions: list[str],
        *,
        missed_bits: float,
        form: str,
        down: float,
        timeout: int,
        sizes: Sequence[float],
        server: str,
        quorum: Callable[[], int],
    ) -> None:
        self._quorum = quorum
        self._clock = clock
        self._fabric = fabric
        self._everyone = frozenset(range(len(regions)))
        self._network = network
        self._regions = regions
        self._missed_bits = missed_bits
        self.slots: Slots
        self._under_way: tuple[int, Transfer, int] | None = None
        self._form = form
        self._down = down
        self._rings: dict[tuple[frozenset[int], frozenset[int]], Ring] = {}
        self.bandwidth: float | None = None
        self.timeout = timeout
        self.out: set[int] = set()
        self.stale: dict[int, set[int]] = {}
        self.empty: set[int] = set()
        self.fetched: dict[int, float] = {}
        self.listener: Listener
        self.sizes = sizes
        self._server = server if form == "central" else None
        self._losses: Counter[int] = Counter()
        self._server_down = 0
        self._lives: Counter[int] = Counter()
        self._held: int | None = None
        self._fetches: dict[int, tuple[int | None, Transfer]] = {}
        self._ways: dict[tuple[str, str], Ring] = {}
        self.ring = self._without(frozenset())

    @property
    def standing(self) -> bool:
        """Whether anything can be merged: the central syncer stands, or a replica does."""
        return not self._server_down and len(self.out) < len(self._regions)

    def _size(self, fragments: Iterable[int]) -> float:
        return sum(self.sizes[fragment] for fragment in fragments)

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

    @property
    def calm(self) -> bool:
        """Whether all take part and always could: an exchange needs nobody to watch over it."""
        return self._form == "replicas" and not self.stale and self._under_way is None

    def _absent(self, slot: int) -> frozenset[int]:
        """Return who does not take part in a slot's exchange."""
        if not self.stale:
            return frozenset()
        due = self.slots.fragments(slot)
        missed = {m for m, stale in self.stale.items() if not stale.isdisjoint(due)}
        return frozenset(self.out | missed)

    def send(self, slot: int) -> None:
        """Exchange a slot's outer gradients among those that take part."""
        absent = self._absent(slot)
        if self._server_down or len(absent) == len(self._regions):
            self._held = slot
            return
        silent = self._everyone.difference(self.slots.answered(slot), absent)
        ring = self._without(absent, silent)
        fragments = self.slots.fragments(slot)
        for member in absent:
            self.stale[member].update(fragments)
        if ring.crosses:
            bits = ring.bits(self.slots.payload()) * self._size(fragments)
            self._carry(slot, bits, bits, ring, self._clock.now)
        else:
            self.slots.out(slot, 0)

    def take_over(self, slot: int, bits: float, left: float, started: int) -> None:
        """Go on with an exchange among all that others have carried so far."""
        self._carry(slot, bits, left, self.ring, started)

    def _carry(self, slot: int, bits: float, left: float, ring: Ring, started: int) -> None:
        now = self._clock.now

        def done() -> None:
            self._under_way = None
            if self._clock.now > started:
                self.bandwidth = bits * SECOND / (self._clock.now - started)
            self.slots.out(slot, ring.latency)

        transfer = self._fabric.send(left, ring, done)
        self._under_way = slot, transfer, started
        if self.timeout < NEVER:
            overdue = max(0, started + self.timeout - now)
            self._clock.after(overdue, Rank.COUNT, self._overdue, transfer)

    # Leaving.

    def _overdue(self, wake: Wake) -> None:
        if self._under_way is None or self._under_way[1] is not wake.given:
            return
        leaving = self._too_slow(self._under_way[0])
        if not leaving:
            self._clock.after(self.timeout, Rank.COUNT, self._overdue, wake.given)
            return
        slot = self._break_off()
        self.out |= leaving
        for member in sorted(leaving):
            if member not in self.stale:
                self.stale[member] = set()
                self.listener.left(member)
                given = member, self._lives[member]
                self._clock.after(0, Rank.COUNT, self._look_again, given)
        self._fetch_elsewhere(leaving)
        if slot is not None:
            self.send(slot)

    def _break_off(self) -> int | None:
        """Take the exchange under way off the links; return whose it was."""
        if self._under_way is None:
            return None
        slot, transfer, _ = self._under_way
        self._under_way = None
        self._fabric.cancel(transfer)
        return slot

    def forget(self) -> None:
        """Break off the exchange that is under way, or waits for somebody, for good."""
        self._break_off()
        self._held = None

    def _too_slow(self, slot: int) -> set[int]:
        """Return the members without whom a slot would be exchanged in time; none if it can't."""
        absent = self._absent(slot)
        size = self._size(self.slots.fragments(slot))
        if self._in_time(absent, size):
            return set()  # the links are merely busy
        present = [i for i in range(len(self._regions)) if i not in absent]
        regions = [self._regions[i] for i in present]
        cut = self._network.cut_off(regions, self._clock.now)
        if cut:
            leaving = {i for i in present if self._regions[i] in cut}
            in_time = self._in_time(absent | leaving, size)
            return leaving if len(leaving) < len(present) and in_time else set()
        return self._slowest(present, absent, size)

    def _slowest(self, present: list[int], absent: frozenset[int], size: float) -> set[int]:
        """Return the fewest of the slowest without whom the others would be in time.

        Links that are all alike are nobody's fault, and nobody leaves whom a quorum needs: what
        can't be merged without a member had better wait for it.
        """
        paces = {i: self._pace(self._regions[i]) for i in present}
        for pace in sorted(set(paces.values()))[:-1]:
            leaving = {i for i in present if paces[i] <= pace}
            if len(present) - len(leaving) < self._quorum():
                break
            if self._in_time(absent | leaving, size):
                return leaving
        return set()

    def _pace(self, region: str) -> float:
        now, lines = self._clock.now, self._network.lines
        return min(lines[f"up:{region}"].at(now), lines[f"down:{region}"].at(now))

    def _in_time(self, absent: frozenset[int], size: float = 1.0) -> bool:
        """Whether an exchange without these would be over within the timeout, as links are now."""
        ring = self._without(absent)
        bits = ring.bits(self.slots.payload()) * size
        rate = ring.rate.at(self._clock.now)
        return taking(bits, rate) <= self.timeout

    # Being lost.

    def lose(self, member: int) -> None:
        """A replica's host is lost; exchanges under way begin anew without it."""
        self._losses[member] += 1
        if self._losses[member] > 1:
            return
        self._lives[member] += 1
        first = member not in self.stale
        slot = None if member in self.out else self._break_off()
        self.out.add(member)
        self.empty.add(member)
        self.stale[member] = set(range(len(self.sizes)))
        self.fetched[member] = 0.0
        self._stop_fetching(member)
        if first:
            self.listener.left(member)
        self._fetch_elsewhere({member})
        if slot is not None:
            self.send(slot)

    def find(self, member: int) -> None:
        """A replica's host is back, with nothing on it."""
        self._losses[member] -= 1
        if not self._losses[member]:
            self._look(member)

    def lose_syncer(self) -> None:
        """The central syncer is lost; what is on its way to or from it begins anew later."""
        self._server_down += 1
        slot = self._break_off()
        self._held = self._held if slot is None else slot
        for member in list(self._fetches):
            self._stop_fetching(member)

    def find_syncer(self) -> None:
        """The central syncer is back, with all that it had on its disks."""
        self._server_down -= 1
        if not self._server_down:
            for member in [m for m in self.stale if m not in self.out and m not in self._fetches]:
                self._look(member)
            self._send_held()

    def _send_held(self) -> None:
        held, self._held = self._held, None
        if held is not None:
            self.send(held)

    def _fetch_elsewhere(self, gone: set[int]) -> None:
        """Let those that fetch from members that are gone look for another."""
        left = [other for other, (source, _) in self._fetches.items() if source in gone]
        for other in left:
            self._stop_fetching(other)
        for other in left:
            self._look(other)

    def _stop_fetching(self, member: int) -> None:
        _, transfer = self._fetches.pop(member, (None, None))
        if transfer is not None:
            self._fabric.cancel(transfer)

    # Coming back.

    def _look(self, member: int) -> None:
        """See whether a replica that left can come back, now or when a link changes."""
        others = frozenset(self.out - {member})
        if not self._in_time(others):
            self.out.add(member)
            change = self._without(others).rate.next_change(self._clock.now)
            given = member, self._lives[member]
            self._clock.after(change - self._clock.now, Rank.COUNT, self._look_again, given)
            return
        self.out.discard(member)
        stale = self.stale[member]
        if stale and self._server_down:
            return  # until the syncer is back
        source, way = self._way_to(member)
        if not stale or way is None:
            del self.stale[member]
            self.empty.discard(member)
            self.listener.came_back(member)
            self._send_held()
            return
        # What was merged last has the longest until its next merge makes the copy stale again.
        fragment = max(sorted(stale), key=self.slots.sent_in)
        turn = self.slots.sent_in(fragment)
        bits = self._missed_bits * self.sizes[fragment]

        def fetched() -> None:
            del self._fetches[member]
            self.fetched[member] = self.fetched.get(member, 0.0) + bits
            if self.slots.sent_in(fragment) == turn:
                stale.discard(fragment)
            self._look(member)

        self._fetches[member] = (source, self._fabric.send(bits, way, fetched))

    def _look_again(self, wake: Wake) -> None:
        member, life = wake.given
        if life == self._lives[member] and member in self.stale and not self._losses[member]:
            self._look(member)

    def _way_to(self, member: int) -> tuple[int | None, Ring | None]:
        """Return from whom a member fetches, and the way; None within a region.

        That is the central syncer, or the nearest replica that takes part.
        """
        here = self._regions[member]
        if self._server is not None:
            return None, None if here == self._server else self._way(self._server, here)
        sources = [i for i in range(len(self._regions)) if i not in self.stale]
        if not sources:
            return None, None
        source = min(sources, key=lambda i: self._network.distance(self._regions[i], here))
        there = self._regions[source]
        return source, None if there == here else self._way(there, here)

    def _way(self, there: str, here: str) -> Ring:
        if (there, here) not in self._ways:
            self._ways[there, here] = self._network.transfer(there, here)
        return self._ways[there, here]
