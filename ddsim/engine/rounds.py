"""Rounds of a quiet stretch that are all alike: counted at once, however many they are.

A round is the slots in which every fragment has its turn. Once everything that one leaves behind
is what the one before left behind, a round later, all that follow bring the same.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ddsim.engine.merge_log import Answers

if TYPE_CHECKING:
    from ddsim.engine.quiet import Closed, Stepper, Stretch

SAME = 1e-9
# What is left to be counted slot by slot, so that nothing from before is still on its way then.
LEFT = 2


@dataclass(frozen=True)
class Skip:
    """So many `rounds`, each of `slots` slots with `answers` answers and `length` seconds.

    They come after the first `after` slots of their stretch; `fragments` are merged in each.
    """

    after: int
    rounds: int
    length: float
    slots: int
    answers: int
    fragments: tuple[int, ...]


@dataclass(frozen=True)
class _Mark:
    """Where a round begins: what is the same in every one, times, sums, and slots so far."""

    whole: tuple[object, ...]
    times: tuple[float, ...]
    sums: tuple[float, ...]
    slots: int


class Rounds:
    """Looks at a stretch whenever a round ends; `room` slots are wanted one by one before that."""

    def __init__(self, stretch: Stretch, period: int, room: int) -> None:
        self._stretch = stretch
        self._period = period
        self._room = room
        self._mark: _Mark | None = None
        self._total = stretch.answers
        stretch.answers = Answers(self._total.last)

    def end(self, slot: int, start: float) -> int:
        """Look at the round that `slot` ends, whose first step is over at `start`.

        Returns how many slots were skipped, all in whole rounds.
        """
        stretch, before = self._stretch, self._mark
        self._mark = mark = self._now(slot, start)
        answers = stretch.answers
        self.close()
        if before is None or before.whole != mark.whole or mark.slots < self._room:
            return 0
        slack = SAME * stretch.step
        pairs = zip(before.times, mark.times, strict=True)
        if any(abs(one - other) > slack for one, other in pairs):
            return 0
        if len({len(closed.fragments) for closed in stretch.slots[before.slots :]}) > 1:
            return 0  # what goes over the link would not be the same all the time
        length = self._period * stretch.step
        rounds = int((stretch.until - start) // length) - LEFT
        if rounds <= 0:
            return 0
        self._skip(before, mark, answers, rounds)
        return rounds * self._period

    def close(self) -> None:
        """Take what the answers of this round carried into the sum of all."""
        answers = self._stretch.answers
        self._total.take_in(answers)
        self._stretch.answers = Answers(answers.last)

    def total(self) -> Answers:
        """Return what all answers carried."""
        self.close()
        return self._total

    def _now(self, slot: int, start: float) -> _Mark:
        stretch = self._stretch
        whole = (
            tuple(closed.slot - slot for closed in stretch.flying),
            *(self._standing(stepper, slot) for stepper in stretch.steppers),
        )
        averages = (stretch.quorum_time or 0.0, stretch.sync_time or 0.0)
        flying = (time - start for closed in stretch.flying for time in (closed.at, closed.arrival))
        sums = (
            stretch.merged,
            stretch.overwritten,
            stretch.tokens_merged,
            *(stepper.own_answers for stepper in stretch.steppers),
        )
        return _Mark(whole, (*averages, *flying), sums, len(stretch.slots))

    @staticmethod
    def _standing(stepper: Stepper, slot: int) -> tuple[object, ...]:
        """Return where a learner stands, seen from this slot."""
        in_step = all(
            tokens == stepper.tokens_at + stepper.rate * received
            for tokens, received in zip(stepper.tokens, stepper.received, strict=True)
        )
        waiting = tuple(
            (one.slot - slot, one.boundary - slot, one.answered and one.answered - slot)
            for one in stepper.waiting
        )
        received = tuple(own - slot for own in stepper.received)
        return received, tuple(base - slot for base in stepper.bases), waiting, in_step

    def _skip(self, before: _Mark, mark: _Mark, answers: Answers, rounds: int) -> None:
        """Let as many rounds pass as the last one did."""
        stretch, shift = self._stretch, rounds * self._period
        time = shift * stretch.step
        pattern: list[Closed] = stretch.slots[before.slots : mark.slots]
        stretch.skip = Skip(
            mark.slots,
            rounds,
            self._period * stretch.step,
            len(pattern),
            sum(len(closed.steppers) for closed in pattern),
            tuple(fragment for closed in pattern for fragment in closed.fragments),
        )
        merged, overwritten, tokens, *own = (
            after - sooner for after, sooner in zip(mark.sums, before.sums, strict=True)
        )
        stretch.merged += rounds * int(merged)
        stretch.overwritten += rounds * int(overwritten)
        stretch.tokens_merged += rounds * tokens
        self._total.take_in(answers, rounds)
        self._total.last = [slot + shift for slot in self._total.last]
        stretch.answers = Answers(self._total.last)
        stretch.flying = deque(
            replace(c, slot=c.slot + shift, at=c.at + time, arrival=c.arrival + time)
            for c in stretch.flying
        )
        for stepper, answered in zip(stretch.steppers, own, strict=True):
            stepper.own_answers += rounds * int(answered)
            stepper.received = [step + shift for step in stepper.received]
            stepper.bases = [slot + shift for slot in stepper.bases]
            stepper.tokens = [stepper.tokens_at + stepper.rate * own for own in stepper.received]
            stepper.waiting = deque(
                replace(
                    one,
                    slot=one.slot + shift,
                    boundary=one.boundary + shift,
                    answered=one.answered and one.answered + shift,
                )
                for one in stepper.waiting
            )
