"""The naive model against pencil and paper: spares where a unit, or a job, goes on without."""

from dataclasses import replace

import pytest
from naive.case import Case, StrikeCase
from naive.hand import books, nonzero, run, slice_strike, spans, units
from naive.random_cases import METHOD_NAMES

ELASTIC_METHODS = METHOD_NAMES[1:]


def with_spare(method: str = "decoupled_diloco", **settings: object) -> Case:
    """Two slices, one of which is lost at 2.5 s and noticed at 3.5 s, and one spare."""
    case = Case(
        method,
        9.0,
        units(1.0, slices=2),
        strikes=(slice_strike(2.5, repair=90.0),),
        downscale=2.0,
        upscale=1.0,
        spares=1,
    )
    return replace(case, **settings)  # type: ignore[arg-type]


@pytest.mark.parametrize("method", ELASTIC_METHODS)
def test_a_spare_takes_the_place_when_detection_ends(method: str) -> None:
    """Its upscale falls into the stall, which ends at 5.5 s as it would without."""
    result = run(with_spare(method))
    assert result.spans[0] == spans(
        (0.0, 2.5, "running", 2),
        (2.5, 3.5, "detection", 1),
        (3.5, 5.5, "elastic_downscale", 2),
        (5.5, 9.0, "running", 2),
    )
    assert result.accounts[0]["failed_hardware"] == 1.0
    assert result.accounts[1] == books(unallocated=9.0)


def test_a_spare_costs_the_upscale_of_a_return() -> None:
    """Without a downscale the stall is over when it comes; under `extend` the longer one counts."""
    alone = run(with_spare(downscale=0.0)).spans[0]
    assert alone[1:3] == spans((2.5, 3.5, "detection", 1), (3.5, 4.5, "elastic_upscale", 2))
    longer = run(with_spare(upscale=3.0, elastic_rule="extend")).spans[0]
    assert longer[1:3] == spans((2.5, 3.5, "detection", 1), (3.5, 6.5, "elastic_upscale", 2))


@pytest.mark.parametrize("detection", [0.0, 1.0])
def test_a_unit_lost_whole_restarts_on_spares(detection: float) -> None:
    """Both slices are lost, one spare is there: the restart has one, and the unit is not whole."""
    strikes = (StrikeCase(2.5, 0, (0, 1), detection, 90.0),)
    result = run(with_spare(strikes=strikes, restart_time=2.0))
    noticed = 2.5 + detection
    assert result.spans[0][-2:] == spans(
        (noticed, noticed + 2.0, "restart", 1), (noticed + 2.0, 9.0, "running", 1)
    )
    assert result.accounts[0]["wasted_progress"] == 1.0


def test_spares_stand_in_the_regions_in_turn() -> None:
    """One spare, in the first region: a unit of the second waits for its repair."""
    strikes = (slice_strike(2.5, unit=1, repair=4.0),)
    case = with_spare(units=units(1.0, 1.0, slices=2, regions=2), strikes=strikes)
    case = replace(case, capacity={"region 0": 1.0, "region 1": 1.0})
    assert run(case).spans[1][1:3] == spans(
        (2.5, 3.5, "detection", 1), (3.5, 5.5, "elastic_downscale", 1)
    )
    assert run(replace(case, spares=2)).spans[1][2][3] == 2


def test_a_repaired_slice_is_a_spare() -> None:
    """The slice lost at 2.5 s is back at 4.5 s, and takes the place that is lost at 6 s."""
    strikes = (slice_strike(2.5, repair=1.0), slice_strike(6.0, index=1, repair=90.0))
    result = run(with_spare(strikes=strikes, duration=10.0))
    assert result.spans[0][-3:] == spans(
        (6.0, 7.0, "detection", 1), (7.0, 9.0, "elastic_downscale", 2), (9.0, 10.0, "running", 2)
    )
    assert nonzero(result.accounts[1]) == books(unallocated=10.0)


def test_a_slice_that_has_left_its_place_keeps_its_own_time() -> None:
    """One slice is due at 11 s, a spare in its place; what is lost at 2 s is back at 5 s."""
    strikes = (
        slice_strike(1.0, detection=0.0, repair=10.0),
        StrikeCase(2.0, 0, (0, 1), 0.0, 3.0),
    )
    case = with_spare(strikes=strikes, downscale=0.0, upscale=0.0, duration=12.0)
    assert run(case).spans[0] == spans(
        (0.0, 2.0, "running", 2), (2.0, 5.0, "failed_hardware", 0), (5.0, 12.0, "running", 2)
    )


def test_a_slice_that_still_stands_in_its_place_comes_back_with_the_others() -> None:
    """Lost at 1 s and not noticed before 3 s; the other, at 2 s, at once: the spare is its own.

    The first is due at 11 s, and the second, due at 5 s alone, with it.
    """
    strikes = (
        slice_strike(1.0, detection=2.0, repair=8.0),
        StrikeCase(2.0, 0, (0, 1), 0.0, 3.0),
    )
    case = with_spare(strikes=strikes, downscale=0.0, upscale=0.0, duration=12.0)
    assert run(case).spans[0] == spans(
        (0.0, 1.0, "running", 2),
        (1.0, 2.0, "detection", 1),
        (2.0, 11.0, "running", 1),
        (11.0, 12.0, "running", 2),
    )
