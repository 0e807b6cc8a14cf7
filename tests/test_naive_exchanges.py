"""The naive model against pencil and paper: one exchange at a time, and slots that wait for it."""

from dataclasses import replace

import pytest
from naive.case import Case, LinkChange
from naive.hand import about, books, decoupled, far_apart, nonzero, run, slice_strike
from naive_cases import run_engine


def exchanging(*step_times: float, seconds: float, duration: float, tau: int = 9) -> Case:
    """K = 1, no grace, H = P = 1; an exchange takes so many seconds of the ring."""
    return far_apart(
        *step_times,
        seconds=seconds,
        method="decoupled_diloco",
        duration=duration,
        overlap_steps=tau,
    )


def test_slots_that_all_have_answered_close_at_once_and_queue() -> None:
    """Closed at 1, 2 and 3 s, 1.5 s each: 1 to 2.5, 2.5 to 4, 4 to 5.5; all sent, 4 s by 5 s."""
    case = exchanging(1.0, 1.0, seconds=1.5, duration=5.75)
    assert run(case).merges == [
        (1, 1.0, 2.5, (0, 1)),
        (2, 2.5, 4.0, (0, 1)),
        (3, 4.0, 5.5, (0, 1)),
    ]
    assert run(replace(case, duration=5.0)).wan_bytes == about(4.0 / 8)


def test_a_slot_that_queues_is_closed_whoever_is_lost_then() -> None:
    """K = 2: slot 2 has both answers at 2 s and waits for the ring until 2.5 s; one is lost."""
    case = exchanging(1.0, 1.0, seconds=1.5, duration=4.25)
    case = replace(case, quorum=2, strikes=(slice_strike(2.25, unit=1),))
    assert run(case).merges == [(1, 1.0, 2.5, (0, 1)), (2, 2.5, 4.0, (0, 1))]


def test_a_slot_stays_open_while_an_exchange_is_under_way() -> None:
    """1 s and 1.4 s: slot 2 is answered by one at 2.0 s, and closes so when slot 1 is out."""
    assert run(exchanging(1.0, 1.4, seconds=1.5, duration=5.75)).merges == [
        (1, 1.0, 2.5, (0,)),
        (2, 2.5, 4.0, (0,)),
        (3, 4.0, 5.5, (0,)),
    ]


def test_who_answers_a_slot_held_open_takes_part() -> None:
    """1 s and 1.2 s: step 2 of the slower, at 2.4 s, closes slot 2; step 3, at 3.6 s, slot 3.

    Both queue: for slot 1 until 2.5 s, for slot 2 until 4 s.
    """
    assert run(exchanging(1.0, 1.2, seconds=1.5, duration=5.75)).merges == [
        (1, 1.0, 2.5, (0,)),
        (2, 2.5, 4.0, (0, 1)),
        (3, 4.0, 5.5, (0, 1)),
    ]


def test_one_slot_closes_when_the_link_is_free_and_the_next_stays_open() -> None:
    """Units of 1 s and exchanges of 2 s; unit 1 takes 5 s for its third step, until 7 s.

    Slots 1 and 2 have all answers: 1 to 3 and 3 to 5 s. Slots 3 and 4 have one by 5 s; slot 3
    closes then. Slot 4 closes when slot 3 is out, at 7 s, the instant of unit 1's answer to it.
    """
    case = exchanging(1.0, 1.0, seconds=2.0, duration=9.5)
    slow = replace(case, jitter=lambda unit, k: 5.0 if unit == 1 and k == 2 else 1.0)
    assert run(slow).merges == [
        (1, 1.0, 3.0, (0, 1)),
        (2, 3.0, 5.0, (0, 1)),
        (3, 5.0, 7.0, (0,)),
        (4, 7.0, 9.0, (0, 1)),
    ]


def test_an_exchange_that_is_cut_off_is_still_under_way() -> None:
    """1 s and 1.8 s, an exchange of 1 s from 1 s on, cut off from 1.5 to 4 s, out at 4.5 s.

    Slot 2, open from 2 s, closes with the slower unit's step 2 at 3.6 s, and begins at 4.5 s.
    """
    cut = (LinkChange(1.5, "region 1", 0.0), LinkChange(4.0, "region 1", 1.0))
    case = replace(exchanging(1.0, 1.8, seconds=1.0, duration=5.75), link_changes=cut)
    assert run(case).merges == [(1, 1.0, 4.5, (0,)), (2, 4.5, 5.5, (0, 1))]


def test_a_free_exchange_holds_nothing_up() -> None:
    """1 s and 1.4 s on links without limit: every slot closes with its first answer."""
    case = exchanging(1.0, 1.4, seconds=0.0, duration=3.25)
    assert run(case).merges == [(t, t, t, (0,)) for t in (1.0, 2.0, 3.0)]


def test_the_latency_of_an_exchange_runs_on_beside_the_next() -> None:
    """1 s of the ring, then 2 phases of 0.25 s; the next begins with the last bit."""
    case = replace(exchanging(1.0, 1.0, seconds=1.0, duration=4.75), latency=0.25)
    assert run(case).merges == [(t, t, t + 1.5, (0, 1)) for t in (1.0, 2.0, 3.0)]


def test_merges_are_computed_one_after_another_and_hold_no_link() -> None:
    """Exchanges as above are there at 2.5, 3.5 and 4.5 s, and a merge takes 1.5 s.

    2.5 to 4, 4 to 5.5 and 5.5 to 7 s; the exchanges still start at 1, 2 and 3 s.
    """
    case = exchanging(1.0, 1.0, seconds=1.0, duration=7.25)
    assert run(replace(case, latency=0.25, syncer_time=1.5)).merges == [
        (1, 1.0, 4.0, (0, 1)),
        (2, 2.0, 5.5, (0, 1)),
        (3, 3.0, 7.0, (0, 1)),
    ]


def test_a_merge_takes_its_time_where_sending_is_free() -> None:
    """One region, tau = 0: half a second of a merge after every step is exposed."""
    result = run(decoupled(1.0, 1.0, duration=3.25, syncer_time=0.5))
    assert result.merges == [(1, 1.0, 1.5, (0, 1)), (2, 2.5, 3.0, (0, 1))]
    assert nonzero(result.accounts[0]) == books(productive=2.25, exposed_communication=1.0)


# What is measured, and who waits for what.


def test_the_compute_of_a_merge_counts_in_sync_time() -> None:
    """1 s and 1.3 s, tau = 1, gamma = 0.5, merges of 0.5 s.

    Slot 1: grace 0.5 x (1 - 0), all have answered at 1.3 s. Slot 2, opened at 2 s: grace
    0.5 x (1 - 0.5) ends at 2.25 s, before the slower unit's step 2 at 2.6 s.
    """
    case = decoupled(1.0, 1.3, duration=2.9, overlap_steps=1, grace=0.5, syncer_time=0.5)
    assert run(case).merges == [(1, about(1.3), about(1.8), (0, 1)), (2, 2.25, 2.75, (0,))]


def test_sync_time_runs_from_the_start_of_the_exchange() -> None:
    """An exchange takes 0.5 s; the link is cut from 1 to 2.25 s; tau = 3, gamma = 0.5.

    Slot 1 closes at 1 and takes until 2.75 s: 1.75. Slot 2 closes at 2, starts at 2.75: 0.5, and
    the average 1.625. Slot 3 closes at 3, starts at 3.25: 0.5, and 1.5125. Unit 1's step 4 takes
    1.9 s: slot 4, opened at 4 s, has a grace of 0.5 x (3 - 1.5125) = 0.74375 s.
    """
    cut = (LinkChange(1.0, "region 1", 0.0), LinkChange(2.25, "region 1", 1.0))
    case = replace(
        exchanging(1.0, 1.0, seconds=0.5, duration=5.5, tau=3),
        grace=0.5,
        link_changes=cut,
        jitter=lambda unit, k: 1.9 if unit == 1 and k == 3 else 1.0,
    )
    assert run(case).merges == [
        (1, 1.0, 2.75, (0, 1)),
        (2, 2.75, 3.25, (0, 1)),
        (3, 3.25, 3.75, (0, 1)),
        (4, about(4.74375), about(5.24375), (0,)),
    ]


def test_a_learner_that_waits_for_the_link_to_be_free_waits_for_bytes() -> None:
    """1 s and 1.2 s, tau = 0, exchanges of 1.5 s: slot 1 from 1 to 2.5 s, without the slower.

    The slower opens slot 2 with its second step, at 2.4 s; it has quorum and no grace, and closes
    when the link is free, at 2.5 s: it is there at 4 s, and all the wait is exposed.
    """
    result = run(exchanging(1.0, 1.2, seconds=1.5, duration=4.25, tau=0))
    assert result.merges == [(1, 1.0, 2.5, (0,)), (2, 2.5, 4.0, (1,))]
    assert nonzero(result.accounts[0]) == books(productive=2.75, exposed_communication=1.5)
    assert nonzero(result.accounts[1]) == books(productive=2.65, exposed_communication=1.6)


def test_a_learner_waits_for_peers_until_the_grace_is_over_and_for_bytes_from_then_on() -> None:
    """tau = 1, gamma = 0.5; unit 1's steps take 0.5 s and 5 s, unit 0's 1, 1 and 0.125 s.

    Slot 1 opens at 0.5 s with grace 0.5 x 0.5, closes without unit 0 at 0.75 s and has the ring
    until 2.75 s. Unit 0 opens slot 2 at 2 s, with the same grace, and waits for it from 2.125 s:
    for peers until 2.25 s, for the ring until 2.75 s, for its bytes until 4.75 s.
    """
    steps = ((1.0, 1.0, 0.125), (0.5, 5.0))
    case = replace(
        exchanging(1.0, 1.0, seconds=2.0, duration=4.5, tau=1),
        grace=0.5,
        jitter=lambda unit, k: steps[unit][k],
    )
    result = run(case)
    assert result.merges == [(1, 0.75, 2.75, (1,))]
    assert nonzero(result.accounts[0]) == books(
        productive=2.125, waiting_on_peers=0.125, exposed_communication=2.25
    )


def test_a_learner_waits_for_peers_while_too_few_are_live_on_a_busy_link_too() -> None:
    """K = 2 of 3, tau = 1, exchanges of 3 s: slot 1 has the ring from 0.5 to 3.5 s.

    Units 1 and 2 took half a second for their first step, and unit 0 answers slot 1 too late. It
    and unit 1 open slot 2 at 2 s; from 2.25 s on, a short step later, it waits for the ring. At
    2.5 s the two others are lost: no slot closes any more, the free ring's neither.
    """
    steps = ((1.0, 1.0, 0.25), (0.5, 1.5), (0.5, 5.0))
    case = replace(
        exchanging(1.0, 1.0, 1.0, seconds=3.0, duration=4.0, tau=1),
        quorum=2,
        jitter=lambda unit, k: steps[unit][k],
        strikes=(slice_strike(2.5, unit=1), slice_strike(2.5, unit=2)),
    )
    result = run(case)
    assert result.merges == [(1, 0.5, 3.5, (1, 2))]
    assert nonzero(result.accounts[0]) == books(
        productive=2.25, exposed_communication=0.25, waiting_on_peers=1.5
    )


@pytest.mark.parametrize("other", [1.0, 1.2, 1.4])
def test_the_engine_exchanges_as_the_naive_model_does(other: float) -> None:
    """Who answers while a slot is held open takes part there, too."""
    case = exchanging(1.0, other, seconds=1.5, duration=5.75)
    found = run_engine(case).run.recorder.merges
    seen = [(merge.slot, merge.start, merge.arrival, merge.participants) for merge in found]
    assert seen == [tuple(merge) for merge in run(case).merges]
