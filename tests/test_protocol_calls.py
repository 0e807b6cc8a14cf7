"""Rules of the protocol called one by one, at edges that whole runs seldom come to."""

from __future__ import annotations

from math import inf
from typing import Any

import pytest
from protocol_state import ROWS, bare

from ddsim.methods.local import protocol as k


def closed(state: Any, slot: int, *, answers: tuple[int, ...] = (0, 1)) -> int:
    """Let a slot have closed with answers of these learners, its exchange under way; its row."""
    row = slot % ROWS
    state.slot[row, [k.INDEX, k.AFTER, k.OPENED]] = slot, slot + 1, 1
    state.slot[row, k.STAGE] = k.LANDING
    state.slot[row, k.BEYOND] = state.number[k.FRAGMENTS]
    state.slot[row, k.ANSWERS] = len(answers)
    for learner in answers:
        state.answered[row, learner] = 1 + state.learner[learner, k.STEPS]
    state.number[[k.TOP, k.LAST, k.NEXT_SLOT]] = slot, slot, slot + 1
    return row


def told(state: Any) -> list[tuple[int, ...]]:
    """Kind, learner and slot of what is on the tape."""
    rows = state.tape[: state.number[k.TAPES]]
    return [(row[k.KIND], row[k.LEARNER], row[k.WHAT]) for row in rows.tolist()]


def test_who_is_gone_and_back_at_one_instant_was_never_gone() -> None:
    """No break, and no absence."""
    state = bare()
    state.time[k.NOW] = 5
    for by in (1, -1, 1):
        k.change_presence(state, 0, by)
    assert state.presence[0, [k.P_BREAKS, k.P_ABSENT]].tolist() == [0, 0]
    state.time[k.NOW] = 7
    k.change_presence(state, 0, -1)
    state.time[k.NOW] = 8
    k.change_presence(state, 0, 1)
    assert state.presence[0, [k.P_BREAKS, k.P_ABSENT]].tolist() == [1, 1]


def test_who_goes_on_is_one_more_that_runs_and_computes() -> None:
    """And one fewer of either once it waits for peers; who waits for bytes runs on."""
    state = bare()
    state.learner[0, [k.ACCOUNT, k.STEP]] = k.WAITING, 9
    k.start(state, 0)
    assert state.presence[:, k.P_COUNT].tolist() == [1, 1]
    k.wait(state, 0, k.EXPOSED)
    assert state.presence[:, k.P_COUNT].tolist() == [1, 0]
    k.wait(state, 0, k.WAITING)
    assert state.presence[:, k.P_COUNT].tolist() == [0, 0]


def test_a_step_that_has_its_data_looks_at_its_first_gate() -> None:
    """Fragment 0 is needed at its beginning, and may have come late meanwhile."""
    for arrives, stops in ((9, 0), (5, 100)):
        state = bare()
        state.number[[k.LOCKSTEP, k.TAU, k.BY_LAYER, k.LAYERS]] = 1, 1, 1, 1
        state.time[k.NOW] = 5
        state.learner[0, [k.COUNT, k.STEP]] = 2, 100
        state.fragment_at[closed(state, 1), 0] = arrives
        k.start(state, 0)
        assert state.learner[0, k.STOP_AT] == stops


def test_what_is_left_of_a_step_takes_a_nanosecond_at_least() -> None:
    """At four times the speed too; nothing left takes none."""
    for left, lasts in ((1, 1), (0, 0), (9, 2)):
        state = bare()
        state.pace[0, k.RATE] = 4.0
        state.learner[0, k.LEFT] = left
        k.go_on(state, 0)
        assert state.learner[0, k.ENDS] == lasts


def test_a_step_that_stands_does_not_go_on_because_another_stops() -> None:
    """Of two units of a host one computes no more: a step of the other that has ended is over."""
    state = bare()
    state.learner[:, [k.SHARED_BY, k.COMPUTING]] = 2, 1
    state.pace[:, k.SHORTEST] = 0.5
    k.appear(state, 1, 1, 0)
    assert state.learner[0, k.ENDS] == k.NEVER
    assert state.pace[0, k.SPEED] == 2.0
    state.learner[0, [k.STEPPING, k.ENDS]] = 1, 100
    k.appear(state, 1, 1, 1)
    assert (state.pace[0, k.SPEED], state.learner[0, k.ENDS]) == (1.0, 200)


def test_a_host_of_one_unit_is_loaded_by_none() -> None:
    """Only a restart beside others slows them down."""
    state = bare()
    state.learner[:, k.HOST] = 0, 1
    for units, loads in ((1, 0), (2, 1)):
        state.learner[0, k.SHARED_BY] = units
        k.appear(state, 0, 1, 2 - units)
        assert state.pace[0, k.SPEED] == 1.0
        k.restarts(state, 0, 1)
        assert state.learner[0, k.RESTARTS] == loads


def test_who_was_lost_in_a_save_may_save_at_the_same_step_again() -> None:
    """Nothing is left of the one that was lost with the unit."""
    state = bare()
    state.learner[0, [k.STEPS, k.UNSAVED_STEPS, k.SAVED_AT]] = 5, 5, 5
    assert not k.save_due(state, 0)
    k.rejoin(state, 0)
    assert k.save_due(state, 0)


def test_all_begin_anew_where_all_are_heard() -> None:
    """After the slot that they go back to: nobody is out, on its own, blocked or ahead."""
    state = bare()
    closed(state, 7)
    state.learner[:, [k.OUT, k.ALONE, k.BLOCKED, k.COUNT, k.TAKEN_IN]] = 1, 3, 7, 9, 8
    state.number[k.CHECK] = 0
    k.begin_anew(state, 4)
    found = state.learner[:, [k.OUT, k.ALONE, k.BLOCKED, k.COUNT, k.TAKEN_IN, k.SEEN, k.REACH]]
    assert found.tolist() == [[0, 0, 0, 4, 4, 4, 4]] * 2
    assert state.number[[k.TOP, k.LAST, k.ARRIVED_SLOT, k.UNDER_WAY]].tolist() == [4, 4, 4, 0]
    assert state.number[[k.NEXT_SLOT, k.SENDS, k.LANDS, k.OLDEST]].tolist() == [5] * 4
    assert state.number[k.CHECK] == 1


def withdrawn(*, merged: float = 3.0, other: tuple[int, int] | None = None) -> Any:
    """Learner 0 leaves slot 3, into which it had brought 3 steps of fragment 1, and 6 tokens.

    An earlier answer, after 4 of its 5 steps, was for the fragments `other`, from up to.
    """
    state = bare(fragments=2)
    state.learner[0, k.STEPS] = 5
    row = closed(state, 3, answers=(0,))
    state.slot[row, k.LEAST] = 1
    state.carried[row, 0, 0], state.brought[row, 0, 0] = 3, 6.0
    state.settled[0, 1], state.settled_tokens[0, 1] = 5, 10.0
    state.pace[0, [k.MERGED, k.MERGED_TOKENS]] = merged, 2.0 * merged
    if other is not None:
        closed(state, 2, answers=(0,))
        state.learner[0, k.ANSWERED] = 1
        state.queue[0, 0, [k.SLOT, k.AT_STEP, k.FROM, k.UPTO]] = 2, 4, *other
    k.withdraw(state, 0, row)
    return state


def test_an_answer_that_leaves_its_merge_takes_back_what_it_brought() -> None:
    """Steps and tokens."""
    state = withdrawn()
    assert state.pace[0, [k.MERGED, k.MERGED_TOKENS]].tolist() == [0.0, 0.0]
    assert (state.settled[0, 1], state.settled_tokens[0, 1]) == (2, 4.0)


def test_it_takes_back_no_more_than_was_merged() -> None:
    """Sums of reals do not fall below nothing."""
    assert withdrawn(merged=0.5).pace[0, [k.MERGED, k.MERGED_TOKENS]].tolist() == [0.0, 0.0]


@pytest.mark.parametrize(("other", "settled"), [((0, 1), 2), ((1, 2), 4), ((0, 2), 4)])
def test_what_an_earlier_answer_brought_stays(other: tuple[int, int], settled: int) -> None:
    """If that was for the same fragment."""
    assert withdrawn(other=other).settled[0, 1] == settled


def test_a_share_of_each_step_is_kept_for_each_receipt_since() -> None:
    """Receipts after 4, 8 and 12 steps leave a half each; the last merge was at the start."""
    state = bare()
    state.number[k.PERIOD], state.real[k.MIXING] = 4, 0.5
    state.received[0, 0], state.bases[0, 0] = 12, 12
    assert k.steps_in_kept(state, 0, 0, 12) == 4 * (0.5 + 0.25 + 0.125)
    assert k.steps_in_kept(state, 0, 0, 10) == 2 * 0.5 + 4 * (0.25 + 0.125)
    state.settled[0, 0] = 6
    assert k.steps_in_kept(state, 0, 0, 12) == 4 * 0.5 + 2 * 0.25


def test_a_fragment_that_is_due_first_at_step_1_was_received_then() -> None:
    """Receipts after 1, 5 and 9 steps, for a step and four each."""
    state = bare()
    state.number[k.PERIOD], state.real[k.MIXING] = 4, 0.5
    state.received[0, 0], state.bases[0, 0] = 9, 9
    assert k.steps_in_kept(state, 0, 0, 9) == 4 * (0.5 + 0.25) + 1 * 0.125


def test_before_its_first_receipt_a_learner_may_have_taken_more_steps_than_a_round() -> None:
    """Receipts after 8 and 12 steps, of slots 4 and 8."""
    state = bare()
    state.number[k.PERIOD], state.real[k.MIXING] = 4, 0.5
    state.received[0, 0], state.bases[0, 0] = 12, 8
    assert k.steps_in_kept(state, 0, 0, 12) == 4 * 0.5 + 8 * 0.25


def test_steps_that_were_merged_and_are_taken_back_were_not_merged() -> None:
    """Of ten merged steps of a token each the last four."""
    state = bare()
    state.learner[0, k.STEPS], state.pace[0, k.TOKENS] = 10, 10.0
    state.settled[0, 0], state.settled_tokens[0, 0] = 10, 10.0
    state.pace[0, [k.MERGED, k.MERGED_TOKENS]] = 10.0, 10.0
    k.take_back(state, 0, 4, 4.0)
    assert state.pace[0, [k.TOKENS, k.MERGED, k.MERGED_TOKENS]].tolist() == [6.0, 6.0, 6.0]
    assert k.kept_steps(state, 0) == state.settled[0, 0] == 6


# When slots are due.


def test_the_first_slot_of_a_turn_follows_the_last_of_the_one_before() -> None:
    """Due at 4, from 6 on at every slot; from 8 on at 9, 12 and so on, and no more at 8."""
    state = bare()
    state.turns[0, k.INNER] = 4
    state.turns[1] = 6, 6, 1
    state.number[k.TURNS] = 2
    assert [k.following(state, slot) for slot in (0, 3, 4, 5, 6)] == [4, 4, 6, 6, 7]
    state.turns[1] = 8, 9, 3
    assert [k.following(state, slot) for slot in (4, 7, 8, 9)] == [9, 9, 9, 12]


def test_a_period_that_nobody_hears_of_begins_after_what_is_known() -> None:
    """Learners that are not heard may be far ahead."""
    state = bare()
    state.learner[:, [k.COUNT, k.HEARD]] = 50, 0
    state.number[[k.TOP, k.LAST, k.ARRIVED_SLOT]] = 3, 2, 2
    k.set_inner_steps(state, 5)
    assert state.turns[1, k.START] == 4
    state.learner[0, k.HEARD] = 1
    k.set_inner_steps(state, 6)
    assert state.turns[2, k.START] == 51


def test_the_last_slot_to_close_is_followed_by_the_first_of_the_new_turn() -> None:
    """What is under way goes by its own place in the row."""
    state = bare()
    row = closed(state, 3)
    k.set_inner_steps(state, 5)
    assert state.slot[row, k.AFTER] == state.number[k.NEXT_SLOT] == k.following(state, 3) > 4


def test_an_exchange_that_leaves_the_link_lets_slots_be_looked_at_again() -> None:
    """One that would only have queued may close."""
    state = bare()
    state.time[k.NOW] = 5
    row = closed(state, 3)
    state.number[k.UNDER_WAY] = 3
    k.last_bit_out(state, 3, 4)
    assert (state.slot[row, k.STAGE], state.slot[row, k.DUE]) == (k.LANDING, 9)
    assert state.number[[k.UNDER_WAY, k.CHECK]].tolist() == [0, 1]


def test_another_quorum_lets_slots_be_looked_at_again() -> None:
    """One that fewer answers open may close at once."""
    state = bare()
    k.set_quorum(state, 1)
    assert state.number[k.CHECK] == 1


# What is told.


def test_a_merge_without_answers_is_not_noted() -> None:
    """They may all have left it."""
    for answers, noted in (((0,), 1), ((), 0)):
        state = bare()
        state.number[k.NOTES] = 9
        k.arrive(state, 1, closed(state, 1, answers=answers))
        assert state.number[k.NOTED] == noted


@pytest.mark.parametrize("policy", [0, 1])
def test_a_policy_alone_hears_of_arrivals(policy: int) -> None:
    """Nobody else asks."""
    state = bare()
    state.number[k.POLICY] = policy
    k.arrive(state, 1, closed(state, 1))
    assert state.number[k.HAND] == (k.ARRIVED if policy else k.DONE)


@pytest.mark.parametrize(("leaves", "who"), [(0, [0, 1]), (1, [0])])
def test_who_left_a_round_does_not_receive_it(leaves: int, who: list[int]) -> None:
    """At a barrier; under other rules all receive what some have merged."""
    state = bare()
    state.number[[k.LOCKSTEP, k.BARRIER, k.TAPED, k.LEAVES]] = 1, 1, 1, leaves
    state.time[k.NOW] = 5
    state.fragment_at[closed(state, 1, answers=(0,)), 0] = 5
    k.fragments_land(state)
    assert told(state) == [(k.RECEIVED, learner, 1) for learner in who]


@pytest.mark.parametrize(("answered", "taped"), [(False, True), (True, True), (False, False)])
def test_an_answer_to_a_slot_that_has_closed_is_late(answered: bool, taped: bool) -> None:
    """It is on the tape where one is kept; who is in the merge already gives no other answer."""
    state = bare()
    state.number[k.TAPED] = taped
    closed(state, 1, answers=(0, 1) if answered else (0,))
    state.learner[1, k.COUNT] = 1
    k.answer_own(state, 1)
    assert state.learner[1, k.LATE] == (not answered)
    assert told(state) == ([(k.TOO_LATE, 1, 1)] if taped and not answered else [])


@pytest.mark.parametrize(("slot", "late"), [(1, 0), (2, 1)])
def test_an_answer_is_known_by_its_learner_when_others_have_its_row(slot: int, late: int) -> None:
    """Of what awaits its update; others have gone on by more slots than there are rows."""
    state = bare()
    closed(state, 1, answers=(0, 1))
    state.slot[1, k.INDEX] += len(state.slot)
    state.queue[1, 0, k.SLOT] = slot
    state.learner[1, [k.ANSWERED, k.COUNT]] = 1
    k.answer_own(state, 1)
    assert state.learner[1, k.LATE] == late


@pytest.mark.parametrize("arrives", [5, 9])
def test_what_is_taken_in_is_told_once_it_is_there(arrives: int) -> None:
    """Slot 1 too, with H = 1 and tau = 1, whose last fragment is there at 5."""
    state = bare()
    state.number[[k.LOCKSTEP, k.TAU]] = 1, 1
    state.time[k.NOW] = 5
    state.learner[0, k.COUNT] = 2
    state.fragment_at[closed(state, 1), 0] = arrives
    k.take_in(state, 0)
    assert told(state) == ([(k.RECEIVED, 0, 1)] if arrives == 5 else [])


# What starts slowly.

TRIP = 60_000_000


def idle(*, first: float = 1e5) -> Any:
    """A link of 1 Gbit/s with a round trip of 60 ms, whose connections are idle."""
    state = bare()
    state.time[k.ROUND_TRIP], state.time[k.LAST_OUT] = TRIP, -k.NEVER
    state.real[k.FIRST_WINDOW] = first
    state.link_rate[0] = 1e9
    return state


def test_a_window_that_lasts_for_a_round_trip_is_open() -> None:
    """To the bit: what follows goes at the link's rate."""
    for first, window in ((6e7, inf), (6e7 - 1.0, 6e7 - 1.0)):
        state = idle(first=first)
        assert k.passes(state, 0, 5e7) == 50_000_000
        assert state.real[k.WINDOW] == window


def test_next_to_nothing_takes_a_nanosecond() -> None:
    """On a link that has a rate; on one without a limit it takes none."""
    state = idle()
    assert k.passes(state, 7, 1e-3) == 8
    state.link_rate[0] = inf
    assert k.passes(state, 8, 1e-3) == 8


class Looked:
    """Times from which on a link has its rates, and how often one of them is looked at."""

    def __init__(self, count: int) -> None:
        self.count, self.looks = count, 0

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, place: int) -> int:
        self.looks += 1
        return 10 * place


def test_a_link_that_changes_often_is_not_gone_through() -> None:
    """An exchange finds its rate among a million by halving them: 20 looks, wherever it is."""
    for now, place in ((0, 0), (9, 0), (10, 1), (4_999_999, 499_999), (10**8, 999_999)):
        times = Looked(10**6)
        assert k.rate_at(bare()._replace(link_from=times), now) == place
        assert times.looks <= 20


def test_a_connection_is_kept_as_it_was_before_what_was_sent_last() -> None:
    """So that what is begun anew finds it so."""
    state = idle()
    first = k.passes(state, 0, 2e5)
    stood = state.real[[k.WINDOW, k.ROOM]].tolist(), state.time[[k.ROUND_ENDS, k.LAST_OUT]].tolist()
    k.passes(state, first, 1e6)
    assert state.real[[k.WINDOW_BEFORE, k.ROOM_BEFORE]].tolist() == stood[0]
    assert state.time[[k.ROUND_ENDS_BEFORE, k.LAST_OUT_BEFORE]].tolist() == stood[1]
