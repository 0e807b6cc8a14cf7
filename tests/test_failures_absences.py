"""Hardware that is out of the job: maintenance, scavenging, preemption and replayed traces."""

from __future__ import annotations

import os
from itertools import islice
from pathlib import Path

import pytest

import ddsim
from ddsim.loading import known
from ddsim.logs import read
from ddsim.results import MethodResult
from ddsim.scenario import Scenario, read_text, validate
from ddsim.world import cluster as clusters
from ddsim.world.history import FailureHistory
from ddsim.world.instants import ticks

DAY, HOUR = 86400.0, 3600.0
TEXT = """\
duration: 10 day
seed: 4
model: {parameters: 1e9, layers: 24}
training: {step_time: 12 min, inner_steps: 10, fragments: 2}
cluster: {chips: 256, chips_per_slice: 8, learners: 4}
network: {regions: [east, west]}
failures: {detection: 10 s, repair: 20 min}
restart: {time: 5 min}
checkpoint: {policy: fixed, interval: 1 h, save: 5 s, restore: 1 min}
"""
METHODS = (
    "data_parallel",
    "elastic_data_parallel",
    "diloco",
    "streaming_diloco",
    "decoupled_diloco",
)
NIGHT = "[{target: unit 3, joins: 20 h, leaves: 32 h, every: 1 day}]"
TRACES = os.environ.get("DDSIM_TRACES")


def world(more: str = "", **settings: object) -> Scenario:
    """The scenario with more YAML below it, and settings whose keys have __ for dots."""
    named = {key.replace("__", "."): value for key, value in settings.items()}
    return validate(read_text(TEXT + more, "absent.yaml").with_overrides(named), known())


def one(scenario: Scenario, method: str) -> MethodResult:
    """What one method made of the scenario."""
    return ddsim.run(scenario, methods=[method]).results[0]


@pytest.mark.parametrize("method", METHODS)
def test_what_is_away_is_unallocated_and_no_failure(method: str) -> None:
    """A quarter of the chips is out from 8 h to 20 h of every day, and all of the first 20 h."""
    result = one(world(f"scavenging: {NIGHT}\n"), method)
    away = (20 + 9 * 12) * HOUR / 4
    assert result.accounts["unallocated"] == pytest.approx(away / (10 * DAY), rel=1e-9)
    assert result.failures == 0
    assert result.accounts["failed_hardware"] == 0.0
    assert sum(result.accounts.values()) == pytest.approx(1.0)


def test_a_unit_that_joins_restarts() -> None:
    """It is unallocated until it is there, then in `restart`; the other learners go on."""
    result = one(world(f"scavenging: {NIGHT}\n"), "decoupled_diloco")
    assert result.accounts["restart"] == pytest.approx(10 * 300 / 4 / (10 * DAY), rel=1e-9)
    assert result.uptime == pytest.approx(1.0, abs=1e-3)


def test_a_unit_that_never_joins_is_as_good_as_none() -> None:
    """The others' goodput is that of a cluster without it."""
    absent = one(world("scavenging: [{target: unit 3, joins: 30 day}]\n"), "elastic_data_parallel")
    without = one(world(cluster__chips=192, cluster__learners=3), "elastic_data_parallel")
    assert absent.goodput == pytest.approx(without.goodput, rel=1e-3)
    assert absent.accounts["unallocated"] == pytest.approx(0.25)


@pytest.mark.parametrize("method", ["diloco", "streaming_diloco", "decoupled_diloco"])
def test_a_slice_that_never_joins_counts_in_no_step(method: str) -> None:
    """From the beginning: the tokens are those of the chips that are there, and nothing stalls."""
    away = one(
        world("scavenging: [{target: unit 3/slice 0, joins: 30 day}]\n", duration="9 h"), method
    )
    whole = one(world(duration="9 h"), method)
    assert away.tokens == pytest.approx(whole.tokens * (256 - 8) / 256)
    assert away.accounts["elastic_downscale"] == away.accounts["detection"] == 0.0


def test_the_rigid_job_restarts_when_something_leaves_or_joins() -> None:
    """Leaving costs detection, restore and restart, joining a restart."""
    result = one(world(f"scavenging: {NIGHT}\n"), "data_parallel")
    leaves, joins = 9, 10
    away = result.accounts["restart"] * 10 * DAY
    # a quarter of the chips is away in the restart after leaving
    assert away == pytest.approx((leaves * 0.75 + joins) * 300, rel=1e-9)
    assert result.accounts["checkpoint_restore"] * 10 * DAY == pytest.approx(leaves * 0.75 * 60)


def test_what_joins_while_a_failure_is_being_detected_restarts_nothing() -> None:
    """It is there when the job starts again, which is once the failed slice is back."""
    at = f"{20 * HOUR - 5} s"
    kill = f"chaos: [{{at: {at}, fault: kill, target: unit 0/slice 0, for: 30 min}}]\n"
    scenario = world(f"scavenging: {NIGHT}\n{kill}", duration="1 day", restart__stall_rule="extend")
    result = one(scenario, "data_parallel")
    chip_seconds = {name: share * DAY * 256 for name, share in result.accounts.items()}
    assert chip_seconds["detection"] == pytest.approx(5 * 184 + 5 * 248)
    assert chip_seconds["stranded"] == pytest.approx((1800 - 10) * 248)


def test_what_leaves_no_longer_than_it_is_down_has_failed() -> None:
    """A slice that is back just when a window over it ends was never taken out of the job."""
    windows = "[{target: unit 1/slice 0, at: 3 h, for: 30 min}]"
    kill = "chaos: [{at: 150 min, fault: kill, target: unit 1/slice 0, for: 1 h}]\n"
    scenario = world(kill, duration="5 h", failures__maintenance=windows)
    result = one(scenario, "elastic_data_parallel")
    assert result.accounts["unallocated"] == 0.0
    assert result.accounts["failed_hardware"] == pytest.approx(8 / 256 / 5)


def test_maintenance_loses_no_work() -> None:
    """A planned window is known before: nothing is detected, restored or done again."""
    windows = "[{target: unit 1, at: 10 h, for: 2 h, every: 1 day}]"
    result = one(world(failures__maintenance=windows), "data_parallel")
    for account in ("detection", "checkpoint_restore", "wasted_progress", "failed_hardware"):
        assert result.accounts[account] == 0.0
    assert result.accounts["unallocated"] == pytest.approx(10 * 2 * HOUR / 4 / (10 * DAY))
    assert result.accounts["restart"] * 10 * DAY == pytest.approx(10 * (0.75 + 1) * 300)


@pytest.mark.parametrize(("notice", "lost"), [("0 s", True), ("4 s", True), ("5 s", False)])
def test_a_warning_as_long_as_a_save_spares_the_work(notice: str, lost: bool) -> None:
    """With less, the job goes back to its last save."""
    causes = [
        {
            "name": "spot",
            "domain": "slice",
            "mtbi": "50 day",
            "unallocated": True,
            "notice": notice,
        }
    ]
    result = one(world(failures__causes=causes), "data_parallel")
    assert result.failures > 2
    assert (result.accounts["wasted_progress"] > 0.0) is lost
    assert (result.accounts["checkpoint_restore"] > 0.0) is lost


@pytest.mark.slow
def test_what_fails_and_then_leaves_stays_away() -> None:
    """A slice under repair does not come back to a unit that has left in the meantime."""
    chaos = "chaos: [{at: 31 h, fault: kill, target: unit 3/slice 0, for: 2 h}]\n"
    result = one(world(f"scavenging: {NIGHT}\n{chaos}"), "decoupled_diloco")
    plain = one(world(f"scavenging: {NIGHT}\n"), "decoupled_diloco")
    assert result.accounts["unallocated"] == pytest.approx(plain.accounts["unallocated"])
    assert result.accounts["restart"] == pytest.approx(plain.accounts["restart"])
    assert result.accounts["failed_hardware"] == pytest.approx(HOUR * 8 / 256 / (10 * DAY))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("rule", ["absorb", "extend"])
@pytest.mark.parametrize("spares", [pytest.param(0, marks=pytest.mark.slow), 2])
def test_accounts_close_when_everything_happens_at_once(
    method: str, rule: str, spares: int
) -> None:
    """Failures of every domain, absences, maintenance and preemptions overlap; all is booked."""
    causes = [
        {"name": "chip", "domain": "chip", "mtbi": "100 day"},
        {"name": "spot", "domain": "slice", "mtbi": "20 day", "unallocated": True},
        {"name": "unit", "domain": "unit", "mtbi": "5 day", "burst": {"size": 2}},
        {"name": "crash", "domain": "job", "mtbi": "1 day", "replace": False},
    ]
    scenario = world(
        f"scavenging: {NIGHT}\n",
        duration="4 day",
        failures__causes=causes,
        failures__repair="2 h",
        failures__maintenance="[{target: unit 3/slice 0-3, at: 30 h, for: 20 h, every: 2 day}]",
        elastic__stall_rule=rule,
        restart__stall_rule=rule,
        restart__spares=spares,
    )
    result = one(scenario, method)
    assert sum(result.accounts.values()) == pytest.approx(1.0, rel=1e-9)
    assert min(result.accounts.values()) >= -1e-12
    assert result.accounts["productive"] > 0.1


def test_a_replayed_trace_has_its_share_of_slices_at_every_time(tmp_path: Path) -> None:
    """round(nodes / most nodes x slices) slices are in the job."""
    file = tmp_path / "counts.csv"
    file.write_text("0,4\n3600000,3\n7200000,1\n10800000,4\n14400000,2\n18000000,2\n")
    scenario = world(trace__file=str(file), duration="10 h", trace__repeat=True)
    strikes = list(FailureHistory(scenario, clusters.build(scenario)))
    for time, nodes in [(0.5, 4), (1.5, 3), (2.5, 1), (3.5, 4), (4.5, 2), (5.5, 4), (9.5, 2)]:
        out = sum(
            len(strike.slices)
            for strike in strikes
            if strike.time <= ticks(time * HOUR) < strike.time + strike.detection + strike.repair
        )
        assert 32 - out == nodes * 8


@pytest.mark.slow
@pytest.mark.parametrize(("low", "taken"), [(20, 100), (64, 0)])
def test_a_trace_repeats_as_long_as_it_is_asked(tmp_path: Path, low: int, taken: int) -> None:
    """A run without an end takes what it comes to; one that takes nothing is at its end at once."""
    file = tmp_path / "trace.csv"
    file.write_text(f"0,64\n3600000,{low}\n7200000,64\n", encoding="utf-8")
    settings = {"trace__repeat": True, "duration": "never", "training__tokens": 1e9}
    scenario = world("", trace__file=str(file), **settings)
    history = iter(FailureHistory(scenario, clusters.build(scenario)))
    first = list(islice(history, 100))
    assert len(first) == taken
    turns = {strike.time // ticks(2 * HOUR) for strike in first}
    assert turns == set(range(len(turns)))


def test_a_trace_that_starts_low_costs_nothing_at_the_start(tmp_path: Path) -> None:
    """Slices that were never there need no reconfiguring."""
    file = tmp_path / "counts.csv"
    file.write_text("0,2\n1000,2\n8640000000,4\n")
    for method in METHODS:
        result = one(world(trace__file=str(file)), method)
        assert result.accounts["unallocated"] == pytest.approx(0.5)
        assert result.accounts["elastic_downscale"] == 0.0
        assert result.accounts["restart"] == 0.0


@pytest.mark.slow
def test_every_method_lives_through_the_shipped_trace() -> None:
    """All methods meet the same preemptions, and their accounts close."""
    results = ddsim.run(ddsim.load("spot_trace", {"cluster.jitter": 0})).results
    assert [result.method for result in results] == list(METHODS)
    assert len({result.accounts["unallocated"] for result in results}) == 1
    for result in results:
        assert sum(result.accounts.values()) == pytest.approx(1.0, rel=1e-9)
        assert result.accounts["productive"] > 0.3


@pytest.mark.skipif(
    TRACES is None, reason="DDSIM_TRACES does not name a folder with the published traces"
)
@pytest.mark.parametrize("name", ["bamboo/p3-trace.csv", "bamboo/a100x1-east1b.txt"])
def test_every_method_lives_through_a_real_trace(name: str) -> None:
    """As many chips are unallocated as the trace's mean number of nodes says."""
    file = Path(TRACES or ".") / name
    times, counts = read(file).capacity()  # type: ignore[union-attr]
    scenario = world(trace__file=str(file), duration=f"{float(times[-1])} s")
    for result in ddsim.run(scenario).results:
        assert sum(result.accounts.values()) == pytest.approx(1.0, rel=1e-9)
        held = float((times[1:] - times[:-1]) @ counts[:-1]) / float(times[-1])
        missing = 1.0 - held / float(counts.max())
        assert result.accounts["unallocated"] == pytest.approx(missing, abs=1 / 64)
