"""Decoupled DiLoCo's quiet stretches: when slots can be counted, and how the run goes on then."""

from __future__ import annotations

from collections import deque
from itertools import groupby
from math import ceil, inf
from typing import TYPE_CHECKING

from ddsim.engine.clock import Rank
from ddsim.engine.merge_log import Answers
from ddsim.engine.quiet import EDGE, Closed, Receipt, Stepper, Stretch
from ddsim.engine.recorder import Merge
from ddsim.engine.syncer import Answer, Slot

if TYPE_CHECKING:
    from ddsim.engine.clock import Wake
    from ddsim.engine.learner import Learner
    from ddsim.methods.decoupled_diloco import DecoupledDiLoCo

WORTH = 6
PATIENCE = 16


class Counting:
    """Counts slots in place of stepping through them, wherever the rules make that the same.

    It looks when a slot has just closed. Learners that step must have one pace and stand at the
    slot's own step or one before it, none may wait, and at most the slot's own update may be on
    the link. Then everything up to the last slot that closes before the world changes is
    counted, and the run goes on with that slot about to close.
    """

    def __init__(self, method: DecoupledDiLoCo) -> None:
        run = method.run
        self._method = method
        self._clock = run.clock
        self._rest = 0
        self._possible = (
            run.counted
            and run.tape is None
            and method.steering.fixed
            and method.countable
            and run.scenario.training.syncer == "replicas"  # else who answers decides the time
            and run.token_goal == inf
            and all(pace.steady for pace in run.paces)
            # else a learner answers for a fragment again before it has received it
            and not (method.at_tau and method.overlap >= method.syncer.inner_steps)
        )

    def look(self, slot: Slot) -> None:
        """Consider counting from this slot on, which closes at this instant."""
        if not self._possible:
            return
        if self._rest > 0:
            self._rest -= 1
            return
        step = self._method.learners[0].pace.nominal
        if self._until() - self._clock.now > WORTH * step:
            self._clock.after(0.0, Rank.COUNT, self._try, slot)

    def _until(self) -> float:
        now = self._clock.now
        change = self._method.replicas.ring.rate.next_change(now)
        return min(self._clock.quiet_until(), change, self._method.run.horizon)

    def _try(self, wake: Wake) -> None:
        self._rest = PATIENCE
        slot: Slot = wake.given
        stretch = self._stretch(slot)
        if stretch is None:
            return
        syncer = self._method.syncer
        flying = list(stretch.flying)
        room = self._method.run.recorder.room
        if not stretch.count(slot.index, syncer.due, syncer.inner_steps, room):
            return
        if len(stretch.slots) < WORTH:
            return
        self._rest = 0
        unsent = self._method.replicas.withdraw()
        for under_way in syncer.flying:
            under_way.counted = True
        for stepper in stretch.steppers:
            self._method.learners[stepper.index].suspend()
        given = (stretch, flying, unsent)
        self._clock.after(stretch.slots[-1].at - self._clock.now, Rank.CLOSE, self._go_on, given)

    # Into the stretch.

    def _stretch(self, slot: Slot) -> Stretch | None:
        """Return the stretch that begins now, None where a rule forbids to count."""
        method, syncer = self._method, self._method.syncer
        replicas = method.replicas
        if syncer.open or syncer.slots or method.fabric.crowded or method.catching_up:
            return None
        live = [method.learners[index] for index in method.live]
        running = [learner for learner in live if learner.body.running]
        if len(running) < method.quorum:
            return None
        step = running[0].pace.nominal
        for learner in live:
            state = method.states[learner.index]
            if state.blocked is not None:
                return None
        for learner in running:
            count = method.states[learner.index].count
            if learner.idle or learner.pace.nominal != step or count > slot.index:
                return None
        now = self._clock.now
        rate = replicas.ring.rate.at(now)
        bits = replicas.fragment_bits
        if rate <= 0.0 or bits * method.fragments / rate > replicas.timeout:
            return None

        def send(fragments: int) -> float:
            return 0.0 if rate == inf else bits * fragments / rate

        flying = self._flying(slot, send(len(slot.fragments)))
        steppers = [self._stepper(learner, flying) for learner in running]
        if any(stepper is None for stepper in steppers):
            return None
        return Stretch(
            steppers=[stepper for stepper in steppers if stepper is not None],
            step=step,
            quorum=method.quorum,
            overlap=method.overlap,
            gamma=syncer.gamma,
            at_tau=method.at_tau,
            silent=len(running) < len(live),
            whole=len(running) == len(method.learners),
            fastest=min(learner.pace.nominal for learner in live),
            send=send,
            latency=replicas.ring.latency,
            until=self._until(),
            quorum_time=syncer.quorum_time.value,
            sync_time=syncer.sync_time.value,
            flying=deque(flying),
            answers=Answers(method.log.answers.last),
        )

    def _flying(self, slot: Slot, send: float) -> list[Closed]:
        """Return the updates under way, each with the time at which it will be there."""
        flying: list[Closed] = []
        latency = self._method.replicas.ring.latency
        for other in self._method.syncer.flying:
            closed = other.closed
            assert closed is not None
            due = closed + send + latency if other.due is None else other.due
            arrival = max(due, flying[-1].arrival) if flying else due
            flying.append(Closed(other.index, other.fragments, closed, arrival, []))
        return flying

    def _stepper(self, learner: Learner, flying: list[Closed]) -> Stepper | None:
        method = self._method
        state = method.states[learner.index]
        step = learner.pace.nominal
        ahead = state.count - learner.steps
        rate = learner.body.units[0].healthy * learner.tokens_per_chip
        stepper = Stepper(
            learner.index,
            learner.ends - (state.count + 1) * step,
            [received + ahead for received in state.received],
            list(state.tokens),
            learner.tokens - rate * state.count,
            rate,
            list(state.bases),
        )
        coming = [(slot.index, slot.fragments, state.count + 1) for slot in state.inbox]
        for closed in flying:
            boundary = ceil((closed.arrival - stepper.origin) / step - EDGE)
            coming.append((closed.slot, closed.fragments, max(boundary, state.count + 1)))
        for index, fragments, boundary in coming:
            answer = state.answered.get(index)
            mine = answer[1].steps + ahead if answer else 0
            if mine and boundary > mine + method.overlap:
                return None
            if mine and method.at_tau:
                boundary = mine + method.overlap
            if stepper.waiting and boundary < stepper.waiting[-1].boundary:
                return None
            if boundary >= index + method.syncer.inner_steps - 1:
                return None  # it may have answered for the fragment again by then
            stepper.waiting.append(Receipt(index, fragments, boundary, mine))
        return stepper

    # Out of it.

    def _go_on(self, wake: Wake) -> None:
        """Take up the run with the last slot about to close."""
        stretch, flying, unsent = wake.given
        method, syncer = self._method, self._method.syncer
        now = self._clock.now
        counted = stretch.slots[:-1]
        stepping = {stepper.index for stepper in stretch.steppers}
        slots = {slot.index: slot for slot in syncer.flying}
        wanted = {receipt.slot for stepper in stretch.steppers for receipt in stepper.waiting}
        wanted |= slots.keys()
        everybody = len(stepping) == len(method.states)
        skip = stretch.skip
        for index, closed in enumerate((*flying, *counted)):
            if skip is not None and index == len(flying) + skip.after:
                method.log.repeat(skip.rounds, skip.length, skip.slots, skip.fragments)
            if closed.arrival < now:
                method.log.arrived(closed.arrival, closed.fragments)
            if everybody and closed.arrival < now and closed.slot not in wanted:
                continue  # everyone has it
            slot = slots.setdefault(closed.slot, Slot(closed.slot, closed.fragments))
            slot.closed = closed.at
            slot.due = slot.arrived = closed.arrival
        self._send(stretch, [*(flying[-1:] if unsent else ()), *counted])
        self._note(stretch, flying, slots)
        there = [(slots[c.slot], c.arrival) for c in (*flying, *counted) if c.slot in slots]
        under_way = [slot for slot, arrival in there if arrival >= now]
        arrived = [slot for slot, arrival in there if arrival < now]
        last = Slot(stretch.slots[-1].slot, stretch.slots[-1].fragments)
        for index, state in enumerate(method.states):
            if index not in stepping:
                state.inbox.extend(arrived)
        for stepper in stretch.steppers:
            self._take_up(stretch, stepper, last, slots, arrived)
        method.merged += stretch.merged
        method.overwritten += stretch.overwritten
        method.tokens_merged += stretch.tokens_merged / method.fragments
        method.log.answers.take_in(stretch.answers)
        self._averages(stretch, now)
        syncer.arrived = max(
            (c.slot for c in (*flying, *counted) if c.arrival < now), default=syncer.arrived
        )
        syncer.resume(last, under_way)

    def _averages(self, stretch: Stretch, now: float) -> None:
        """Bring the moving averages up to date with what has arrived since the last opening."""
        syncer = self._method.syncer
        syncer.quorum_time.value = stretch.quorum_time
        syncer.sync_time.value = stretch.sync_time
        for closed in stretch.flying:
            if closed.arrival < now:
                syncer.sync_time.add(closed.arrival - closed.at)

    def _take_up(
        self,
        stretch: Stretch,
        stepper: Stepper,
        last: Slot,
        slots: dict[int, Slot],
        arrived: list[Slot],
    ) -> None:
        """Put one learner where it stands now, its answers and its inbox as they are."""
        method = self._method
        learner, state = method.learners[stepper.index], method.states[stepper.index]
        ahead = state.count - learner.steps
        answers = any(stepper is other for other in stretch.slots[-1].steppers)
        own = stretch.own_step(stepper)
        left = stepper.origin + (own + 1) * stretch.step - self._clock.now
        at_boundary = stretch.step - left <= EDGE * stretch.step
        stretch.receive(stepper, own - 1)
        if answers:
            self._answer(stepper, last, ahead)
        if not at_boundary:
            stretch.receive(stepper, own)
        late = self._own_slots(state.count, own) - stepper.own_answers
        if answers and stepper.lag == 0:
            late -= 1
        method.syncer.late[stepper.index] = method.syncer.late.get(stepper.index, 0) + late
        learner.jump(own - state.count, 0.0 if at_boundary else left)
        state.count = own
        state.received = [received - ahead for received in stepper.received]
        state.tokens = stepper.tokens
        state.bases = stepper.bases
        here = {slot.index for slot in (*state.inbox, *arrived)}
        known = {slot.index: slot for slot in state.inbox} | slots
        state.answered = {}
        state.inbox.clear()
        for receipt in stepper.waiting:
            slot = known[receipt.slot]
            if receipt.answered:
                answer = Answer(stepper.index, receipt.answered - ahead, {}, {})
                answer.carried = dict.fromkeys(receipt.fragments, 0)
                state.answered[receipt.slot] = (slot, answer)
            if receipt.slot in here:
                state.inbox.append(slot)
        if answers:
            state.answered[last.index] = (last, last.answers[stepper.index])
        if at_boundary:
            self._clock.after(0.0, Rank.NEXT, method.next_step, learner)

    def _answer(self, stepper: Stepper, slot: Slot, ahead: int) -> None:
        own = slot.index - stepper.lag
        done = stepper.tokens_at + stepper.rate * own
        slot.answers[stepper.index] = Answer(
            stepper.index,
            own - ahead,
            {p: own - stepper.received[p] for p in slot.fragments},
            {p: done - stepper.tokens[p] for p in slot.fragments},
            [stepper.bases[p] for p in slot.fragments],
        )

    def _own_slots(self, after: int, until: int) -> int:
        """Return how many of a learner's own steps have a slot: all but its answers are late."""
        syncer = self._method.syncer
        rounds, rest = divmod(until - after, syncer.inner_steps)
        steps = range(until - rest + 1, until + 1)
        return rounds * len(syncer.due) + sum(n % syncer.inner_steps in syncer.due for n in steps)

    def _send(self, stretch: Stretch, closed: list[Closed]) -> None:
        """Record the bytes of what went over the link, evenly spread over the stretch."""
        replicas = self._method.replicas
        if not replicas.ring.crosses:
            return
        for size, alike in groupby(closed, key=lambda one: len(one.fragments)):
            group = list(alike)
            first, count = group[0].at, len(group)
            if stretch.skip is not None:
                count += stretch.skip.rounds * stretch.skip.slots
            period = (group[-1].at - first) / (count - 1) if count > 1 else 0.0
            sent = (first, first + stretch.send(size), replicas.fragment_bits * size)
            self._method.run.meter.repeat([sent], period, count, replicas.ring)

    def _note(self, stretch: Stretch, flying: list[Closed], slots: dict[int, Slot]) -> None:
        """Note the merges of all that has closed."""
        method, run = self._method, self._method.run
        for closed in flying:
            slot = slots.get(closed.slot)
            if slot is not None and slot.answers and closed.arrival < run.horizon:
                method.note_slot(slot)
                slot.answers = {}
        if stretch.skip is not None:
            method.merges += stretch.skip.rounds * stretch.skip.slots
            method.participants += stretch.skip.rounds * stretch.skip.answers
        for closed in stretch.slots[:-1]:
            method.merges += 1
            method.participants += len(closed.steppers)
            if run.recorder.noting and closed.arrival < run.horizon:
                run.recorder.note(_merge(closed))


def _merge(closed: Closed) -> Merge:
    pairs = zip(closed.steppers, closed.weights, strict=True)
    who = sorted((stepper.index, weight) for stepper, weight in pairs)
    return Merge(
        closed.slot,
        closed.fragments,
        closed.at,
        closed.arrival,
        tuple(index for index, _ in who),
        tuple(weight for _, weight in who),
    )
