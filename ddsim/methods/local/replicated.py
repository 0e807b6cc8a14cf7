"""Learners with a replica of the syncer beside each, over links that the replicas may lose."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ddsim.engine.fragments import fragment_sizes
from ddsim.engine.merge_log import MergeLog
from ddsim.engine.returning import ReturningBody
from ddsim.methods.local import protocol as k
from ddsim.methods.local.method import LocalUpdates
from ddsim.methods.local.replicas import Replicas
from ddsim.methods.local.returning import Returning
from ddsim.methods.local.steering import Steering
from ddsim.world.instants import ticks

if TYPE_CHECKING:
    from ddsim.engine.body import ElasticBody
    from ddsim.engine.copies import Copy
    from ddsim.engine.hardware import Hardware, UnitState
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


class ReplicatedUpdates(LocalUpdates):
    """What Decoupled DiLoCo adds to the protocol: replicas, policies, learners that come back."""

    own_fragments = False  # replicas and log are made for the scenario's
    returning: Returning
    log: MergeLog

    def start(self) -> Hardware:
        """Set learners, slots and replicas up, all fragments received at step 0."""
        run = self.run
        training, network = run.scenario.training, run.scenario.network
        fragment = run.scenario.model.parameters / training.fragments
        self.replicas = Replicas(
            run.clock,
            self.fabric,
            run.network,
            [unit.region for unit in run.cluster.units],
            missed_bits=training.broadcast_bits * fragment,
            form=training.syncer,
            down=training.broadcast_bits / training.payload_bits,
            timeout=ticks(network.ring_timeout),
            sizes=fragment_sizes(run.scenario),
            server=network.server or next(iter(run.scenario.regions()), ""),
            quorum=lambda: self.state.number[k.QUORUM],
        )
        self.replicas.slots = self
        self.log = MergeLog(training.fragments, self.replicas.ring.rate)
        self.steering = Steering(run)
        hardware = self.drive(self.replicas.ring)
        self.steering.bind(self.driver, self.replicas, self._ask)
        return hardware

    def make_body(self, unit: UnitState, **options: Any) -> ElasticBody:
        """Return the body of a unit whose learner takes its state from others when it returns."""
        run = self.run
        common = (run.clock, [unit], run.ledger, run.recorder)
        return ReturningBody(*common, returns=self.returning, **options)

    def make_returning(self) -> Returning:
        """Return what sees to learners and replicas that are gone."""
        self.replicas.listener = returning = Returning(self)
        return returning

    def count_live(self) -> None:
        """Look who is live and heard, and whether slots can close with those."""
        super().count_live()
        self.steering.live_changed()

    def _ask(self, quorum: int) -> None:
        self.merging.ask(self.run.clock.now, quorum)

    def catching_up(self) -> None:
        """Say whether anything can be merged, and whether anything can come between exchanges.

        Where it can, those that begin now are handed over.
        """
        number, standing = self.driver.view.number, int(self.replicas.standing)
        number[k.OUTSIDE] = int(not self.replicas.calm or self.fabric.flowing)
        if standing != number[k.STANDING]:
            number[k.STANDING] = standing
            number[k.CHECK] = 1

    def closed(self, slot: int) -> None:
        """A slot has closed; its exchange is to begin or to queue."""
        self.steering.closed(slot)

    def arrived(self, slot: int) -> None:
        """A slot's update has arrived."""
        self.steering.arrived(slot)

    def begins(self, slot: int) -> None:
        """An exchange is to begin among replicas that may leave, or beside other transfers."""
        self.driver.tell_sent()
        ring, connection = self.replicas.ring, self.driver.connection()
        if connection.last > self.fabric.connection(ring).last:
            self.fabric.take_over(ring, connection)
        self.replicas.send(slot)

    def taken_up(self, learner: int) -> int | None:
        """Return whose moments a learner has that takes up its steps, None where nobody's."""
        return self.returning.taken_up(learner)

    def stale(self, learner: int, slots: int) -> None:
        """A learner has answered for the first time since it came back."""
        self.returning.answered(learner, slots)

    # What replicas ask and tell.

    def fragments(self, slot: int) -> tuple[int, ...]:
        """Return the fragments due at a slot."""
        return self.driver.fragments(slot)

    def answered(self, slot: int) -> frozenset[int]:
        """Return the learners that have answered a slot."""
        row = slot % len(self.state.slot)
        everyone = range(len(self.learners))
        return frozenset(m for m in everyone if self.state.answered[row, m])

    def payload(self) -> float:
        """Bits of a mean fragment's outer gradient, by what is in force now."""
        return float(self.state.real[k.PAYLOAD] * self.state.real[k.PARAMETERS])

    def sent_in(self, fragment: int) -> int:
        """Return the slot in which a fragment was sent last, 0 before the first."""
        return int(self.state.sent_in[fragment])

    def out(self, slot: int, latency: int) -> None:
        """The last bit of a slot's exchange is out, and there after its latency."""
        if self.replicas.bandwidth is not None:
            self.state.real[k.MEASURED] = self.replicas.bandwidth
        if self.replicas.ring.slow_start is not None:
            self.driver.take_connection(self.fabric.connection(self.replicas.ring))
        k.last_bit_out(self.state, slot, latency)

    def tape_fetch(self, copy: Copy) -> None:
        """A copy begins: from now on it shares the links with what is exchanged."""
        self.share_links()
        super().tape_fetch(copy)

    def share_links(self) -> None:
        """Hand the exchange on the links over to those who share them with other transfers."""
        state, now = self.state, self.run.clock.now
        self.driver.tell_sent()
        slot = state.number[k.UNDER_WAY]
        if not slot or state.time[k.LINK_ENDS] >= k.NEVER:
            return
        started, bits, course = self.driver.under_way(now)
        state.time[k.LINK_ENDS] = k.NEVER
        self.driver.record(started, now, bits - course.left)
        self.fabric.take_over(self.replicas.ring, course.connection)
        self.replicas.take_over(slot, bits, course.left, started)

    def drop_exchanges(self) -> None:
        """What is on the links of slots that have not arrived is broken off."""
        self.share_links()
        self.replicas.forget()

    def close(self, horizon: int) -> Outcome:
        """Book all time up to the end of the run.

        What nobody has heard of by then is overwritten: its learner would receive all fragments
        before it is heard again.
        """
        state = self.state
        for m in range(len(self.learners)):
            if not state.learner[m, k.HEARD]:
                k.lose(state, m)
        outcome = super().close(horizon)
        late = [state.learner[m, k.LATE] for m in range(len(self.learners))]
        outcome.late_answers = sum(late)
        training = self.run.scenario.training
        if training.syncer != "replicas":
            outcome.payload["parameters"] = training.broadcast_bits
            outcome.convention = CONVENTIONS[training.syncer]
        outcome.extra["merges"] = self.log.spreads(late)
        spells = self.log.spells(horizon)
        if spells:
            outcome.extra["spells"] = spells
        if self.returning.rejoins:
            outcome.extra["rejoins"] = self.returning.rejoins
        self.steering.report(outcome)
        return outcome
