"""Streaming DiLoCo: fragments in turn, each on its way while the units step on."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import accumulate, islice, repeat
from math import inf
from typing import TYPE_CHECKING

from ddsim.engine import tape
from ddsim.engine.clock import Rank
from ddsim.engine.fragments import Schedule, due_fragments, layers_of
from ddsim.engine.ledger import Account
from ddsim.engine.recorder import Merge
from ddsim.engine.reduction import release_shares
from ddsim.methods.absent import Pipes
from ddsim.methods.registry import method
from ddsim.methods.streaming_absent import Absences
from ddsim.methods.streaming_counting import Counting
from ddsim.methods.units import UnitsMethod
from ddsim.world.instants import NEVER, Ticks, seconds

if TYPE_CHECKING:
    from ddsim.engine.clock import Wake
    from ddsim.engine.hardware import Hardware
    from ddsim.engine.learner import Learner
    from ddsim.engine.run import Outcome


@dataclass(slots=True)
class Sync:
    """The fragments of one step: who has completed it, when they went and when each arrives.

    `releases[fragment]` has, for each of its layers, when the last unit so far released it;
    `passed` the same by unit, and `completed_at` when the last unit so far completed the step,
    where units may be left out. `members` take part; `tokens` are what each unit had done.
    """

    step: int
    fragments: tuple[int, ...]
    releases: dict[int, list[Ticks]]
    completed: int = 0
    started: Ticks | None = None
    arrivals: dict[int, Ticks] = field(default_factory=dict)
    tokens: list[float] = field(default_factory=list)
    epoch: int = 0
    members: tuple[int, ...] = ()
    passed: dict[int, dict[int, list[Ticks]]] = field(default_factory=dict)
    completed_at: Ticks = -1


@dataclass(slots=True)
class Position:
    """Where a learner stands: `offset` ticks into the step in progress; the gate it waits at.

    `completed` is the last step with fragments due that it has completed; `received` the last whose
    fragments it has taken in, where a tape is kept.
    """

    offset: Ticks = 0
    gate: Sync | None = None
    fragment: int = 0
    completed: int = 0
    received: int = 0


@method("streaming_diloco")
class StreamingDiLoCo(UnitsMethod):
    """A fragment leaves at the step in which it is due, once the last unit has completed that
    step, and every unit needs it tau steps later; nothing else couples the units.

    With release by layer a fragment's layers leave during the step's backward pass, and the
    forward pass of the step that needs it runs up to its lowest layer (arXiv 2501.18512).

    That is `on_failure: wait`, where a unit that was lost keeps its own count. Otherwise the
    fragments of a step leave once every unit that has hardware has completed it and is live. What
    stands for a round is the stretch of steps since the step before at which fragments were due:

    - `drop`: whoever has no hardware is left out of the reduction of these fragments, which is one
      of fewer. Its steps of the stretch are wasted progress, and it goes on with the next stretch:
      its own count becomes at least that of the step. Steps from before that had not yet entered a
      merge of these fragments are overwritten.
    - `rollback`: where somebody has no hardware, all go back to the end of the step before at
      which fragments were due, to which every unit keeps a copy. All steps since, those ahead of
      the synchronization and the one in progress included, are wasted progress; what had been
      sent arrives as ever.
    """

    summary = "fragments in turn, each overlapped with tau steps, still in lock-step"

    def start(self) -> Hardware:
        """Set the learners up at the beginning of their first step."""
        run = self.run
        training = run.scenario.training
        count = len(run.cluster.units)
        self.layers = run.scenario.model.layers
        self.overlap = training.overlap_steps
        self.inner_steps = training.inner_steps
        self.fragments = training.fragments
        self.due = due_fragments(training.inner_steps, training.fragments)
        following = Schedule(training.inner_steps, training.fragments).following
        self.to_due = [following(residue) - residue for residue in range(training.inner_steps)]
        self.payload = training.payload_bits * run.scenario.model.parameters / training.fragments
        self.pipes = Pipes(run, count)
        self.everyone = tuple(range(count))
        self.by_layer = training.release != "end_of_step"
        shares = release_shares(self.layers)
        self.shares = [
            [shares[self.layers - layer] for layer in reversed(members)] if self.by_layer else [1.0]
            for members in layers_of(training.fragments, self.layers)
        ]
        self.syncs: dict[int, Sync] = {}
        self.held: list[Sync] = []
        self.merged = 0
        self.overwritten = 0
        self.tokens_merged = 0.0
        self.answers = self.arrivals = 0
        self.sent_tokens = [[0.0] * count for _ in range(training.fragments)]
        self.shifts = [0] * count
        rule = training.on_failure
        self.absences = None if rule == "wait" else Absences(self, roll_back=rule == "rollback")
        self.positions = [Position() for _ in range(count)]
        self.counting = Counting(self)
        hardware = self.make_learners(self._leg_over, self._go_on, self._live_changed, count)
        for learner in self.learners:
            if self.absences is not None:
                learner.on_lost = self._live_changed
            self._go_on(learner)
        return hardware

    def at(self, learner: Learner) -> int:
        """A learner's own count: the step of the job that it has completed."""
        return learner.steps + self.shifts[learner.index]

    def _is_due(self, learner: Learner) -> bool:
        return self.at(learner) % self.inner_steps in self.due

    def before(self, step: int) -> int:
        """Return the last step before this one at which fragments were due, or 0."""
        step -= 1
        while step > 0 and step % self.inner_steps not in self.due:
            step -= 1
        return step

    def _plain_steps(self, after: int) -> int:
        """Return how many steps follow that wait for no fragment, up to one that has some due."""
        gate = min((s + self.overlap for s in self.syncs if s + self.overlap >= after), default=inf)
        return int(min(gate - after, self.to_due[after % self.inner_steps]))

    def _gates(self, step: int, compute: Ticks) -> list[tuple[Ticks, Sync, int]]:
        """Closed gates of a step: offset in its compute, the fragment that it needs."""
        source = step - 1 - self.overlap
        sync = self.syncs.get(source)
        if sync is None:
            return []
        now = self.run.clock.now
        nodes = 3 * self.layers - 1
        return [
            (round(fragment * compute / nodes) if self.by_layer else 0, sync, fragment)
            for fragment in sync.fragments
            if sync.arrivals.get(fragment, NEVER) > now
        ]

    def _go_on(self, learner: Learner) -> None:
        """Run from where the learner stands to the next closed gate, or the next release."""
        position = self.positions[learner.index]
        if learner.lost_hardware:
            learner.lost_hardware = False
            position.offset = 0
            if self.run.tape is not None:
                peer, now = self.returning.rejoined(learner), seconds(self.run.clock.now)
                arrived = self.arrived_by(self.at(learner))
                self.run.tape.append(tape.Rejoin(now, learner.index, peer, arrived))
            if self.absences is not None:
                self.absences.restored(learner)
            if self.at(learner) > position.completed and self._is_due(learner):
                self._complete(learner)  # lost in the save at its end
        base = position.offset
        position.gate = None
        if self.run.tape is not None:
            self._tape_receipts(self.run.tape, learner)
        bounds: list[Ticks] = []
        end = 0
        ahead = 0
        while True:
            step = self.at(learner) + 1 + ahead
            compute = learner.compute(ahead)
            begun = base if ahead == 0 else 0
            for offset, sync, fragment in self._gates(step, compute):
                if ahead == 0 and offset == base:
                    self._wait(learner, sync, fragment)
                    return
                if offset >= begun:
                    position.offset = offset
                    learner.start(bounds, end + (offset - begun), base)
                    return
            end += compute - begun
            bounds.append(end)
            ahead += 1
            if learner.pace.even and self.run.tape is None:
                plain = self._plain_steps(step) if step % self.inner_steps not in self.due else 0
                bounds += islice(accumulate(repeat(compute, plain), initial=end), 1, None)
                end = bounds[-1]
                ahead += plain
                step += plain
            if step % self.inner_steps in self.due or self.run.tape is not None:
                position.offset = 0
                learner.start(bounds, end, base)
                return

    def _tape_receipts(self, events: tape.Tape, learner: Learner) -> None:
        """Note that a learner, about to step on, has taken in what it needed to have by now."""
        source = self.at(learner) - self.overlap
        position = self.positions[learner.index]
        if source <= position.received or source % self.inner_steps not in self.due:
            return
        sync = self.syncs.get(source)
        now = self.run.clock.now
        if sync is None or (all(time <= now for time in sync.arrivals.values()) and sync.arrivals):
            position.received = source
            events.append(tape.Receive(seconds(now), learner.index, source))

    def arrived_by(self, step: int) -> int:
        """Return the last step up to `step` whose fragments have all arrived."""
        waiting = [other for other in self.syncs if other <= step]
        return min(waiting) - 1 if waiting else step

    def _wait(self, learner: Learner, sync: Sync, fragment: int) -> None:
        position = self.positions[learner.index]
        position.gate, position.fragment = sync, fragment
        learner.mid_step = self.by_layer
        started = sync.started is not None
        learner.wait(Account.EXPOSED_COMMUNICATION if started else Account.WAITING_ON_PEERS)

    def _leg_over(self, learner: Learner) -> None:
        position = self.positions[learner.index]
        learner.mid_step = position.offset > 0
        if not learner.mid_step and self._is_due(learner):
            self._complete(learner)
        clock = self.run.clock
        if clock.busy:
            clock.after(0, Rank.NEXT, self.go_next, learner)
        else:
            self._go_on(learner)
        if self.run.token_goal < inf:
            self.check_goal()

    def go_next(self, wake: Wake) -> None:
        """Let the learner that comes with the event go on, if it can."""
        learner: Learner = wake.given
        if learner.body.running and learner.idle:
            self._go_on(learner)

    def _complete(self, learner: Learner) -> None:
        """Note that a learner has completed a step whose fragments are due."""
        step = self.positions[learner.index].completed = self.at(learner)
        sync = self.syncs.get(step)
        if sync is None:
            due = self.due[step % self.inner_steps]
            releases = {p: [-NEVER] * len(self.shares[p]) for p in due}
            sync = self.syncs[step] = Sync(step, due, releases, members=self.everyone)
        for fragment, times in sync.releases.items():
            times[:] = map(max, times, learner.passed_at(self.shares[fragment]))
        if self.run.tape is not None:
            now = seconds(self.run.clock.now)
            self.run.tape.append(tape.Answer(now, learner.index, step, sync.fragments))
        sync.completed += 1
        if self.absences is not None:
            self.absences.note(learner, sync)
        elif sync.completed == len(self.learners):
            if all(other.body.live for other in self.learners):
                self.start_sync(sync)
            else:
                self.held.append(sync)

    def _live_changed(self, learner: Learner) -> None:
        if self.absences is not None:
            self.absences.look()
        elif self.held and all(other.body.live for other in self.learners):
            held, self.held = self.held, []
            now = self.run.clock.now
            for sync in held:
                for times in sync.releases.values():
                    times[:] = [now] * len(times)
                self.start_sync(sync)

    def start_sync(self, sync: Sync) -> None:
        """Send the fragments of a step that every member has completed."""
        clock = self.run.clock
        now = clock.now
        sync.started = now
        if self.run.tape is not None:
            weights = (1.0,) * len(sync.members)
            merge = tape.Merge(seconds(now), sync.step, sync.fragments, sync.members, weights)
            self.run.tape.append(merge)
        items = sorted(
            (time, layer, fragment)
            for fragment, times in sync.releases.items()
            for layer, time in enumerate(times)
        )
        bits = {p: self.payload / len(times) for p, times in sync.releases.items()}
        pipe = self.pipes.among(sync.members)
        arrived = pipe.send([(time, bits[fragment]) for time, _, fragment in items], now)
        for (_, _, fragment), arrival in zip(items, arrived, strict=True):
            sync.arrivals[fragment] = max(arrival, sync.arrivals.get(fragment, now))
        for position, learner in zip(self.positions, self.learners, strict=True):
            if position.gate is sync:
                learner.wait(Account.EXPOSED_COMMUNICATION)
        sync.tokens = [learner.tokens for learner in self.learners]
        self.await_arrivals(sync, now)
        self.counting.look(sync)

    def await_arrivals(self, sync: Sync, now: Ticks) -> None:
        """Let the fragments of a step that have not yet arrived do so in their time."""
        for fragment, arrival in sync.arrivals.items():
            if arrival >= now:
                value = (sync, fragment, sync.epoch)
                self.run.clock.after(arrival - now, Rank.ARRIVAL, self._arrive, value)

    def _arrive(self, wake: Wake) -> None:
        sync, fragment, epoch = wake.given
        if epoch != sync.epoch:
            return
        clock = self.run.clock
        sync.arrivals[fragment] = clock.now
        assert sync.started is not None
        members = sync.members
        self.run.recorder.note(Merge(sync.step, (fragment,), sync.started, clock.now, members))
        since = self.received_before(sync.step)
        self.merged += len(members) * (sync.step - since)
        if self.absences is not None:
            self.merged -= self.absences.missing(sync, since)
        self.overwritten += len(members) * (self.overlap % self.inner_steps)
        self.answers += len(members)
        self.arrivals += 1
        sent, self.sent_tokens[fragment] = self.sent_tokens[fragment], sync.tokens
        gained = sum(sync.tokens[index] - sent[index] for index in members)
        self.tokens_merged += gained / self.fragments
        for position, learner in zip(self.positions, self.learners, strict=True):
            if position.gate is sync and position.fragment == fragment:
                clock.after(0, Rank.NEXT, self.go_next, learner)
        if all(time <= clock.now for time in sync.arrivals.values()):
            self.syncs.pop(sync.step, None)  # another of its fragments may arrive just now

    def received_before(self, step: int) -> int:
        """Step after which the fragment that leaves at `step` was last received before that."""
        rounds = self.overlap // self.inner_steps + 1
        source = step - rounds * self.inner_steps
        return source + self.overlap if source > 0 else 0

    def close(self, horizon: Ticks) -> Outcome:
        """Book all time up to the end of the run."""
        self.close_learners(horizon)
        self.pipes.close(horizon)
        possible = self.arrivals * len(self.learners)
        return self.outcome(
            tokens_merged=self.tokens_merged,
            participation=self.answers / possible if possible else None,
            merged=float(self.merged),
            overwritten=float(self.overwritten),
        )
