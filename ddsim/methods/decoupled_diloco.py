"""Decoupled DiLoCo: learners step on their own clocks, a syncer merges what a quorum gives."""

from __future__ import annotations

from ddsim.methods.local.arrays import Settings
from ddsim.methods.local.replicated import ReplicatedUpdates
from ddsim.methods.registry import method


@method("decoupled_diloco")
class DecoupledDiLoCo(ReplicatedUpdates):
    """A learner answers a slot at its own step, goes on for up to tau steps, then waits for the
    slot's update; the slot closes with a quorum and what a grace window catches. Only a learner
    whose own unit fails stops.

    Source: arXiv 2604.21428.
    """

    summary = "fragments merged by a syncer at a quorum; a failure stops only its learner"

    def settings(self) -> Settings:
        """Return what the scenario says: quorum, grace, overlap and what is below a quorum."""
        training = self.run.scenario.training
        return Settings(
            quorum=training.quorum,
            overlap=training.overlap_steps,
            inner_steps=training.inner_steps,
            fragments=training.fragments,
            grace=training.grace,
            at_tau=training.apply == "at_tau",
            step_on=training.below_quorum == "step_on",
            steered=training.policy != "fixed",
        )
