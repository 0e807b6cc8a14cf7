"""Parts that fail more often than the others, and failures that take their time to be known."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from test_failures_causes import DAY, strikes, world

import ddsim
from ddsim.scenario import ScenarioError
from ddsim.world import cluster as clusters
from ddsim.world.causes import LemonParts, failure_rate
from ddsim.world.instants import ticks

SLICES = 32
LEMONS = {"share": 3 / 32, "factor": 20}


def cause(**more: object) -> dict[str, Any]:
    """Slices that fail every two days, unless said otherwise."""
    return {"name": "GPU", "domain": "slice", "mtbi": "2 day", **more}


def struck(**more: object) -> list[int]:
    """Which slice of all each failure of 20 days takes."""
    return [8 * s.unit + s.slices[0] for s in strikes(world(cause(**more)))]


def test_lemons_fail_as_many_times_as_often_as_said() -> None:
    """Of 29 ordinary slices and 3 that fail 20 times as often."""
    found = struck(lemons=LEMONS)
    assert len(found) == pytest.approx(20 / 2 * (29 + 3 * 20), rel=0.1)
    worst = sum(times for _, times in Counter(found).most_common(3))
    assert worst / len(found) == pytest.approx(60 / 89, abs=0.05)


def test_the_rate_that_is_expected_has_the_lemons_in_it() -> None:
    """What intervals between saves are derived from."""
    scenario = world(cause(lemons=LEMONS))
    rate = failure_rate(scenario, clusters.build(scenario))
    assert rate == pytest.approx((29 + 3 * 20) / (2 * DAY))


def test_a_count_is_of_all_failures_together() -> None:
    """Lemons change who fails, not how often."""
    often = {"mtbi": None, "count": 600, "per": "20 day"}
    found = struck(lemons=LEMONS, **often)
    assert len(found) == pytest.approx(600, rel=0.1)


def test_lemons_that_are_taken_out_fail_as_often_as_others_then() -> None:
    """After two failures each; the three of them have had six more than others have."""
    found = struck(lemons={**LEMONS, "out_after": 2})
    assert len(found) == pytest.approx(20 / 2 * 32 + 3 * 2, rel=0.1)


def test_lemons_leave_other_causes_alone() -> None:
    """Their draws are their own."""
    other = {"name": "other", "domain": "unit", "mtbi": "1 day"}
    alone = [s.time for s in strikes(world(other))]
    both = strikes(world(cause(lemons=LEMONS), other))
    assert [s.time for s in both if s.cause == "other"] == alone


@pytest.mark.parametrize(
    "more",
    [{"mtbi": None, "lifetime": {"weibull": {"shape": 2, "scale": "1 day"}}}, {"domain": "job"}],
)
def test_lemons_need_parts_of_constant_hazard(more: dict[str, Any]) -> None:
    """Neither ages nor a job."""
    with pytest.raises(ScenarioError, match="lemons"):
        world(cause(lemons=LEMONS, **more))


DRAWN = {"drawn": {"exponential": {"mean": "1 min"}}}


def test_every_failure_is_known_after_a_time_of_its_own() -> None:
    """Drawn, the same for every method; a cause may have its own."""
    one, again = (strikes(world(cause(), failures__detection=DRAWN)) for _ in range(2))
    times = [s.detection for s in one]
    assert times == [s.detection for s in again]
    assert len(set(times)) == len(times)
    assert sum(times) / len(times) == pytest.approx(ticks(60.0), rel=0.2)
    own = strikes(world(cause(detection=DRAWN)))
    assert len({s.detection for s in own}) == len(own)


def test_drawn_detection_moves_no_failure() -> None:
    """When and what fails is as with a constant one."""
    drawn = [(s.time, s.slices) for s in strikes(world(cause(), failures__detection=DRAWN))]
    assert drawn == [(s.time, s.slices) for s in strikes(world(cause()))]


def test_drawn_detection_is_what_the_books_have() -> None:
    """The slice that is left of two stands in it for as long as was drawn."""
    scenario = world(
        cause(repair="1 s"),
        failures__detection=DRAWN,
        cluster={"chips": 16, "chips_per_slice": 8},
        checkpoint={"policy": "in_memory"},
    )
    (result,) = ddsim.run(scenario, ["data_parallel"]).results
    known = sum(s.detection for s in strikes(scenario)) / ticks(1.0)
    assert result.accounts["detection"] * 20 * DAY == pytest.approx(known / 2)


def lemon_parts(parts: int, share: float, **more: object) -> LemonParts:
    """So many slices, whose lemons take all failures that there are."""
    lemons = {"share": share, "factor": 1e6, **more}
    return LemonParts(world(cause(lemons=lemons)).failures.causes[0], parts, 0, 0)


def test_every_lemon_is_another_part() -> None:
    """Sixteen of 32, each of which fails."""
    parts = lemon_parts(32, 0.5)
    assert len({parts.struck(0) for _ in range(400)}) == 16


def test_a_lemon_is_out_after_as_many_failures_as_said() -> None:
    """Not one sooner; then what it would have had besides is nobody's."""
    parts = lemon_parts(8, 0.1, out_after=2)
    first, second, *others = (parts.struck(0) for _ in range(5))
    assert first is not None
    assert first == second
    assert others == [None] * 3
