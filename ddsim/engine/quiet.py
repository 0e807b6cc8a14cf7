"""Slots of Decoupled DiLoCo in a quiet stretch, as a recurrence instead of events.

Between two changes of hardware or links, learners of one pace that never wait take one step after
the other at fixed offsets. Then the slots that close, who answers them and what they carry follow
from a few additions a slot, which is what is done here, by the same rules as slot by slot.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from math import ceil, floor
from typing import TYPE_CHECKING

from ddsim.engine.rounds import Rounds
from ddsim.engine.syncer import AVERAGE, merge_weight

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ddsim.engine.merge_log import Answers
    from ddsim.engine.rounds import Skip

EDGE = 1e-9


@dataclass(slots=True)
class Receipt:
    """An update that a learner takes in at the end of its own step `boundary`.

    `answered` is its own step with which it answered the slot, 0 where it did not.
    """

    slot: int
    fragments: tuple[int, ...]
    boundary: int
    answered: int


@dataclass(slots=True)
class Stepper:
    """A learner that steps: it completes own step n at `origin` + n steps.

    `received` and `tokens` are its own step and its tokens when it last received each fragment,
    `tokens_at` its tokens at own step 0, were it to reach back so far, `rate` its tokens a step.
    `bases` are the slots whose updates those were. It is `lag` whole steps and `offset` seconds
    behind the first, and has answered `own_answers` slots with their own steps.
    """

    index: int
    origin: float
    received: list[int]
    tokens: list[float]
    tokens_at: float
    rate: float
    bases: list[int]
    lag: int = 0
    offset: float = 0.0
    own_answers: int = 0
    waiting: deque[Receipt] = field(default_factory=deque)


@dataclass(slots=True)
class Closed:
    """A slot, when it closes and its update arrives, and the learners whose answers it has."""

    slot: int
    fragments: tuple[int, ...]
    at: float
    arrival: float
    steppers: list[Stepper]
    weights: list[float] = field(default_factory=list)


@dataclass(slots=True)
class Stretch:
    """A quiet stretch: what is fixed in it, the syncer's moving averages, and what it came to.

    `step` is the step time of all that step, `fastest` that of the fastest live learner, `silent`
    says that a learner is live but does not step, `whole` that all learners there are step,
    `send` gives the time on the link by the number of fragments, `until` ends the stretch.
    `flying` are updates under way. Of `slots`, all but the last have closed and are counted in
    `merged`, `overwritten`, `tokens_merged` and `answers`; the last has its answers and
    closes at the end. `skip` are whole rounds among them, all alike, of which none is listed.
    """

    steppers: list[Stepper]
    step: float
    quorum: int
    overlap: int
    gamma: float
    at_tau: bool
    silent: bool
    whole: bool
    fastest: float
    send: Callable[[int], float]
    latency: float
    until: float
    quorum_time: float | None
    sync_time: float | None
    flying: deque[Closed]
    answers: Answers
    merged: int = 0
    overwritten: int = 0
    tokens_merged: float = 0.0
    slots: list[Closed] = field(default_factory=list)
    skip: Skip | None = None

    def count(self, last: int, due: Mapping[int, tuple[int, ...]], period: int, room: int) -> bool:
        """Count the slots after `last` while they close before `until` and nobody waits.

        Fragments are `due` by the slot's residue modulo `period`. The first `room` slots are
        listed one by one. Returns whether there are any.
        """
        if not self._align():
            return False
        rounds = Rounds(self, period, room)
        self._count(last, due, period, rounds)
        self.answers = rounds.total()
        return bool(self.slots)

    def _count(
        self, last: int, due: Mapping[int, tuple[int, ...]], period: int, rounds: Rounds
    ) -> None:
        step, slack = self.step, EDGE * self.step
        base = min(stepper.origin for stepper in self.steppers)
        opening = sorted(s.offset for s in self.steppers if s.lag == 0)[self.quorum - 1]
        # Who is behind answers a slot that is open already; the others step when it is not.
        able = [s for s in self.steppers if s.lag == 0 or s.offset > opening + slack]
        latest = max(stepper.offset for stepper in able)
        everyone = not self.silent and len(able) == len(self.steppers)
        merged = False  # whether the last slot of the list is
        while True:
            slot = last + 1
            while slot % period not in due:
                slot += 1
            leader = base + slot * step
            quorum_time, sync_time = self._averages(opening, leader + opening - slack)
            spare = self.overlap * self.fastest - quorum_time - (sync_time or 0.0)
            closing = opening + min(self.fastest, self.gamma * max(0.0, spare))
            if everyone and latest <= closing + slack:
                closing = latest
            at = leader + closing
            sent = self.flying[-1].arrival - self.latency if self.flying else 0.0
            if at >= self.until or closing >= step - slack or sent > at:
                break
            if self.at_tau and not (len(able) == len(self.steppers) and latest <= closing + slack):
                break
            if self.slots and not merged and not self._close(self.slots[-1], period):
                break
            merged = False
            if self.whole and slot // period > last // period:
                skipped = rounds.end(slot, leader)
                if skipped:
                    last += skipped
                    merged = True
                    continue
            while self.flying and self.flying[0].arrival < leader + opening - slack:
                self.flying.popleft()
            self.quorum_time, self.sync_time = quorum_time, sync_time
            fragments = due[slot % period]
            arrival = at + self.send(len(fragments)) + self.latency
            if self.flying:
                arrival = max(arrival, self.flying[-1].arrival)
            answering = [stepper for stepper in able if stepper.offset <= closing + slack]
            closed = Closed(slot, fragments, at, arrival, answering)
            self.flying.append(closed)
            self.slots.append(closed)
            last = slot

    def _align(self) -> bool:
        """Set lags and offsets; return whether a quorum is at the slots' own steps."""
        base = min(stepper.origin for stepper in self.steppers)
        for stepper in self.steppers:
            behind = (stepper.origin - base) / self.step
            stepper.lag = floor(behind + EDGE)
            stepper.offset = max(0.0, (behind - stepper.lag) * self.step)
        return sum(1 for stepper in self.steppers if stepper.lag == 0) >= self.quorum

    def own_step(self, stepper: Stepper) -> int:
        """Return the last own step that a learner has completed when the last slot closes."""
        last = self.slots[-1]
        closing = last.at - min(s.origin for s in self.steppers) - last.slot * self.step
        passed = stepper.offset <= closing + EDGE * self.step
        return last.slot - stepper.lag - (0 if passed else 1)

    def _averages(self, opening: float, opened: float) -> tuple[float, float | None]:
        """Moving averages of quorum and sync time when a slot opens."""
        quorum, sync = self.quorum_time, self.sync_time
        quorum = opening if quorum is None else quorum + AVERAGE * (opening - quorum)
        for closed in self.flying:
            if closed.arrival >= opened:
                break
            taken = closed.arrival - closed.at
            sync = taken if sync is None else sync + AVERAGE * (taken - sync)
        return quorum, sync

    def _close(self, closed: Closed, period: int) -> bool:
        """Merge a slot's answers and send its update; False, and nothing, where that is not quiet.

        It is not where a learner would wait for the update, would jump ahead to its slot, or
        would answer for its fragments again before it has it.
        """
        slot = closed.slot
        answers = {stepper.index: slot - stepper.lag for stepper in closed.steppers}
        boundaries: list[int] = []
        for stepper in self.steppers:
            boundary = ceil((closed.arrival - stepper.origin) / self.step - EDGE)
            answer = answers.get(stepper.index, 0)
            if answer and self.at_tau and boundary <= answer + self.overlap:
                boundary = answer + self.overlap
            if boundary < slot or boundary >= slot - stepper.lag + period:
                return False
            if answer and boundary > answer + self.overlap:
                return False
            boundaries.append(boundary)
        noted, brought = self.answers, 0.0
        for stepper in closed.steppers:
            own = answers[stepper.index]
            self.receive(stepper, own - 1)
            done = stepper.tokens_at + stepper.rate * own
            steps, tokens = 0, 0.0
            for fragment in closed.fragments:
                taken = own - stepper.received[fragment]
                steps += taken
                tokens += done - stepper.tokens[fragment]
                noted.add(max(0, noted.last[fragment] - stepper.bases[fragment]), taken)
            brought += tokens
            self.merged += steps
            self.tokens_merged += tokens
            closed.weights.append(merge_weight(steps, tokens))
            stepper.own_answers += stepper.lag == 0
        noted.tokens.add(brought / len(noted.last))
        for fragment in closed.fragments:
            noted.last[fragment] = slot
        for stepper, boundary in zip(self.steppers, boundaries, strict=True):
            answer = answers.get(stepper.index, 0)
            stepper.waiting.append(Receipt(slot, closed.fragments, boundary, answer))
        return True

    def receive(self, stepper: Stepper, own: int) -> None:
        """Let a learner take in what it has waiting up to its own step `own`."""
        waiting = stepper.waiting
        while waiting and waiting[0].boundary <= own:
            receipt = waiting.popleft()
            for fragment in receipt.fragments:
                kept = max(stepper.received[fragment], receipt.answered)
                self.overwritten += receipt.boundary - kept
                stepper.received[fragment] = receipt.boundary
                stepper.bases[fragment] = receipt.slot
                stepper.tokens[fragment] = stepper.tokens_at + stepper.rate * receipt.boundary
