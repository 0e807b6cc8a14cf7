"""The naive model against pencil and paper: replacing, restoring and saving."""

from dataclasses import replace

import pytest
from naive.case import Case, StrikeCase
from naive.hand import about, books, nonzero, run, slice_strike, spans, units

RIGID = Case(
    method="data_parallel",
    duration=8.25,
    units=units(1.0, 1.0),
    strikes=(slice_strike(2.5, repair=2.0),),
    restore=0.5,
    restart_time=1.0,
)


def test_data_parallel_detects_strands_restores_and_restarts() -> None:
    """Down at 2.5, detected at 3.5, repaired at 5.5, running from step 0 again at 7 s."""
    result = run(RIGID)
    assert result.steps == [1, 1]
    assert result.spans[1] == spans(
        (0.0, 2.5, "running", 1),
        (2.5, 3.5, "detection", 1),
        (3.5, 5.5, "stranded", 1),
        (5.5, 6.0, "checkpoint_restore", 1),
        (6.0, 7.0, "restart", 1),
        (7.0, 8.25, "running", 1),
    )
    assert nonzero(result.accounts[0]) == books(
        productive=1.25,
        wasted_progress=2.5,
        failed_hardware=3.0,
        checkpoint_restore=0.5,
        restart=1.0,
    )


def test_a_spare_takes_the_place_when_detection_ends() -> None:
    """Nobody is stranded; another spare is always unallocated: idle, or being repaired."""
    result = run(replace(RIGID, spares=1))
    assert result.spans[0] == spans(
        (0.0, 2.5, "running", 1),
        (2.5, 3.5, "failed_hardware", 0),
        (3.5, 4.0, "checkpoint_restore", 1),
        (4.0, 5.0, "restart", 1),
        (5.0, 8.25, "running", 1),
    )
    assert result.accounts[2] == books(unallocated=8.25)
    assert result.steps == [3, 3]


TWO_STRIKES = replace(
    RIGID,
    duration=12.0,
    restore=0.0,
    strikes=(slice_strike(2.5, repair=2.0), slice_strike(4.0, unit=1, repair=5.0)),
    units=units(1.0, 1.0, 1.0),
)


def test_absorb_strands_at_the_end_for_a_place_emptied_meanwhile() -> None:
    """Known places are filled at 5.5 s; the other is at 10 s, and no second restart follows."""
    result = run(replace(TWO_STRIKES, restart_rule="absorb"))
    assert result.spans[2][1:] == spans(
        (2.5, 3.5, "detection", 1),
        (3.5, 5.5, "stranded", 1),
        (5.5, 6.5, "restart", 1),
        (6.5, 10.0, "stranded", 1),
        (10.0, 12.0, "running", 1),
    )


def test_absorb_awaits_only_places_known_to_be_empty_when_detection_ends() -> None:
    """The second strike, at 3 s, is detected at 4: it strands at the end, from 6.5 s on."""
    strikes = (TWO_STRIKES.strikes[0], slice_strike(3.0, unit=1, repair=6.0))
    result = run(replace(TWO_STRIKES, strikes=strikes, restart_rule="absorb"))
    assert result.spans[2][2:] == spans(
        (3.5, 5.5, "stranded", 1),
        (5.5, 6.5, "restart", 1),
        (6.5, 10.0, "stranded", 1),
        (10.0, 12.0, "running", 1),
    )


def test_extend_starts_the_order_of_recovery_again() -> None:
    """Detection again at 4 s, stranded for both places, restart at 10 s."""
    result = run(replace(TWO_STRIKES, restart_rule="extend"))
    assert result.spans[2][1:] == spans(
        (2.5, 3.5, "detection", 1),
        (3.5, 4.0, "stranded", 1),
        (4.0, 5.0, "detection", 1),
        (5.0, 10.0, "stranded", 1),
        (10.0, 11.0, "restart", 1),
        (11.0, 12.0, "running", 1),
    )


SAVING = Case(
    method="data_parallel",
    duration=8.25,
    units=units(1.0),
    checkpoint_policy="fixed",
    interval=2.5,
    save=0.5,
    restart_time=1.0,
)


def test_a_fixed_interval_saves_at_the_first_boundary_past_it() -> None:
    """Saves from 3 to 3.5 and from 6.5 to 7 s."""
    result = run(SAVING)
    assert result.steps == [7]
    assert nonzero(result.accounts[0]) == books(productive=7.25, checkpoint_save=1.0)


def test_a_strike_during_a_save_voids_it() -> None:
    """Struck at 3.25 s, 0.25 s into the save of three steps: all three are lost."""
    strikes = (slice_strike(3.25, detection=0.0, repair=1.0),)
    result = run(replace(SAVING, strikes=strikes, duration=7.0))
    assert result.steps == [1]
    assert nonzero(result.accounts[0]) == books(
        productive=1.75, wasted_progress=3.0, checkpoint_save=0.25, failed_hardware=1.0, restart=1.0
    )


def test_a_strike_after_a_save_costs_what_came_after_it() -> None:
    """Struck at 4.25 s: three steps are kept, three quarters of the fourth are not."""
    strikes = (slice_strike(4.25, detection=0.0, repair=10.0),)
    result = run(replace(SAVING, strikes=strikes))
    assert result.steps == [3]
    assert result.accounts[0]["wasted_progress"] == about(0.75)


def test_stalls_do_not_count_towards_the_next_save() -> None:
    """Stalled from 1.5 to 4.5 s, the job has run 2.5 s only when step 3 ends, at 6 s."""
    case = replace(
        SAVING,
        method="elastic_data_parallel",
        units=units(1.0, slices=2),
        strikes=(slice_strike(1.5),),
        downscale=2.0,
        duration=6.25,
    )
    result = run(case)
    assert result.steps == [3]
    assert result.accounts[0]["checkpoint_save"] == about(0.25)


def test_copies_in_memory_survive_any_strike() -> None:
    """Two steps and saves of 0.25 s fit before 2.5 s: nothing but restart follows."""
    strikes = (slice_strike(2.75, detection=0.0, repair=1.0),)
    case = replace(SAVING, checkpoint_policy="in_memory", save=0.25, strikes=strikes)
    result = run(replace(case, duration=4.75))
    assert result.steps == [2]
    assert nonzero(result.accounts[0]) == books(
        productive=2.0, wasted_progress=0.25, checkpoint_save=0.5, failed_hardware=1.0, restart=1.0
    )


def corrupted(since: float) -> tuple[StrikeCase, ...]:
    """What is lost at 7.25 s had corrupted the state unnoticed."""
    return (replace(slice_strike(7.25, detection=0.0, repair=1.0), since=since),)


@pytest.mark.parametrize(("since", "steps"), [(7.1, 6), (6.9, 3), (3.5, 3), (3.4, 0)])
def test_corruption_costs_what_came_after_the_last_save_before_it(since: float, steps: int) -> None:
    """Saves are there at 3.5 and 7 s, of three and of six steps."""
    result = run(replace(SAVING, duration=9.5, strikes=corrupted(since)))
    assert result.steps == [steps]


@pytest.mark.parametrize(("since", "steps"), [(7.1, 7), (6.9, 0)])
def test_copies_in_memory_are_of_the_last_step_alone(since: float, steps: int) -> None:
    """The last is from 7 s; what was corrupt by then is found too late for any."""
    case = replace(SAVING, checkpoint_policy="in_memory", save=0.0, duration=9.5)
    assert run(replace(case, strikes=corrupted(since))).steps == [steps]


def test_corruption_that_is_found_in_a_stall_costs_more_steps_and_no_stall() -> None:
    """Lost at 7.25 s, back to six steps; within the restart the save of 7 s is found corrupt."""
    strikes = (
        slice_strike(7.25, detection=0.0, repair=0.5),
        replace(slice_strike(8.0, detection=0.0, repair=0.25), since=5.0),
    )
    result = run(replace(SAVING, restart_rule="absorb", strikes=strikes, duration=9.0))
    assert result.steps == [3]
    assert result.spans[0][-1][:3] == (8.75, 9.0, "running")
