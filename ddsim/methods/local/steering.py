"""How a policy steers the protocol: what it sees, and where what it decides takes effect."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ddsim.engine import policies
from ddsim.engine.policies import Fixed, Settings, Sight
from ddsim.methods.local import protocol as k
from ddsim.users import blame, held, returned
from ddsim.world.instants import SECOND, seconds

if TYPE_CHECKING:
    from collections.abc import Callable

    from ddsim.engine.run import Outcome, Run
    from ddsim.methods.local.driver import Driver
    from ddsim.methods.local.protocol import State
    from ddsim.methods.local.replicas import Replicas
    from ddsim.world.ring import Ring

LOGGED = 50


class Steering:
    """Consults the scenario's policy and brings its decisions into force; `fixed` has none."""

    def __init__(self, run: Run) -> None:
        training = run.scenario.training
        self._run = run
        self._policy = policies.make(training.policy, training.policy_options)
        self._who = f"policy {self._policy.name}"
        self._allowed = policies.allowed(len(run.paces))
        self.fixed = isinstance(self._policy, Fixed)
        self._scenario = self.settings = Settings(
            training.payload_bits,
            training.inner_steps,
            training.overlap_steps,
            training.quorum,
        )
        self._failures = 0
        self._slot = 0
        self._transfer_time: float | None = None
        self._transfer_bits = training.payload_bits
        self._changes = 0
        self._log: list[dict[str, float]] = []

    def bind(self, driver: Driver, replicas: Replicas, ask: Callable[[int], None]) -> None:
        """Steer this driver's protocol, over these replicas; tell `ask` of every other quorum."""
        self._driver = driver
        self._ask = ask
        self._replicas = replicas
        self._live = self._state.number[k.LIVE]
        self._fragments = self._state.number[k.FRAGMENTS]
        self._fragment = self._run.scenario.model.parameters / self._fragments
        self._measure(replicas.ring)

    def _measure(self, ring: Ring) -> None:
        """Take the measure of the exchange among those that take part now."""
        self._ring = ring
        self._hop_bits, self._latency = ring.bits(self._fragment), seconds(ring.latency)

    @property
    def _state(self) -> State:
        return self._driver.view

    def closed(self, slot: int) -> None:
        """A slot has closed; its exchange is to begin or to queue."""
        self._slot = slot
        self._consult()

    def arrived(self, slot: int) -> None:
        """A slot's update has arrived."""
        state = self._state
        row = slot % len(state.slot)
        self._transfer_time = seconds(state.time[k.NOW] - state.slot[row, k.STARTED])
        self._transfer_bits = state.sent_at[row]
        self._consult()

    def live_changed(self) -> None:
        """Another number of learners is live now, or others are."""
        if self.fixed:
            return
        live = self._state.number[k.LIVE]
        self._failures += max(0, self._live - live)
        self._live = live
        self._consult()

    def _bandwidth(self) -> float | None:
        """What the last exchange got, whoever carried it, in bit/s."""
        inside = self._state.real[k.MEASURED]
        return None if inside != inside else inside

    def _consult(self) -> None:
        state = self._state
        if self._replicas.ring is not self._ring:
            self._measure(self._replicas.ring)
        mean, learner = state.real[k.SYNC_TIME], state.learner
        steps = [
            k.step_time(state, m) / SECOND
            for m in range(len(learner))
            if learner[m, k.IS_LIVE] and learner[m, k.HEARD]
        ]
        sight = Sight(
            slot=self._slot,
            now=seconds(state.time[k.NOW]),
            scenario=self._scenario,
            current=self.settings,
            learners=len(learner),
            live=len(steps),
            failures=self._failures,
            step_times=tuple(steps),
            bandwidth=self._bandwidth(),
            transfer_time=self._transfer_time,
            transfer_bits=self._transfer_bits,
            mean_transfer_time=None if mean != mean else mean / SECOND,
            hop_bits=self._hop_bits,
            latency=self._latency,
            fragments=self._fragments,
        )
        decided = self._decide(sight)
        if decided != self.settings:
            self._bring_about(decided)

    def _decide(self, sight: Sight) -> Settings:
        """Return what the policy decides; ScenarioError where that cannot be."""
        by = (self._policy, "decide", self._who)
        try:
            decided = returned(Settings, self._policy.decide(sight), *by)
            return decided if decided == self.settings else held(decided, self._allowed, *by)
        except BaseException as error:
            said = blame(error, type(self._policy), self._who)
            if said is None:
                raise
            raise said from error

    def _bring_about(self, decided: Settings) -> None:
        state, before = self._state, self.settings
        self.settings = decided
        self._changes += 1
        if len(self._log) < LOGGED:
            entry = {"at_s": seconds(state.time[k.NOW]), "slot": self._slot, **decided._asdict()}
            self._log.append(entry)
        state.real[k.PAYLOAD] = decided.payload_bits
        if decided.inner_steps != before.inner_steps:
            k.set_inner_steps(state, decided.inner_steps)
        if decided.quorum != before.quorum:
            self._ask(decided.quorum)
            k.set_quorum(state, decided.quorum)
        if decided.overlap_steps != before.overlap_steps:
            k.set_overlap(state, decided.overlap_steps)

    def report(self, outcome: Outcome) -> None:
        """Say what the policy did: the means over the exchanges, and the first changes."""
        if self.fixed:
            return
        state = self._state
        count = max(1, state.number[k.SETTINGS_SENT])
        means = [state.settings[place] / count for place in range(len(Settings._fields))]
        outcome.extra["policy"] = {
            "name": self._policy.name,
            "changes": self._changes,
            "mean": dict(zip(Settings._fields, means, strict=True)),
            "log": self._log,
        }
        outcome.payload = {"outer gradients on average": round(means[0], 2)}
        convention = self._run.network.convention
        outcome.convention = f"{convention}, bits by policy {self._policy.name}"
