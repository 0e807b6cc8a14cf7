"""A log that is thinned over the whole run."""

from __future__ import annotations

import pytest

from ddsim.engine.recorder import Recorder
from ddsim.engine.thinned import Thinned
from ddsim.world.instants import NEVER


def offered(room: int | None, *counts: int) -> Thinned[int]:
    """A log to which numbers from 0 on were offered, so many at once."""
    log: Thinned[int] = Thinned(room)
    for count in counts:
        log.offer(count, log.offered.__add__)
    return log


def test_what_there_is_room_for_is_kept_whole() -> None:
    """And so is everything where there is no limit."""
    assert offered(8, 3, 5).entries == list(range(8))
    assert offered(None, 30).entries == list(range(30))


@pytest.mark.parametrize("room", [1, 7, 8])
@pytest.mark.parametrize("count", [9, 16, 17, 1000])
def test_a_full_log_keeps_every_second_fourth_eighth(room: int, count: int) -> None:
    """From the first on to the end, at least half of what there is room for."""
    log = offered(room, count)
    assert log.entries == list(range(0, count, log.every))
    assert room // 2 <= len(log.entries) <= room
    assert log.every & (log.every - 1) == 0


def test_it_is_the_same_however_many_are_offered_at_once() -> None:
    """One by one, in parts, all together."""
    for log in (offered(8, *[1] * 100), offered(8, 3, 50, 0, 47)):
        assert (log.entries, log.every, log.offered) == (list(range(0, 100, 16)), 16, 100)


def test_what_is_made_of_a_log_is_thinned_as_it_was() -> None:
    """Its entries alone are others."""
    log = offered(8, 20).made(str)
    assert (log.entries, log.every, log.offered) == (["0", "4", "8", "12", "16"], 4, 20)
    log.offer(14, lambda index: str(20 + index))
    assert log.entries == ["0", "8", "16", "24", "32"]


@pytest.mark.parametrize(("room", "left"), [(8, 6), (2, 0), (1, 0), (None, 0)])
def test_what_is_left_of_the_room_is_known(room: int | None, left: int) -> None:
    """After two entries; none where there is no limit, for nothing is thinned then."""
    assert offered(room, 2).unfilled == left


def test_a_record_that_keeps_all_thins_and_leaves_out_nothing() -> None:
    """Every merge and every wait, also where nothing was to be kept."""
    record = Recorder(["one"], least_wait=1000, keep=False)
    assert record.least_wait == NEVER
    record.keep_all()
    assert (record.keep, record.least_wait, record.noted.room) == (True, 1, None)
