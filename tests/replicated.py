"""Scenarios for laws of statistics, and how sure a mean over histories is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot, sqrt
from statistics import fmean, stdev
from typing import TYPE_CHECKING

from scenario_text import scenario

from ddsim.simulation import simulate
from ddsim.world.histories import Histories

if TYPE_CHECKING:
    from ddsim.results import MethodResult
    from ddsim.scenario import Scenario

METHODS = (
    "data_parallel",
    "elastic_data_parallel",
    "diloco",
    "streaming_diloco",
    "decoupled_diloco",
)
STANDARD_ERRORS = 5.0


@dataclass(frozen=True)
class Estimate:
    """A mean over independent histories and its standard error."""

    mean: float
    error: float

    def agrees(self, value: float) -> bool:
        """Whether a known value lies within 5 standard errors."""
        return abs(self.mean - value) <= STANDARD_ERRORS * self.error

    def exceeds(self, other: Estimate) -> bool:
        """Whether it is larger than another by more than 5 standard errors of the difference."""
        return self.mean - other.mean > STANDARD_ERRORS * hypot(self.error, other.error)


def estimate(samples: Sequence[float]) -> Estimate:
    """The mean of independent samples."""
    return Estimate(fmean(samples), stdev(samples) / sqrt(len(samples)))


def world(**changes: object) -> Scenario:
    """A scenario without failures, network or checkpoints, with changes: `__` is a dot."""
    base = {
        "duration": "1 h",
        "network.bandwidth": "unlimited",
        "failures.chip_mtbi": "never",
        "checkpoint.policy": "none",
    }
    return scenario(overrides={**base, **{k.replace("__", "."): v for k, v in changes.items()}})


def runs(world: Scenario, method: str, histories: int) -> list[MethodResult]:
    """One method on several independent failure histories."""
    settled = world.for_method(method)
    return [simulate(settled, method, index) for index in range(histories)]


def goodput(world: Scenario, method: str, histories: int) -> Estimate:
    """Mean goodput of a method over independent failure histories."""
    return estimate([result.goodput for result in runs(world, method, histories)])


def all_methods(world: Scenario) -> dict[str, MethodResult]:
    """Every method on the same failure history."""
    histories = Histories(0)
    return {name: simulate(world.for_method(name), name, 0, histories) for name in METHODS}
