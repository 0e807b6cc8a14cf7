"""What a scenario says: every field, in SI units."""

from __future__ import annotations

from typing import Annotated, Any

from ddsim.scenario.cluster import Cluster
from ddsim.scenario.costs import Power, Prices
from ddsim.scenario.failures import Chaos, Failures
from ddsim.scenario.fields import Flag, Quantity, Range, Text, count
from ddsim.scenario.learning import Learning
from ddsim.scenario.methods import DEFAULT_METHODS, Files, Methods, MethodSpec, Study
from ddsim.scenario.network import Network, Region
from ddsim.scenario.presence import Replay, Scavenged
from ddsim.scenario.quality import Quality
from ddsim.scenario.recovery import Checkpoint, Elastic, Restart
from ddsim.scenario.section import Section, described
from ddsim.scenario.training import Model, Training
from ddsim.scenario.units import TIME

DAY = 86400.0


class Contents(Section):
    """The fields of a scenario. Times in s, bandwidths in bit/s, the rest in counts."""

    name: Annotated[str, Text("a name")] = described(
        "", "Name in tables and results.", otherwise="the file's name"
    )
    description: Annotated[str, Text(empty=True)] = described("", "What the scenario is about.")
    seed: Annotated[int, count(0)] = described(0, "Seed of every random stream.")
    duration: Annotated[float, Quantity(TIME, Range(0.0, above=True), "never")] = described(
        DAY, "Simulated wall-clock time; `never` only with training.tokens or training.loss."
    )
    methods: Annotated[tuple[MethodSpec, ...], Methods()] = described(
        tuple(MethodSpec(name) for name in DEFAULT_METHODS),
        "Ways of training to run: names, or name: {path: value} for settings of that one alone.",
        otherwise="all five",
    )
    model: Model = described(Model(), "The model that is trained.")
    training: Training = described(Training(), "One step, and what is exchanged between steps.")
    cluster: Cluster = described(Cluster(), "The chips and the units they form.")
    network: Network = described(Network(), "The wide-area network between regions.")
    failures: Failures = described(Failures(), "Failures drawn at random.")
    elastic: Elastic = described(Elastic(), "Reconfiguring without and with a slice.")
    restart: Restart = described(Restart(), "Starting again what was lost.")
    checkpoint: Checkpoint = described(Checkpoint(), "Saves, and going back to them.")
    chaos: tuple[Chaos, ...] = described((), "Planned faults, added to the drawn ones.")
    chaos_only: Annotated[bool, Flag()] = described(
        False, "Whether the planned faults replace the drawn ones."
    )
    learning: Learning = described(Learning(), "A real model, trained on the run's schedule.")
    quality: Quality = described(Quality(), "What tokens are worth: losses by a published law.")
    scavenging: tuple[Scavenged, ...] = described((), "Hardware that joins late or leaves early.")
    trace: Replay = described(Replay(), "A trace of nodes that came and went, replayed.")
    prices: Prices = described(Prices(), "What chips cost.")
    power: Power = described(Power(), "What chips draw.")
    study: Annotated[dict[str, Any] | None, Study()] = described(
        None,
        "What `sweep` varies: paths and lists of values; under a method's name, for it alone.",
    )
    python: Annotated[tuple[str, ...], Files()] = described(
        (), "Python files, relative to the scenario's, run first for what they register."
    )

    @property
    def warned(self) -> bool:
        """Whether any hardware leaves or fails with a warning before."""
        causes = any(cause.notice for cause in self.failures.causes)
        return causes or any(item.notice for item in self.scavenging) or self.trace.notice > 0.0

    @property
    def slows(self) -> bool:
        """Whether a fault may slow hardware down, or a save may hold a learner up."""
        checkpoint = self.checkpoint
        cost = checkpoint.stall if checkpoint.asynchronous else checkpoint.save
        if checkpoint.policy not in ("none", "in_memory"):
            return True
        if checkpoint.policy == "in_memory" and cost > 0.0:
            return True
        planned = any(fault.fault == "slow" for fault in self.chaos)
        return planned or any(cause.slow_to is not None for cause in self.failures.causes)

    @property
    def corrupts(self) -> bool:
        """Whether a failure may have corrupted the state before it is noticed."""
        return any(cause.latent > 0.0 for cause in self.failures.causes)

    def regions(self) -> dict[str, Region]:
        """The regions by name; of a scenario that is laid out, each with what it can carry."""
        return dict(self.network.regions)
