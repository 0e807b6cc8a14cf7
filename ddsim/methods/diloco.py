"""DiLoCo: H local steps, then one synchronization of everything, all units at a barrier."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ddsim.engine import tape
from ddsim.engine.clock import Rank
from ddsim.engine.ledger import Account
from ddsim.engine.recorder import Merge
from ddsim.engine.reduction import Pipe, release_shares
from ddsim.methods.registry import method
from ddsim.methods.units import UnitsMethod

if TYPE_CHECKING:
    from ddsim.engine.clock import Wake
    from ddsim.engine.hardware import Hardware
    from ddsim.engine.learner import Learner
    from ddsim.engine.run import Outcome


@method("diloco")
class DiLoCo(UnitsMethod):
    """Units take H steps on their own; the barrier opens when all have and all are live.

    A unit that was lost does the rest of its own steps when it is back, and the others wait.
    Source: arXiv 2311.08105.
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
        self.pipe = Pipe(run.ring(range(count)), run.meter)
        self.payload = training.payload_bits * run.scenario.model.parameters
        layers = run.scenario.model.layers
        by_layer = training.release != "end_of_step" and self.pipe.ring.crosses
        self.shares = release_shares(layers) if by_layer else (1.0,)
        hardware = self.make_learners(self._leg_over, self._ready, self._live_changed, count)
        for learner in self.learners:
            self._ready(learner)
        return hardware

    def _ready(self, learner: Learner) -> None:
        if learner.lost_hardware:
            learner.lost_hardware = False
            if self.run.tape is not None:
                peer, now = self.peer_of(learner), self.run.clock.now
                self.run.tape.append(tape.Rejoin(now, learner.index, peer, self.round - 1))
        left = self.round * self.inner_steps - learner.steps
        if left > 0:
            self.begin_steps(learner, int(min(left, self.steps_to_goal())))

    def _leg_over(self, learner: Learner) -> None:
        if learner.steps < self.round * self.inner_steps:  # the goal lies within the round
            self.check_goal()
            self._ready(learner)
            return
        self.arrived[learner.index] = True
        learner.wait(Account.WAITING_ON_PEERS)
        self._open_barrier(released=True)

    def _live_changed(self, learner: Learner) -> None:
        self._open_barrier(released=False)

    def _open_barrier(self, *, released: bool) -> None:
        """Send the round's outer gradients once all units are there and live.

        `released`: the last unit has just completed its steps, so that most layers left during
        them; else all leave now.
        """
        if self.sending or not all(self.arrived):
            return
        if not all(learner.body.live for learner in self.learners):
            return
        now = self.run.clock.now
        self.sending = True
        if released:
            releases = [max(x.passed_at(share) for x in self.learners) for share in self.shares]
        else:
            releases = [now] * len(self.shares)
        if self.run.tape is not None:
            self._tape_merge(self.run.tape, now)
        bits = self.payload / len(releases)
        arrival = self.pipe.send([(release, bits) for release in releases], now)[-1]
        for learner in self.learners:
            learner.wait(Account.EXPOSED_COMMUNICATION)
        self.run.clock.after(max(0.0, arrival - now), Rank.ARRIVAL, self._arrive, now)

    def _tape_merge(self, events: tape.Tape, now: float) -> None:
        fragments = tuple(range(self.run.scenario.training.fragments))
        everyone = tuple(range(len(self.learners)))
        events += [tape.Answer(now, index, self.round, fragments) for index in everyone]
        weights = (1.0,) * len(everyone)
        events.append(tape.Merge(now, self.round, fragments, everyone, weights))

    def _arrive(self, wake: Wake) -> None:
        clock = self.run.clock
        everyone = tuple(range(len(self.learners)))
        self.run.recorder.note(Merge(self.round, (0,), wake.given, clock.now, everyone))
        if self.run.tape is not None:
            self.run.tape += [tape.Receive(clock.now, index, self.round) for index in everyone]
        self.tokens_merged = sum(learner.tokens for learner in self.learners)
        self.sending = False
        self.arrived = [False] * len(self.learners)
        self.round += 1
        self.check_goal()
        clock.after(0.0, Rank.NEXT, self._begin_round)

    def _begin_round(self, wake: Wake) -> None:
        for learner in self.learners:
            if learner.body.running and learner.idle:
                self._ready(learner)

    def close(self, horizon: float) -> Outcome:
        """Book all time up to the end of the run."""
        self.close_learners(horizon)
        self.pipe.close(horizon)
        return self.outcome(
            tokens_merged=self.tokens_merged,
            participation=1.0 if self.round > 1 else None,
            merged=float(self.round > 1),
            overwritten=0.0,
        )
