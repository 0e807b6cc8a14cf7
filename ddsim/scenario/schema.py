"""A scenario: everything that a run is made from, in SI units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import PrivateAttr

from ddsim.scenario.cluster import Cluster
from ddsim.scenario.costs import Power, Prices
from ddsim.scenario.failures import Chaos, Failures
from ddsim.scenario.fields import Flag, Quantity, Range, Text, count
from ddsim.scenario.layout import BuiltUnit, built_units
from ddsim.scenario.learning import Learning
from ddsim.scenario.methods import DEFAULT_METHODS, Files, Methods, MethodSpec, Study
from ddsim.scenario.network import Network, Region
from ddsim.scenario.presence import Replay, Scavenged
from ddsim.scenario.recovery import Checkpoint, Elastic, Restart
from ddsim.scenario.section import Section, described
from ddsim.scenario.training import Model, Training
from ddsim.scenario.units import TIME

if TYPE_CHECKING:
    from ddsim.scenario.document import Document
    from ddsim.scenario.uncertain import Uncertain

DAY = 86400.0


class Scenario(Section):
    """A validated scenario. Times in s, bandwidths in bit/s, the rest in counts.

    Everything is filled in: the units one by one (`cluster.units`, with `cluster.chips` and
    `cluster.learners` their totals), the regions with their own bandwidths and latencies, the
    model's sizes, the fragments. Two scenarios are equal when their contents are, whatever the
    file they came from.
    """

    name: Annotated[str, Text("a name")] = described(
        "", "Name in tables and results.", otherwise="the file's name"
    )
    description: Annotated[str, Text(empty=True)] = described("", "What the scenario is about.")
    seed: Annotated[int, count(0)] = described(0, "Seed of every random stream.")
    duration: Annotated[float, Quantity(TIME, Range(0.0, above=True), "never")] = described(
        DAY, "Simulated wall-clock time; `never` only with training.tokens."
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

    _document: Any = PrivateAttr(default=None)
    _known: Any = PrivateAttr(default=None)
    _uncertain: Any = PrivateAttr(default=())

    @property
    def source(self) -> str:
        """The file that the scenario was read from."""
        return self.document.file

    @property
    def document(self) -> Document:
        """The raw scenario, for further overrides."""
        if self._document is None:
            raise ValueError("this scenario was not made by ddsim.scenario.load or validate")
        document: Document = self._document
        return document

    @property
    def uncertain(self) -> tuple[Uncertain, ...]:
        """The inputs given as ranges or distributions; here each stands at its median."""
        inputs: tuple[Uncertain, ...] = self._uncertain
        return inputs

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

    def units(self) -> tuple[BuiltUnit, ...]:
        """The units as they are built, each with the time of its step."""
        return built_units(self)

    def regions(self) -> dict[str, Region]:
        """The regions by name, each with its own upload, download and latency."""
        return dict(self.network.regions)

    def with_(self, overrides: Mapping[str, object] | Sequence[str]) -> Scenario:
        """The scenario with some paths changed; raises ScenarioError like loading does.

        An override is the last word: it also replaces what a method's own settings say.
        """
        from ddsim.scenario.validation import validate

        return validate(self.document.with_overrides(overrides), **self._known)

    def for_method(self, name: str) -> Scenario:
        """The scenario as one method runs it, its own settings applied."""
        from ddsim.scenario.validation import for_method

        return for_method(self, name)

    def choose(self, names: Sequence[str]) -> Scenario:
        """The scenario with these methods alone; those it lists keep their settings.

        A method that it does not list runs without settings. Raises ScenarioError for an unknown
        name.
        """
        from ddsim.scenario.validation import choose

        return choose(self, names)

    def resolved(self) -> str:
        """The scenario as YAML with everything filled in; loading it gives an equal scenario."""
        from ddsim.scenario.resolved import write

        return write(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Scenario):
            return NotImplemented
        return self.model_dump() == other.model_dump()

    def __hash__(self) -> int:
        return hash((self.name, self.seed, self.duration, len(self.methods)))
