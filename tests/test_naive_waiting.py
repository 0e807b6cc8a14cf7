"""The naive model against pencil and paper: data that are late, and units that join in mid-step."""

from dataclasses import replace

import pytest
from naive.case import Case
from naive.hand import about, books, decoupled, far_apart, nonzero, run, slice_strike, units
from naive.random_cases import METHOD_NAMES


def of_unit(late: int, seconds: float, unit: int, k: int) -> float:
    """The data of one unit's steps are late."""
    return seconds if unit == late else 0.0


def half_a_second(unit: int, k: int) -> float:
    """All data are late."""
    return 0.5


@pytest.mark.parametrize("method", METHOD_NAMES)
def test_a_step_waits_for_its_data_before_its_compute(method: str) -> None:
    """Steps of 1 s end at 1.5 and 3 s; the third has waited and not yet computed at 3.5 s."""
    case = Case(method, 3.5, units(1.0), delay=half_a_second)
    result = run(case)
    assert result.steps == [2]
    assert nonzero(result.accounts[0]) == books(productive=2.0, waiting_on_data=1.5)


@pytest.mark.parametrize("method", ["data_parallel", "diloco", "decoupled_diloco"])
def test_others_wait_for_a_unit_that_waits_for_its_data_as_for_a_slow_one(method: str) -> None:
    """H = 1, K = M, tau = 0: rounds of 1.5 s, in which the others wait for half a second."""
    case = Case(method, 3.0, units(1.0, 1.0), quorum=2)
    result = run(replace(case, delay=lambda unit, k: of_unit(1, 0.5, unit, k)))
    assert nonzero(result.accounts[0]) == books(productive=2.0, waiting_on_peers=1.0)
    assert nonzero(result.accounts[1]) == books(productive=2.0, waiting_on_data=1.0)


def test_the_grace_knows_no_delay() -> None:
    """tau = 1, gamma = 0.5: half of a second of compute after the first answer at 1.5 s."""
    case = decoupled(1.0, 1.8, duration=2.25, overlap_steps=1, grace=0.5, delay=half_a_second)
    assert run(case).merges == [(1, 2.0, 2.0, (0,))]


def test_who_is_lost_while_its_data_are_late_loses_no_compute() -> None:
    """Lost at 1.75 s, a quarter of a second before its second step would have computed."""
    case = decoupled(1.0, duration=2.0, delay=half_a_second, strikes=(slice_strike(1.75),))
    assert nonzero(run(case).accounts[0]) == books(
        productive=1.0, waiting_on_data=0.75, failed_hardware=0.25
    )


def test_a_stall_suspends_the_wait_for_data() -> None:
    """Struck at 0.25 s, stalled until 1.25 s: a quarter of a second of waiting and 1 s remain."""
    strikes = (slice_strike(0.25),)
    case = decoupled(1.0, duration=2.5, delay=half_a_second, strikes=strikes)
    result = run(replace(case, units=units(1.0, slices=2)))
    assert nonzero(result.accounts[0]) == books(
        productive=1.0, waiting_on_data=0.25 * 2 + 0.25, detection=1.0, failed_hardware=2.25
    )
    assert result.steps == [0]


def test_what_waits_for_its_data_does_not_age_under_stops() -> None:
    """A strike within the first half second is none."""
    case = decoupled(1.0, duration=2.0, delay=half_a_second, strikes=(slice_strike(0.25),))
    assert run(replace(case, age_while_down="stops")).strikes == 0


def test_what_a_step_needs_at_once_is_awaited_before_its_data() -> None:
    """L = P = H = 2, tau = 0: step 2 ends at 2.4 s, layer 1 is there at 2.7 s, its data at 2.9 s.

    Layer 2 of step 1 was released at 1 s and is there long before it is needed, at 1.8 s.
    """
    case = far_apart(1.0, 1.0, seconds=0.0, method="streaming_diloco", duration=4.05)
    case = replace(case, inner_steps=2, fragments=2, layers=2, latency=0.15)
    result = run(replace(case, delay=lambda unit, k: 0.2))
    assert [merge[:2] for merge in result.merges] == [(1, 1.2), (2, about(2.4)), (3, about(3.9))]
    assert nonzero(result.accounts[0]) == books(
        productive=3.0, waiting_on_data=0.75, exposed_communication=0.3
    )


def joining(*strikes: float, duration: float, layers: int = 1) -> Case:
    """Two units of 1 s and one of 2 s, which is lost at once and back at a given time."""
    lost, back = strikes
    return far_apart(
        1.0,
        1.0,
        2.0,
        seconds=1.0,
        method="elastic_data_parallel",
        duration=duration,
        layers=layers,
        strikes=(slice_strike(lost, unit=2, detection=0.0, repair=back - lost),),
    )


def test_a_unit_that_joins_in_mid_step_delays_its_reduction() -> None:
    """Step 1, without it, until 2 s; in step 2 it joins at 2.5 s and has computed at 4 s.

    The ring of the two others needs three quarters of a second from then on.
    """
    case = joining(0.25, 2.5, duration=4.7)
    assert run(case).steps == [1, 1, 1]
    assert run(replace(case, duration=4.8)).steps == [2, 2, 2]
    assert nonzero(run(case).accounts[0]) == books(
        productive=2.0, waiting_on_peers=1.0, exposed_communication=1.0 + 0.7
    )


def test_what_the_others_have_sent_already_is_not_sent_again() -> None:
    """Two layers, a step as below until 1.8 s; the slow unit joins at 2.7 s.

    Layer 2 was released at 2.6 s, layer 1 is at 3.8 s; each takes 0.375 s.
    """
    case = joining(0.25, 2.7, duration=4.2, layers=2)
    assert run(case).steps == [2, 2, 2]
    assert run(replace(case, duration=4.17)).steps == [1, 1, 1]
    # Step 1 was sent on the ring of three.
    assert run(case).wan_bytes == about((1.0 + 0.75) / 8)


def test_a_step_goes_by_the_slowest_unit_that_still_has_hardware() -> None:
    """Two layers: without the slow unit they are released at 0.8 and 1 s, 0.5 s each: 1.8 s."""
    case = joining(0.25, 99.0, duration=1.9, layers=2)
    assert run(case).steps == [1, 1, 1]
    assert run(replace(case, duration=1.79)).steps == [0, 0, 0]
