"""What a run costs is counted in events, which no other load on the machine can blur.

It grows with failures and synchronizations, not with chips or with steps in which nothing happens.
"""

from __future__ import annotations

from functools import cache

import pytest
from replicated import METHODS

import ddsim
from ddsim.results import MethodResult
from ddsim.simulation import simulate

DAY = 86400.0
LEARNERS = 4
# Events that a strike and its return cost at most, both stalls included.
EVENTS_A_STRIKE = 5
# Events of a round at most, of learners that merge on their own: each one's leg, and the merge.
EVENTS_A_ROUND = LEARNERS + 3


@cache
def result(method: str, chips: int, years: float, hours: float) -> MethodResult:
    """One method on the shipped scenario with so many chips and mean time between interruptions."""
    scenario = ddsim.load(
        "four_regions_12b",
        {
            "cluster.chips": chips,
            "failures.chip_mtbi": f"{years} yr",
            "duration": f"{hours} h",
            "training.step_time": "0.87 s",
            "cluster.jitter": 0,
        },
    )
    return simulate(scenario.for_method(method), method)


def bound(result: MethodResult) -> float:
    """The most events that a run of this method may take."""
    return EVENTS_A_STRIKE * (result.failures + 2)


@pytest.mark.parametrize(
    "method",
    ["data_parallel", "elastic_data_parallel", pytest.param("diloco", marks=pytest.mark.slow)],
)
def test_a_day_of_a_hundred_thousand_chips(method: str) -> None:
    """A few events a failure, none a step or a round."""
    found = result(method, 100_000, 1.0, 24)
    assert found.failures > 200
    assert found.events <= bound(found)


@pytest.mark.parametrize("method", ["diloco", "streaming_diloco", "decoupled_diloco"])
def test_hours_of_a_hundred_thousand_chips(method: str) -> None:
    """What synchronizes at every step costs a few events a failure too."""
    found = result(method, 100_000, 0.1, 0.5)
    assert found.failures > 50
    assert found.events <= bound(found)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.slow
def test_chips_cost_nothing(method: str) -> None:
    """Ten times the chips with the same number of failures take at most 1.3 times the events."""
    few = result(method, 10_000, 0.1, 2)
    many = result(method, 100_000, 1.0, 2)
    assert few.failures == pytest.approx(many.failures, abs=2)
    assert many.failures > 10
    assert many.events <= 1.3 * few.events


@pytest.mark.parametrize("method", METHODS)
def test_quiet_steps_cost_nothing(method: str) -> None:
    """Without failures half an hour of steps takes a handful of events, a job's saves included.

    Only learners that merge each on its own take a few a round.
    """
    job = method in ("data_parallel", "elastic_data_parallel")
    saves = {"checkpoint.policy": "fixed", "checkpoint.interval": "10 min"}
    scenario = ddsim.load(
        "four_regions_12b",
        {
            "duration": "30 min",
            "failures.chip_mtbi": "never",
            "cluster.jitter": 0,
            "methods": [{method: saves if job else {}}],
            "checkpoint.save": "1 s",
        },
    )
    found = simulate(scenario.for_method(method), method)
    alone = method == "async_local_sgd"
    assert found.events < (EVENTS_A_ROUND * (found.steps / 24 + 1) if alone else 10)


@pytest.mark.parametrize("method", ["data_parallel", "elastic_data_parallel"])
def test_failures_are_what_costs(method: str) -> None:
    """Eight times the failures take up to eight times the events: some fall into others' stalls."""
    few = result(method, 100_000, 8.0, 24)
    many = result(method, 100_000, 1.0, 24)
    ratio = many.failures / few.failures
    assert ratio == pytest.approx(8.0, rel=0.4)
    assert ratio / 2 < many.events / few.events < 1.1 * ratio


def test_a_day_of_a_job_is_a_day_of_steps() -> None:
    """The steps that are counted are those that a day holds."""
    found = result("elastic_data_parallel", 100_000, 8.0, 24)
    length = 16 * 12e9 * 1.5 / (0.8 * 5e9)
    assert found.steps == pytest.approx(DAY / length, rel=0.02)
