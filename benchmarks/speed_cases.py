"""What is measured, as runs of shipped scenarios: tests count events, benchmarks time them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import ddsim
from ddsim.results import MethodResult
from ddsim.scenario import Scenario
from ddsim.simulation import simulate
from ddsim.study import sweep
from ddsim.world.histories import Histories

NODES = 4096
FAILURES_IN_256_DAYS = 19_000

MANY = {"cluster.chips": 1_200_000, "cluster.learners": 8}
"""A failure every 26 s: one of the cells of the published goodput table."""

NODES_WITH_SPARES = {
    "cluster.chips": 8 * NODES,
    "cluster.chips_per_slice": 8,
    "cluster.learners": 1,
    "failures.chip_mtbi": f"{8 * NODES * 256 / FAILURES_IN_256_DAYS} day",
    "failures.repair": "12 h",
    "failures.detection": "10 s",
    "restart.spares": 64,
    "checkpoint.policy": "in_memory",
}
"""One unit whose nodes fail 19,000 times in 256 days, each repaired in half a day."""

SIXTEEN_THOUSAND = {"cluster.chips": 16_384, "cluster.learners": 8}


@dataclass(frozen=True)
class Case:
    """A method on a scenario, as settled; `few` and `many` are durations to take it over."""

    method: str
    scenario: str = "goodput_vs_chips"
    overrides: dict[str, Any] = field(default_factory=dict)
    few: str = "3 h"
    many: str = "15 h"

    def settled(self, duration: str | None = None) -> Scenario:
        """The scenario, for a time of its own."""
        over = self.overrides | ({} if duration is None else {"duration": duration})
        over["methods"] = [self.method]
        return ddsim.load(self.scenario, over).for_method(self.method)

    def run(self, duration: str | None = None, *, timeline: bool = True) -> MethodResult:
        """Run it once, on its first history."""
        return World(self.settled(duration), self.method).run(timeline=timeline)


class World:
    """A settled scenario whose failures are drawn from one history, which runs share."""

    def __init__(self, scenario: Scenario, method: str) -> None:
        self._scenario = scenario
        self._method = method
        self._histories = Histories(0)

    def run(self, *, timeline: bool = True) -> MethodResult:
        """Run it once."""
        return simulate(self._scenario, self._method, 0, self._histories, timeline=timeline)


STRIKES = {
    "elastic_data_parallel, 1.2 million chips, 8 units": Case(
        "elastic_data_parallel", overrides=MANY
    ),
    "data_parallel, 1.2 million chips": Case(
        "data_parallel", overrides={**MANY, "checkpoint.policy": "in_memory", "restart.spares": 250}
    ),
    "elastic_data_parallel, 4,096 nodes, spares": Case(
        "elastic_data_parallel", overrides=NODES_WITH_SPARES, few="16 day", many="80 day"
    ),
    "data_parallel, 4,096 nodes, spares": Case(
        "data_parallel", overrides=NODES_WITH_SPARES, few="16 day", many="80 day"
    ),
}
"""What one more failure costs, beyond what a run costs anyway."""

DAYS = {
    method: Case(method, overrides=MANY)
    for method in ("decoupled_diloco", "streaming_diloco", "diloco")
}
"""A day of 1.2 million chips."""

POLICIES = {
    policy: Case("decoupled_diloco", "adaptive_link", {"training.policy": policy})
    for policy in ("fixed", "bandwidth_following")
}

_NO_TCP = {"network.efficiency": 1460 / 1500}
_TCP = {"network.efficiency": None, "network.tcp.streams": 64}
STREAMS = {
    method: tuple(Case(method, "four_regions_12b", over) for over in (_NO_TCP, _TCP))
    for method in ("async_local_sgd", "decoupled_diloco")
}
"""Without `network.tcp` and with it, where all that it changes is that exchanges start slowly."""

SMALL_CHIPS = 24_000
LARGE_CHIPS = 2_400_000


def sized(method: str, chips: int) -> Case:
    """So many chips in slices that fail, all in all, as often as any other number of them."""
    over = {
        "cluster.chips": chips,
        "cluster.learners": 8,
        "cluster.chips_per_slice": chips // 4800,
        "failures.chip_mtbi": f"{chips / LARGE_CHIPS} yr",
    }
    return Case(method, overrides=over)


TABLE_CHIPS = [150_000, 300_000, 600_000, 1_200_000, 2_400_000]


def table(chips: list[int] = TABLE_CHIPS, half_width: float = 0.005) -> None:
    """The published goodput table, six cells for each number of chips, on two workers."""
    learners = {"cluster.learners": [2, 4, 8, 16]}
    sweep(
        ddsim.load("goodput_vs_chips", {"cluster.learners": 1, "duration": "1 day"}),
        {"cluster.chips": chips, "decoupled_diloco": learners},
        replications=20,
        metric="goodput",
        half_width=half_width,
        most=60,
        jobs=2,
    )


CELLS = {
    "restart.time": [f"{minutes} min" for minutes in (2, 3, 4, 5)],
    "restart.spares": list(range(45, 65)),
    "failures.detection": [f"{seconds} s" for seconds in range(10, 60, 5)],
}
"""800 cells of a small scenario."""


def cells(jobs: int, grid: dict[str, Any] = CELLS) -> None:
    """Each cell 20 times."""
    scenario = ddsim.load("llama3_16k", {"duration": "1 day"}).choose(["data_parallel"])
    sweep(scenario, grid, replications=20, jobs=jobs)
