"""Streaming DiLoCo: fragments in turn, each on its way while the units step on."""

from __future__ import annotations

from ddsim.methods.local.arrays import Settings
from ddsim.methods.local.lockstep import LockstepUpdates
from ddsim.methods.registry import method


@method("streaming_diloco")
class StreamingDiLoCo(LockstepUpdates):
    """A fragment leaves at the step in which it is due, once the last unit has completed that
    step, and every unit needs it tau steps later; nothing else couples the units.

    With release by layer a fragment's layers leave during the step's backward pass, and the
    forward pass of the step that needs it runs up to its lowest layer. Of its own fragment a unit
    keeps `training.mixing`: that share of the steps since its answer is in the next one.

    Source: arXiv 2501.18512.
    """

    summary = "fragments in turn, each overlapped with tau steps, still in lock-step"

    def settings(self) -> Settings:
        """Return what the scenario says: fragments, overlap, and how layers are released."""
        training = self.run.scenario.training
        return Settings(
            quorum=len(self.run.cluster.units),
            overlap=training.overlap_steps,
            inner_steps=training.inner_steps,
            fragments=training.fragments,
            grace=0.0,
            at_tau=True,
            step_on=False,
            steered=False,
            lockstep=True,
            others_go_on=training.on_failure != "wait",
            leaves=training.on_failure == "leave",
            by_layer=training.release != "end_of_step",
            mixing=training.mixing,
        )
