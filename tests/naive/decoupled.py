"""decoupled_diloco: learners on their own clocks, and a syncer with a clock of slots."""

from __future__ import annotations

import math
from collections.abc import Generator
from fractions import Fraction

from simpy import Event

from .case import Case
from .clock import Moment, Order
from .network import Ring, ring_factor, ring_latency
from .phases import EXPOSED, WAITING
from .stepping import SteppingUnit, SteppingUnits
from .worth import Answer, enter


class Average:
    """An exponential average of weight 0.1, started by its first sample."""

    def __init__(self, before: float) -> None:
        self.value = before
        self.started = False

    def add(self, sample: float) -> None:
        """Take a sample in."""
        if self.started:
            self.value += Fraction(1, 10) * (sample - self.value)
        else:
            self.value, self.started = sample, True


class Slot:
    """One tick of the syncer's clock at which fragments are due."""

    def __init__(self, number: int, fragments: list[int]) -> None:
        self.number = number
        self.fragments = fragments
        self.own_answers: list[float] = []
        self.answers: dict[int, Answer] = {}
        self.opened: float | None = None
        self.grace_ends: float = 0
        self.closed: float | None = None
        self.started: float | None = None
        self.arrived: float | None = None


class Learner(SteppingUnit):
    """A unit that trains its own copy, answers slots and receives updates."""

    def __init__(self, simulation: Syncer, index: int) -> None:
        super().__init__(simulation, index)
        self.syncer = simulation
        self.count = 0
        self.step_time = Average(simulation.clock.length(self.case.units[index].step_time))
        fragments = range(self.case.fragments)
        self.since_receipt = dict.fromkeys(fragments, 0)
        self.answered_at: dict[int, int] = {}
        """Per slot, the steps taken when it answered."""
        self.received: set[int] = set()
        self.inbox: list[Slot] = []
        self.late_answers = 0
        self.waits_for: Slot | None = None

    def waiting_account(self) -> str:
        assert self.waits_for is not None
        return WAITING if self.syncer.lacks_answers(self.waits_for) else EXPOSED

    # A step's end: count, answer.

    def completed(self) -> None:
        self.step_time.add(self.compute)
        self.count += 1
        for fragment in self.since_receipt:
            self.since_receipt[fragment] += 1
        own = self.syncer.slot(self.count)
        if own is None or self.index in own.answers:
            pass
        elif own.closed is not None:
            self.late_answers += 1
        else:
            self._answer(own)
            own.own_answers.append(self.env.now)
            self.syncer.open_if_quorate(own)
        for slot in list(self.syncer.slots.values()):
            if self._answers_from_behind(slot):
                self._answer(slot)

    def _answers_from_behind(self, slot: Slot) -> bool:
        return (
            slot.number > self.count
            and slot.opened is not None
            and slot.opened < self.env.now
            and slot.closed is None
            and self.index not in slot.answers
            and all(self.since_receipt[p] >= 1 for p in slot.fragments)
        )

    def _answer(self, slot: Slot) -> None:
        slot.answers[self.index] = self.worth.answer(slot.fragments)
        self.answered_at[slot.number] = self.taken

    # The boundary: apply, wait, begin.

    def boundary(self) -> Generator[Event, None, None]:
        while True:
            if self.running and self.returning:
                self._take_up_after_restart()
            if not self.returning:
                self._receive()
            self.waits_for = self._blocking_slot()
            if self.running and self.waits_for is None:
                return
            yield from self.simulation.look_again()

    def _blocking_slot(self) -> Slot | None:
        """The oldest slot that it answered and has not received, if tau steps are used up."""
        outstanding = [t for t in self.answered_at if t not in self.received]
        if not outstanding:
            return None
        oldest = min(outstanding)
        slot = self.syncer.slots[oldest]
        if self.taken - self.answered_at[oldest] < self.case.overlap_steps:
            return None
        below_quorum = self.syncer.live_learners() < self.case.quorum
        if self.case.below_quorum == "step_on" and below_quorum and slot.closed is None:
            return None
        return slot

    def _receive(self) -> None:
        for slot in list(self.inbox):
            if not self._held(slot):
                self._apply(slot)

    def _held(self, slot: Slot) -> bool:
        if self.case.apply != "at_tau" or slot.number not in self.answered_at:
            return False
        return self.taken - self.answered_at[slot.number] < self.case.overlap_steps

    def _apply(self, slot: Slot) -> None:
        self.inbox.remove(slot)
        self.received.add(slot.number)
        self.count = max(self.count, slot.number)
        for fragment in slot.fragments:
            self.worth.receive(fragment, slot.number)
            self.since_receipt[fragment] = 0

    def _take_up_after_restart(self) -> None:
        self.returning = False
        for slot in list(self.inbox):
            self._apply(slot)
        self.since_receipt = dict.fromkeys(self.since_receipt, 0)


class Syncer(SteppingUnits):
    """Opens and closes slots, sends what they merge one after another, and hands it out."""

    def __init__(self, case: Case) -> None:
        super().__init__(case)
        self.fragments = case.fragments
        self.slots: dict[int, Slot] = {}
        self.quorum_time = Average(0)
        self.sync_time = Average(0)
        self.ring = Ring(case, [unit.region for unit in case.units], self.traffic)
        self.under_way: Slot | None = None
        self.queue: list[Slot] = []
        self.merging_until: float = 0
        self.learners = [Learner(self, index) for index in self.members]

    def unit(self, index: int) -> SteppingUnit:
        return self.learners[index]

    def late(self) -> int:
        return sum(learner.late_answers for learner in self.learners)

    def live_learners(self) -> int:
        """How many learners are live."""
        return sum(self.live(index) for index in self.members)

    def due(self, number: int) -> list[int]:
        """Fragments due at a slot."""
        steps, count = self.case.inner_steps, self.case.fragments
        return [p for p in range(count) if number % steps == p * steps // count]

    def slot(self, number: int) -> Slot | None:
        """The slot of that number; without a fragment due there is none."""
        if number < 1 or not self.due(number):
            return None
        if number not in self.slots:
            self.slots[number] = Slot(number, self.due(number))
        return self.slots[number]

    def before(self, slot: Slot) -> Slot | None:
        """The slot before, if there is one."""
        for number in range(slot.number - 1, 0, -1):
            earlier = self.slot(number)
            if earlier is not None:
                return earlier
        return None

    def open_if_quorate(self, slot: Slot) -> None:
        """A slot opens at the K-th own answer, and its grace is settled then."""
        if slot.opened is not None or len(slot.own_answers) < self.case.quorum:
            return
        now = slot.opened = self.env.now
        self.quorum_time.add(now - slot.own_answers[0])
        step_time = min(
            learner.step_time.value for learner in self.learners if self.live(learner.index)
        )
        slack = self.case.overlap_steps * step_time - (
            self.quorum_time.value + self.sync_time.value
        )
        grace = min(step_time, self.case.grace * max(0, slack))
        grace = self.clock.length(grace)
        slot.grace_ends = now + grace
        Moment(self.env, grace, Order.CLOSING, self.close_what_can_close)

    def close_what_can_close(self) -> None:
        for number in sorted(self.slots):
            slot = self.slots[number]
            if slot.closed is None and self._may_close(slot):
                self._close(slot)

    def _may_close(self, slot: Slot) -> bool:
        if slot.opened is None or self.live_learners() < self.case.quorum:
            return False
        earlier = self.before(slot)
        if earlier is not None and earlier.closed is None:
            return False
        if self._all_answered(slot):
            return True
        return self.env.now >= slot.grace_ends and self.under_way is None and not self.queue

    def _all_answered(self, slot: Slot) -> bool:
        return all(index in slot.answers for index in self.members if self.live(index))

    def lacks_answers(self, slot: Slot) -> bool:
        """Whether it, or one before it, waits for learners and not for the ring alone."""
        waiting: Slot | None = slot
        while waiting is not None and waiting.closed is None:
            if waiting.opened is None or self.live_learners() < self.case.quorum:
                return True
            if self.env.now < waiting.grace_ends and not self._all_answered(waiting):
                return True
            waiting = self.before(waiting)
        return False

    def _close(self, slot: Slot) -> None:
        slot.closed = self.env.now
        for answer in slot.answers.values():
            enter(answer)
        self.queue.append(slot)
        self._start_next()
        self.stir()

    def _start_next(self) -> None:
        if self.under_way is not None or not self.queue:
            return
        now = self.env.now
        slot = self.under_way = self.queue.pop(0)
        slot.started = end = now
        if self.ring.used:
            fragment_bits = self.case.payload_bits * self.case.parameters / self.case.fragments
            bits = len(slot.fragments) * fragment_bits * ring_factor(len(self.members))
            end = self.ring.drained(now, bits)
        if end < math.inf:
            Moment(self.env, end - now, Order.LAST_BIT, lambda: self._last_bit_out(slot))

    def _last_bit_out(self, slot: Slot) -> None:
        """The ring is free; what it carried arrives after its latency, and is merged then."""
        self.under_way = None
        self._start_next()
        latency = ring_latency(self.case, len(self.members)) if self.ring.used else 0
        merging_from = max(self.env.now + latency, self.merging_until)
        self.merging_until = merging_from + self.case.syncer_time
        delay = self.merging_until - self.env.now
        Moment(self.env, delay, Order.ARRIVAL, lambda: self._arrive(slot))
        self.stir()

    def _arrive(self, slot: Slot) -> None:
        assert slot.started is not None
        slot.arrived = self.env.now
        self.sync_time.add(slot.arrived - slot.started)
        self.merges.append((slot.number, slot.started, slot.arrived, tuple(sorted(slot.answers))))
        for learner in self.learners:
            learner.inbox.append(slot)
        self.stir()
