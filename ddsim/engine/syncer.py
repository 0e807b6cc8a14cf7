"""The syncer of Decoupled DiLoCo: its slots open, close, are reduced and arrive in order."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from ddsim.engine.clock import Rank
from ddsim.world.instants import Ticks, later, whole

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ddsim.engine.clock import Clock, Wake
    from ddsim.engine.fragments import Schedule
    from ddsim.engine.replicas import Replicas

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

    `carried` are steps since the fragment was last received, by fragment; `tokens` likewise;
    `bases` are the slots in which what it has of each fragment was merged, 0 before the first.
    """

    __slots__ = ("bases", "carried", "learner", "steps", "tokens")

    def __init__(
        self,
        learner: int,
        steps: int,
        carried: dict[int, int],
        tokens: dict[int, float],
        bases: Sequence[int] = (),
    ) -> None:
        self.learner = learner
        self.steps = steps
        self.carried = carried
        self.tokens = tokens
        self.bases = bases

    @property
    def weight(self) -> float:
        """Its weight in the merge: its tokens times its tokens per step."""
        return merge_weight(sum(self.carried.values()), sum(self.tokens.values()))


def merge_weight(steps: int, tokens: float) -> float:
    """Weight of an answer of so many steps and tokens, w = tokens x tokens / steps.

    Source: arXiv 2604.21428, section 3.2.
    """
    return tokens * tokens / steps if steps else 0.0


class Slot:
    """One turn of the syncer's clock, in which its fragments are merged."""

    __slots__ = (
        "answers",
        "arrived",
        "closed",
        "deadline",
        "due",
        "first",
        "fragments",
        "index",
        "merging",
        "opened",
        "own",
        "started",
        "there",
        "watched",
    )

    def __init__(self, index: int, fragments: tuple[int, ...]) -> None:
        self.index = index
        self.fragments = fragments
        self.answers: dict[int, Answer] = {}
        self.own = 0
        self.first: Ticks = 0
        self.opened: Ticks | None = None
        self.deadline: Ticks = 0
        self.watched = False
        self.closed: Ticks | None = None
        self.started: Ticks | None = None
        self.there = self.merging = False
        self.due: Ticks | None = None
        self.arrived: Ticks | None = None


class Syncer:
    """Slots in their order, with quorum and grace window; `replicas` exchange what they merge.

    One exchange is under way at a time, from its start to its last bit; the others queue. A slot
    that every live learner has answered closes at once, another only where its exchange would not
    queue. `step_time` gives the fastest live learner's mean compute of a step, `live` the indices
    of the learners that are live. A merge takes `compute` after its last bit is there, one after
    another. `on_close`, `on_start` and `on_arrival` are told of each slot. `late` counts every
    learner's late answers; `arrived` is the last slot whose update has arrived. Times are ticks,
    their averages real.
    """

    def __init__(
        self,
        clock: Clock,
        schedule: Schedule,
        *,
        overlap: int,
        quorum: int,
        gamma: float,
        live: Callable[[], Sequence[int]],
        step_time: Callable[[], float],
        compute: Ticks = 0,
        on_close: Callable[[Slot], None],
        on_start: Callable[[Slot], None],
        on_arrival: Callable[[Slot], None],
    ) -> None:
        self._clock = clock
        self._schedule = schedule
        self.overlap = overlap
        self._quorum = quorum
        self.gamma = gamma
        self.replicas: Replicas
        self._live = live
        self._step_time = step_time
        self.compute = compute
        self._busy_until: Ticks = 0
        self._on_close = on_close
        self._on_start = on_start
        self._on_arrival = on_arrival
        self.quorum_time = MovingAverage()
        self.sync_time = MovingAverage()
        self.slots: dict[int, Slot] = {}
        self.flying: deque[Slot] = deque()
        self._queued: deque[Slot] = deque()
        self._under_way: Slot | None = None
        self._last = 0
        self._next = schedule.following(0)
        self.open: list[Slot] = []
        self.late: dict[int, int] = {}
        self.arrived = 0

    def set_quorum(self, quorum: int) -> None:
        """Ask for another quorum of every slot that has not closed."""
        self._quorum = quorum
        for index in sorted(self.slots):
            slot = self.slots[index]
            if slot.opened is None and slot.own >= quorum:
                self._open(slot, self._clock.now)
        self.recheck()

    def set_inner_steps(self, inner_steps: int, reached: int) -> None:
        """Change the period from the first slot after `reached` that nobody has answered."""
        start = 1 + max(reached, self._last, *self.slots)
        self._schedule.change(start, inner_steps)
        self._next = self._schedule.following(self._last)

    def own_slot(self, learner: int, count: int) -> Slot | None:
        """Return the slot that a learner answers with its own step `count`, if it still can.

        An own step whose slot has closed is a late answer: it is counted and dropped.
        """
        fragments = self._schedule.at(count)
        if not fragments:
            return None
        if count < self._next:
            self.late[learner] = self.late.get(learner, 0) + 1
            return None
        slot = self.slots.get(count)
        if slot is None:
            slot = self.slots[count] = Slot(count, fragments)
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
            self._clock.after(0, Rank.CLOSE, self._close_ready)

    def _open(self, slot: Slot, now: Ticks) -> None:
        slot.opened = now
        self.open.append(slot)
        self.quorum_time.add(now - slot.first)
        grace = 0.0
        if self.gamma > 0.0:
            step_time = self._step_time()
            spent = self.quorum_time.get(0.0) + self.sync_time.get(0.0)
            slack = max(0.0, self.overlap * step_time - spent)
            grace = min(step_time, self.gamma * slack)
        slot.deadline = later(now, whole(grace))
        self._clock.after(0, Rank.CLOSE, self._close_ready)

    def _complete(self, slot: Slot) -> bool:
        """Whether every live learner has answered."""
        answers = slot.answers
        return all(index in answers for index in self._live())

    def recheck(self) -> None:
        """Look, at this instant, whether slots close: who is live has changed."""
        if self.open:
            self._clock.after(0, Rank.CLOSE, self._close_ready)

    def _close_ready(self, wake: Wake) -> None:
        now = self._clock.now
        while self.open and len(self._live()) >= self._quorum and self.replicas.standing:
            slot = self.slots.get(self._next)
            if slot is None or slot.opened is None:
                return
            if not self._complete(slot):
                if now < slot.deadline:
                    if not slot.watched:
                        slot.watched = True
                        self._clock.after(slot.deadline - now, Rank.CLOSE, self._close_ready)
                    return
                if self._under_way is not None:  # else its exchange would only queue
                    return
            self._close(slot, now)

    def _close(self, slot: Slot, now: Ticks) -> None:
        slot.closed = now
        self.open.remove(slot)
        del self.slots[slot.index]
        self._last = slot.index
        self._next = self._schedule.following(slot.index)
        self.flying.append(slot)
        self._queued.append(slot)
        self._on_close(slot)
        self._begin_next()

    def _begin_next(self) -> None:
        """Let the exchange begin that has queued longest, if none is under way."""
        while self._queued and self._under_way is None:
            self._under_way = slot = self._queued.popleft()
            slot.started = self._clock.now
            self._on_start(slot)
            self.replicas.send(slot)

    def sent(self, slot: Slot, latency: Ticks) -> None:
        """Take note that a slot's last bit is under way and there after `latency`."""
        self._under_way = None
        slot.due = later(self._clock.now, latency)
        if self.replicas.ring.crosses:
            self._clock.after(latency, Rank.ARRIVAL, self._there, slot)
            self._begin_next()
            self.recheck()
        else:
            self._merge(slot)

    def _there(self, wake: Wake) -> None:
        self._merge(wake.given)

    def _merge(self, slot: Slot) -> None:
        """All of a slot is there: its update arrives once it is merged, and all before it are."""
        now = self._clock.now
        slot.there = True
        for first in list(self.flying):
            if not first.there:
                return
            if first.merging:
                continue
            first.merging = True
            self._busy_until = later(max(now, self._busy_until), self.compute)
            if self._busy_until > now:
                self._clock.after(self._busy_until - now, Rank.ARRIVAL, self._merged, first)
            else:
                self._arrive(first)

    def _merged(self, wake: Wake) -> None:
        self._arrive(wake.given)

    def _arrive(self, slot: Slot) -> None:
        assert slot.started is not None
        now = slot.arrived = self._clock.now
        self.flying.remove(slot)
        self.arrived = slot.index
        self.sync_time.add(now - slot.started)
        self._on_arrival(slot)
