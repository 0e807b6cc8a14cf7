"""When nothing fails nothing is lost, and only the slowest unit or bytes set the pace."""

from __future__ import annotations

from typing import Any

import pytest
from replicated import METHODS, all_methods
from replicated import world as any_world

from ddsim.scenario import Scenario
from ddsim.simulation import simulate

SECONDS = 300
UNITS_OF_TWO_SPEEDS = [{"chips": 16}, {"chips": 16, "speed": 0.8}]


def world(**changes: object) -> Scenario:
    """Five minutes of steps of 1 s."""
    return any_world(**{"duration": f"{SECONDS} s", **changes})


def _run(scenario: Scenario, method: str) -> Any:
    return simulate(scenario.for_method(method), method)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("quorum", [1, 4])
def test_without_anything_in_the_way_goodput_is_one(method: str, quorum: int) -> None:
    """Equal units, no failures, unlimited links, no jitter, no checkpoints: all is productive."""
    result = _run(world(training__quorum=quorum), method)
    assert result.goodput == pytest.approx(1.0, abs=1e-12)
    assert result.accounts["productive"] == pytest.approx(1.0, abs=1e-12)
    for share in (result.uptime, result.time_goodput, result.ettr, result.compute_utilization):
        assert share == pytest.approx(1.0, abs=1e-12)
    assert result.steps == SECONDS - 1  # of 1 s; the one that would end at the end does not count
    assert result.failures == 0


@pytest.mark.parametrize("quorum", [1, 4])
@pytest.mark.parametrize("overlap", [0, pytest.param(1, marks=pytest.mark.slow), 2])
@pytest.mark.parametrize("apply", ["on_arrival", "at_tau"])
def test_no_setting_of_decoupled_costs_anything_then(quorum: int, overlap: int, apply: str) -> None:
    """Whatever K, tau, grace and time of applying: equal learners never wait for one another."""
    for grace in (0.0, 0.9):
        scenario = world(
            training__quorum=quorum,
            training__overlap_steps=overlap,
            training__apply=apply,
            training__grace=grace,
        )
        result = _run(scenario, "decoupled_diloco")
        assert result.goodput == pytest.approx(1.0, abs=1e-12)
        assert result.participation == pytest.approx(1.0)
        # applied at once, all of a fragment's steps are merged; held, those since are overwritten
        assert result.merged_share == pytest.approx(
            1.0 if apply == "on_arrival" else 1.0 - overlap / 24, abs=0.01
        )


@pytest.mark.parametrize("method", METHODS)
def test_a_jobs_time_is_the_slowest_units(method: str) -> None:
    """Lock-step methods go at the slowest unit's pace; the faster one waits for its peer."""
    scenario = world(cluster__chips=32, cluster__learners=1, cluster__chips_per_slice=8)
    scenario = scenario.with_({"cluster": {"chips_per_slice": 8, "units": UNITS_OF_TWO_SPEEDS}})
    result = _run(scenario, method)
    if method == "decoupled_diloco":
        assert result.accounts["waiting_on_peers"] == pytest.approx(0.0, abs=1e-12)
        assert result.steps == pytest.approx(SECONDS * (1.0 + 0.8) / 2, abs=1)
    else:
        assert result.accounts["waiting_on_peers"] == pytest.approx(0.2 / 2, abs=0.005)
        assert result.steps == pytest.approx(SECONDS * 0.8, abs=24)


def test_a_full_quorum_lets_the_slowest_set_the_pace() -> None:
    """K = M makes fast learners wait; with K = 1 nobody waits for a slower one."""
    scenario = world().with_({"cluster": {"chips_per_slice": 8, "units": UNITS_OF_TWO_SPEEDS}})
    waits = {
        quorum: _run(scenario.with_({"training.quorum": quorum}), "decoupled_diloco").accounts[
            "waiting_on_peers"
        ]
        for quorum in (1, 2)
    }
    assert waits[1] == pytest.approx(0.0, abs=1e-12)
    assert waits[2] == pytest.approx(0.2 / 2, abs=0.005)


def test_grace_takes_in_who_is_a_little_late() -> None:
    """K = 1 without grace merges the first learner alone, a hair's breadth of jitter being enough;
    with grace nearly all take part, at the same goodput.
    """
    scenario = world(cluster__jitter=0.01)
    without = _run(scenario.with_({"training.grace": 0.0}), "decoupled_diloco")
    graceful = _run(scenario.with_({"training.grace": 0.5}), "decoupled_diloco")
    assert without.participation < 0.6 < 0.95 < graceful.participation
    assert without.merged_share < graceful.merged_share
    assert graceful.goodput == pytest.approx(1.0, abs=1e-9)
    assert without.goodput == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_more_bandwidth_never_means_fewer_steps(method: str) -> None:
    """Steps grow with bandwidth, up to those of no network at all."""
    steps = [
        _run(world(network__bandwidth=bandwidth, network__latency="10 ms"), method).steps
        for bandwidth in ("1 Gbit/s", "4 Gbit/s", "16 Gbit/s", "64 Gbit/s")
    ]
    assert steps == sorted(steps)
    assert steps[0] < steps[-1] <= SECONDS


@pytest.mark.parametrize("method", ["streaming_diloco", "decoupled_diloco"])
def test_more_overlap_never_means_fewer_steps(method: str) -> None:
    """What may be on its way for longer stops a learner less."""
    steps = [
        _run(world(network__bandwidth="500 Mbit/s", training__overlap_steps=overlap), method).steps
        for overlap in (0, 1, 2, 3)
    ]
    assert steps == sorted(steps)
    assert steps[0] < steps[-1]


def test_a_link_that_is_too_thin_costs_nothing_but_exposed_communication() -> None:
    """Equal units without failures wait for bytes alone."""
    results = all_methods(world(network__bandwidth="1 Gbit/s", network__latency="10 ms"))
    for result in results.values():
        both = result.accounts["productive"] + result.accounts["exposed_communication"]
        assert both == pytest.approx(1.0, abs=1e-9)
        assert result.accounts["exposed_communication"] > 0.0


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("interval", ["7 steps", "4.9 s"])
def test_checkpoints_cost_their_saves(method: str, interval: str) -> None:
    """A save of 2.1 s every 7 steps of 0.7 s takes 3 of 10 parts of the time."""
    scenario = world(
        duration="420 s",
        training__step_time="0.7 s",
        checkpoint__policy="fixed",
        checkpoint__interval=interval,
        checkpoint__save="2.1 s",
    )
    result = _run(scenario, method)
    assert result.accounts["checkpoint_save"] == pytest.approx(0.3, abs=1e-6)
    assert result.goodput == pytest.approx(0.7, abs=1e-6)
    assert result.steps == pytest.approx(420, abs=1)
