"""Causes of failures: how often each strikes, what it takes out, and what that costs."""

from __future__ import annotations

from collections import Counter
from math import sqrt
from typing import Any

import numpy as np
import pytest

import ddsim
from ddsim import reference
from ddsim.results import MethodResult
from ddsim.scenario import Scenario, read_text, validate
from ddsim.simulation import simulate
from ddsim.theory.renewal import renewal_function, weibull_cdf
from ddsim.world import cluster as clusters
from ddsim.world.causes import Away, failure_rate, lemons_of
from ddsim.world.distributions import from_spec
from ddsim.world.history import FailureHistory
from ddsim.world.instants import ticks
from ddsim.world.link_faults import link_outages
from ddsim.world.strike import Strike

DAY = 86400.0
TEXT = """\
duration: 20 day
model: {parameters: 1e9, layers: 24}
training: {step_time: 4 min, inner_steps: 10, fragments: 2}
cluster: {chips: 256, chips_per_slice: 8, slices_per_rack: 2, learners: 4}
network: {regions: [east, west]}
"""
SETTINGS: dict[str, object] = {"failures.detection": "10 s", "failures.repair": "20 min"}


def world(*causes: dict[str, Any], **settings: object) -> Scenario:
    """The scenario with these causes and settings, whose keys have __ for dots."""
    named = {key.replace("__", "."): value for key, value in settings.items()}
    overrides = {**SETTINGS, "failures.causes": list(causes), **named}
    return validate(read_text(TEXT, "causes.yaml").with_overrides(overrides))


def strikes(scenario: Scenario, until: float | None = None) -> list[Strike]:
    """The history up to the end of the run."""
    found = []
    for strike in FailureHistory(scenario, clusters.build(scenario)):
        if strike.time >= ticks(until or scenario.duration):
            break
        found.append(strike)
    return found


def one(scenario: Scenario, method: str) -> MethodResult:
    """What one method made of the scenario."""
    return ddsim.run(scenario, methods=[method]).results[0]


PARTS = {"chip": 256, "slice": 32, "rack": 16, "unit": 4, "region": 2, "job": 1}


@pytest.mark.parametrize("domain", PARTS)
def test_a_domain_fails_in_proportion_to_its_parts(domain: str) -> None:
    """With one mtbi per part, failures are Poisson with duration x parts / mtbi."""
    found = strikes(world({"name": "x", "domain": domain, "mtbi": "2 day"}))
    incidents = len({strike.incident for strike in found})
    expected = 20 / 2 * PARTS[domain]
    assert abs(incidents - expected) <= 5 * sqrt(expected)
    assert {strike.domain for strike in found} == {domain}


def test_a_count_is_of_all_parts_together() -> None:
    """`count` in `per` gives the rate, whatever the number of parts and the duration."""
    found = strikes(world({"name": "x", "domain": "chip", "count": 500, "per": "10 day"}))
    assert abs(len(found) - 1000) <= 5 * sqrt(1000)


def test_causes_do_not_move_each_other() -> None:
    """A cause's failures are the same beside others as alone."""
    here: dict[str, Any] = {"name": "here", "domain": "slice", "mtbi": "5 day"}
    there = {"name": "there", "domain": "chip", "mtbi": "50 day"}
    alone = [s[:6] for s in strikes(world(here))]
    beside = [s[:6] for s in strikes(world(there, here)) if s.cause == "here"]
    assert alone == beside
    assert len(alone) > 50


def test_a_rack_takes_neighbouring_slices_of_one_unit() -> None:
    """Every rack has two slices that stand side by side, from an even one on."""
    for strike in strikes(world({"name": "x", "domain": "rack", "mtbi": "2 day"})):
        first, second = strike.slices
        assert (first % 2, second) == (0, first + 1)


def test_the_last_rack_of_a_unit_may_be_smaller() -> None:
    """Eight slices in racks of three are racks of three, three and two."""
    found = strikes(
        world({"name": "x", "domain": "rack", "mtbi": "1 day"}, cluster__slices_per_rack=3)
    )
    assert {tuple(s.slices) for s in found} == {(0, 1, 2), (3, 4, 5), (6, 7)}


@pytest.mark.slow
def test_a_region_takes_its_units_at_one_instant_and_is_one_failure() -> None:
    """Units stand in the two regions in turn; all slices of both go, and count once."""
    scenario = world({"name": "x", "domain": "region", "count": 3, "per": "20 day"}, seed=3)
    found = strikes(scenario)
    assert found
    times = Counter(strike.time for strike in found)
    assert set(times.values()) == {2}
    for time in times:
        units = sorted(s.unit for s in found if s.time == time)
        assert units in ([0, 2], [1, 3])
    result = one(scenario, "diloco")
    assert result.failures == len(times)
    assert result.accounts["failed_hardware"] == pytest.approx(
        len(times) * 0.5 * 1210 / (20 * DAY), rel=1e-9
    )


def test_a_region_is_one_failure_where_ages_stop_too() -> None:
    """The first unit stops the job; the other units of the incident are hit nonetheless."""
    cause = {"name": "x", "domain": "region", "count": 3, "per": "20 day"}
    stops = one(world(cause, seed=3, failures__age_while_down="stops"), "data_parallel")
    runs = one(world(cause, seed=3), "data_parallel")
    assert stops.accounts == runs.accounts


@pytest.mark.slow
def test_exponential_lives_that_stop_are_a_constant_hazard() -> None:
    """A part that is struck where nothing steps is not away, and may be struck again at once."""
    common = {"name": "x", "domain": "chip"}
    lives = {**common, "lifetime": {"exponential": {"mean": "5 day"}}}
    one_by_one = world(lives, failures__age_while_down="stops")
    together = world({**common, "mtbi": "5 day"}, failures__age_while_down="stops")
    for method in ("data_parallel", "diloco"):
        assert one(one_by_one, method).accounts == one(together, method).accounts


def test_software_takes_no_hardware() -> None:
    """Without lost state a failure of the job costs detection and restart, nothing else."""
    scenario = world(
        {"name": "hang", "domain": "job", "mtbi": "1 day", "state_lost": False},
        restart__time="5 min",
    )
    result = one(scenario, "data_parallel")
    stops = result.failures
    assert stops > 5
    assert result.accounts["restart"] == pytest.approx(stops * 300 / (20 * DAY), rel=1e-6)
    assert result.accounts["detection"] == pytest.approx(stops * 10 / (20 * DAY), rel=1e-6)
    assert result.accounts["failed_hardware"] == 0.0
    assert result.accounts["wasted_progress"] == 0.0


def test_software_that_loses_state_goes_back_to_the_last_save() -> None:
    """With saves every hour that cost nothing, the mean loss is within an hour a failure."""
    cause = {"name": "crash", "domain": "job", "mtbi": "1 day"}
    scenario = world(
        cause, restart__time="5 min", checkpoint__policy="fixed", checkpoint__interval="1 h"
    )
    for method in ("data_parallel", "elastic_data_parallel"):
        result = one(scenario, method)
        lost = result.accounts["wasted_progress"] * 20 * DAY / result.failures
        # uniform on an hour: mean 1800 s, standard deviation 3600 / sqrt(12)
        assert abs(lost - 1800) <= 5 * 3600 / sqrt(12 * result.failures)


@pytest.mark.slow
def test_software_stops_one_learner_of_many() -> None:
    """In methods with learners the others go on."""
    scenario = world({"name": "hang", "domain": "job", "mtbi": "1 day"}, restart__time="5 min")
    result = one(scenario, "decoupled_diloco")
    assert result.accounts["restart"] == pytest.approx(
        result.failures * 300 / 4 / (20 * DAY), rel=1e-6
    )
    assert result.uptime == pytest.approx(1.0, abs=1e-4)


def test_what_need_not_be_replaced_is_back_once_detected() -> None:
    """The slice is down for the detection alone."""
    result = one(
        world(
            {"name": "x", "domain": "slice", "mtbi": "8 day", "replace": False}, duration="4 day"
        ),
        "diloco",
    )
    assert result.failures > 8
    assert result.accounts["failed_hardware"] == pytest.approx(
        result.failures * 10 * 8 / (256 * 4 * DAY), rel=1e-2
    )


def test_a_burst_multiplies_failures() -> None:
    """Every failure of the cause brings two more within the spread."""
    cause = {"name": "x", "domain": "slice", "count": 40, "per": "20 day"}
    alone = strikes(world(cause))
    burst = strikes(world({**cause, "burst": {"size": 3, "spread": "1 min"}}), 21 * DAY)
    times = np.array([strike.time for strike in burst])
    assert (np.diff(times) >= 0).all()
    for strike in alone:
        near = (times >= strike.time) & (times <= strike.time + ticks(60))
        assert near.sum() >= 3


def test_a_link_failure_is_only_ever_exposed_communication() -> None:
    """No hardware is struck, and only communication grows."""
    quiet = {"name": "x", "domain": "slice", "mtbi": "never"}
    cut = {"name": "cut", "domain": "link", "mtbi": "5 day"}
    network = {"network__bandwidth": "50 Gbit/s"}
    without = one(world(quiet, **network), "data_parallel")
    result = one(world(quiet, cut, **network), "data_parallel")
    assert result.failures == 0
    assert result.accounts["exposed_communication"] > without.accounts["exposed_communication"]
    other = set(result.accounts) - {"productive", "exposed_communication"}
    assert all(result.accounts[name] == 0.0 for name in other)


def test_link_outages_last_for_detection_and_repair() -> None:
    """Spans of a region's access do not overlap, and most are as long as one outage."""
    scenario = world({"name": "cut", "domain": "link", "mtbi": "1 day", "to": "1 Gbit/s"})
    outages = link_outages(scenario, 0)
    assert {outage.target for outage in outages} == {"east", "west"}
    for outage in outages:
        lengths = [end - start for start, end in outage.spans]
        assert min(lengths) == ticks(1210)
        line = outage.line(5e9, 1.0)
        assert line.at(outage.spans[0][0]) == 1e9
        assert line.at(outage.spans[0][1]) == 5e9


@pytest.mark.parametrize("method", ["data_parallel", "elastic_data_parallel", "diloco"])
def test_the_blast_radius_is_all_that_failures_took(method: str) -> None:
    """Losses by cause, and by domain, add up to the accounts of failures."""
    scenario = world(
        {"name": "chip", "domain": "chip", "mtbi": "300 day"},
        {"name": "rack", "domain": "rack", "mtbi": "40 day"},
        {"name": "unit", "domain": "unit", "mtbi": "20 day"},
        {"name": "crash", "domain": "job", "mtbi": "4 day", "replace": False},
        checkpoint__policy="fixed",
        checkpoint__interval="1 h",
        checkpoint__restore="1 min",
    )
    result = one(scenario, method)
    taken = (
        "failed_hardware",
        "detection",
        "elastic_downscale",
        "elastic_upscale",
        "restart",
        "checkpoint_restore",
        "stranded",
        "wasted_progress",
    )
    total = sum(result.accounts[name] for name in taken) * 256 * 20 * DAY
    radius = result.extra["blast_radius"]
    for groups in (radius["by_cause"], radius["by_domain"]):
        assert sum(group["chip_seconds"] for group in groups.values()) == pytest.approx(total)
        assert sum(group["failures"] for group in groups.values()) == result.failures
    assert 0 < radius["worst_hour"]["lost_share"] <= 1


@pytest.mark.parametrize("shape", [0.5, 0.7, 1.5])
@pytest.mark.parametrize("days", [7, 365])
def test_parts_that_age_fail_as_the_renewal_function_says(shape: float, days: int) -> None:
    """4,096 new slices with Weibull lives of mean 1 year, renewed one by one."""
    life = {"weibull": {"shape": shape, "mean": "365 day"}}
    scenario = world(
        {"name": "x", "domain": "slice", "lifetime": life, "detection": "0 s", "repair": "0 s"},
        duration=f"{days} day",
        cluster__chips=4096,
        cluster__chips_per_slice=1,
    )
    from scipy.special import gamma

    scale = 365.0 / gamma(1 + 1 / shape)
    expected = 4096 * float(renewal_function(weibull_cdf(shape, scale), float(days)))
    # each part's count has at most the variance of its mean for shape >= 1, more below: see tests
    # of renewal streams; twice the Poisson error holds for all three
    assert abs(len(strikes(scenario)) - expected) <= 5 * sqrt(2 * expected)


def test_ages_are_the_same_for_every_method_and_any_reading() -> None:
    """Two readers of histories with ageing parts find the same strikes."""
    life = {"weibull": {"shape": 0.7, "mean": "30 day"}}
    scenario = world({"name": "x", "domain": "chip", "lifetime": life})
    assert strikes(scenario) == strikes(scenario)
    assert len(strikes(scenario)) > 100


@pytest.fixture(scope="module")
def llama() -> dict[str, MethodResult]:
    """All methods of the published 54 days."""
    results = ddsim.run(ddsim.load("llama3_16k")).results
    return {result.method: result for result in results}


@pytest.mark.slow
def test_llama3_is_interrupted_as_published(llama: dict[str, MethodResult]) -> None:
    """419 interruptions over 18 causes, each within five Poisson errors of its count."""
    table = reference.rows("llama3_interruptions")
    causes = ddsim.load("llama3_16k").failures.causes
    assert [cause.count for cause in causes] == [float(row["count"]) for row in table]
    result = llama["data_parallel"]
    assert abs(result.failures - 419) <= 5 * sqrt(419)
    found = result.extra["blast_radius"]["by_cause"]
    for cause in causes:
        assert cause.count is not None
        failures = found.get(cause.name, {"failures": 0})["failures"]
        assert abs(failures - cause.count) <= 5 * sqrt(cause.count)
    assert 54 * 24 / result.failures == pytest.approx(3.09, rel=5 / sqrt(419))


@pytest.mark.slow
def test_llama3_trains_effectively_above_nine_tenths(llama: dict[str, MethodResult]) -> None:
    """Restarts of minutes, and saves at the optimal interval, leave more than 90%."""
    assert llama["data_parallel"].ettr > 0.9
    assert sum(llama["data_parallel"].accounts.values()) == pytest.approx(1.0)


@pytest.mark.slow
def test_llama3_costs_events_for_its_failures_alone(llama: dict[str, MethodResult]) -> None:
    """54 days have 750,000 steps; the job takes a few events for each of its failures."""
    for method in ("data_parallel", "elastic_data_parallel"):
        assert llama[method].events < 10 * llama[method].failures


def test_the_blast_radius_of_several_histories_is_their_mean() -> None:
    """Figure by figure, as everything else that is averaged."""
    scenario = world({"name": "rack", "domain": "rack", "mtbi": "40 day"})
    both = ddsim.run(scenario, methods=["data_parallel"], replications=2).results[0]
    parts = [simulate(scenario.for_method("data_parallel"), "data_parallel", r) for r in (0, 1)]
    losses = [part.extra["blast_radius"]["by_cause"]["rack"]["chip_seconds"] for part in parts]
    mean = both.extra["blast_radius"]["by_cause"]["rack"]["chip_seconds"]
    assert mean == pytest.approx(sum(losses) / 2)
    assert losses[0] != losses[1]


def test_a_history_without_a_cause_counts_as_none_of_its_failures() -> None:
    """A rare cause has the failures and the loss of all histories over their number."""
    rare = world({"name": "rack", "domain": "rack", "mtbi": "400 day"})
    mean = ddsim.run(rare, methods=["data_parallel"], replications=8).results[0]
    parts = [simulate(rare.for_method("data_parallel"), "data_parallel", r) for r in range(8)]
    found = [part.extra.get("blast_radius", {}).get("by_cause", {}) for part in parts]
    losses = [groups["rack"] for groups in found if "rack" in groups]
    group = mean.extra["blast_radius"]["by_cause"]["rack"]
    assert 0 < len(losses) < 8
    assert group["failures"] == pytest.approx(sum(one["failures"] for one in losses) / 8)
    assert group["chip_seconds"] == pytest.approx(sum(one["chip_seconds"] for one in losses) / 8)
    assert group["per_failure"] == pytest.approx(group["chip_seconds"] / group["failures"])


def test_two_parts_of_a_burst_fail_where_two_are_to_fail() -> None:
    """Twice as many failures as bursts, which is what is expected of them, too."""
    pair = {"name": "pair", "domain": "slice", "mtbi": "10 day", "burst": {"size": 2}}
    scenario = world(pair)
    found = strikes(scenario)
    assert len(found) == pytest.approx(2 * 32 * 2, rel=0.3)
    assert failure_rate(scenario, clusters.build(scenario)) == pytest.approx(2 * 32 / (10 * DAY))


def test_a_cause_without_any_rate_never_strikes() -> None:
    """It is expected as often as it comes."""
    scenario = world({"name": "never", "domain": "slice", "count": 0, "per": "1 day"})
    assert strikes(scenario) == []
    assert failure_rate(scenario, clusters.build(scenario)) == 0.0


@pytest.mark.parametrize(
    ("share", "parts", "count"),
    [(0.0, 32, 0), (0.001, 32, 1), (0.1, 32, 3), (0.5, 1, 1), (0.5, 0, 0), (0.75, 4, 3)],
)
def test_lemons_are_the_nearest_whole_number_but_at_least_one(
    share: float, parts: int, count: int
) -> None:
    """None where there are none to be, or nothing that could be one."""
    named = {"name": "a", "domain": "slice", "mtbi": "1 day", "lemons": {"share": share}}
    (cause,) = world(named).failures.causes
    assert lemons_of(cause, parts) == count


def test_away_is_the_detection_and_then_the_repair() -> None:
    """Its theory is that of the repair, so much later."""
    repair = from_spec("exponential", {"mean": 60.0})
    away = Away(10.0, repair)
    assert (away.mean(), away.variance()) == (70.0, repair.variance())
    times = np.array([5.0, 9.9, 10.0, 30.0, 200.0])
    expected = [0.0, 0.0, 0.0, *(1.0 - np.exp(-(times[3:] - 10.0) / 60.0))]
    assert away.cdf(times) == pytest.approx(expected)
    assert away.cdf(away.quantile([0.1, 0.9])) == pytest.approx([0.1, 0.9])
    assert Away(10.0, from_spec("constant", {"value": 0.0})).cdf([9.0, 10.0]).tolist() == [0.0, 1.0]


@pytest.mark.parametrize(
    "named",
    [{"domain": "job"}, {"domain": "slice", "replace": False}, {"domain": "job", "replace": False}],
)
def test_what_is_not_replaced_is_not_repaired(named: dict[str, Any]) -> None:
    """A job's hardware stays, and so does what is told to: there is nothing to wait for."""
    found = strikes(world({"name": "x", "mtbi": "1 day", **named}))
    assert {strike.repair for strike in found} == {0}


def test_a_part_that_ages_is_repaired_for_as_long_as_said() -> None:
    """Also where that is less than a second, after a detection that is not."""
    life = {"weibull": {"shape": 1.5, "mean": "10 day"}}
    cause = {"name": "x", "domain": "slice", "lifetime": life, "detection": "10 s"}
    found = strikes(world({**cause, "repair": "0.5 s"}))
    assert {strike.repair for strike in found} == {ticks(0.5)}


def test_a_learner_that_hangs_goes_on_with_its_step() -> None:
    """Where its state is not lost nothing is done again; the stall is detection and restart."""
    hang = {"name": "hang", "domain": "job", "mtbi": "6 h", "state_lost": False}
    scenario = world(hang, duration="3 day", restart__time="5 min")
    result = simulate(scenario, "async_local_sgd")
    whole = 4 * 3 * DAY / result.failures
    assert result.failures > 5
    assert result.accounts["restart"] * whole == pytest.approx(300)
    assert result.accounts["detection"] * whole == pytest.approx(10)
    assert result.accounts["wasted_progress"] == 0.0
    assert result.goodput == pytest.approx(1 - 310 / whole)
