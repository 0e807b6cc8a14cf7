"""Every case that `benchmarks/` times, counted in events: on its size, over a short time."""

from __future__ import annotations

import pytest
from by_hand import BY_HAND, World
from performance_page import PAGE, Row, page
from speed_cases import (
    DAYS,
    LARGE_CHIPS,
    POLICIES,
    SIXTEEN_THOUSAND,
    SMALL_CHIPS,
    STRIKES,
    Case,
    sized,
)

import ddsim
from ddsim.simulation import simulate
from ddsim.study import sweep

# The strike, the end of its stall, the return, the end of the stall that this brings; with spares
# also the detection that frees one and the return of the slice that becomes one.
EVENTS_A_STRIKE = {
    "elastic_data_parallel, 1.2 million chips, 8 units": 3.2,
    "data_parallel, 1.2 million chips": 5.0,
    "elastic_data_parallel, 4,096 nodes, spares": 4.2,
    "data_parallel, 4,096 nodes, spares": 5.2,
}


@pytest.mark.parametrize("name", STRIKES)
def test_a_strike(name: str) -> None:
    """One more failure takes so many events, with repairs, spares and stalls."""
    case = STRIKES[name]
    few, many = (
        case.run(time, timeline=False)
        for time in (("2 day", "8 day") if "nodes" in name else ("1 h", "4 h"))
    )
    assert many.failures > few.failures + 300
    each = (many.events - few.events) / (many.failures - few.failures)
    assert each < EVENTS_A_STRIKE[name]


@pytest.mark.parametrize("name", STRIKES)
def test_a_strike_by_hand(name: str) -> None:
    """The shortest program of a case comes to the same: what it costs is a floor for ddsim."""
    case = STRIKES[name]
    time = "8 day" if "nodes" in name else "2 h"
    found, by_hand = case.run(time, timeline=False), BY_HAND[case.method](World(case.settled(time)))
    spent, there = sum(by_hand.spent.values()), 1.0 - found.accounts["unallocated"]
    assert found.failures == by_hand.failures > 250
    assert found.steps == by_hand.steps
    for account, ticks in by_hand.spent.items():
        assert found.accounts[account] == pytest.approx(ticks / spent * there, rel=1e-12)


@pytest.mark.parametrize("method", DAYS)
def test_hours_of_many_chips(method: str) -> None:
    """Methods of the DiLoCo family take at most 5 events a failure, none a step or a merge."""
    found = DAYS[method].run("20 min", timeline=False)
    assert found.failures > 33
    assert found.events < 5 * found.failures


def test_a_policy() -> None:
    """A policy is asked at the instants at which slots close and arrive, which takes no events."""
    fixed, adaptive = (case.run("0.5 h", timeline=False) for case in POLICIES.values())
    assert adaptive.events == fixed.events


@pytest.mark.parametrize(
    "method",
    ["elastic_data_parallel", pytest.param("decoupled_diloco", marks=pytest.mark.slow)],
)
def test_a_hundred_times_the_chips(method: str) -> None:
    """As many failures take as many events, whatever the number of chips."""
    few, many = (
        sized(method, chips).run("1 h", timeline=False) for chips in (SMALL_CHIPS, LARGE_CHIPS)
    )
    assert few.failures > 100
    assert few.failures == many.failures
    assert few.events == many.events


@pytest.mark.parametrize("method", ["elastic_data_parallel", "decoupled_diloco"])
def test_days_of_sixteen_thousand_chips(method: str) -> None:
    """Where failures are rare, time costs nothing: a handful of events each."""
    found = Case(method, overrides=SIXTEEN_THOUSAND).run("1 h", timeline=False)
    assert found.failures > 0
    assert found.events < 5 * (found.failures + 2)


def test_a_timeline_costs_no_events() -> None:
    """What is recorded is put together afterwards."""
    case = STRIKES["elastic_data_parallel, 1.2 million chips, 8 units"]
    kept, without = (case.run("1 h", timeline=timeline) for timeline in (True, False))
    assert kept.events == without.events
    assert len(kept.timeline) > 8 * kept.failures
    assert not without.timeline


def test_studies_keep_no_timeline(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sweep asks for none, whatever its scenario would keep in a run."""
    asked: list[bool] = []

    def watched(*given: object, timeline: bool = True, **ways: bool) -> object:
        asked.append(timeline)
        return simulate(*given, timeline=timeline, **ways)  # type: ignore[arg-type]

    monkeypatch.setattr("ddsim.study.work.simulate", watched)
    scenario = ddsim.load("llama3_16k", {"duration": "1 h"}).choose(["data_parallel"])
    sweep(scenario, {"failures.detection": ["1 s", "2 s"]}, replications=2)
    assert asked == [False] * 4


@pytest.mark.slow
def test_a_run_can_leave_its_timeline_out() -> None:
    """`timeline=False` keeps neither states nor merges, and changes no figure."""
    scenario = ddsim.load("four_regions_12b", {"duration": "2 min"}).choose(["decoupled_diloco"])
    kept, without = (
        ddsim.run(scenario, replications=2, timeline=timeline).results[0]
        for timeline in (True, False)
    )
    assert kept.timeline
    assert kept.merges
    assert not without.timeline
    assert not without.merges
    assert without.accounts == kept.accounts


def test_the_page_has_every_table() -> None:
    """docs/performance.md has a place for each table, and keeps its words when one is renewed."""
    before = PAGE.read_text(encoding="utf-8")
    parts = ["strikes", "runs", "memory", "studies", "recording"]
    after = page([Row(part, "a case", "1 us", "2 us") for part in parts], before)
    assert after.count("| a case | 1 us | 2 us |") == len(parts)
    assert after.splitlines()[0] == before.splitlines()[0]
    with pytest.raises(ValueError, match="no place for nothing"):
        page([Row("nothing", "a case", "", "")], before)
