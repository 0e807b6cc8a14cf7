"""Asynchronous local SGD: cycles by hand, staleness, and nobody who waits for others."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from random_scenarios import scenarios
from test_random_scenarios import assert_laws

import ddsim
from ddsim.engine.tally import Tally
from ddsim.results import MethodResult
from ddsim.scenario import ScenarioError, read_text, validate
from ddsim.simulation import simulate

BASE = """
duration: 1000 s
model: {parameters: 1e9, layers: 8}
training: {step_time: 1 s, inner_steps: 10, payload_bits: 4, broadcast_bits: 16}
cluster: {chips_per_slice: 4, units: []}
network: {bandwidth: 2 Gbit/s, efficiency: 0.5, latency: 250 ms, regions: [server, a, b]}
"""
UP, DOWN, LATENCY = 4.0, 16.0, 0.25
CYCLE = 10.0 + UP + LATENCY + DOWN + LATENCY


def outcome(units: str, more: str = "", **overrides: str) -> MethodResult:
    """Run the base scenario with these units."""
    text = BASE.replace("units: []", f"units: [{units}]") + more
    changed = {name.replace("__", "."): value for name, value in overrides.items()}
    scenario = validate(read_text(text).with_overrides(changed))
    return simulate(scenario, "async_local_sgd")


def unit(name: str, region: str, speed: float = 1.0) -> str:
    """One unit of four chips."""
    return f"{{name: {name}, region: {region}, chips: 4, speed: {speed}}}"


ONE = unit("one", "a")
TWO = f"{ONE}, {unit('two', 'b')}"


def test_a_cycle_is_steps_and_both_ways() -> None:
    """H steps, 4 Gbit up and 16 Gbit down at 1 Gbit/s, a latency each way: 30.5 s a cycle."""
    result = outcome(ONE)
    applied = [merge.arrival for merge in result.merges]
    assert applied == pytest.approx([14.25 + CYCLE * k for k in range(len(applied))])
    assert len(applied) == 33
    assert result.accounts["productive"] == pytest.approx(
        (10.0 * 32 + min(10.0, 1000.0 - 32 * CYCLE)) / 1000.0
    )


def test_two_on_one_access_share_it() -> None:
    """Both alike send at once into the server's one access: both ways take twice as long."""
    result = outcome(TWO)
    cycle = 10.0 + 2 * UP + LATENCY + 2 * DOWN + LATENCY
    applied = [merge.arrival for merge in result.merges]
    expected = [18.25 + cycle * (k // 2) for k in range(len(applied))]
    assert applied == pytest.approx(expected)
    assert [merge.slot for merge in result.merges] == list(range(1, len(applied) + 1))


def test_the_servers_own_region_needs_no_network() -> None:
    """Its unit goes on at once: all of its time is productive."""
    result = outcome(unit("one", "server"))
    assert result.accounts["productive"] == pytest.approx(1.0)
    assert result.wan["total_bytes"] == 0.0
    assert len(result.merges) == 99


def test_the_server_stands_where_the_scenario_says() -> None:
    """In the region of its unit nothing crosses, wherever the first region is."""
    served = {"network__collective": "parameter_server", "network__server": "a"}
    assert outcome(ONE, **served).wan["total_bytes"] == 0.0
    assert outcome(ONE).wan["total_bytes"] > 0.0


def test_steps_follow_speed() -> None:
    """At half the speed of the fastest a learner takes half the steps between updates."""
    units = f"{unit('fast', 'server')}, {unit('slow', 'server', 0.5)}"
    merges = outcome(units).merges
    slow = [merge.start for merge in merges if merge.learners == ("slow",)]
    assert slow[:3] == pytest.approx([10.0, 20.0, 30.0])


def test_a_learner_takes_at_least_one_step() -> None:
    """Even one a hundred times slower."""
    units = f"{unit('fast', 'server')}, {unit('slow', 'server', 0.01)}"
    merges = outcome(units).merges
    slow = [merge.start for merge in merges if merge.learners == ("slow",)]
    assert slow == pytest.approx([100.0 * k for k in range(1, 10)])


def test_staleness_counts_the_updates_in_between() -> None:
    """Two in lock-step by chance: the first applied is fresh once, then each has missed one."""
    spread = outcome(TWO).extra["staleness"]
    assert spread["p50"] == spread["p99"] == spread["max"] == 1
    assert spread["mean"] == pytest.approx(1.0 - 1.0 / spread["count"])


def test_another_learners_loss_changes_nothing() -> None:
    """What befalls one leaves the other's updates where they were, where links are not shared."""
    units = f"{unit('one', 'server')}, {unit('two', 'b')}"
    lost = "chaos: [{at: 100 s, fault: kill, target: two, for: 200 s}]\n"

    def of_one(result: MethodResult) -> list[float]:
        return [merge.arrival for merge in result.merges if merge.learners == ("one",)]

    assert of_one(outcome(units, lost)) == of_one(outcome(units))


def test_a_lost_learner_begins_anew_with_fresh_parameters() -> None:
    """Struck 5 s into its steps, back after 20 s: it asks, gets parameters, and takes H steps."""
    lost = "chaos: [{at: 5.5 s, fault: kill, target: one, for: 20 s}]\nfailures: {detection: 0 s}\n"
    result = outcome(ONE, lost, restart__time="3 s")
    back = 5.5 + 20.0 + 3.0 + LATENCY + DOWN + LATENCY
    assert result.merges[0].start == pytest.approx(back + 10.0)
    assert result.accounts["restart"] == pytest.approx(3.0 / 1000.0)
    assert result.accounts["wasted_progress"] == pytest.approx(0.5 / 1000.0)
    merged = 10.0 * len(result.merges)
    assert result.merged_share == pytest.approx(merged / (merged + 5.0))


def test_an_update_under_way_outlives_its_learner() -> None:
    """Lost while its update is on the link: it is applied when it arrives all the same."""
    lost = "chaos: [{at: 12 s, fault: kill, target: one, for: 300 s}]\n"
    first, second = outcome(ONE, lost).merges[:2]
    assert first.arrival == pytest.approx(14.25)
    assert second.start > 312.0


def test_parameters_that_come_during_a_stall_are_used_after_it() -> None:
    """A slice lost while they are on the way: the next steps begin when the stall is over."""
    two_slices = "{name: one, region: a, chips: 8}"
    lost = (
        "chaos: [{at: 29 s, fault: kill, target: one/slice 0, for: never}]\n"
        "failures: {detection: 5 s}\nelastic: {downscale: 5 s}\n"
    )
    merges = outcome(two_slices, lost).merges
    assert merges[1].start == pytest.approx(39.0 + 10.0)


def test_a_run_ends_with_its_tokens() -> None:
    """With a goal of tokens the run stops at the step that reaches it."""
    result = outcome(ONE, training__tokens="25")
    assert result.tokens == pytest.approx(25.0)
    assert result.wall_clock_s == pytest.approx(2 * CYCLE + 5.0)


def test_what_crosses_is_named() -> None:
    """Updates go up at their bits and parameters down at theirs, through a server."""
    wan = outcome(ONE).wan
    assert "outer gradients at 4 bits, parameters at 16 bits" in wan["convention"]
    assert "parameter server" in wan["convention"]
    assert wan["total_bytes"] == pytest.approx(32 * 16e9 / 8, rel=0.05)


def test_it_runs_only_where_it_is_named() -> None:
    """A scenario's default methods are the five others."""
    scenario = ddsim.load("four_regions_12b")
    assert "async_local_sgd" not in [spec.name for spec in scenario.methods]
    result = ddsim.run(scenario.with_({"duration": "1 h"}), ["async_local_sgd"])["async_local_sgd"]
    assert sum(result.accounts.values()) == pytest.approx(1.0, abs=1e-9)
    assert result.extra["staleness"]["count"] > 0


def test_it_trains_no_model_yet() -> None:
    """A learning section is refused where the method is chosen, unless it is left out for it."""
    with pytest.raises(ScenarioError, match=r"--method async_local_sgd.*keeps no tape"):
        ddsim.load("convergence").choose(["async_local_sgd"])
    with pytest.raises(ScenarioError, match=r"methods\.1: async_local_sgd beside a learn"):
        ddsim.load("convergence", {"methods": ["diloco", "async_local_sgd"]})
    without = {"methods": ["diloco", {"async_local_sgd": {"learning": None}}]}
    settled = ddsim.load("convergence", without).for_method("async_local_sgd")
    assert settled.learning.problem is None


@given(scenarios(deep=True))
@settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@pytest.mark.slow
def test_whatever_befalls_it_the_laws_hold(text: str) -> None:
    """Causes of failure, links that vary, stalls: the books close and a rerun is the same."""
    lines = [line for line in text.splitlines() if not line.startswith(("methods", "study"))]
    assert_laws("\n".join([*lines, "methods: [async_local_sgd]"]) + "\n")


def test_a_tallys_quantiles_are_those_of_its_values() -> None:
    """Half of 1..100 are at most 50; the mean and the largest are exact."""
    tally = Tally()
    for value in range(1, 101):
        tally.add(value)
    assert tally.spread() == {
        "count": 100,
        "mean": 50.5,
        "p50": 50,
        "p90": 90,
        "p99": 99,
        "max": 100,
    }


def test_a_tally_stays_small() -> None:
    """However many values between 1 and 10 come up, it keeps three digits of each."""
    tally = Tally()
    for turn in range(20_000):
        tally.add(1.0 + turn * 0.00045)
    spread = tally.spread()
    assert spread is not None
    assert spread["p50"] == pytest.approx(5.5, rel=1e-2)
    assert spread["max"] == pytest.approx(1.0 + 19_999 * 0.00045)


def test_values_that_come_together_are_tallied_as_one_by_one() -> None:
    """To the digits that are kept; the mean and the largest are exact."""
    values = np.random.default_rng(0).lognormal(0.0, 3.0, 500)
    together, single = Tally(), Tally()
    together.add_all(values, 2)
    for value in values.tolist():
        single.add(value, 2)
    assert together.spread() == pytest.approx(single.spread(), rel=1e-3)


def test_a_leg_that_a_loss_has_ended_does_not_end_again() -> None:
    """Lost for half a second in the fourth of ten steps: the ten are begun anew, and come whole."""
    kill = "{at: 3.5 s, fault: kill, target: one, for: 500 ms}"
    nothing = "failures: {detection: 0 s}\nrestart: {time: 0 s}\n"
    free = {"network__bandwidth": "unlimited", "network__latency": "0 s"}
    result = outcome(ONE, f"{nothing}chaos: [{kill}]\n", duration="30.5 s", **free)
    assert [merge.arrival for merge in result.merges] == pytest.approx([14.0, 24.0])
