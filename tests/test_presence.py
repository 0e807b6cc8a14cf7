"""How long enough of something is there, and how often that ends."""

from __future__ import annotations

import pytest

from ddsim.engine.recorder import Attendance, Presence
from ddsim.world.instants import NEVER


def presence(*changes: tuple[int, int], least: int = 1, count: int = 0) -> Presence:
    """Whether `least` are there, after changes (time, by)."""
    made = Presence(least, count)
    for now, by in changes:
        made.change(now, by)
    return made


def closed(made: Presence, horizon: int) -> tuple[int, int, int]:
    """Time in all, breaks, and what they took."""
    made.close(horizon)
    return made.total, made.breaks, made.absent


def test_time_counts_while_enough_are_there() -> None:
    """Two of them from 3 to 10 and from 15 on; a third that comes and goes makes no difference."""
    made = presence((1, 1), (3, 1), (5, 1), (7, -1), (10, -1), (15, 2), least=2)
    assert closed(made, 20) == (7 + 5, 1, 5)


def test_what_is_there_from_the_beginning_counts_from_there() -> None:
    """And that nobody has come yet is no break, at the end either."""
    assert closed(presence(least=2, count=2), 20) == (20, 0, 0)
    assert closed(presence(), 20) == (0, 0, 0)
    assert closed(presence((8, 1)), 20) == (12, 0, 0)


@pytest.mark.parametrize(("back", "breaks"), [(10, 0), (11, 1)])
def test_what_takes_no_time_is_no_break(back: int, breaks: int) -> None:
    """One goes as another comes."""
    made = presence((0, 1), (10, -1), (back, 1))
    assert closed(made, 20) == (20 - breaks, breaks, breaks)


@pytest.mark.parametrize(("horizon", "breaks"), [(10, 0), (14, 1)])
def test_a_break_at_the_end_counts_if_it_has_lasted(horizon: int, breaks: int) -> None:
    """Who goes at the horizon itself is missed for no time."""
    assert closed(presence((0, 1), (10, -1)), horizon) == (10, breaks, horizon - 10)


def test_an_account_that_is_closed_can_go_on() -> None:
    """Nothing counts twice: neither presence nor a break, which then counts in its parts."""
    made = presence((0, 1))
    assert closed(made, 5) == closed(made, 5) == (5, 0, 0)
    made.change(8, -1)
    assert closed(made, 10) == closed(made, 10) == (8, 1, 2)
    made.change(13, 1)
    assert closed(made, 20) == (8 + 7, 2, 5)


def test_another_number_can_be_enough_from_then_on() -> None:
    """Of three that are there four are too few from 5 to 9, and two are enough."""
    made = presence((0, 3), least=3)
    made.ask(5, 4)
    made.ask(9, 2)
    made.change(12, -1)
    assert closed(made, 20) == (16, 1, 4)


@pytest.mark.parametrize(
    ("gone", "count", "found"), [(NEVER, 1, (35, 2, 7)), (6, 0, (30, 3, 7 + 9))]
)
def test_what_somebody_else_has_counted_goes_on(
    gone: int, count: int, found: tuple[int, int, int]
) -> None:
    """Up to 15, with one there since 10 or none since 6."""
    made = Presence()
    made.take_over(count=count, since=10, gone=gone, total=30, absent=7, breaks=2)
    assert closed(made, 15) == found


def test_a_learner_is_told_of_once() -> None:
    """However often what it does is noted; running and computing are counted apart."""
    running, computing = Presence(), Presence()
    one = Attendance(running, computing)
    for now, runs, computes in [(0, 1, 0), (2, 1, 1), (3, 1, 1), (6, 1, 0), (9, 0, 0), (10, 1, 1)]:
        one.note(now, runs, computes)
    assert closed(running, 12) == (9 + 2, 1, 1)
    assert closed(computing, 12) == (4 + 2, 1, 4)
