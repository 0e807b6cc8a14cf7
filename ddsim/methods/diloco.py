"""DiLoCo: H local steps on every unit, then one all-reduce of all outer gradients."""

from __future__ import annotations

from ddsim.methods.local.arrays import Settings
from ddsim.methods.local.lockstep import LockstepUpdates
from ddsim.methods.registry import method


@method("diloco")
class DiLoCo(LockstepUpdates):
    """Every unit takes H steps of its own, then all meet at a barrier and exchange everything.

    With release by layer the layers leave during the last step's backward pass.

    Source: arXiv 2311.08105.
    """

    summary = "H local steps, then all outer gradients at once, all units at a barrier"

    def settings(self) -> Settings:
        """Return what the scenario says: one fragment, needed at once, for all and by all."""
        training = self.run.scenario.training
        return Settings(
            quorum=len(self.run.cluster.units),
            overlap=0,
            inner_steps=training.inner_steps,
            fragments=1,
            grace=0.0,
            at_tau=True,
            step_on=False,
            steered=False,
            lockstep=True,
            barrier=True,
            others_go_on=training.on_failure != "wait",
            leaves=training.on_failure == "leave",
            by_layer=training.release != "end_of_step",
        )
