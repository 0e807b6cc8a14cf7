"""What the two data-parallel methods share: one job over all units."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from ddsim.engine.clock import Rank
from ddsim.engine.job import Job
from ddsim.engine.job_progress import Progress
from ddsim.engine.joint_pace import JointPace
from ddsim.engine.run import Outcome
from ddsim.engine.saves import saves_on
from ddsim.engine.spares import hardware_of
from ddsim.engine.tape import Corrupt
from ddsim.methods.registry import Method
from ddsim.world.corruptions import corruptions
from ddsim.world.instants import Ticks, seconds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ddsim.engine.body import Body
    from ddsim.engine.clock import Wake
    from ddsim.engine.hardware import Hardware
    from ddsim.world.network import Ring
    from ddsim.world.strike import Strike


class LockstepJob(Method):
    """A job whose units reduce their gradients over the network at every step."""

    uses_spares = True
    body: Body
    job: Job
    _coming: Iterator[Strike]

    def make_hardware(self) -> Hardware:
        """Return the hardware under the run's failure history."""
        return hardware_of(self.run)

    def make_body(self, hardware: Hardware) -> Body:
        """Return the body that all units form."""
        raise NotImplementedError

    def start(self) -> Hardware:
        """Set the job up on all units."""
        run = self.run
        scenario = run.scenario
        hardware = self.make_hardware()
        self.body = self.make_body(hardware)
        layers = scenario.model.layers

        @cache
        def ring_of(members: tuple[int, ...]) -> Ring:
            return run.ring(members)

        pace = JointPace(
            self.body,
            run.paces,
            ring_of,
            scenario.training.gradient_bits * scenario.model.parameters / layers,
            layers,
        )
        progress = Progress(
            self.body,
            saves_on(scenario, run.cluster, run.replication),
            run.tokens_per_chip,
            run.goal.all_merged,
            keep_saves=scenario.corrupts,
            tape=run.tape,
            vain=run.vain,
        )
        self.job = Job(self.body, pace, progress, run.meter)
        if run.tape is not None:
            self._coming = corruptions(scenario, run.cluster, run.replication, screened=True)
            self._await_corruption()
        hardware.start([self.body] * len(hardware.units))
        return hardware

    def _await_corruption(self) -> None:
        strike = next(self._coming, None)
        if strike is not None and strike.since is not None:
            clock = self.run.clock
            clock.after(strike.since - clock.now, Rank.STRIKE, self._corrupted, strike.unit)

    def _corrupted(self, wake: Wake) -> None:
        """Put down that the state that all share is wrong from now on."""
        self.body.settle()
        if self.run.tape is not None and not self.body.lost:
            self.run.tape.append(Corrupt(seconds(self.run.clock.now), wake.given, 0))
        self._await_corruption()

    def close(self, horizon: Ticks) -> Outcome:
        """Count and book what is left of the run."""
        self.body.close(horizon)
        self.job.close(horizon)
        finished, done = self.job.finished, self.job.progress
        return Outcome(
            steps=done.steps,
            tokens=done.tokens,
            tokens_merged=done.tokens,
            up=seconds(done.running),
            moving=seconds(done.computing),
            productive=seconds(done.computing - done.wasted),
            merged=float(done.steps),
            overwritten=0.0,
            interruptions=self.body.interruptions,
            interrupted=seconds(self.body.interrupted),
            finished=None if finished is None else seconds(finished),
            payload={"gradients": self.run.scenario.training.gradient_bits},
        )
