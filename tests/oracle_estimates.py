"""What the engine makes of a scenario over many histories, with the error of that figure."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from statistics import fmean, stdev

import ddsim
from ddsim.results import MethodResult
from ddsim.simulation import simulate

BASE = Path(__file__).parent / "oracles.yaml"
RESOLUTION = 1e-5

Parameters = Mapping[str, float]
Measure = Callable[[MethodResult], float]


@dataclass(frozen=True)
class Oracle:
    """How the engine shows a row: scenario values, a method, and what to read off its result.

    `expected` replaces the row's own value where the row states another quantity. `controlled`
    takes the chance number of strikes out of the estimate, which makes the same error cheaper.
    """

    method: str
    duration: float
    measure: Measure
    settings: Mapping[str, object] = field(default_factory=dict)
    how: str = ""
    expected: float | None = None
    replications: int = 20
    controlled: bool = False


@dataclass(frozen=True, slots=True)
class Estimate:
    """Mean of a quantity over replications, and the standard error of that mean."""

    mean: float
    error: float

    def off(self, value: float) -> float:
        """Distance to a value in standard errors, these being no less than the resolution."""
        return abs(self.mean - value) / max(self.error, RESOLUTION * abs(value))


def estimate(values: Sequence[float]) -> Estimate:
    """Mean of independent values, and its standard error."""
    return Estimate(fmean(values), stdev(values) / math.sqrt(len(values)))


def controlled_estimate(values: Sequence[float], controls: Sequence[float]) -> Estimate:
    """The mean by linear regression on a control whose own mean is known to be 0."""
    from scipy.stats import linregress

    line = linregress(controls, values)
    return Estimate(float(line.intercept), float(line.intercept_stderr))


def simulated(oracle: Oracle) -> Estimate:
    """The oracle's quantity on histories that are drawn apart."""
    found = results(oracle)
    values = [oracle.measure(result) for result in found]
    if not oracle.controlled:
        return estimate(values)
    return controlled_estimate(values, [_excess(oracle, result) for result in found])


def results(oracle: Oracle) -> list[MethodResult]:
    """The oracle's replications."""
    settings = json.dumps({**oracle.settings, "duration": seconds(oracle.duration)})
    return _results(oracle.method, oracle.replications, settings)


@cache
def _results(method: str, replications: int, settings: str) -> list[MethodResult]:
    scenario = ddsim.load(BASE, json.loads(settings))
    return [
        replace(simulate(scenario, method, index), timeline=(), merges=())
        for index in range(replications)
    ]


def _excess(oracle: Oracle, result: MethodResult) -> float:
    """Strikes less those to be expected while it stepped, where nothing else can be struck."""
    scenario = ddsim.load(BASE, oracle.settings)
    stepping = result.accounts["productive"] * result.wall_clock_s * scenario.cluster.chips
    return result.failures - stepping / scenario.failures.chip_mtbi


def uptime(result: MethodResult) -> float:
    """Share of time in which the job steps."""
    return result.uptime


def goodput(result: MethodResult) -> float:
    """Share of chip-time that was kept."""
    return result.goodput


def merge_uptime(result: MethodResult) -> float:
    """Share of time in which a quorum is live."""
    assert result.merge_uptime is not None
    return result.merge_uptime


def capacity_up(result: MethodResult) -> float:
    """Mean share of hardware that is up."""
    return 1.0 - result.accounts["failed_hardware"]


def seconds(time: float) -> str:
    """A time as scenarios spell it."""
    return f"{time!r} s"
