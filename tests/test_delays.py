"""Data that units wait for before the compute of a step."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ddsim.results import MethodResult
from ddsim.scenario import Scenario, read_text, validate
from ddsim.simulation import simulate
from ddsim.world.cluster import UnitPlan
from ddsim.world.distributions import from_spec
from ddsim.world.instants import seconds
from ddsim.world.pace import Pace, pace

PLAN = UnitPlan(0, "unit 0", "here", "chip", 8, 1, 2.0)
SECOND = from_spec("exponential", {"mean": 1.0})

HOUR = 3600.0
FAMILY = ("diloco", "streaming_diloco", "decoupled_diloco", "async_local_sgd")
METHODS = ("data_parallel", "elastic_data_parallel", *FAMILY)
TEXT = """\
duration: 1 h
model: {parameters: 1e9, layers: 24}
training: {step_time: 3 s, inner_steps: 10, fragments: 2, overlap_steps: 1}
cluster: {chips: 16, chips_per_slice: 4, learners: 1, delay: 1 s}
network: {regions: [east]}
failures: {detection: 10 s}
elastic: {downscale: 20 s, upscale: 30 s}
"""


def world(*chaos: dict[str, Any], **settings: object) -> Scenario:
    """The scenario with these faults and settings, whose keys have __ for dots."""
    named = {key.replace("__", "."): value for key, value in settings.items()}
    return validate(read_text(TEXT, "late.yaml").with_overrides({"chaos": list(chaos), **named}))


def one(scenario: Scenario, method: str) -> MethodResult:
    """What one method made of the scenario."""
    return simulate(scenario, method)


def drawn(found: Pace, count: int = 40_000) -> np.ndarray:
    """How long each of that many steps waits for its data."""
    return np.array([seconds(found.data(index)) for index in range(count)])


def computed(found: Pace, count: int = 3000) -> list[int]:
    """The compute of that many steps."""
    return [found.of(index) for index in range(count)]


def test_a_wait_for_data_is_no_compute() -> None:
    """The compute is what it would be without; the waits have random numbers of their own."""
    late, prompt = (pace(PLAN, 0.1, 1, 0, delay=kind) for kind in (SECOND, None))
    assert computed(late) == computed(prompt)
    waits = drawn(late)
    assert abs(waits.mean() - 1.0) <= 5.0 * waits.std() / np.sqrt(len(waits))
    assert not drawn(prompt).any()


def test_a_unit_that_waits_for_data_is_not_even() -> None:
    """Its steps differ, and are not counted as if they did not."""
    assert not pace(PLAN, 0.0, 1, 0, delay=SECOND).even
    assert pace(PLAN, 0.0, 1, 0).even


def test_units_and_replications_have_waits_of_their_own() -> None:
    """Other names and other replications draw other waits; the same ones draw the same."""
    first = drawn(pace(PLAN, 0.0, 1, 0, delay=SECOND), 10).tolist()
    assert drawn(pace(PLAN, 0.0, 1, 0, delay=SECOND), 10).tolist() == first
    assert drawn(pace(PLAN, 0.0, 1, 1, delay=SECOND), 10).tolist() != first


@pytest.mark.parametrize("method", METHODS)
def test_time_for_data_has_an_account(method: str) -> None:
    """A second before each step of 3 s: a quarter of the time, in which nothing computes."""
    result = one(world(), method)
    assert result.accounts["waiting_on_data"] == pytest.approx(0.25)
    assert result.goodput == result.compute_utilization == pytest.approx(0.75)
    assert result.time_goodput == result.ettr == pytest.approx(0.75)
    assert result.uptime == pytest.approx(1.0)
    # the last step would end with the run, and so is not counted
    assert result.steps == HOUR / 4 - 1


@pytest.mark.parametrize("method", ["data_parallel", "diloco"])
def test_others_wait_for_who_waits_for_its_data(method: str) -> None:
    """What the unit whose data come last keeps the other waiting is that one's wait on peers."""
    delay = {"exponential": {"mean": "1 s"}}
    scenario = world(
        cluster__delay=delay, cluster__learners=2, training__inner_steps=1, training__fragments=1
    )
    result = one(scenario, method)
    paces = [
        pace(UnitPlan(i, f"unit {i}", "", "", 8, 4, 3.0), 0, 0, 0, delay=SECOND) for i in (0, 1)
    ]
    waits = np.array([drawn(each, int(result.steps)) for each in paces])
    shorter, longer = waits.min(axis=0).sum(), waits.max(axis=0).sum()
    assert result.accounts["waiting_on_data"] * HOUR == pytest.approx(
        (shorter + longer) / 2, abs=15
    )
    assert result.accounts["waiting_on_peers"] * HOUR == pytest.approx(
        (longer - shorter) / 2, abs=15
    )
    assert result.goodput * HOUR == pytest.approx(3.0 * result.steps, abs=3)


@pytest.mark.parametrize("method", METHODS)
def test_slow_hardware_gets_its_data_no_later(method: str) -> None:
    """At half its speed for 700 s, 100 steps of a second and 6: 300 s are degraded."""
    slow = {"at": "400 s", "fault": "slow", "target": "unit 0", "to": 0.5, "for": "700 s"}
    result = one(world(slow), method)
    assert result.accounts["degraded"] * HOUR == pytest.approx(300)
    assert result.accounts["waiting_on_data"] * HOUR == pytest.approx(100 + (HOUR - 700) / 4)


@pytest.mark.parametrize("method", METHODS[1:])
def test_a_stall_suspends_a_wait_for_data(method: str) -> None:
    """Struck 0.4 s into one, a unit waits for the other 0.6 s once it goes on."""
    kill = {"at": "400.4 s", "fault": "kill", "target": "unit 0/slice 0", "for": "never"}
    result = one(world(kill, duration="432 s"), method)  # the stall takes 30 s
    assert result.accounts["waiting_on_data"] * 432 * 16 == pytest.approx(100 * 16 + 6.4 + 7.2)
    assert result.goodput * 432 * 16 == pytest.approx(300 * 16 + 12)
    assert result.accounts["wasted_progress"] == 0.0


@pytest.mark.parametrize("method", METHODS[1:])
def test_no_compute_is_lost_with_a_wait_for_data(method: str) -> None:
    """A unit lost whole while it waits has nothing in progress."""
    kill = {"at": "400.4 s", "fault": "kill", "target": "unit 0", "for": "10 min"}
    result = one(world(kill), method)
    assert result.accounts["wasted_progress"] == 0.0
    assert result.accounts["failed_hardware"] > 0.1


def test_a_unit_without_hardware_needs_no_data() -> None:
    """A job computes once one of the units that it has left has its data."""
    kill = {"at": "0 s", "fault": "kill", "target": "unit 0", "for": "never"}
    scenario = world(kill, cluster__learners=2, network__regions=["east", "west"])
    result = one(scenario, "elastic_data_parallel")
    running = HOUR - 30
    assert result.time_goodput * HOUR == pytest.approx(0.75 * running, abs=3)
    assert result.accounts["waiting_on_data"] * 2 * HOUR == pytest.approx(0.25 * running, abs=1)


@pytest.mark.parametrize("method", METHODS)
def test_the_timeline_shows_long_waits_for_data(method: str) -> None:
    """Those of a thousandth of the run and more, such as 10 s of an hour."""
    result = one(world(cluster__delay="10 s"), method)
    spans = [span for span in result.timeline if span.state == "waiting_on_data"]
    assert len(spans) == pytest.approx(HOUR / 13, abs=1)
    assert spans[0].end - spans[0].start == pytest.approx(10.0)


@pytest.mark.parametrize("method", FAMILY)
def test_a_save_that_comes_due_in_a_stalled_step_waits_for_its_end(method: str) -> None:
    """Ten seconds of compute end within the fourth step, which a stall suspends until 45.5 s."""
    kill = {"at": "15.5 s", "fault": "kill", "target": "unit 0/slice 0", "for": "1 h"}
    saves = {"policy": "fixed", "interval": "10 s", "save": "5 s"}
    result = one(world(kill, checkpoint=saves, duration="47 s"), method)
    assert result.accounts["checkpoint_save"] * 47 * 16 == pytest.approx(12 * (47 - 46))


@pytest.mark.parametrize("method", METHODS)
def test_a_save_comes_before_the_wait_for_data(method: str) -> None:
    """It is due at the end of a step, and nothing of the next one has been waited for."""
    saves = {"policy": "fixed", "interval": "10 steps", "save": "5 s"}
    result = one(world(checkpoint=saves, duration="46 s"), method)
    assert result.accounts["checkpoint_save"] * 46 == pytest.approx(5)
    assert result.accounts["waiting_on_data"] * 46 == pytest.approx(11)
