"""Elastic data-parallel training: the job shrinks when a slice fails, and grows again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ddsim.engine.body import ElasticBody
from ddsim.methods.lockstep_job import LockstepJob
from ddsim.methods.registry import method
from ddsim.world.instants import ticks
from ddsim.world.stalls import JOB, restarts, restores

if TYPE_CHECKING:
    from ddsim.engine.hardware import Hardware


@method("elastic_data_parallel")
class ElasticDataParallel(LockstepJob):
    """All units step together. A strike stops the job while it leaves the slice out, and its
    return stops it again; a smaller job does fewer tokens a step.
    """

    summary = "all-reduce at every step; a failure stops all for the downscale, then they go on"

    def make_body(self, hardware: Hardware) -> ElasticBody:
        """Return a body over all units that does without what failed."""
        run = self.run
        scenario = run.scenario
        saves = scenario.checkpoint.policy != "none"
        return ElasticBody(
            run.clock,
            hardware.units,
            run.ledger,
            run.recorder,
            downscale=ticks(scenario.elastic.downscale),
            upscale=ticks(scenario.elastic.upscale),
            restart=restarts(scenario, run.cluster.chips, JOB, run.replication),
            restores=restores(scenario, JOB, run.replication) if saves else None,
            extend=scenario.elastic.stall_rule == "extend",
        )
