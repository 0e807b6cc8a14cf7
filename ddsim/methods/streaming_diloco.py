"""Streaming DiLoCo: fragments in turn, each on its way while the units step on."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING

from ddsim.engine import tape
from ddsim.engine.clock import Rank
from ddsim.engine.fragments import due_fragments, layers_of
from ddsim.engine.ledger import Account
from ddsim.engine.recorder import Merge
from ddsim.engine.reduction import Pipe, release_shares
from ddsim.methods.registry import method
from ddsim.methods.streaming_counting import Counting
from ddsim.methods.units import UnitsMethod

if TYPE_CHECKING:
    from ddsim.engine.clock import Wake
    from ddsim.engine.hardware import Hardware
    from ddsim.engine.learner import Learner
    from ddsim.engine.run import Outcome


@dataclass(slots=True)
class Sync:
    """The fragments of one step: who has completed it, when they went and when each arrives.

    `releases[fragment]` has, for each of its layers, when the last unit so far released it.
    """

    step: int
    fragments: tuple[int, ...]
    releases: dict[int, list[float]]
    completed: int = 0
    started: float | None = None
    arrivals: dict[int, float] = field(default_factory=dict)
    tokens: float = 0.0
    epoch: int = 0


@dataclass(slots=True)
class Position:
    """Where a learner stands: `offset` seconds into the step in progress; the gate it waits at.

    `received` is the last step whose fragments it has taken in, where a tape is kept.
    """

    offset: float = 0.0
    gate: Sync | None = None
    fragment: int = 0
    received: int = 0


@method("streaming_diloco")
class StreamingDiLoCo(UnitsMethod):
    """A fragment leaves at the step in which it is due, once the last unit has completed that
    step, and every unit needs it tau steps later; nothing else couples the units.

    With release by layer a fragment's layers leave during the step's backward pass, and the
    forward pass of the step that needs it runs up to its lowest layer (arXiv 2501.18512).
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
        self.payload = training.payload_bits * run.scenario.model.parameters / training.fragments
        self.pipe = Pipe(run.ring(range(count)), run.meter)
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
        self.sent_tokens = [0.0] * training.fragments
        self.positions = [Position() for _ in range(count)]
        self.counting = Counting(self)
        hardware = self.make_learners(self._leg_over, self._go_on, self._live_changed, count)
        for learner in self.learners:
            self._go_on(learner)
        return hardware

    def _gates(self, step: int, compute: float) -> list[tuple[float, Sync, int]]:
        """Closed gates of a step: offset in its compute, the fragment that it needs."""
        source = step - 1 - self.overlap
        sync = self.syncs.get(source)
        if sync is None:
            return []
        now = self.run.clock.now
        node = compute / (3 * self.layers - 1) if self.by_layer else 0.0
        return [
            (fragment * node, sync, fragment)
            for fragment in sync.fragments
            if sync.arrivals.get(fragment, inf) > now
        ]

    def _go_on(self, learner: Learner) -> None:
        """Run from where the learner stands to the next closed gate, or the next release."""
        position = self.positions[learner.index]
        if learner.lost_hardware:
            learner.lost_hardware = False
            position.offset = 0.0
            if self.run.tape is not None:
                peer, now = self.peer_of(learner), self.run.clock.now
                arrived = self._arrived_by(learner.steps)
                self.run.tape.append(tape.Rejoin(now, learner.index, peer, arrived))
        base = position.offset
        position.gate = None
        if self.run.tape is not None:
            self._tape_receipts(self.run.tape, learner)
        bounds: list[float] = []
        end = 0.0
        ahead = 0
        while True:
            step = learner.steps + 1 + ahead
            compute = learner.compute(ahead)
            begun = base if ahead == 0 else 0.0
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
            if step % self.inner_steps in self.due or self.run.tape is not None:
                position.offset = 0.0
                learner.start(bounds, end, base)
                return

    def _tape_receipts(self, events: tape.Tape, learner: Learner) -> None:
        """Note that a learner, about to step on, has taken in what it needed to have by now."""
        source = learner.steps - self.overlap
        position = self.positions[learner.index]
        if source <= position.received or source % self.inner_steps not in self.due:
            return
        sync = self.syncs.get(source)
        now = self.run.clock.now
        if sync is None or (all(time <= now for time in sync.arrivals.values()) and sync.arrivals):
            position.received = source
            events.append(tape.Receive(now, learner.index, source))

    def _arrived_by(self, step: int) -> int:
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
        learner.mid_step = position.offset > 0.0
        if not learner.mid_step and learner.steps % self.inner_steps in self.due:
            self._complete(learner)
        clock = self.run.clock
        if clock.busy:
            clock.after(0.0, Rank.NEXT, self._next, learner)
        else:
            self._go_on(learner)
        if self.run.token_goal < inf:
            self.check_goal()

    def _next(self, wake: Wake) -> None:
        learner: Learner = wake.given
        if learner.body.running and learner.idle:
            self._go_on(learner)

    def _complete(self, learner: Learner) -> None:
        """Note that a learner has completed a step whose fragments are due."""
        step = learner.steps
        sync = self.syncs.get(step)
        if sync is None:
            due = self.due[step % self.inner_steps]
            releases = {p: [-inf] * len(self.shares[p]) for p in due}
            sync = self.syncs[step] = Sync(step, due, releases)
        for fragment, times in sync.releases.items():
            for layer, share in enumerate(self.shares[fragment]):
                times[layer] = max(times[layer], learner.passed_at(share))
        if self.run.tape is not None:
            now = self.run.clock.now
            self.run.tape.append(tape.Answer(now, learner.index, step, sync.fragments))
        sync.completed += 1
        if sync.completed == len(self.learners):
            if all(other.body.live for other in self.learners):
                self._start(sync)
            else:
                self.held.append(sync)

    def _live_changed(self, learner: Learner) -> None:
        if self.held and all(other.body.live for other in self.learners):
            held, self.held = self.held, []
            now = self.run.clock.now
            for sync in held:
                for times in sync.releases.values():
                    times[:] = [now] * len(times)
                self._start(sync)

    def _start(self, sync: Sync) -> None:
        """Send the fragments of a step that every unit has completed."""
        clock = self.run.clock
        now = clock.now
        sync.started = now
        if self.run.tape is not None:
            everyone = tuple(range(len(self.learners)))
            weights = (1.0,) * len(everyone)
            self.run.tape.append(tape.Merge(now, sync.step, sync.fragments, everyone, weights))
        items = sorted(
            (time, layer, fragment)
            for fragment, times in sync.releases.items()
            for layer, time in enumerate(times)
        )
        bits = {p: self.payload / len(times) for p, times in sync.releases.items()}
        arrived = self.pipe.send([(time, bits[fragment]) for time, _, fragment in items], now)
        for (_, _, fragment), arrival in zip(items, arrived, strict=True):
            sync.arrivals[fragment] = max(arrival, sync.arrivals.get(fragment, now))
        for position, learner in zip(self.positions, self.learners, strict=True):
            if position.gate is sync:
                learner.wait(Account.EXPOSED_COMMUNICATION)
        sync.tokens = sum(learner.tokens for learner in self.learners)
        self.await_arrivals(sync, now)
        self.counting.look(sync)

    def await_arrivals(self, sync: Sync, now: float) -> None:
        """Let the fragments of a step that have not yet arrived do so in their time."""
        for fragment, arrival in sync.arrivals.items():
            if arrival >= now:
                value = (sync, fragment, sync.epoch)
                self.run.clock.after(arrival - now, Rank.ARRIVAL, self._arrive, value)

    def _arrive(self, wake: Wake) -> None:
        sync, fragment, epoch = wake.given
        if epoch != sync.epoch:
            return
        tokens = sync.tokens
        clock = self.run.clock
        sync.arrivals[fragment] = clock.now
        assert sync.started is not None
        everyone = tuple(range(len(self.learners)))
        merge = Merge(sync.step, (fragment,), sync.started, clock.now, everyone)
        self.run.recorder.note(merge)
        self.merged += len(everyone) * (sync.step - self._received_before(sync.step))
        self.overwritten += len(everyone) * (self.overlap % self.inner_steps)
        self.tokens_merged += (tokens - self.sent_tokens[fragment]) / self.fragments
        self.sent_tokens[fragment] = tokens
        for position, learner in zip(self.positions, self.learners, strict=True):
            if position.gate is sync and position.fragment == fragment:
                clock.after(0.0, Rank.NEXT, self._next, learner)
        if all(time <= clock.now for time in sync.arrivals.values()):
            self.syncs.pop(sync.step, None)  # another of its fragments may arrive just now

    def _received_before(self, step: int) -> int:
        """Step after which the fragment that leaves at `step` was last received before that."""
        rounds = self.overlap // self.inner_steps + 1
        source = step - rounds * self.inner_steps
        return source + self.overlap if source > 0 else 0

    def close(self, horizon: float) -> Outcome:
        """Book all time up to the end of the run."""
        self.close_learners(horizon)
        self.pipe.close(horizon)
        return self.outcome(
            tokens_merged=self.tokens_merged,
            participation=1.0 if self.merged else None,
            merged=float(self.merged),
            overwritten=float(self.overwritten),
        )
