"""Asynchronous local SGD: a parameter server applies each learner's update when it arrives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from ddsim.engine.clock import Rank
from ddsim.engine.kept import Unsaved
from ddsim.engine.ledger import Account
from ddsim.engine.recorder import Merge
from ddsim.engine.settled import NOTHING, Settled
from ddsim.engine.tally import Tally
from ddsim.methods.going_back import GoingBack
from ddsim.methods.registry import method
from ddsim.methods.stepping import SteppingMethod
from ddsim.world.instants import Ticks, later, ticks

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ddsim.engine.body import ElasticBody
    from ddsim.engine.clock import Wake
    from ddsim.engine.hardware import Hardware
    from ddsim.engine.learner import Learner
    from ddsim.engine.run import Outcome
    from ddsim.engine.saves import Saves
    from ddsim.world.network import Ring
    from ddsim.world.pace import Pace
    from ddsim.world.strike import Strike


@dataclass(slots=True)
class State:
    """Where a learner stands: it takes `local_steps` from each set of parameters.

    `version` counts the updates that its parameters have in them; `steps` are its own when it got
    them, or handed the last update over, `kept` and `tokens` those of them that were not taken
    back. It may step where it is `fresh`. `life` counts how often it lost what it had; what went
    then before it was handed over is overwritten; updates of lives before `void` have been rolled
    back.
    """

    local_steps: int
    up: Ring
    down: Ring
    version: int = 0
    steps: int = 0
    kept: int = 0
    tokens: float = 0.0
    fresh: bool = True
    life: int = 0
    void: int = 0
    settled: Settled = NOTHING

    def settle(self, learner: Learner, *, merged: bool) -> None:
        """What it did since the time before leaves with an update, to be merged, or is gone."""
        self.forget(learner)
        kept, tokens = learner.steps - learner.undone, learner.tokens
        steps, fresh = kept - self.kept, tokens - self.tokens
        sums = self.settled
        self.settled = Settled(
            sums.merged + steps * merged,
            sums.overwritten + steps * (not merged),
            sums.tokens + fresh * merged,
        )
        self.steps, self.kept, self.tokens = learner.steps, kept, tokens

    def forget(self, learner: Learner) -> None:
        """What was handed over and taken back since is neither merged nor overwritten."""
        kept, tokens = learner.steps - learner.undone, learner.tokens
        if kept < self.kept:
            if self.settled.merged + self.settled.overwritten > 0.0:
                self.settled = self.settled.without(self.kept - kept, self.tokens - tokens)
            self.kept, self.tokens = kept, tokens


class Update(NamedTuple):
    """An outer gradient: whose, of which life, when it left, and from what."""

    learner: int
    life: int
    left: Ticks
    version: int


class Parameters(NamedTuple):
    """What the server sends down: to whom, in which life, and which version."""

    learner: int
    life: int
    version: int


class Saved(NamedTuple):
    """What a learner had done at an instant, and what had become of it by then."""

    at: Ticks
    done: Unsaved
    settled: Settled


@method("async_local_sgd")
class AsyncLocalSGD(SteppingMethod):
    """A learner takes steps in proportion to its speed, sends its outer gradient to a parameter
    server and waits for new parameters; nobody waits for anybody else.

    The server stands in `network.server`, else in the first region, and applies every update when
    it arrives, with delayed Nesterov momentum. A learner sends `payload_bits` and gets
    `broadcast_bits` a parameter, over links that all share max-min fairly. One that was lost asks
    for new parameters, and what it had not handed over is gone; an update under way still counts.
    Source: arXiv 2401.09135.
    """

    summary = "a parameter server applies each learner's steps on arrival; nobody waits for others"

    def start(self) -> Hardware:
        """Set the learners up, all with the same parameters."""
        run = self.run
        training, network = run.scenario.training, run.scenario.network
        self.server = network.server or next(iter(run.scenario.regions()))
        self.version = 0
        self.staleness = Tally()
        parameters = run.scenario.model.parameters
        self.bits_up = training.payload_bits * parameters
        self.bits_down = training.broadcast_bits * parameters
        fastest = min(pace.nominal for pace in run.paces)
        self.going_back: ServerGoingBack | None = None
        self.states = [
            State(
                max(1, round(training.inner_steps * fastest / pace.nominal)),
                run.network.way(unit.region, self.server),
                run.network.way(self.server, unit.region),
            )
            for unit, pace in zip(run.cluster.units, run.paces, strict=True)
        ]
        hardware = self.make_learners(1)
        for learner in self.learners:
            self._step_on(learner)
        return hardware

    def _step_on(self, learner: Learner) -> None:
        state = self.states[learner.index]
        left = state.steps + state.local_steps - learner.steps
        self.take_steps(learner, left)

    def follow_corruption(self, saves: Saves) -> None:
        """Follow what may become corrupt, and keep what is to be gone back to."""
        super().follow_corruption(saves)
        if self.spread is not None:
            self.going_back = ServerGoingBack(self, saves)

    def make_learner(self, body: ElasticBody, pace: Pace) -> Learner:
        """Return the learner of a unit, which tells what becomes of its steps."""
        learner = super().make_learner(body, pace)
        if self.going_back is not None:
            learner.on_saved = self.going_back.keep
        return learner

    def go_back(self, strike: Strike, concerned: list[int], steps: list[int]) -> None:
        """Have these learners, and the server, go back to before a corruption."""
        assert self.going_back is not None
        self.going_back.go_back(strike, concerned, steps)

    def leg_over(self, learner: Learner) -> None:
        """Send the next update."""
        state = self.states[learner.index]
        state.fresh = False
        learner.wait(Account.EXPOSED_COMMUNICATION)
        state.settle(learner, merged=True)
        update = Update(learner.index, state.life, self.run.clock.now, state.version)
        if self.spread is not None:
            self.spread.gave(learner.index, 0)
        cost = ticks(self.run.scenario.network.sync_cost)
        self._send(self.bits_up, state.up, cost, self._apply, update)

    def merged_so_far(self) -> tuple[float, float]:
        """Return the steps that updates have handed over, and those that went before they were."""
        settled = [state.settled for state in self.states]
        return sum(each.merged for each in settled), sum(each.overwritten for each in settled)

    def _send(
        self,
        bits: float,
        way: Ring,
        extra: Ticks,
        then: Callable[[Wake], None],
        what: Update | Parameters,
    ) -> None:
        """Send bits one way; `then` is called with `what` once the last is there."""
        clock = self.run.clock
        if not way.crosses:
            clock.after(extra, Rank.ARRIVAL, then, what)
            return

        def done() -> None:
            clock.after(later(way.latency, extra), Rank.ARRIVAL, then, what)

        self.fabric.send(bits, way, done)

    def _apply(self, wake: Wake) -> None:
        """The server takes an update in and answers with what it has now."""
        update: Update = wake.given
        if update.life < self.states[update.learner].void:
            return
        now = self.run.clock.now
        self.staleness.add(self.version - update.version)
        self.version += 1
        if self.spread is not None:
            self.spread.merged(0, self.version, (0,), (update.learner,))
        self.run.recorder.note(Merge(self.version, (0,), update.left, now, (update.learner,)))
        self._send_down(update.learner, update.life)

    def _send_down(self, index: int, life: int) -> None:
        state = self.states[index]
        if life != state.life or self.learners[index].lost_hardware:
            return
        what = Parameters(index, life, self.version)
        self._send(self.bits_down, state.down, 0, self._received, what)

    def _received(self, wake: Wake) -> None:
        what: Parameters = wake.given
        learner, state = self.learners[what.learner], self.states[what.learner]
        if what.life != state.life or learner.lost_hardware:
            return
        state.version = what.version
        state.fresh = True
        if self.spread is not None:
            self.spread.received(learner.index, what.version)
        self.run.clock.after(0, Rank.NEXT, self._next, learner)

    def _next(self, wake: Wake) -> None:
        learner: Learner = wake.given
        if learner.body.running and learner.idle and not learner.lost_hardware:
            self._step_on(learner)

    def ready(self, learner: Learner) -> None:
        """A stall is over and no step is in progress; after a loss all is fetched anew."""
        state = self.states[learner.index]
        if learner.lost_hardware:
            learner.lost_hardware = False
            state.settle(learner, merged=False)
            state.life += 1
            state.fresh = False
            if self.spread is not None:  # what it fetches will tell
                self.spread.rejoined(learner.index, None, 0)
            learner.wait(Account.EXPOSED_COMMUNICATION)
            self.run.clock.after(state.up.latency, Rank.ARRIVAL, self._asked, learner)
        elif state.fresh:
            self._step_on(learner)

    def _asked(self, wake: Wake) -> None:
        learner: Learner = wake.given
        self._send_down(learner.index, self.states[learner.index].life)

    def close(self, horizon: Ticks) -> Outcome:
        """Book all time up to the end of the run."""
        self.close_learners(horizon)
        for learner, state in zip(self.learners, self.states, strict=True):
            state.forget(learner)
            if learner.lost_hardware:
                state.settle(learner, merged=False)
        settled = [state.settled for state in self.states]
        outcome = self.outcome(
            tokens_merged=sum(each.tokens for each in settled),
            participation=None,
            merged=sum(each.merged for each in settled),
            overwritten=sum(each.overwritten for each in settled),
        )
        training = self.run.scenario.training
        outcome.payload["parameters"] = training.broadcast_bits
        outcome.convention = (
            "parameter server: each unit elsewhere sends the outer gradients and receives the "
            "parameters, the server's site those of all units"
        )
        outcome.extra["merge_count"] = self.version
        spread = self.staleness.spread()
        if spread is not None:
            outcome.extra["staleness"] = spread
        return outcome


class ServerGoingBack(GoingBack[Saved]):
    """Learners that went back ask for the server's parameters; what they had sent is gone."""

    start = Saved(-1, Unsaved([0.0]), NOTHING)

    def __init__(self, method: AsyncLocalSGD, saves: Saves) -> None:
        super().__init__(method, saves)
        self._method = method

    def state_of(self, learner: Learner) -> Saved:
        """Return what a learner has done by now, and what has become of it."""
        settled = self._method.states[learner.index].settled
        return Saved(self._clock.now, learner.progress, settled)

    def restore(self, targets: Mapping[int, Saved], source: int, here: set[int]) -> None:
        """Let learners fetch what the server goes back to."""
        method = self._method
        for m in targets:
            state, learner = method.states[m], method.learners[m]
            state.steps, state.kept = learner.steps, learner.steps - learner.undone
            state.tokens, state.settled = learner.tokens, targets[m].settled
            state.void = state.life + 1
