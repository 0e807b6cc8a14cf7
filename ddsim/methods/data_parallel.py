"""Data-parallel training: gradients are reduced at every step, and every failure stops all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ddsim.engine.restart import RestartBody
from ddsim.engine.spares import hardware_of
from ddsim.methods.lockstep_job import LockstepJob
from ddsim.methods.registry import method
from ddsim.world.stalls import JOB, restarts, restores

if TYPE_CHECKING:
    from ddsim.engine.hardware import Hardware


@method("data_parallel")
class DataParallel(LockstepJob):
    """All units step together. A strike stops the job: it detects, waits until a spare or the
    repaired slice is in place, restores its last checkpoint and restarts.
    """

    summary = "all-reduce at every step; a failure stops all, back to the last checkpoint"

    def make_hardware(self) -> Hardware:
        """Return hardware that puts spares, wherever they stand, in the place of what failed."""
        return hardware_of(self.run, anywhere=True)

    def make_body(self, hardware: Hardware) -> RestartBody:
        """Return a body that needs every slice."""
        run = self.run
        return RestartBody(
            run.clock,
            hardware.units,
            run.ledger,
            run.recorder,
            restore=restores(run.scenario, JOB, run.replication),
            restart=restarts(run.scenario, run.cluster.chips, JOB, run.replication),
            extend=run.scenario.restart.stall_rule == "extend",
        )
