"""What is looked at of a scenario's histories before it runs: which units stand when."""

from __future__ import annotations

from typing import Any

import pytest
from scenario_text import scenario

from ddsim.forecast import forecast
from ddsim.forecast.standing import rounds, share_with
from ddsim.forecast.walk import Rules, apart, walk
from ddsim.world import cluster as clusters
from ddsim.world.histories import Histories

KILL = {"fault": "kill", "target": "unit 1", "at": "100 s", "for": "50 s"}


def walked(rules: Rules, overrides: dict[str, Any], span: float = 1000.0) -> Any:
    """What a walk meets in a scenario of four units."""
    world = scenario("", {"failures.detection": "10 s", **overrides})
    return walk(world, clusters.build(world), rules, Histories(0), span)


def test_rounds_wait_for_each_unit_that_stands() -> None:
    """Two that stand in one round hold all up as long as the longer, two of one unit for both."""
    assert rounds([], 10.0, 100.0, []) == 10.0
    assert rounds([(1.0, 11.0, 0), (2.0, 22.0, 1)], 10.0, 100.0, []) == 8.0
    assert rounds([(1.0, 11.0, 0), (12.0, 22.0, 0)], 10.0, 100.0, []) == 8.0


def test_what_stands_after_its_own_share_of_a_round_delays_the_next() -> None:
    """While one waits for the others anyway, it stands at no cost."""
    assert rounds([(0.0, 20.0, 0), (12.0, 18.0, 1)], 10.0, 100.0, []) == 8.0
    assert rounds([(0.0, 20.0, 0), (12.0, 35.0, 1)], 10.0, 100.0, []) == pytest.approx(7.5)


def test_a_round_with_a_spoiled_end_begins_anew() -> None:
    """All that end while a unit is away are lost."""
    assert rounds([], 10.0, 100.0, [(25.0, 45.0, 0)]) == 8.0


def test_a_quorum_moves_while_few_enough_stand() -> None:
    """At most as many as are not needed."""
    stands = [(0.0, 50.0, 0), (25.0, 75.0, 1)]
    assert share_with(stands, 100.0, 0) == 0.25
    assert share_with(stands, 100.0, 1) == 0.75
    assert share_with(stands, 100.0, 2) == 1.0


def test_a_unit_stands_once_at_a_time() -> None:
    """What overlaps of one is joined, of another it is not."""
    spans = [(0.0, 5.0, 0), (3.0, 8.0, 0), (4.0, 20.0, 1)]
    found = apart(spans, 10.0)
    assert found == [(0.0, 5.0, 0), (4.0, 10.0, 1), (5.0, 8.0, 0)]


def test_a_lost_unit_stands_until_it_has_started_again() -> None:
    """Away as long as its hardware is, then for its restart."""
    met = walked(Rules(30.0), {"chaos": [KILL]})
    ((since, until, unit),) = met.lost
    assert (since, unit) == (100.0, 1)
    assert met.stalls == [(until, until + 30.0, 1)]


def test_a_job_that_needs_all_stands_as_one() -> None:
    """From the strike until what failed is back and it has restarted."""
    one = Rules(30.0, one=True, needs_all=True)
    ((since, until, _),) = walked(one, {"chaos": [KILL]}).stalls
    (lost,) = walked(Rules(30.0), {"chaos": [KILL]}).lost
    assert (since, until) == (100.0, lost[1] + 30.0)


@pytest.mark.parametrize("extends", [False, True])
def test_what_comes_while_a_job_stands_is_folded_in_or_begins_it_anew(extends: bool) -> None:
    """It waits until all are back either way, and restarts once more where that is the rule."""
    later = {**KILL, "target": "unit 2", "at": "130 s"}
    one = Rules(60.0, one=True, needs_all=True, extends=extends)
    stalls = walked(one, {"chaos": [KILL, later]}).stalls
    first, second = (item[1] for item in walked(Rules(60.0), {"chaos": [KILL, later]}).lost)
    assert stalls[0][0] == 100.0
    assert stalls[-1][1] == (second + 60.0 if extends else max(first + 60.0, second))


def test_strikes_that_a_job_stands_for_anyway_cost_less() -> None:
    """They change nothing that it does: neither what is kept of it nor the time for that."""
    often = {"failures.chip_mtbi": "1 h", "failures.repair": "1 min", "duration": "10 h"}
    long, short = (
        forecast(
            scenario("", {**often, "elastic.downscale": time}).choose(["elastic_data_parallel"])
        )
        for time in ("1 h", "0.01 s")
    )
    assert long.strikes == short.strikes
    assert long.seconds < short.seconds / 2
    assert long.memory < short.memory


def test_a_walk_ends_after_so_many_strikes() -> None:
    """What comes later is reckoned to be like it."""
    met = walked(Rules(1.0), {"failures.chip_mtbi": "1 h"}, 1e6)
    assert met.drawn == 1000
    assert met.span == pytest.approx(1000 / 64 * 3600.0, rel=0.2)
