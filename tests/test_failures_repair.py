"""Who repairs, and what stands ready: crews, cold spares, spares that fail."""

from __future__ import annotations

from itertools import takewhile
from math import factorial, sqrt
from statistics import fmean, stdev
from typing import Any

import pytest

import ddsim
from ddsim.results import MethodResult
from ddsim.scenario import Scenario, read_text, validate
from ddsim.world import cluster as clusters
from ddsim.world.causes import spare_failures
from ddsim.world.instants import ticks

DAY, HOUR = 86400.0, 3600.0
TEXT = """\
duration: 10 day
model: {parameters: 1e9, layers: 24}
training: {step_time: 1 min}
cluster: {chips: 64, chips_per_slice: 4, learners: 2}
network: {regions: [east]}
failures: {detection: 10 s, repair: 1 h}
elastic: {downscale: 0 s, upscale: 0 s}
restart: {time: 0 s}
checkpoint: {policy: in_memory}
"""


def world(chaos: list[dict[str, Any]] | None = None, **settings: object) -> Scenario:
    """The scenario with these faults and settings, whose keys have __ for dots."""
    named = {key.replace("__", "."): value for key, value in settings.items()}
    return validate(read_text(TEXT, "repair.yaml").with_overrides({"chaos": chaos or [], **named}))


def kill(*slices: int, at: str = "1 day", length: str = "3610 s") -> list[dict[str, Any]]:
    """Faults that kill slices of unit 0, each repaired in an hour after 10 s of detection."""
    return [
        {"at": at, "fault": "kill", "target": f"unit 0/slice {index}", "for": length}
        for index in slices
    ]


def one(scenario: Scenario, method: str) -> MethodResult:
    """What one method made of the scenario."""
    return ddsim.run(scenario, methods=[method]).results[0]


@pytest.mark.parametrize(("crews", "hours"), [(None, 3), (3, 3), (2, 1 + 1 + 2), (1, 1 + 2 + 3)])
def test_repairs_wait_for_a_crew(crews: int | None, hours: int) -> None:
    """Three slices fail at once and take an hour each."""
    settings = {} if crews is None else {"failures__crews": crews}
    result = one(world(kill(0, 1, 2), **settings), "elastic_data_parallel")
    down = 4 * (hours * HOUR + 3 * 10)
    assert result.accounts["failed_hardware"] * 64 * 10 * DAY == pytest.approx(down)


@pytest.mark.slow
def test_crews_and_machines_are_in_their_known_equilibrium() -> None:
    """The mean number of machines down is that of the machine-repair model M/M/c//n.

    Source: D. Gross, C. Harris, Fundamentals of Queueing Theory, 1998, section 2.7.
    """
    n, crews, ratio = 16, 2, 4 / 24
    weights = [1.0]
    for down in range(1, n + 1):
        weights.append(weights[-1] * (n - down + 1) * ratio / min(down, crews))
    expected = sum(k * weight for k, weight in enumerate(weights)) / sum(weights) / n
    found = []
    for seed in range(8):
        causes = [
            {
                "name": "x",
                "domain": "slice",
                "mtbi": "24 h",
                "repair": {"exponential": {"mean": "4 h"}},
                "detection": "0 s",
            }
        ]
        scenario = world(
            seed=seed,
            duration="200 day",
            failures__causes=causes,
            failures__crews=crews,
            training__step_time="1 h",
        )
        found.append(one(scenario, "decoupled_diloco").accounts["failed_hardware"])
    assert abs(fmean(found) - expected) <= 5 * stdev(found) / sqrt(len(found))
    assert weights[3] == pytest.approx(
        factorial(16) / factorial(13) * ratio**3 / (2 * 2)  # 16 15 14 r^3 / (1 2 2)
    )


def test_a_slice_that_was_never_detected_waits_for_no_crew() -> None:
    """What is back without a repair takes no crew's time."""
    chaos = [*kill(0, length="10 s"), *kill(1)]
    result = one(world(chaos, failures__crews=1), "elastic_data_parallel")
    assert result.accounts["failed_hardware"] * 64 * 10 * DAY == pytest.approx(4 * (10 + 3610))


@pytest.mark.parametrize("start", [0, 120])
def test_a_cold_spare_strands_the_job_until_it_has_started(start: int) -> None:
    """A hot one takes its place when the detection ends."""
    scenario = world(kill(0), restart__spares=1, restart__spare_start=f"{start} s")
    result = one(scenario, "data_parallel")
    assert result.accounts["stranded"] * 68 * 10 * DAY == pytest.approx(60 * start)
    assert result.accounts["failed_hardware"] * 68 * 10 * DAY == pytest.approx(4 * (10 + start))


def test_what_is_never_repaired_stays_down() -> None:
    """Each of the 16 slices is struck once at most, and in the end nothing runs."""
    settings: dict[str, Any] = {"failures__chip_mtbi": "20 day", "duration": "90 day"}
    repaired = ddsim.run(world(**settings), methods=["elastic_data_parallel"]).results[0]
    never = world(**settings, failures__repair="never")
    result = ddsim.run(never, methods=["elastic_data_parallel"]).results[0]
    assert result.failures == 16 < repaired.failures
    assert result.accounts["failed_hardware"] > 0.5


def test_a_repaired_slice_may_be_there_before_a_cold_spare() -> None:
    """Then the job goes on with it, and the spare stays one."""
    scenario = world(kill(0), restart__spares=1, restart__spare_start="2 h")
    result = one(scenario, "data_parallel")
    assert result.accounts["stranded"] * 68 * 10 * DAY == pytest.approx(60 * HOUR)
    again = world([*kill(0), *kill(1, at="2 day")], restart__spares=1)
    assert one(again, "data_parallel").accounts["stranded"] == 0.0


def test_a_spare_that_has_failed_fills_no_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """The only spare fails an hour before, and is back two hours later."""
    monkeypatch.setattr(
        "ddsim.engine.spares.spare_failures",
        lambda *_: iter([(ticks(DAY - HOUR), 0, ticks(2 * HOUR))]),
    )
    scenario = world(kill(0, length="5 h"), restart__spares=1)
    result = one(scenario, "data_parallel")
    assert result.accounts["stranded"] * 68 * 10 * DAY == pytest.approx(60 * (HOUR - 10))


def test_idle_spares_fail_as_often_as_slices_in_use() -> None:
    """Four spares of four chips: 16 / chip_mtbi."""
    scenario = world(
        failures__chip_mtbi="16 h",
        duration="50 day",
        restart__spares=4,
        restart__spares_fail=True,
    )
    failures = spare_failures(scenario, clusters.build(scenario), 0)
    count = 0
    for time, number, away in failures:
        if time >= ticks(50 * DAY):
            break
        count += 1
        assert number in range(4)
        assert away == ticks(3610)
    assert abs(count - 50 * 24) <= 5 * sqrt(50 * 24)


def test_spares_do_not_fail_unless_asked_to() -> None:
    """By default idle spares are switched off."""
    scenario = world(failures__chip_mtbi="16 h", restart__spares=4)
    assert list(spare_failures(scenario, clusters.build(scenario), 0)) == []


def test_idle_spares_fail_of_the_causes_that_slices_in_use_have() -> None:
    """As often as they, from the first second on: of 16 slices' 400 a second, 4 spares have 100."""
    often = {"name": "x", "domain": "slice", "mtbi": "40 ms"}
    scenario = world(
        failures__causes=[often],
        restart__spares=4,
        restart__spares_fail=True,
    )
    failures = spare_failures(scenario, clusters.build(scenario), 0)
    times = [time for time, *_ in takewhile(lambda failure: failure[0] < ticks(10.0), failures)]
    assert abs(len(times) - 1000) <= 5 * sqrt(1000)
    assert abs(sum(time < ticks(1.0) for time in times) - 100) <= 5 * sqrt(100)
