"""Spare slices: which places they take, and when."""

from __future__ import annotations

from typing import Any

import pytest
from scenario_text import problems_of

from ddsim.results import MethodResult
from ddsim.scenario import Scenario, read_text, validate
from ddsim.simulation import simulate
from ddsim.world import cluster
from ddsim.world.instants import ticks

HOURS = 3600.0 * 1.5
CHIPS = 24  # of the units; 8 of each, in slices of 4
FAMILY = ("diloco", "streaming_diloco", "decoupled_diloco", "async_local_sgd")
ELASTIC = ("elastic_data_parallel", *FAMILY)
TEXT = """\
duration: 90 min
model: {parameters: 1e9, layers: 24}
training: {step_time: 10 s, inner_steps: 12, fragments: 12, quorum: 1}
cluster:
  chips_per_slice: 4
  units:
    - {name: a, region: east, chips: 8}
    - {name: b, region: west, chips: 8}
    - {name: c, region: west, chips: 8}
network: {regions: {east: , west: }}
failures: {detection: 10 s}
elastic: {downscale: 20 s, upscale: 30 s, stall_rule: extend}
restart: {spares: 2, time: 100 s}
"""


def world(*chaos: dict[str, Any], **settings: object) -> Scenario:
    """The scenario with these faults and settings, whose keys have __ for dots."""
    named = {key.replace("__", "."): value for key, value in settings.items()}
    return validate(read_text(TEXT, "spares.yaml").with_overrides({"chaos": list(chaos), **named}))


def kill(target: str, at: str = "600.5 s", length: str = "30 min") -> dict[str, Any]:
    """A fault that kills a target, which is away for a while."""
    return {"at": at, "fault": "kill", "target": target, "for": length}


def lost(result: MethodResult, account: str, spares: int = 2) -> float:
    """Chip-seconds in an account."""
    return result.accounts[account] * (CHIPS + 4 * spares) * HOURS


def placed(scenario: Scenario) -> dict[str, int]:
    """Where the spares stand."""
    return cluster.build(scenario).spares_by_region


@pytest.mark.parametrize("method", ELASTIC)
def test_a_spare_takes_the_place_of_what_failed(method: str) -> None:
    """Once the failure is detected: of half an hour, 10 s of the slice's 4 chips are failed."""
    result = simulate(world(kill("a/slice 0")), method)
    assert lost(result, "failed_hardware") == pytest.approx(4 * 10)
    assert lost(result, "unallocated") == pytest.approx(2 * 4 * HOURS)


@pytest.mark.parametrize(("rule", "downscale", "upscale"), [("extend", 0, 30), ("absorb", 20, 0)])
def test_a_spare_costs_what_the_return_would(rule: str, downscale: int, upscale: int) -> None:
    """It comes as detection ends: the upscale outlasts the stall under way, or is folded in."""
    scenario = world(kill("a/slice 0"), elastic__stall_rule=rule)
    result = simulate(scenario, "decoupled_diloco")
    assert lost(result, "elastic_downscale") == pytest.approx(8 * downscale)
    assert lost(result, "elastic_upscale") == pytest.approx(8 * upscale)


def test_a_spare_without_a_downscale_comes_after_its_stall() -> None:
    """Hardware is back after stalls have ended: the upscale is one of its own."""
    scenario = world(kill("a/slice 0"), elastic__stall_rule="absorb", elastic__downscale="0 s")
    result = simulate(scenario, "decoupled_diloco")
    assert lost(result, "elastic_upscale") == pytest.approx(8 * 30)


def test_what_is_back_becomes_a_spare() -> None:
    """The second failure in the region meets it; while it is away there is none."""
    first = kill("a/slice 0")
    for at, down in (("3000 s", 10), ("1200 s", 600.5 + 1800 - 1200)):
        result = simulate(world(first, kill("a/slice 1", at)), "decoupled_diloco")
        assert lost(result, "failed_hardware") == pytest.approx(4 * (10 + down))


@pytest.mark.parametrize("method", ELASTIC)
def test_spares_of_other_regions_are_left_alone(method: str) -> None:
    """Two in the west do nothing for the east, whose slice takes its own place again."""
    scenario = world(
        kill("a/slice 0"),
        cluster__units=[
            {"name": "a", "region": "east", "chips": 8},
            {"name": "b", "region": "west", "chips": 8, "spares": 2},
            {"name": "c", "region": "west", "chips": 8},
        ],
    )
    result = simulate(scenario, method)
    assert lost(result, "failed_hardware") == pytest.approx(4 * 1800)


def test_any_spare_serves_data_parallel() -> None:
    """It stops for what is missing anywhere."""
    chaos = [kill("b/slice 0"), kill("c/slice 0"), kill("c/slice 1")]
    result = simulate(world(*chaos, restart__spares=3), "data_parallel")
    assert lost(result, "failed_hardware", 3) == pytest.approx(3 * 4 * 10)


@pytest.mark.parametrize("method", ELASTIC)
def test_a_unit_lost_whole_restarts_on_spares(method: str) -> None:
    """Both of its slices are replaced at one instant: one restart, and no upscale after it."""
    result = simulate(world(kill("a"), restart__spares=4, restart__moment_bits=0), method)
    assert lost(result, "failed_hardware", 4) == pytest.approx(8 * 10)
    if method in FAMILY:
        assert lost(result, "restart", 4) == pytest.approx(8 * 100)
        assert result.accounts["elastic_upscale"] == 0.0


def test_a_cold_spare_starts_first() -> None:
    """Its start comes on top of the detection."""
    scenario = world(kill("a/slice 0"), restart__spare_start="2 min")
    result = simulate(scenario, "decoupled_diloco")
    assert lost(result, "failed_hardware") == pytest.approx(4 * 130)


def test_a_spare_that_has_failed_fills_no_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """That of the west fails before and is back later; that of the east stands ready."""
    failure = ticks(500), 1, ticks(1000)
    monkeypatch.setattr("ddsim.engine.spares.spare_failures", lambda *_: iter([failure]))
    for target, down in (("a/slice 0", 10), ("b/slice 0", 1500 - 600.5)):
        result = simulate(world(kill(target)), "decoupled_diloco")
        assert lost(result, "failed_hardware") == pytest.approx(4 * down)


def test_who_waits_longest_gets_what_is_repaired() -> None:
    """With its spare in use, a region's next slice goes to the place that was empty first."""
    chaos = [
        kill("b/slice 0", "600.5 s", "1 h"),
        kill("b/slice 1", "700.5 s", "1 h"),
        kill("c/slice 0", "800.5 s", "20 min"),
    ]
    result = simulate(world(*chaos), "decoupled_diloco")
    # the third to fail is back first, in the second's place; the first comes into the third's
    down = 10 + (1200 + 100) + (3600 - 200)
    assert lost(result, "failed_hardware") == pytest.approx(4 * down)


def test_spares_are_spread_evenly() -> None:
    """Over the regions with units, the first of which get what is left over."""
    assert placed(world(restart__spares=4)) == {"east": 2, "west": 2}
    assert placed(world(restart__spares=3)) == {"east": 2, "west": 1}


def test_units_may_say_where_spares_stand() -> None:
    """They add up to all spares."""
    units = [{"chips": 8, "spares": 3}, {"chips": 8}, {"chips": 8, "spares": 1}]
    found = world(cluster__units=units, restart__spares=4)
    assert placed(found) == {"east": 4}
    assert validate(read_text(found.resolved(), "again.yaml")).resolved() == found.resolved()


def test_spares_are_counted_once() -> None:
    """Units and the restart have to agree on how many there are."""
    units = {"cluster": {"units": [{"chips": 8, "spares": 2}]}}
    found = problems_of("restart: {spares: 3}\n", units)
    assert "restart.spares: 3, but 2 stand beside the units" in found
