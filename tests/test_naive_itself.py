"""The naive model against pencil and paper: steps in lock-step and stalls of an elastic body."""

from dataclasses import replace

import pytest
from naive.case import Case, LinkChange, StrikeCase
from naive.hand import about, books, far_apart, nonzero, run, slice_strike, spans, units
from naive.random_cases import METHOD_NAMES


def test_layers_are_reduced_first_in_first_out_behind_the_backward_pass() -> None:
    """L = 2: d = 0.2, releases at 0.8 and 1, 0.5 s each: 1.3, 1.8, and 2 phases of 0.1 s."""
    case = far_apart(
        1.0, 1.0, seconds=1.0, method="data_parallel", duration=8.5, layers=2, latency=0.1
    )
    result = run(case)
    assert result.steps == [4, 4]
    assert nonzero(result.accounts[0]) == books(productive=4.5, exposed_communication=4.0)
    assert result.wan_bytes == about(4 * 1.0 / 8)


def test_a_pipe_stands_still_while_a_region_is_cut_off() -> None:
    """The step of the test above, cut from 1.5 to 2.5 s, ends at 3.0 instead of 2.0 s."""
    cut = (LinkChange(1.5, "region 1", 0.0), LinkChange(2.5, "region 1", 1.0))
    case = far_apart(
        1.0,
        1.0,
        seconds=1.0,
        method="data_parallel",
        duration=4.5,
        layers=2,
        latency=0.1,
        link_changes=cut,
    )
    assert run(replace(case, duration=3.01)).steps == [1, 1]
    assert run(replace(case, duration=2.99)).steps == [0, 0]
    # 0.7 bits by 1.5 s and 0.2 more by 2.7 s.
    assert run(replace(case, duration=2.7)).wan_bytes == about(0.9 / 8)


def test_a_step_that_ends_at_the_horizon_is_not_counted() -> None:
    """The horizon is half-open; the chip-seconds of that step are booked all the same."""
    for method in METHOD_NAMES:
        case = Case(method=method, duration=4.0, units=units(1.0, 1.0))
        result = run(case)
        assert result.steps == [3, 3]
        assert nonzero(result.accounts[0]) == books(productive=4.0)


def test_a_fast_unit_waits_for_the_slowest_in_every_step_of_a_job() -> None:
    """1 s against 2 s: half of the fast unit's time is waiting_on_peers."""
    result = run(Case(method="data_parallel", duration=8.5, units=units(1.0, 2.0)))
    assert result.steps == [4, 4]
    assert nonzero(result.accounts[0]) == books(productive=4.5, waiting_on_peers=4.0)
    assert nonzero(result.accounts[1]) == books(productive=8.5)


def test_compute_ends_at_once_when_the_slowest_unit_is_lost() -> None:
    """No stall here: at 1.5 s the fast unit has computed its 1 s, and the step is complete."""
    case = Case(
        method="elastic_data_parallel",
        duration=3.0,
        units=units(1.0, 2.0),
        strikes=(slice_strike(1.5, unit=1, detection=0.0),),
    )
    result = run(case)
    assert result.steps == [2, 2]
    assert nonzero(result.accounts[0]) == books(productive=2.5, waiting_on_peers=0.5)
    assert result.tokens == about(2 * 0.5)


# Elastic stalls.

ELASTIC = Case(
    method="elastic_data_parallel",
    duration=10.25,
    units=units(1.0, slices=2),
    strikes=(slice_strike(2.5, repair=4.0),),
    downscale=2.0,
    upscale=1.0,
)


def test_a_stall_suspends_the_step_and_loses_nothing() -> None:
    """Steps end at 1, 2, 6 (half done at 2.5, on at 5.5), 7, 9 (half done at 7.5), 10."""
    result = run(ELASTIC)
    assert result.spans[0] == spans(
        (0.0, 2.5, "running", 2),
        (2.5, 3.5, "detection", 1),
        (3.5, 5.5, "elastic_downscale", 1),
        (5.5, 7.5, "running", 1),
        (7.5, 8.5, "elastic_upscale", 2),
        (8.5, 10.25, "running", 2),
    )
    assert nonzero(result.accounts[0]) == books(
        productive=10.5,
        failed_hardware=5.0,
        detection=1.0,
        elastic_downscale=2.0,
        elastic_upscale=2.0,
    )
    assert result.steps == [6]
    assert result.tokens == about(2 + 2 * 0.5 + 2)


def test_a_stall_of_no_length_does_not_exist() -> None:
    """Without detection, downscale and upscale a strike costs its chips alone."""
    strike = slice_strike(2.5, detection=0.0, repair=4.0)
    result = run(replace(ELASTIC, strikes=(strike,), downscale=0.0, upscale=0.0))
    assert result.steps == [10]
    assert nonzero(result.accounts[0]) == books(productive=16.5, failed_hardware=4.0)


def test_a_step_is_completed_before_hardware_of_the_same_instant_is_back() -> None:
    """Step 4 ends at 4 s on one slice; the other is back then, and the upscale begins."""
    strike = slice_strike(2.5, detection=0.0, repair=1.5)
    result = run(replace(ELASTIC, strikes=(strike,), downscale=0.0, duration=4.5))
    assert result.steps == [4]
    assert result.tokens == about(3.0)
    assert result.spans[0][-1] == spans((4.0, 4.5, "elastic_upscale", 2))[0]


THREE_SLICES = replace(
    ELASTIC,
    duration=9.0,
    units=units(1.0, slices=3),
    strikes=(slice_strike(2.5), slice_strike(4.0, index=1)),
)


def test_absorb_folds_a_strike_into_the_stall() -> None:
    """The stall of the first strike still ends at 5.5 s."""
    result = run(THREE_SLICES)
    assert result.spans[0] == spans(
        (0.0, 2.5, "running", 3),
        (2.5, 3.5, "detection", 2),
        (3.5, 4.0, "elastic_downscale", 2),
        (4.0, 5.5, "elastic_downscale", 1),
        (5.5, 9.0, "running", 1),
    )
    assert result.strikes == 2


def test_extend_pushes_the_end_and_sets_the_phases_anew() -> None:
    """The second strike, at 4 s, brings its own second of detection and two of downscale."""
    result = run(replace(THREE_SLICES, elastic_rule="extend"))
    assert result.spans[0][3:] == spans(
        (4.0, 5.0, "detection", 1), (5.0, 7.0, "elastic_downscale", 1), (7.0, 9.0, "running", 1)
    )


@pytest.mark.parametrize(("upscale", "end"), [(0.5, 5.5), (3.0, 7.5)])
def test_extend_leaves_a_stall_alone_that_ends_later_anyway(upscale: float, end: float) -> None:
    """A return at 4.5 s into a stall that ends at 5.5 s."""
    strikes = (slice_strike(2.5, repair=1.0),)
    case = replace(THREE_SLICES, strikes=strikes, elastic_rule="extend", upscale=upscale)
    phase = "elastic_upscale" if end > 5.5 else "elastic_downscale"
    assert run(case).spans[0][-2:] == spans((4.5, end, phase, 3), (end, 9.0, "running", 3))


def test_strikes_on_what_is_down_are_ignored() -> None:
    """The second strike names the slice that the first took."""
    twice = (*ELASTIC.strikes, slice_strike(6.0, repair=50.0))
    result = run(replace(ELASTIC, strikes=twice))
    assert result.strikes == 1
    assert result == run(ELASTIC)


def test_a_stalled_unit_does_not_age_under_stops() -> None:
    """The strike at 4 s falls into a stall."""
    result = run(replace(THREE_SLICES, age_while_down="stops"))
    assert result.strikes == 1
    assert result.spans[0][-1] == spans((5.5, 9.0, "running", 2))[0]


def test_a_unit_strike_brings_back_together_what_was_down() -> None:
    """One slice is due at 11 s, the strike on all at 2 s alone would be over at 5 s."""
    strikes = (
        slice_strike(1.0, detection=0.0, repair=10.0),
        StrikeCase(2.0, 0, (0, 1), 0.0, 3.0),
    )
    case = replace(ELASTIC, strikes=strikes, downscale=0.0, restart_time=1.0, duration=13.0)
    assert run(case).spans[0] == spans(
        (0.0, 1.0, "running", 2),
        (1.0, 2.0, "running", 1),
        (2.0, 11.0, "failed_hardware", 0),
        (11.0, 12.0, "restart", 2),
        (12.0, 13.0, "running", 2),
    )


LOST = Case(
    method="elastic_data_parallel",
    duration=9.0,
    units=units(1.0),
    strikes=(slice_strike(2.5, repair=2.0),),
    restart_time=1.0,
    restore=2.0,
)


def test_an_elastic_job_without_checkpoints_keeps_its_steps_when_lost_whole() -> None:
    """Half a step is wasted; hardware is back at 5.5 s, steps end at 7.5 and 8.5 s."""
    result = run(LOST)
    assert result.steps == [4]
    assert nonzero(result.accounts[0]) == books(
        productive=4.5, wasted_progress=0.5, failed_hardware=3.0, restart=1.0
    )


def test_an_elastic_job_with_checkpoints_goes_back_to_the_last() -> None:
    """The first save would come at 10 s: all is redone from 8.5 s on."""
    result = run(replace(LOST, checkpoint_policy="fixed", interval=10.0, duration=10.0))
    assert result.steps == [1]
    assert result.tokens == about(1.0)
    assert nonzero(result.accounts[0]) == books(
        productive=1.5,
        wasted_progress=2.5,
        failed_hardware=3.0,
        checkpoint_restore=2.0,
        restart=1.0,
    )
