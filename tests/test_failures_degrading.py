"""Faults that do not take hardware away: slow compute, slices of unlike speed, corrupt state."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np
import pytest

import ddsim
from ddsim.engine.hardware import Return, UnitState
from ddsim.engine.kept import KeptSaves, Unsaved
from ddsim.results import MethodResult
from ddsim.scenario import Scenario, read_text, validate
from ddsim.world.cluster import UnitPlan
from ddsim.world.instants import NEVER, seconds
from ddsim.world.pace import pace

DAY, HOUR = 86400.0, 3600.0
TEXT = """\
duration: 1 day
model: {parameters: 1e9, layers: 24}
training: {step_time: 50 s, inner_steps: 10, fragments: 2}
cluster: {chips: 256, chips_per_slice: 8, learners: 4}
network: {regions: [east]}
failures: {detection: 10 s, repair: 20 min}
"""
SLOW: dict[str, Any] = {
    "at": "10030 s",
    "fault": "slow",
    "target": "unit 1/slice 2",
    "to": 0.6,
    "for": "20 min",
}


def world(*chaos: dict[str, Any], **settings: object) -> Scenario:
    """The scenario with these faults and settings, whose keys have __ for dots."""
    named = {key.replace("__", "."): value for key, value in settings.items()}
    overrides = {"chaos": list(chaos), **named}
    return validate(read_text(TEXT, "degrading.yaml").with_overrides(overrides))


def one(scenario: Scenario, method: str) -> MethodResult:
    """What one method made of the scenario."""
    return ddsim.run(scenario, methods=[method]).results[0]


@pytest.mark.parametrize("method", ["data_parallel", "elastic_data_parallel", "diloco"])
def test_a_slow_slice_degrades_its_unit_and_the_others_wait(method: str) -> None:
    """At 60% for 20 minutes its unit loses 8 minutes, and whoever steps with it waits as long."""
    result = one(world(SLOW), method)
    capacity = 256 * DAY
    assert result.accounts["degraded"] * capacity == pytest.approx(64 * 0.4 * 1200)
    assert result.accounts["waiting_on_peers"] * capacity == pytest.approx(192 * 0.4 * 1200)
    assert sum(result.accounts.values()) == pytest.approx(1.0, rel=1e-9)


def test_a_slow_learner_holds_nobody_up_without_a_barrier() -> None:
    """Of four learners at a quorum of one, one takes 8 minutes' worth of steps less."""
    result = one(world(SLOW), "decoupled_diloco")
    assert result.accounts["degraded"] * 256 * DAY == pytest.approx(64 * 0.4 * 1200)
    assert result.accounts["waiting_on_peers"] == 0.0
    assert result.goodput == pytest.approx(1.0 - 0.4 * 1200 / 4 / DAY)


def test_the_slowest_of_several_counts_and_a_dead_slice_is_not_slow() -> None:
    """While its slow slice is down the unit steps at the other's speed."""
    other = {**SLOW, "target": "unit 1/slice 3", "to": 0.8}
    kill = {"at": "10030 s", "fault": "kill", "target": "unit 1/slice 2", "for": "1 h"}
    settings = {
        "elastic__downscale": "0 s",
        "elastic__upscale": "0 s",
        "failures__detection": "0 s",
    }
    both = one(world(SLOW, other, **settings), "elastic_data_parallel")
    dead = one(world(SLOW, other, kill, **settings), "elastic_data_parallel")
    assert both.accounts["degraded"] * 256 * DAY == pytest.approx(64 * 0.4 * 1200)
    assert dead.accounts["degraded"] * 256 * DAY == pytest.approx(56 * 0.2 * 1200)


def test_slowing_everything_is_a_longer_step() -> None:
    """All units at half speed throughout do half the steps; half of the time is degraded."""
    faults = [
        {"at": "0 s", "fault": "slow", "target": f"unit {unit}", "to": 0.5} for unit in range(4)
    ]
    for method in ("data_parallel", "diloco", "streaming_diloco", "decoupled_diloco"):
        result = one(world(*faults), method)
        assert result.goodput == pytest.approx(0.5)
        assert result.accounts["degraded"] == pytest.approx(0.5)
        assert result.steps == pytest.approx(DAY / 100, abs=1)


@pytest.mark.parametrize(
    "method", ["data_parallel", "elastic_data_parallel", "diloco", "streaming_diloco"]
)
def test_a_cause_may_slow_hardware_down(method: str) -> None:
    """Such strikes are failures whose whole loss is `degraded`."""
    cause = {
        "name": "throttling",
        "domain": "slice",
        "mtbi": "4 day",
        "repair": "20 min",
        "slow_to": 0.7,
    }
    result = one(world(failures__causes=[cause], network__regions=["east", "west"]), method)
    group = result.extra["blast_radius"]["by_cause"]["throttling"]
    assert group["failures"] == result.failures > 2
    assert group["chip_seconds"] == pytest.approx(result.accounts["degraded"] * 256 * DAY)
    assert result.accounts["failed_hardware"] == 0.0
    assert sum(result.accounts.values()) == pytest.approx(1.0, rel=1e-9)


def test_a_unit_steps_at_the_slowest_of_its_slices() -> None:
    """The least of 100 normal speeds of spread s is 1 - 2.508 s on average."""
    spread, units = 0.02, 400
    speeds = []
    for index in range(units):
        plan = UnitPlan(index, f"unit {index}", "east", "chip", 800, 8, 50.0)
        speeds.append(50.0 / seconds(pace(plan, 0.0, 1, 0, spread=spread).nominal))
    # order statistics of the normal distribution: mean 2.508, standard deviation 0.43
    expected = 1.0 - 2.508 * spread
    assert abs(float(np.mean(speeds)) - expected) <= 5 * 0.43 * spread / sqrt(units)


def test_speeds_last_and_are_no_fault() -> None:
    """Units of unlike speed wait for each other at every step, and nothing is degraded."""
    result = one(world(cluster__speed_spread=0.05), "data_parallel")
    assert result.accounts["degraded"] == 0.0
    assert result.accounts["waiting_on_peers"] > 0.001
    assert result.goodput == pytest.approx(1.0 - result.accounts["waiting_on_peers"])


def test_corruption_goes_back_to_the_save_before_it() -> None:
    """With saves every ten minutes and an hour unnoticed, 65 minutes are lost on average."""
    cause = {
        "name": "silent corruption",
        "domain": "chip",
        "count": 60,
        "per": "600 day",
        "latent": "1 h",
        "replace": False,
    }
    scenario = world(
        duration="600 day",
        failures__causes=[cause],
        checkpoint__policy="fixed",
        checkpoint__interval="10 min",
    )
    for method in ("data_parallel", "elastic_data_parallel"):
        result = one(scenario, method)
        lost = result.accounts["wasted_progress"] * 600 * DAY / result.failures
        # uniform within ten minutes before the corruption
        assert abs(lost - 3900) <= 5 * 600 / sqrt(12 * result.failures) + 60
        assert sum(result.accounts.values()) == pytest.approx(1.0, rel=1e-9)


def test_corruption_that_is_noticed_at_once_is_a_failure_like_others() -> None:
    """Without latency nothing but the work since the last save is lost."""
    cause = {"name": "x", "domain": "chip", "mtbi": "100 day", "replace": False}
    settings = {"checkpoint__policy": "fixed", "checkpoint__interval": "10 min"}
    plain = one(world(failures__causes=[cause], **settings), "data_parallel")
    late = one(world(failures__causes=[{**cause, "latent": "1 s"}], **settings), "data_parallel")
    assert plain.failures == late.failures > 0
    assert late.accounts["wasted_progress"] == pytest.approx(
        plain.accounts["wasted_progress"], abs=2 * plain.failures / DAY
    )


@pytest.mark.parametrize(("since", "dropped"), [(99, 5), (100, 4), (125, 3), (400, 0)])
def test_saves_that_were_complete_are_kept(since: int, dropped: int) -> None:
    """Five saves at 100, 110, 130, 150 and 170: those complete at the time stay."""
    kept = KeptSaves(True)
    kept.add(Unsaved([10.0], 1), 100)
    kept.add(Unsaved([10.0], 1), 110)
    kept.add(Unsaved([60.0], 6), 130, 20, 3)
    found = list(kept.lost(1000, since))
    assert sum(count for _, count in found) == dropped
    assert all(work.steps in (1, 2) for work, _ in found)


def test_a_unit_is_as_fast_as_ever_once_what_was_slow_is_down() -> None:
    """What is left of it runs at full speed, and no faster."""
    unit = UnitState(UnitPlan(0, "a", "east", "chip", 16, 8, 1.0))
    unit.slowed = [(("heat", "slice"), (1,), 0.5)]
    assert unit.rate == 0.5
    unit.down[1] = Return(NEVER, [1])
    assert unit.rate == 1.0
