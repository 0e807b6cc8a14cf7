"""How a policy steers Decoupled DiLoCo: what it sees, and where what it decides takes effect."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ddsim.engine import policies
from ddsim.engine.clock import Rank
from ddsim.engine.policies import Fixed, Settings, Sight
from ddsim.world.instants import SECOND, seconds

if TYPE_CHECKING:
    from ddsim.engine.run import Outcome
    from ddsim.engine.syncer import Slot
    from ddsim.methods.decoupled_diloco import DecoupledDiLoCo

LOGGED = 50


class Steering:
    """Consults the scenario's policy and brings its decisions into force; `fixed` has none."""

    def __init__(self, method: DecoupledDiLoCo) -> None:
        training = method.run.scenario.training
        self._method = method
        self._clock = method.run.clock
        self._policy = policies.make(training.policy, training.policy_options)
        self.fixed = isinstance(self._policy, Fixed)
        self._scenario = self.settings = Settings(
            training.payload_bits,
            training.inner_steps,
            training.overlap_steps,
            training.quorum,
        )
        self._live = len(method.states)
        self._failures = 0
        self._slot = 0
        self._transfer_time: float | None = None
        self._transfer_bits = training.payload_bits
        self._bits: dict[int, float] = {}
        self._sums = [0.0, 0.0, 0.0, 0.0]
        self._sent = 0
        self._changes = 0
        self._log: list[dict[str, float]] = []

    def closed(self, slot: Slot) -> None:
        """A slot has closed; its exchange begins or queues."""
        if self.fixed:
            return
        self._slot = slot.index
        self._consult()

    def started(self, slot: Slot) -> None:
        """A slot's exchange begins, with the bits that are in force."""
        if self.fixed:
            return
        self._bits[slot.index] = self.settings.payload_bits
        self._sent += 1
        self._sums = [total + one for total, one in zip(self._sums, self.settings, strict=True)]

    def arrived(self, slot: Slot) -> None:
        """A slot's update has arrived."""
        if self.fixed:
            return
        assert slot.started is not None
        self._transfer_time = seconds(self._clock.now - slot.started)
        self._transfer_bits = self._bits.pop(slot.index)
        self._consult()

    def live_changed(self) -> None:
        """Another number of learners is live now, or others are."""
        if self.fixed:
            return
        live = len(self._method.live)
        self._failures += max(0, self._live - live)
        self._live = live
        self._consult()

    def _consult(self) -> None:
        method = self._method
        replicas = method.replicas
        fragment = method.run.scenario.model.parameters / method.fragments
        ring = replicas.ring
        mean = method.syncer.sync_time.value
        sight = Sight(
            slot=self._slot,
            now=seconds(self._clock.now),
            scenario=self._scenario,
            current=self.settings,
            learners=len(method.states),
            live=len(method.live),
            failures=self._failures,
            step_times=tuple(method.step_time_of(index) / SECOND for index in method.live),
            bandwidth=replicas.bandwidth,
            transfer_time=self._transfer_time,
            transfer_bits=self._transfer_bits,
            mean_transfer_time=None if mean is None else mean / SECOND,
            hop_bits=ring.bits(fragment),
            latency=seconds(ring.latency),
            fragments=method.fragments,
        )
        decided = self._policy.decide(sight)
        if decided != self.settings:
            self._check(decided)
            self._bring_about(decided, fragment)

    def _check(self, decided: Settings) -> None:
        learners = len(self._method.states)
        sound = (
            0.0 < decided.payload_bits <= 64.0
            and decided.inner_steps >= 1
            and decided.overlap_steps >= 0
            and 1 <= decided.quorum <= learners
        )
        if not sound:
            raise ValueError(
                f"policy {self._policy.name} decides {decided}: bits lie in (0, 64], H is at least "
                f"1, tau at least 0, K from 1 to {learners}"
            )

    def _bring_about(self, decided: Settings, fragment: float) -> None:
        method, syncer, before = self._method, self._method.syncer, self.settings
        self.settings = decided
        self._changes += 1
        if len(self._log) < LOGGED:
            entry = {"at_s": seconds(self._clock.now), "slot": self._slot, **decided._asdict()}
            self._log.append(entry)
        method.replicas.payload = decided.payload_bits * fragment
        if decided.inner_steps != before.inner_steps:
            counts = [s.count for i, s in enumerate(method.states) if i not in method.withheld]
            reached = max(counts, default=syncer.arrived)
            syncer.set_inner_steps(decided.inner_steps, reached)
        if decided.quorum != before.quorum:
            method.quorum = decided.quorum
            method.merging.ask(self._clock.now, decided.quorum)
            syncer.set_quorum(decided.quorum)
        if decided.overlap_steps != before.overlap_steps:
            method.overlap = syncer.overlap = decided.overlap_steps
            for learner, state in zip(method.learners, method.states, strict=True):
                if state.blocked is not None and learner.idle:
                    self._clock.after(0, Rank.NEXT, method.next_step, learner)

    def report(self, outcome: Outcome) -> None:
        """Say what the policy did: the means over the merges, and the first changes."""
        if self.fixed:
            return
        count = max(1, self._sent)
        means = [total / count for total in self._sums]
        outcome.extra["policy"] = {
            "name": self._policy.name,
            "changes": self._changes,
            "mean": dict(zip(Settings._fields, means, strict=True)),
            "log": self._log,
        }
        outcome.payload = {"outer gradients on average": round(means[0], 2)}
        convention = self._method.run.network.convention
        outcome.convention = f"{convention}, bits by policy {self._policy.name}"
