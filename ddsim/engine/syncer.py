"""The syncer of Decoupled DiLoCo: its slots open, close, are reduced and arrive in order."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from ddsim.engine.clock import Rank

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ddsim.engine.clock import Clock, Wake
    from ddsim.engine.transfers import Fabric
    from ddsim.world.network import Ring

AVERAGE = 0.1


class MovingAverage:
    """An exponential moving average, started by its first sample."""

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value: float | None = None

    def add(self, sample: float) -> None:
        """Take a sample in with weight 0.1."""
        value = self.value
        self.value = sample if value is None else value + AVERAGE * (sample - value)

    def get(self, default: float) -> float:
        """Return the average, or `default` before the first sample."""
        return default if self.value is None else self.value


class Answer:
    """One learner's answer to a slot: its steps then, and what of each fragment it carries.

    `carried` are steps since the fragment was last received, by fragment; `tokens` likewise.
    """

    __slots__ = ("carried", "learner", "steps", "tokens")

    def __init__(
        self, learner: int, steps: int, carried: dict[int, int], tokens: dict[int, float]
    ) -> None:
        self.learner = learner
        self.steps = steps
        self.carried = carried
        self.tokens = tokens


class Slot:
    """One turn of the syncer's clock, in which its fragments are merged."""

    __slots__ = (
        "answers",
        "arrived",
        "closed",
        "deadline",
        "first",
        "fragments",
        "index",
        "opened",
        "own",
        "sent",
    )

    def __init__(self, index: int, fragments: tuple[int, ...]) -> None:
        self.index = index
        self.fragments = fragments
        self.answers: dict[int, Answer] = {}
        self.own = 0
        self.first = 0.0
        self.opened: float | None = None
        self.deadline = 0.0
        self.closed: float | None = None
        self.sent = False
        self.arrived: float | None = None


class Syncer:
    """Slots in their order, with quorum and grace window, on one ring of replicas.

    `step_time` gives the fastest live learner's mean compute of a step, `live` the indices of
    the learners that are live. `on_close` and `on_arrival` are told of each slot. `late` counts
    late answers; `arrived` is the last slot whose update has arrived.
    """

    def __init__(
        self,
        clock: Clock,
        fabric: Fabric,
        ring: Ring,
        due: dict[int, tuple[int, ...]],
        *,
        inner_steps: int,
        overlap: int,
        quorum: int,
        gamma: float,
        fragment_bits: float,
        live: Callable[[], Sequence[int]],
        step_time: Callable[[], float],
        on_close: Callable[[Slot], None],
        on_arrival: Callable[[Slot], None],
    ) -> None:
        self._clock = clock
        self._fabric = fabric
        self._ring = ring
        self._due = due
        self._inner_steps = inner_steps
        self._overlap = overlap
        self._quorum = quorum
        self._gamma = gamma
        self._bits = ring.bits(fragment_bits)
        self._live = live
        self._step_time = step_time
        self._on_close = on_close
        self._on_arrival = on_arrival
        self._quorum_time = MovingAverage()
        self._sync_time = MovingAverage()
        self._slots: dict[int, Slot] = {}
        self._flying: deque[Slot] = deque()
        self._next = self._following(0)
        self.open: list[Slot] = []
        self.late = 0
        self.arrived = 0

    def _following(self, index: int) -> int:
        """Return the first slot after `index` in which a fragment is due."""
        index += 1
        while index % self._inner_steps not in self._due:
            index += 1
        return index

    def own_slot(self, count: int) -> Slot | None:
        """Return the slot that a learner answers with its own step `count`, if it still can.

        An own step whose slot has closed is a late answer: it is counted and dropped.
        """
        fragments = self._due.get(count % self._inner_steps)
        if fragments is None:
            return None
        if count < self._next:
            self.late += 1
            return None
        slot = self._slots.get(count)
        if slot is None:
            slot = self._slots[count] = Slot(count, fragments)
        return slot

    def answer(self, slot: Slot, answer: Answer, *, own: bool) -> None:
        """Take an answer; the K-th own one opens the slot."""
        now = self._clock.now
        slot.answers[answer.learner] = answer
        if own and slot.opened is None:
            if slot.own == 0:
                slot.first = now
            slot.own += 1
            if slot.own >= self._quorum:
                self._open(slot, now)
                return
        if slot.opened is not None and self._complete(slot):
            self._clock.after(0.0, Rank.CLOSE, self._close_ready)

    def _open(self, slot: Slot, now: float) -> None:
        slot.opened = now
        self.open.append(slot)
        self._quorum_time.add(now - slot.first)
        grace = 0.0
        if self._gamma > 0.0:
            step_time = self._step_time()
            spent = self._quorum_time.get(0.0) + self._sync_time.get(0.0)
            slack = max(0.0, self._overlap * step_time - spent)
            grace = min(step_time, self._gamma * slack)
        slot.deadline = now + grace
        wait = 0.0 if self._complete(slot) else grace
        self._clock.after(wait, Rank.CLOSE, self._close_ready)

    def _complete(self, slot: Slot) -> bool:
        """Whether every live learner has answered."""
        answers = slot.answers
        return all(index in answers for index in self._live())

    def recheck(self) -> None:
        """Look, at this instant, whether slots close: who is live has changed."""
        if self.open:
            self._clock.after(0.0, Rank.CLOSE, self._close_ready)

    def _close_ready(self, wake: Wake) -> None:
        now = self._clock.now
        while self.open and len(self._live()) >= self._quorum:
            slot = self._slots.get(self._next)
            if slot is None or slot.opened is None:
                return
            if now < slot.deadline and not self._complete(slot):
                return
            self._close(slot, now)

    def _close(self, slot: Slot, now: float) -> None:
        slot.closed = now
        self.open.remove(slot)
        del self._slots[slot.index]
        self._next = self._following(slot.index)
        self._flying.append(slot)
        self._on_close(slot)
        if not self._ring.crosses:
            self._sent(slot)
            return
        bits = self._bits * len(slot.fragments)
        self._fabric.send(bits, self._ring, lambda: self._after_latency(slot))

    def _after_latency(self, slot: Slot) -> None:
        self._clock.after(self._ring.latency, Rank.ARRIVAL, self._sent_event, slot)

    def _sent_event(self, wake: Wake) -> None:
        self._sent(wake.given)

    def _sent(self, slot: Slot) -> None:
        """A slot's update is there; it arrives once all before it have."""
        slot.sent = True
        flying = self._flying
        if flying[0] is not slot:
            return
        now = self._clock.now
        while flying and flying[0].sent:
            first = flying.popleft()
            first.arrived = now
            self.arrived = first.index
            assert first.closed is not None
            self._sync_time.add(now - first.closed)
            self._on_arrival(first)
