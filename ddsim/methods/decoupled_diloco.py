"""Decoupled DiLoCo: learners step on their own clocks, a syncer merges what a quorum gives."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, Any

from ddsim.engine import tape
from ddsim.engine.clock import Rank
from ddsim.engine.fragments import Schedule, fragment_sizes
from ddsim.engine.ledger import Account
from ddsim.engine.merge_log import MergeLog
from ddsim.engine.recorder import Merge
from ddsim.engine.replicas import Replicas
from ddsim.engine.returning import ReturningBody
from ddsim.engine.syncer import Answer, MovingAverage, Slot, Syncer
from ddsim.methods.registry import method
from ddsim.methods.returning import Returning
from ddsim.methods.steering import Steering
from ddsim.methods.units import UnitsMethod
from ddsim.world.instants import Ticks, seconds, ticks

if TYPE_CHECKING:
    from ddsim.engine.body import ElasticBody
    from ddsim.engine.clock import Wake
    from ddsim.engine.hardware import Hardware, UnitState
    from ddsim.engine.learner import Learner
    from ddsim.engine.run import Outcome

CONVENTIONS = {
    "partitioned": (
        "syncer partitioned over the sites: (M-1)/M of the outer gradients and of the parameters "
        "each way"
    ),
    "central": (
        "central syncer: each unit elsewhere sends the outer gradients and receives the "
        "parameters, the syncer's site (M-1) times as much"
    ),
}


@dataclass(slots=True)
class State:
    """What a learner knows of the syncer.

    `count` is its own count, `answered` its answers whose updates it has not received, in the
    order of slots, `inbox` the updates that have arrived and wait for a step boundary.
    `received` and `tokens` are its steps and tokens when it last received each fragment, `bases`
    the slots whose updates those were.
    """

    received: list[int]
    tokens: list[float]
    bases: list[int]
    count: int = 0
    answered: dict[int, tuple[Slot, Answer]] = field(default_factory=dict)
    inbox: deque[Slot] = field(default_factory=deque)
    blocked: Slot | None = None
    compute: MovingAverage = field(default_factory=MovingAverage)


@method("decoupled_diloco")
class DecoupledDiLoCo(UnitsMethod):
    """A learner answers a slot at its own step, goes on for up to tau steps, then waits for the
    slot's update; the slot closes with a quorum and what a grace window catches. Only a learner
    whose own unit fails stops.

    Source: arXiv 2604.21428.
    """

    returning: Returning

    summary = "fragments merged by a syncer at a quorum; a failure stops only its learner"

    def start(self) -> Hardware:
        """Set learners and syncer up, all fragments received at step 0."""
        run = self.run
        training = run.scenario.training
        count = len(run.cluster.units)
        fragments = training.fragments
        self.overlap = training.overlap_steps
        self.quorum = training.quorum
        self.fragments = fragments
        self.at_tau = training.apply == "at_tau"
        self.step_on = training.below_quorum == "step_on"
        self.merged = self.overwritten = self.merges = self.participants = 0
        self.tokens_merged = 0.0
        self.states = [
            State([0] * fragments, [0.0] * fragments, [0] * fragments) for _ in range(count)
        ]
        self.live = list(range(count))
        self.syncer = Syncer(
            run.clock,
            Schedule(training.inner_steps, fragments),
            overlap=self.overlap,
            quorum=self.quorum,
            gamma=training.grace,
            live=lambda: self.live,
            step_time=self._step_time,
            compute=ticks(training.syncer_time),
            on_close=self._closed,
            on_start=self._started,
            on_arrival=self._arrived,
        )
        fragment = run.scenario.model.parameters / fragments
        self.replicas = self.syncer.replicas = Replicas(
            run.clock,
            self.fabric,
            run.network,
            [unit.region for unit in run.cluster.units],
            payload=training.payload_bits * fragment,
            missed_bits=training.broadcast_bits * fragment,
            form=training.syncer,
            down=training.broadcast_bits / training.payload_bits,
            timeout=ticks(run.scenario.network.ring_timeout),
            sizes=fragment_sizes(run.scenario),
            server=run.scenario.network.server or next(iter(run.scenario.regions()), ""),
            quorum=lambda: self.quorum,
            sent=self.syncer.sent,
        )
        self.withheld: dict[int, list[Slot]] = {}
        self.steering = Steering(self)
        self.log = MergeLog(fragments, self.replicas.ring.rate)
        hardware = self.make_learners(
            self._step_over, self._decide, self._live_changed, self.quorum
        )
        for learner in self.learners:
            self._decide(learner)
        return hardware

    def make_body(self, unit: UnitState, **options: Any) -> ElasticBody:
        """Return the body of a unit whose learner takes its state from others when it returns."""
        run = self.run
        units = [unit]
        return ReturningBody(
            run.clock, units, run.ledger, run.recorder, returns=self.returning, **options
        )

    def make_returning(self) -> Returning:
        """Return what sees to learners and replicas that are gone."""
        self.replicas.listener = returning = Returning(self)
        return returning

    def _step_time(self) -> float:
        """Mean compute of a step of the fastest live learner, in ticks."""
        return min(map(self.step_time_of, self.live), default=0.0)

    def step_time_of(self, index: int) -> float:
        """Mean compute of a learner's step, in ticks."""
        return self.states[index].compute.get(self.learners[index].pace.nominal)

    # Steps and answers.

    def _step_over(self, learner: Learner) -> None:
        state = self.states[learner.index]
        state.compute.add(learner.leg_end)
        state.count += 1
        if learner.index in self.withheld:  # nobody hears its answers
            self._go_on(learner)
            return
        count = state.count
        now = self.run.clock.now
        for slot in list(self.syncer.open):
            behind = slot.index > count and slot.opened is not None and slot.opened < now
            if behind and learner.index not in slot.answers:
                fresh = any(learner.steps > state.received[p] for p in slot.fragments)
                if fresh:
                    self._answer(learner, state, slot, own=False)
        own = self.syncer.own_slot(learner.index, count)
        if own is not None and learner.index not in own.answers:
            self._answer(learner, state, own, own=True)
        self._go_on(learner)
        if self.run.token_goal < inf:
            self.check_goal()

    def _go_on(self, learner: Learner) -> None:
        """Let a learner at a step boundary do what comes next, after all else at this instant."""
        if self.run.clock.busy:
            self.run.clock.after(0, Rank.NEXT, self.next_step, learner)
        else:
            self._decide(learner)

    def _answer(self, learner: Learner, state: State, slot: Slot, *, own: bool) -> None:
        answer = Answer(
            learner.index,
            learner.steps,
            {p: learner.steps - state.received[p] for p in slot.fragments},
            {p: learner.tokens - state.tokens[p] for p in slot.fragments},
            [state.bases[p] for p in slot.fragments],
        )
        state.answered[slot.index] = (slot, answer)
        if self.run.tape is not None:
            now = seconds(self.run.clock.now)
            self.run.tape.append(tape.Answer(now, learner.index, slot.index, slot.fragments))
        if self.returning.fresh:
            self.returning.answered(learner.index)
        self.syncer.answer(slot, answer, own=own)

    # What a learner does next.

    def next_step(self, wake: Wake) -> None:
        """Let a learner at a step boundary receive what is there, and step on if it can."""
        learner: Learner = wake.given
        if not learner.idle:
            return
        if learner.body.running:
            self._decide(learner)
        elif learner.body.live and not learner.lost_hardware:  # its unit reconfigures
            self._receive(learner, self.states[learner.index])

    def _decide(self, learner: Learner) -> None:
        """Receive what has arrived, after a restart all anew, then block or take the next step."""
        if learner.lost_hardware:
            learner.lost_hardware = False
            self._rejoin(learner)
        state = self.states[learner.index]
        if state.inbox:
            self._receive(learner, state)
        state.blocked = None
        if state.answered:
            slot, answer = next(iter(state.answered.values()))
            if learner.steps - answer.steps >= self.overlap and self._binds(slot):
                state.blocked = slot
                closed = slot.closed is not None
                learner.wait(Account.EXPOSED_COMMUNICATION if closed else Account.WAITING_ON_PEERS)
                return
        compute = learner.compute()
        learner.start((compute,), compute)

    def _binds(self, slot: Slot) -> bool:
        """Whether a learner waits for this slot at all, there being too few for a quorum."""
        return not self.step_on or slot.closed is not None or len(self.live) >= self.quorum

    def _receive(self, learner: Learner, state: State) -> None:
        kept: deque[Slot] = deque()
        for slot in state.inbox:
            mine = state.answered.get(slot.index)
            if self.at_tau and mine and learner.steps - mine[1].steps < self.overlap:
                kept.append(slot)
                continue
            state.count = max(state.count, slot.index)
            if self.run.tape is not None:
                now = seconds(self.run.clock.now)
                self.run.tape.append(tape.Receive(now, learner.index, slot.index))
            for fragment in slot.fragments:
                self._overwrite(learner, state, fragment)
                state.bases[fragment] = slot.index
            state.answered.pop(slot.index, None)
        state.inbox = kept

    def _overwrite(self, learner: Learner, state: State, fragment: int) -> None:
        """Receive a fragment: its steps since the last receipt that no answer carries are lost."""
        kept = state.received[fragment]
        for _, answer in state.answered.values():
            if fragment in answer.carried and answer.steps > kept:
                kept = answer.steps
        self.overwritten += learner.steps - kept
        state.received[fragment] = learner.steps
        state.tokens[fragment] = learner.tokens

    def _rejoin(self, learner: Learner) -> None:
        """Take all fragments from the replica: none of the learner's own steps is left in them."""
        state = self.states[learner.index]
        at_tau, self.at_tau = self.at_tau, False
        self._receive(learner, state)
        self.at_tau = at_tau
        for fragment in range(self.fragments):
            self._overwrite(learner, state, fragment)
        peer = self.returning.rejoined(learner)
        if self.run.tape is not None:
            now = seconds(self.run.clock.now)
            self.run.tape.append(tape.Rejoin(now, learner.index, peer, self.syncer.arrived))

    # What the syncer tells.

    def _closed(self, slot: Slot) -> None:
        answers = slot.answers.values()
        self.merges += 1
        if self.run.tape is not None:
            who = tuple(sorted(slot.answers))
            weights = tuple(slot.answers[index].weight for index in who)
            now = seconds(self.run.clock.now)
            self.run.tape.append(tape.Merge(now, slot.index, slot.fragments, who, weights))
        self.participants += len(answers)
        self.merged += sum(sum(answer.carried.values()) for answer in answers)
        tokens = sum(sum(a.tokens.values()) for a in answers) / self.fragments
        self.tokens_merged += tokens
        noted = [(answer.bases, answer.carried) for answer in answers]
        self.log.closed(slot.index, slot.fragments, noted, tokens)
        self.steering.closed(slot)
        for index in slot.answers:
            if self.states[index].blocked is slot:
                self.learners[index].wait(Account.EXPOSED_COMMUNICATION)

    def _started(self, slot: Slot) -> None:
        self.steering.started(slot)

    def _arrived(self, slot: Slot) -> None:
        clock = self.run.clock
        self.steering.arrived(slot)
        self.log.arrived(clock.now, slot.fragments)
        if slot.answers:
            self._note_slot(slot)
        for learner, state in zip(self.learners, self.states, strict=True):
            self.withheld.get(learner.index, state.inbox).append(slot)
            if state.blocked is not None and learner.idle:
                clock.after(0, Rank.NEXT, self.next_step, learner)

    def _note_slot(self, slot: Slot) -> None:
        """Record a merge that has arrived."""
        assert slot.started is not None
        assert slot.arrived is not None
        answers = [slot.answers[index] for index in sorted(slot.answers)]
        self.run.recorder.note(
            Merge(
                slot.index,
                slot.fragments,
                slot.started,
                slot.arrived,
                tuple(answer.learner for answer in answers),
                tuple(answer.weight for answer in answers),
            )
        )

    def _live_changed(self, learner: Learner) -> None:
        self.count_live()
        if self.step_on:
            for other, state in zip(self.learners, self.states, strict=True):
                if state.blocked is not None and other.idle:
                    self.run.clock.after(0, Rank.NEXT, self.next_step, other)

    def note_live(self, learner: Learner) -> None:
        """Leave it to `count_live`, which knows whom the syncer hears."""

    def count_live(self) -> None:
        """Look who is live, and whether slots can close with those."""
        live = [
            other.index
            for other in self.learners
            if other.body.live and other.index not in self.withheld
        ]
        self.merging.change(self.run.clock.now, len(live) - len(self.live))
        self.live = live
        self.steering.live_changed()
        self.syncer.recheck()

    def drop_answers(self, member: int) -> None:
        """Leave a member out of the merges that have closed and are not on their way to all."""
        for slot in self.syncer.flying:
            answer = slot.answers.pop(member, None) if slot.due is None else None
            if answer is not None:
                self.participants -= 1
                self.merged -= sum(answer.carried.values())
                self.tokens_merged -= sum(answer.tokens.values()) / self.fragments

    def close(self, horizon: Ticks) -> Outcome:
        """Book all time up to the end of the run."""
        self.close_learners(horizon)
        for index in self.withheld:  # what nobody has heard of by now has entered no merge
            steps = self.learners[index].steps
            self.overwritten += sum(steps - before for before in self.states[index].received)
        possible = self.merges * len(self.learners)
        outcome = self.outcome(
            tokens_merged=self.tokens_merged,
            participation=self.participants / possible if possible else None,
            merged=float(self.merged),
            overwritten=float(self.overwritten),
            late_answers=sum(self.syncer.late.values()),
        )
        training = self.run.scenario.training
        if training.syncer != "replicas":
            outcome.payload["parameters"] = training.broadcast_bits
            outcome.convention = CONVENTIONS[training.syncer]
        late = [self.syncer.late.get(index, 0) for index in range(len(self.learners))]
        outcome.extra["merges"] = self.log.spreads(late)
        spells = self.log.spells(horizon)
        if spells:
            outcome.extra["spells"] = spells
        if self.returning.rejoins:
            outcome.extra["rejoins"] = self.returning.rejoins
        self.steering.report(outcome)
        return outcome
