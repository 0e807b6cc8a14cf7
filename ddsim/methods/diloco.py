"""DiLoCo: H local steps, then one synchronization of everything, all units at a barrier."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ddsim.engine import tape
from ddsim.engine.clock import Rank
from ddsim.engine.kept import Unsaved
from ddsim.engine.ledger import Account
from ddsim.engine.recorder import Merge
from ddsim.engine.reduction import release_shares
from ddsim.methods.absent import Pipes, at_most, between, blame_of, there
from ddsim.methods.registry import method
from ddsim.methods.units import UnitsMethod
from ddsim.world.instants import Ticks, seconds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ddsim.engine.clock import Wake
    from ddsim.engine.hardware import Hardware
    from ddsim.engine.learner import Learner
    from ddsim.engine.losses import Blame
    from ddsim.engine.run import Outcome
    from ddsim.methods.absent import Members


@method("diloco")
class DiLoCo(UnitsMethod):
    """Units take H steps on their own; the barrier opens when all have and all are live.

    A unit that was lost does the rest of its own steps when it is back, and the others wait: so it
    is with `on_failure: wait`. Under `drop` and `rollback` the barrier opens once every unit that
    has hardware has taken its H steps and is live; the others are not there:

    - `drop`: the round is merged by those who are there. Whoever is not, its steps of the round
      done or not, has them as wasted progress and is a member of the next round from its start: it
      does all H steps of the one that is under way when it is back. Its outer gradient is not sent,
      and the ring is one of fewer.
    - `rollback`: where somebody is not there the round is discarded. All units' steps of it are
      wasted progress, and all begin it anew from the parameters of the last synchronization, at
      once; so again and again until everybody is there.

    Where nobody is there nothing happens. A unit in restart has hardware, and is waited for.
    Source of the method: arXiv 2311.08105.
    """

    summary = "H local steps, then all outer gradients at once, all units at a barrier"

    def start(self) -> Hardware:
        """Set the learners up, the first round before them."""
        run = self.run
        training = run.scenario.training
        count = len(run.cluster.units)
        self.inner_steps = training.inner_steps
        self.round = 1
        self.arrived: list[bool] = [False] * count
        self.sending = False
        self.tokens_merged = 0.0
        self.on_failure = training.on_failure
        self.pipes = Pipes(run, count)
        self.begun = [0] * count
        self.done = [Unsaved([0.0]) for _ in range(count)]
        self.members = tuple(range(count))
        self.released_at: Ticks = -1
        self.merged = self.overwritten = self.answers = 0
        self.payload = training.payload_bits * run.scenario.model.parameters
        layers = run.scenario.model.layers
        by_layer = training.release != "end_of_step" and self.pipes.all.ring.crosses
        self.shares = release_shares(layers) if by_layer else (1.0,)
        hardware = self.make_learners(self._leg_over, self._ready, self._live_changed, count)
        for learner in self.learners:
            if self.on_failure != "wait":
                learner.on_lost = self._live_changed
            self._ready(learner)
        return hardware

    def _ready(self, learner: Learner) -> None:
        if learner.lost_hardware:
            learner.lost_hardware = False
            if self.run.tape is not None:
                peer, now = self.returning.rejoined(learner), seconds(self.run.clock.now)
                self.run.tape.append(tape.Rejoin(now, learner.index, peer, self.round - 1))
            self.done[learner.index] = at_most(self.done[learner.index], learner.progress)
        left = self._left(learner)
        if self.sending:
            return
        if left > 0:
            to_goal = self.steps_to_goal()
            self.begin_steps(learner, left if to_goal is None else min(left, to_goal))
        elif not self.arrived[learner.index]:  # lost in the save after its last step
            self._leg_over(learner)

    def _left(self, learner: Learner) -> int:
        return self.begun[learner.index] + self.inner_steps - learner.steps

    def _leg_over(self, learner: Learner) -> None:
        if self._left(learner) > 0:  # the goal lies within the round
            self.check_goal()
            self._ready(learner)
            return
        self.arrived[learner.index] = True
        learner.wait(Account.WAITING_ON_PEERS)
        self.released_at = self.run.clock.now
        self._look()

    def _live_changed(self, learner: Learner) -> None:
        self._look()

    def _look(self) -> None:
        """See whether the barrier opens; for those without hardware only once all is settled."""
        if self.on_failure == "wait":
            if not self.sending and all(self.arrived) and self._live(self.learners):
                self._open_barrier(self.members)
        else:
            self.run.clock.after(0, Rank.CLOSE, self._judge)

    def _live(self, learners: Sequence[Learner]) -> bool:
        return all(learner.body.live for learner in learners)

    def _judge(self, wake: Wake) -> None:
        """Open the barrier, or discard the round, if all that have hardware are there."""
        members = there(self.learners)
        present = [self.learners[index] for index in members]
        if self.sending or not present or not self._live(present):
            return
        if not all(self.arrived[index] for index in members):
            return
        absent = [learner for learner in self.learners if learner.index not in members]
        if absent and self.on_failure == "rollback":
            self._discard(self.learners, blame_of(absent))
            self.arrived = [False] * len(self.learners)
            self.run.clock.after(0, Rank.NEXT, self._begin_round)
            return
        for learner in absent:
            self._discard([learner], learner.body.blame)
        self._open_barrier(members)

    def _discard(self, learners: Sequence[Learner], blame: Blame) -> None:
        """Take back what learners did in this round."""
        for learner in learners:
            index = learner.index
            learner.body.settle()
            lost = between(self.done[index], learner.progress)
            learner.drop(lost, blame)
            self.begun[index] = learner.steps
            self.done[index] = learner.progress
            self.overwritten += lost.steps
            if self.run.tape is not None and not learner.lost_hardware:
                back = tape.Rejoin(seconds(self.run.clock.now), index, index, self.round - 1)
                self.run.tape.append(back)

    def _open_barrier(self, members: Members) -> None:
        """Send the outer gradients of the members' round, all of whom are there and live.

        Where one of them has just completed its steps, most layers left during them; else all
        leave now.
        """
        now = self.run.clock.now
        self.sending = True
        self.members = members
        if self.released_at == now:
            present = [self.learners[index] for index in members]
            passed = [learner.passed_at(self.shares) for learner in present]
            releases = [max(times) for times in zip(*passed, strict=True)]
        else:
            releases = [now] * len(self.shares)
        if self.run.tape is not None:
            self._tape_merge(self.run.tape, seconds(now))
        bits = self.payload / len(releases)
        items = [(release, bits) for release in releases]
        arrival = self.pipes.among(members).send(items, now)[-1]
        for learner in self.learners:
            learner.wait(Account.EXPOSED_COMMUNICATION)
        self.run.clock.after(max(0, arrival - now), Rank.ARRIVAL, self._arrive, now)

    def _tape_merge(self, events: tape.Tape, now: float) -> None:
        fragments = tuple(range(self.run.scenario.training.fragments))
        members = self.members
        events += [tape.Answer(now, index, self.round, fragments) for index in members]
        weights = (1.0,) * len(members)
        events.append(tape.Merge(now, self.round, fragments, members, weights))

    def _arrive(self, wake: Wake) -> None:
        clock = self.run.clock
        self.run.recorder.note(Merge(self.round, (0,), wake.given, clock.now, self.members))
        if self.run.tape is not None:
            everyone, now = range(len(self.learners)), seconds(clock.now)
            self.run.tape += [tape.Receive(now, index, self.round) for index in everyone]
        self.answers += len(self.members)
        self.merged += len(self.members) * self.inner_steps
        self.begun = [learner.steps for learner in self.learners]
        self.done = [learner.progress for learner in self.learners]
        self.tokens_merged = sum(learner.tokens for learner in self.learners)
        self.sending = False
        self.arrived = [False] * len(self.learners)
        self.round += 1
        self.check_goal()
        clock.after(0, Rank.NEXT, self._begin_round)

    def _begin_round(self, wake: Wake) -> None:
        for learner in self.learners:
            if learner.body.running and learner.idle:
                self._ready(learner)

    def close(self, horizon: Ticks) -> Outcome:
        """Book all time up to the end of the run."""
        self.close_learners(horizon)
        self.pipes.close(horizon)
        merges = self.round - 1
        return self.outcome(
            tokens_merged=self.tokens_merged,
            participation=self.answers / (merges * len(self.learners)) if merges else None,
            merged=float(self.merged),
            overwritten=float(self.overwritten),
        )
