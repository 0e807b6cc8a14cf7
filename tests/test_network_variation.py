"""Links whose bandwidth changes: schedules, traces, random processes, faults."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from scenario_text import scenario

from ddsim.scenario import read_text, validate
from ddsim.scenario.variation import read_rates
from ddsim.world.instants import ticks
from ddsim.world.network import Network
from ddsim.world.timeline import Timeline, lowest, product

HOUR = 3600.0


def line(network: str, name: str = "up:region 0", more: str = "", replication: int = 0) -> Timeline:
    """The rate of one link of a scenario of four regions."""
    made = scenario(f"duration: 4 day\nnetwork: {{bandwidth: 8 Gbit/s, {network}}}\n{more}")
    return Network(made, replication=replication).lines[name]


def test_a_schedule_holds_from_each_of_its_times_on() -> None:
    """Before the first the link has its own bandwidth; efficiency lowers all."""
    made = line(
        "efficiency: 0.5, schedule: [{at: 1 h, bandwidth: 2 Gbit/s}, {at: 2 h, bandwidth: 0 bit/s}]"
    )
    assert [made.at(ticks(t * HOUR)) for t in (0, 0.99, 1, 1.99, 2, 50)] == [
        4e9,
        4e9,
        1e9,
        1e9,
        0,
        0,
    ]


def test_a_schedule_repeats_every_day() -> None:
    """The night's bandwidth holds over midnight."""
    made = line(
        "repeat: 1 day, schedule: [{at: 8 h, bandwidth: 1 Gbit/s}, {at: 20 h, bandwidth: 6 Gbit/s}]"
    )
    for day in (1, 2, 3):
        hours = [made.at(ticks((24 * day + hour) * HOUR)) for hour in (0, 7.9, 8, 19.9, 20)]
        assert hours == [6e9, 6e9, 1e9, 1e9, 6e9]
    assert made.at(0) == 8e9


def test_a_region_and_a_link_have_schedules_of_their_own() -> None:
    """A region's replaces the network's, a link's is the link's alone."""
    text = (
        "schedule: [{at: 1 h, bandwidth: 1 Gbit/s}], "
        "regions: {a: {schedule: [{at: 1 h, bandwidth: 3 Gbit/s}]}, b: , c: , d: }, "
        "links: [{between: [a, b], schedule: [{at: 2 h, bandwidth: 5 Gbit/s}]}]"
    )
    at = {name: line(text, name).at(ticks(3 * HOUR)) for name in ("up:a", "down:a", "up:b", "b>a")}
    assert at == {"up:a": 3e9, "down:a": 3e9, "up:b": 1e9, "b>a": 5e9}


OTHER = ["time_ms,bit_per_s", "hours,bps", "time_s,gbit_per_s", "t,Mbit/s", "s,MB/s", "t,GBps"]
OURS = ["time_s,bit_per_s", "seconds,bits/s", "at,bps", "t,rate", "s,b"]


@pytest.mark.parametrize("heading", OTHER)
def test_a_heading_that_names_other_units_is_refused(tmp_path: Path, heading: str) -> None:
    """The rows below it are read as s and bit/s, whatever it says."""
    (tmp_path / "wan.csv").write_text(f"{heading}\n0,5\n60,2\n")
    with pytest.raises(ValueError, match=f"line 1: .*{heading}.*, other units"):
        read_rates(tmp_path / "wan.csv")


@pytest.mark.parametrize("heading", OURS)
def test_a_heading_without_other_units_is_passed_over(tmp_path: Path, heading: str) -> None:
    """Or one without any."""
    (tmp_path / "wan.csv").write_text(f"{heading}\n0,5\n60,2\n")
    assert read_rates(tmp_path / "wan.csv") == ((0.0, 5.0), (60.0, 2.0))


def test_a_trace_gives_the_rates_of_its_rows(tmp_path: Path) -> None:
    """Relative to the scenario's folder, with a heading, comments and a repeat."""
    (tmp_path / "wan.csv").write_text("time_s,bit_per_s\n# measured\n0,1e9\n\n60,2e9\n")
    text = (
        "model: {parameters: 1e9, layers: 24}\ntraining: {step_time: 1 s}\n"
        "cluster: {chips: 2, learners: 2}\nduration: 1 h\n"
        "network: {trace: wan.csv, repeat: 2 min}\n"
    )
    made = validate(read_text(text, folder=str(tmp_path)))
    again = validate(read_text(made.resolved()))
    for each in (made, again):
        rates = Network(each).lines["down:region 1"]
        assert [rates.at(ticks(t)) for t in (0, 59, 60, 119, 120, 181)] == [
            1e9,
            1e9,
            2e9,
            2e9,
            1e9,
            2e9,
        ]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["up:region 0", "down:region 0"])
def test_two_states_take_their_shares_of_the_time(name: str) -> None:
    """High for 30 of 40 minutes on average, over 60 replications of four days."""
    text = "random: {two_state: {low: 0.25, high_for: 30 min, low_for: 10 min}}"
    shares = []
    for replication in range(60):
        made = line(text, name, replication=replication)
        assert set(made.values) == {2e9, 8e9}
        high = made.passed(0, ticks(4 * 24 * HOUR)) / (4 * 24 * HOUR)
        shares.append((high - 2e9) / 6e9)
    error = np.std(shares, ddof=1) / math.sqrt(len(shares))
    assert abs(np.mean(shares) - 0.75) < 5 * error


@pytest.mark.slow
def test_lognormal_bandwidth_has_its_mean_its_spread_and_its_memory() -> None:
    """Factor of mean 1; the logarithm's deviation is sigma, its correlation exp(-t / T)."""
    text = "random: {lognormal: {sigma: 0.4, correlation: 10 min, every: 2 min}}"
    logs = np.array(
        [np.log(np.array(line(text, replication=r).values)[1:] / 8e9) for r in range(60)]
    )
    means, deviations = np.exp(logs).mean(axis=1), logs.std(axis=1)
    centred = (logs + 0.08) / 0.4
    memory = (centred[:, 1:] * centred[:, :-1]).mean(axis=1)
    for found, wanted in ((means, 1.0), (deviations**2, 0.16), (memory, math.exp(-0.2))):
        error = found.std(ddof=1) / math.sqrt(len(found))
        assert abs(found.mean() - wanted) < 5 * error + 0.002


def test_random_changes_belong_to_the_link() -> None:
    """The same for every method and direction, others for other links and replications."""
    text = "random: {lognormal: {sigma: 0.4, correlation: 10 min, every: 2 min}}"
    assert line(text) == line(text) == line(text, "down:region 0")
    assert line(text) != line(text, "up:region 1")
    assert line(text) != line(text, replication=1)


def test_asymmetric_access_has_its_own_rate_each_way() -> None:
    """Upload and download apart; a ring runs at the slower of all of them."""
    made = scenario(
        "network: {bandwidth: 8 Gbit/s, efficiency: 0.5, "
        "regions: {a: {upload: 110 Mbit/s, download: 500 Mbit/s}, b: , c: , d: }}\n"
    )
    network = Network(made)
    assert network.lines["up:a"].at(0) == 55e6
    assert network.lines["down:a"].at(0) == 250e6
    assert network.ring(["a", "b", "c"]).rate.at(0) == 55e6


def test_a_flapping_link_is_down_and_up_in_turn() -> None:
    """Down first, and healed at the end."""
    more = "chaos: [{at: 1 h, fault: flap, target: region 0, every: 10 s, for: 35 s}]\n"
    made = line("latency: 0 s", more=more)
    rates = [made.at(ticks(HOUR + t)) for t in (-1, 0, 9, 10, 19, 20, 29, 30, 34, 35, 100)]
    assert rates == [8e9, 0, 0, 8e9, 8e9, 0, 0, 8e9, 8e9, 8e9, 8e9]


def test_a_cut_between_two_regions_needs_no_link_of_their_own() -> None:
    """The pair gets one, unlimited but for the fault."""
    made = scenario(
        "network: {bandwidth: 8 Gbit/s, latency: 20 ms}\n"
        "chaos: [{at: 1 h, fault: cut, target: region 0-region 1, for: 1 h}]\n"
    )
    network = Network(made)
    rings = {pair: network.ring([f"region {i}" for i in pair]) for pair in ((0, 1), (2, 3))}
    assert [rings[0, 1].rate.at(ticks(t * HOUR)) for t in (0, 1.5, 2)] == [8e9, 0, 8e9]
    assert rings[2, 3].rate.at(ticks(1.5 * HOUR)) == 8e9
    assert rings[0, 1].latency == rings[2, 3].latency == ticks(0.04)


def test_lowest_and_product_follow_both_timelines() -> None:
    """At every time they are the least and the product of the values."""
    one = Timeline.of(5.0, [(1, 2.0), (4, 9.0)])
    other = Timeline.of(3.0, [(2, math.inf), (4, 0.0)])
    times = (0, 1, 2, 3, 4, 9)
    assert [lowest([one, other]).at(t) for t in times] == [3, 2, 2, 2, 0, 0]
    assert [product(one, other).at(t) for t in times] == [15, 6, math.inf, math.inf, 0, 0]
    assert product(Timeline.constant(math.inf), Timeline.constant(0.0)).at(0) == 0.0
