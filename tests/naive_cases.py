"""The engine run on a case of the naive model, so that both can be laid side by side."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from types import SimpleNamespace
from typing import Any

from naive.case import Case, no_delay

from ddsim import methods
from ddsim.engine.ledger import Account
from ddsim.engine.run import Outcome, Run
from ddsim.scenario.network import Network as Links
from ddsim.scenario.network import Region
from ddsim.scenario.training import Training
from ddsim.world.cluster import Cluster, UnitPlan
from ddsim.world.instants import NEVER, seconds, ticks
from ddsim.world.network import Network
from ddsim.world.pace import Pace
from ddsim.world.strike import Strike
from ddsim.world.timeline import Timeline


class GivenPace(Pace):
    """A pace whose factors the case gives."""

    def __init__(self, case: Case, unit: int) -> None:
        self.nominal = ticks(case.units[unit].step_time)
        self.slows = False
        self._case = case
        self._unit = unit
        self._delay = None

    @property
    def even(self) -> bool:
        """Never taken for granted: the case's function may give anything."""
        return (
            self._case.jitter.__name__ == "no_jitter" and not self.loads
            if hasattr(self._case.jitter, "__name__")
            else False
        )

    @property
    def loads(self) -> bool:
        """Whether the case says that steps wait for their data."""
        return self._case.delay is not no_delay

    def of(self, begun: int) -> int:
        """Nominal time times the case's factor."""
        step_time = self._case.units[self._unit].step_time
        return ticks(step_time * self._case.jitter(self._unit, begun))

    def ahead(self, begun: int, count: int) -> list[int]:
        """One after the other."""
        return [self.of(begun + step) for step in range(count)]

    def data(self, begun: int) -> int:
        """What the case says that the step waits for its data."""
        return ticks(self._case.delay(self._unit, begun))


class GivenNetwork(Network):
    """Every region's access as the case's link changes make it."""

    def __init__(self, case: Case) -> None:
        regions = {u.region: Region().replaced(latency=case.latency) for u in case.units}
        self._regions = regions
        self._network = Links().replaced(regions=regions)
        self.lines = {}
        for region in self._regions:
            changes = [c for c in case.link_changes if c.region == region]
            line = Timeline(
                (-NEVER, *(ticks(c.time) for c in changes)),
                (case.capacity[region], *(c.capacity for c in changes)),
            )
            self.lines[f"up:{region}"] = self.lines[f"down:{region}"] = line


@dataclass
class EngineResult:
    """What the engine made of a case."""

    run: Run
    outcome: Outcome
    strikes: int

    def accounts(self) -> list[dict[str, float]]:
        """Chip-seconds by unit."""
        return [
            {account.label: book[account] for account in Account} for book in self.run.ledger.books
        ]


def scenario_of(case: Case) -> Any:
    """Return what the engine reads of a scenario, with the case's values.

    What a case does not say of training has its default.
    """
    interval = SimpleNamespace(
        seconds=case.interval, steps=None if case.interval is not None else case.interval_steps
    )
    return SimpleNamespace(
        duration=case.duration,
        seed=0,
        chaos=(),
        chaos_only=False,
        model=SimpleNamespace(parameters=case.parameters, layers=case.layers, tensors={}),
        cluster=SimpleNamespace(jitter=0.0, speed_spread=0.0, delay=None),
        slows=False,
        corrupts=any(strike.since is not None for strike in case.strikes),
        training=Training().replaced(
            tokens_per_step=case.tokens_per_step,
            inner_steps=case.inner_steps,
            fragments=case.fragments,
            overlap_steps=case.overlap_steps,
            quorum=case.quorum,
            grace=case.grace,
            mixing=case.mixing,
            payload_bits=case.payload_bits,
            gradient_bits=case.gradient_bits,
            broadcast_bits=case.broadcast_bits,
            apply=case.apply,
            below_quorum=case.below_quorum,
            release=case.release,
            on_failure=case.on_failure,
            syncer_time=case.syncer_time,
        ),
        failures=SimpleNamespace(
            chip_mtbi=inf, crews=None, causes=(), age_while_down=case.age_while_down
        ),
        elastic=SimpleNamespace(
            downscale=case.downscale,
            upscale=case.upscale,
            stall_rule=case.elastic_rule,
            granule=1,
        ),
        restart=SimpleNamespace(
            time=case.restart_time,
            moment_bits=0.0,
            stall_rule=case.restart_rule,
            spares=case.spares,
            spare_start=0.0,
            spares_fail=False,
            standbys=0,
            standby_start=0.0,
        ),
        checkpoint=SimpleNamespace(
            policy=case.checkpoint_policy,
            interval=interval,
            save=case.save,
            restore=case.restore,
            asynchronous=False,
            spread=0.0,
        ),
    )


def run_engine(case: Case, *, every_slot: bool = False, taped: bool = False) -> EngineResult:
    """Run the engine on a case; with `every_slot` it steps through every quiet stretch; `taped`, it
    writes what happened to every learner's parameters.
    """
    plans = tuple(
        UnitPlan(
            index, unit.name, unit.region, "chip", sum(unit.slices), unit.slices[0], unit.step_time
        )
        for index, unit in enumerate(case.units)
    )
    cluster = Cluster(plans, case.spares)
    history = [
        Strike(
            ticks(s.time),
            s.unit,
            s.slices,
            ticks(s.detection),
            ticks(s.repair),
            "case",
            since=None if s.since is None else ticks(s.since),
        )
        for s in case.strikes
    ]
    scenario = scenario_of(case)
    scenario.network = SimpleNamespace(
        ring_timeout=inf,
        recovery_share=1.0,
        latency=case.latency,
        efficiency=1.0,
        sync_cost=0.0,
        collective="ring",
        server=None,
        links=(),
    )
    scenario.regions = dict
    run = Run(scenario, cluster, history, 0)
    run.every_slot = every_slot
    run.tape = [] if taped else None
    run.network = GivenNetwork(case)
    scenario.regions = lambda: dict.fromkeys(unit.region for unit in case.units)
    run.paces = [GivenPace(case, index) for index in range(len(case.units))]
    method = methods.get(case.method)(run)
    hardware = method.start()
    run.clock.run(run.horizon)
    outcome = method.close(run.horizon)
    if case.spares:
        run.ledger.post(len(plans), Account.UNALLOCATED, cluster.spare_chips * seconds(run.horizon))
    return EngineResult(run, outcome, hardware.strikes)
