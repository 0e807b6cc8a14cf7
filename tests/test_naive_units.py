"""The naive model against pencil and paper: barriers, gates and slots."""

from dataclasses import replace

from naive.case import Case
from naive.hand import about, books, decoupled, far_apart, nonzero, run, slice_strike, units


def test_a_round_waits_for_the_last_unit_and_then_for_bytes() -> None:
    """H = 2, 1 and 1.5 s: barrier at 3 s, 1 s of sending, 2 phases of 0.25 s."""
    case = far_apart(
        1.0,
        1.5,
        seconds=1.0,
        method="diloco",
        duration=4.75,
        inner_steps=2,
        latency=0.25,
        release="end_of_step",
    )
    result = run(case)
    assert result.merges == [(1, 3.0, 4.5, (0, 1))]
    assert nonzero(result.accounts[0]) == books(
        productive=2.25, waiting_on_peers=1.0, exposed_communication=1.5
    )
    assert nonzero(result.accounts[1]) == books(productive=3.25, exposed_communication=1.5)


def test_a_round_released_by_layer_overlaps_the_last_backward_pass() -> None:
    """L = 2 and 1.5 s: released at 2.7 and 3, 0.5 s each: 3.2, 3.7, and 0.5 s of latency."""
    case = far_apart(
        1.0,
        1.5,
        seconds=1.0,
        method="diloco",
        duration=5.0,
        inner_steps=2,
        latency=0.25,
        layers=2,
    )
    assert run(case).merges == [(1, 3.0, about(4.2), (0, 1))]


def test_a_barrier_holds_for_a_unit_lost_after_its_steps() -> None:
    """The 2 s unit is done at 4; the other, lost at 3, is live at 6: all is released then."""
    strikes = (slice_strike(3.0, unit=1, detection=0.0, repair=2.0),)
    case = far_apart(
        2.0,
        1.0,
        seconds=1.0,
        method="diloco",
        duration=7.5,
        inner_steps=2,
        layers=2,
        strikes=strikes,
        restart_time=1.0,
    )
    result = run(case)
    assert result.merges == [(1, 6.0, about(7.0), (0, 1))]
    assert nonzero(result.accounts[0]) == books(
        productive=4.5, waiting_on_peers=2.0, exposed_communication=1.0
    )
    # Unit 1: 2 steps, a wait from 2 to 3, down to 5, restart to 6, bytes to 7.
    assert nonzero(result.accounts[1]) == books(
        productive=2.5,
        waiting_on_peers=1.0,
        failed_hardware=2.0,
        restart=1.0,
        exposed_communication=1.0,
    )


def test_a_barrier_does_not_hold_for_a_unit_that_reconfigures() -> None:
    """As above with two slices: a stall from 3 to 6 s, a barrier at 4 s all the same."""
    case = Case(
        method="diloco",
        duration=6.5,
        units=units(2.0, 1.0, slices=2),
        inner_steps=2,
        strikes=(slice_strike(3.0, unit=1),),
        downscale=2.0,
    )
    result = run(case)
    assert result.merges == [(1, 4.0, 4.0, (0, 1))]
    assert result.accounts[0] == books(productive=2 * 6.5)


def test_streaming_awaits_a_fragment_tau_steps_later() -> None:
    """H = 2, P = 1, tau = 1, 1.5 s of sending: step 4 is ready at 3 s and begins at 3.5 s."""
    case = far_apart(
        1.0,
        1.0,
        seconds=1.5,
        method="streaming_diloco",
        duration=5.75,
        inner_steps=2,
        overlap_steps=1,
        release="end_of_step",
    )
    result = run(case)
    assert result.merges == [(2, 2.0, 3.5, (0, 1))]
    assert result.steps == [5, 5]
    # Step 5 ends at 5.5 s; step 4's bytes are there at 6.
    assert nonzero(result.accounts[0]) == books(productive=5.0, exposed_communication=0.75)


def test_a_fragment_has_its_gate_where_the_forward_pass_needs_it() -> None:
    """L = P = H = 2, tau = 0, 0.3 s of latency: layer 2 is in time, layer 1 costs 0.3 s."""
    case = replace(
        far_apart(1.0, 1.0, seconds=0.0, method="streaming_diloco", duration=4.5),
        inner_steps=2,
        fragments=2,
        layers=2,
        latency=0.15,
    )
    result = run(case)
    # Layer 2 of step 1 is released at 0.8, there at 1.1, needed at 1.2; layer 1 of step 2 is
    # released at 2.0 and needed at once.
    times = [(number, start, arrival) for number, start, arrival, _ in result.merges]
    assert times == [
        (1, 1.0, about(1.1)),
        (2, 2.0, about(2.3)),
        (3, about(3.3), about(3.4)),
    ]
    assert nonzero(result.accounts[0]) == books(productive=4.0, exposed_communication=0.5)


def test_all_answers_of_one_instant_count() -> None:
    """Equal units, K = 1, no grace: both take part in every slot."""
    result = run(decoupled(1.0, 1.0, duration=3.5, overlap_steps=1))
    assert result.merges == [(t, t, t, (0, 1)) for t in (1.0, 2.0, 3.0)]
    assert (result.merged, result.overwritten) == (6, 0)


def test_without_grace_a_slower_learner_is_never_in_time() -> None:
    """1 s against 1.05 s: its nine steps until 10 s are all overwritten."""
    result = run(decoupled(1.0, 1.05, duration=10.0, overlap_steps=1))
    assert all(participants == (0,) for *_, participants in result.merges)
    assert (result.merged, result.overwritten) == (9, 9)
    assert result.accounts[1] == books(productive=10.0)


def test_grace_lets_a_slower_learner_in_and_ends_once_all_have_answered() -> None:
    """grace = 0.5 s, but the slots close 0.05 and 0.1 s after their opening."""
    result = run(decoupled(1.0, 1.05, duration=2.5, overlap_steps=1, grace=0.5))
    assert result.merges == [(1, 1.05, 1.05, (0, 1)), (2, 2.1, 2.1, (0, 1))]


def test_grace_ends_without_a_learner_that_is_too_slow() -> None:
    """1 s against 1.8 s, grace = 0.5 x 1 s: the slot closes at 1.5 s."""
    result = run(decoupled(1.0, 1.8, duration=1.9, overlap_steps=1, grace=0.5))
    assert result.merges == [(1, 1.5, 1.5, (0,))]


def test_with_a_full_quorum_the_slowest_sets_the_pace() -> None:
    """1 s against 2 s, tau = 1: the fast learner is one step ahead and waits 3-4, 5-6, 7-8."""
    result = run(decoupled(1.0, 2.0, duration=8.5, overlap_steps=1, quorum=2))
    assert [merge[:2] for merge in result.merges] == [(t, 2.0 * t) for t in (1, 2, 3, 4)]
    assert nonzero(result.accounts[0]) == books(productive=5.5, waiting_on_peers=3.0)
    assert result.steps == [5, 4]


def test_a_learner_behind_answers_an_open_slot_with_its_next_step() -> None:
    """1.6 s a step: slot 2 closes without it at 3.0; at 3.2 its step 2 answers slot 3."""
    case = decoupled(1.0, 1.0, 1.6, duration=4.9, overlap_steps=2, quorum=2, grace=0.9)
    assert run(case).merges == [
        (1, 1.6, 1.6, (0, 1, 2)),
        (2, 3.0, 3.0, (0, 1)),
        (3, 3.2, 3.2, (0, 1, 2)),
        (4, about(4.8), about(4.8), (0, 1, 2)),
    ]


def test_a_learner_blocks_on_bytes_after_tau_steps() -> None:
    """tau = 0, H = 1, 0.5 s of sending: every step is followed by half a second exposed."""
    case = far_apart(1.0, 1.0, seconds=0.5, method="decoupled_diloco", duration=3.25)
    result = run(case)
    assert result.steps == [2, 2]
    assert nonzero(result.accounts[0]) == books(productive=2.25, exposed_communication=1.0)


def test_below_quorum_the_others_run_out_their_steps_and_block() -> None:
    """K = 2: with one lost at 1.5 s the other answers slots 2 and 3 and waits from 3 s."""
    strikes = (slice_strike(1.5, unit=1),)
    case = decoupled(1.0, 1.0, duration=6.5, overlap_steps=1, quorum=2, strikes=strikes)
    result = run(case)
    assert nonzero(result.accounts[0]) == books(productive=3.0, waiting_on_peers=3.5)
    free = run(replace(case, below_quorum="step_on"))
    assert nonzero(free.accounts[0]) == books(productive=6.5)


def test_a_returning_learner_takes_the_count_of_what_arrived_meanwhile() -> None:
    """Lost at 1.5, live at 4.0 with count 4: the step that ends at 5 s is its own step 5."""
    strikes = (slice_strike(1.5, unit=1, detection=0.0, repair=2.0),)
    case = decoupled(1.0, 1.0, duration=5.5, overlap_steps=1, strikes=strikes, restart_time=0.5)
    result = run(case)
    takers = [(0, 1), (0,), (0,), (0,), (0, 1)]
    assert result.merges == [(t, t, t, who) for t, who in enumerate(takers, start=1)]
    assert result.accounts[1] == books(
        productive=2.5, wasted_progress=0.5, failed_hardware=2.0, restart=0.5
    )


def test_a_learner_behind_does_not_answer_at_the_instant_of_opening() -> None:
    """Its steps end at 2.25 and 3 s; slot 3 opens at 3 s. Updates take 1.5 s to arrive."""
    case = replace(
        far_apart(1.0, 1.0, seconds=0.0, method="decoupled_diloco", duration=4.75),
        jitter=lambda unit, k: (2.25, 0.75, 1.0, 1.0)[k] if unit == 1 else 1.0,
        latency=0.75,
        overlap_steps=3,
    )
    assert run(case).merges == [(t, t, t + 1.5, (0,)) for t in (1, 2, 3)]


def test_applying_at_tau_holds_an_update_that_was_answered() -> None:
    """H = 3, tau = 2: the update of slot 3 is there at 3 s and overwrites two steps at 5 s."""
    early = decoupled(1.0, duration=5.5, overlap_steps=2, inner_steps=3)
    held = replace(early, apply="at_tau")
    assert [(run(case).merged, run(case).overwritten) for case in (early, held)] == [(3, 0), (3, 2)]
