"""What one method meets in one replication: the world, the clock and the books."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ddsim.engine.clock import Clock
from ddsim.engine.goal import Goal
from ddsim.engine.ledger import Ledger
from ddsim.engine.meter import Meter
from ddsim.engine.recorder import Presence, Recorder
from ddsim.world.distributions import from_spec
from ddsim.world.instants import SECOND, Ticks, ticks
from ddsim.world.link_faults import link_outages
from ddsim.world.network import Network
from ddsim.world.pace import Pace, pace
from ddsim.world.timeline import lowest

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ddsim.engine.tape import Tape
    from ddsim.engine.vain import Vain
    from ddsim.scenario import Scenario
    from ddsim.world.cluster import Cluster
    from ddsim.world.network import Ring
    from ddsim.world.strike import Strike
    from ddsim.world.timeline import Timeline

RECORDED_WAITS = 2000
SHORT = SECOND // 1000


@dataclass
class Outcome:
    """What a method knows of its own run; times in seconds, None where it has no meaning.

    `up`, `moving` and `merging` are how long at least one learner ran, computed, and enough were
    live for a merge; `productive` is how long the job made progress that it kept; `finished` is
    when it had all its tokens, where the clock did not stop for that. Of the steps x fragments
    that were kept, `merged` are those that the first answer to carry them brought into a merge,
    `overwritten` those of which the fragment was received, or the unit lost, without one, `pending`
    the rest. `convention` says what crosses the network, where that is not the network's own
    exchange; `extra` is what else there is, by name.
    """

    steps: float
    tokens: float
    tokens_merged: float
    up: float
    moving: float
    productive: float
    interruptions: int
    interrupted: float
    merging: float | None = None
    participation: float | None = None
    merged: float | None = None
    overwritten: float | None = None
    pending: float = 0.0
    late_answers: int | None = None
    finished: float | None = None
    payload: dict[str, float] = field(default_factory=dict)
    convention: str | None = None
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def merged_share(self) -> float | None:
        """Merged over merged and overwritten: 1 where nothing was done, 0 where all is pending."""
        if self.merged is None or self.overwritten is None:
            return None
        settled = self.merged + self.overwritten
        return self.merged / settled if settled > 0.0 else float(self.pending <= 0.0)

    @property
    def pending_share(self) -> float | None:
        """Pending over all that was kept, 0 where that is nothing."""
        if self.merged is None or self.overwritten is None:
            return None
        kept = self.merged + self.overwritten + self.pending
        return self.pending / kept if kept > 0.0 else 0.0


class Run:
    """One method's run. `horizon` is when it ends, at the latest, in ticks, `goal` where
    it does before.

    `tape` is None unless somebody wants to know what happened to the learners' parameters, `vain`
    unless the run is to end where failures take back all that it does.
    With `every_slot` no step is left to machine code, and no round of slots passed over.
    """

    def __init__(
        self, scenario: Scenario, cluster: Cluster, history: Iterable[Strike], replication: int
    ) -> None:
        self.scenario = scenario
        self.cluster = cluster
        self.history = history
        self.replication = replication
        self.horizon: Ticks = ticks(scenario.duration)
        self.clock = Clock()
        self.network = Network(scenario, link_outages(scenario, replication), replication)
        self.ledger = Ledger(len(cluster.units) + (1 if cluster.spares else 0))
        self.recorder = Recorder(
            [unit.name for unit in cluster.units], least_wait=self.horizon // RECORDED_WAITS
        )
        self.meter = Meter()
        self.tape: Tape | None = None
        self.every_slot = False
        tokens = scenario.training.tokens
        self.goal = Goal() if tokens is None else Goal(tokens)
        self.vain: Vain | None = None
        self.running = Presence()
        self.computing = Presence()
        spec = scenario.cluster.delay
        delay = None if spec is None else from_spec(spec.kind, spec.params)
        self.paces: list[Pace] = [
            pace(
                unit,
                scenario.cluster.jitter,
                scenario.seed,
                replication,
                spread=scenario.cluster.speed_spread,
                slows=scenario.slows,
                delay=delay,
            )
            for unit in cluster.units
        ]

    @property
    def rounding(self) -> str | None:
        """What whole nanoseconds do to steps that are shorter than a millisecond, in words."""
        shortest = min(pace.nominal for pace in self.paces)
        if shortest >= SHORT:
            return None
        return (
            f"steps of {shortest / 1000:g} us: times are whole nanoseconds, so that rounding may "
            f"make a step longer or shorter by {50 / shortest:.2g}%"
        )

    @property
    def tokens_per_chip(self) -> float:
        """Tokens that a chip of the units stands for in one step."""
        return self.scenario.training.tokens_per_step / self.cluster.chips

    def access(self, region: str) -> Timeline:
        """Return what gets in and out of a region, in bit/s: the lower of the two."""
        lines = self.network.lines
        return lowest([lines[f"up:{region}"], lines[f"down:{region}"]])

    def ring(self, members: Iterable[int]) -> Ring:
        """Return the ring among the units of these indices."""
        return self.network.ring([self.cluster.units[index].region for index in members])
