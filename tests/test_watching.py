"""Whether a run is of any use, watched by hand: stretches that fall short, and idle months."""

from __future__ import annotations

import pytest

from ddsim.engine.clock import Clock, Rank
from ddsim.engine.ledger import Account, Ledger
from ddsim.engine.vain import STRETCHES, Vain
from ddsim.engine.watch import ROUND, Watch
from ddsim.world.instants import NEVER

Posts = dict[float, tuple[Account, float]]
WAITS = (Account.WAITING_ON_PEERS, 0.1)
COMPUTES = (Account.PRODUCTIVE, 0.5)
FAILS = (Account.FAILED_HARDWARE, 50.0)


def test_the_thousandth_stretch_that_fell_short_ends_a_run_and_says_how_far_they_came() -> None:
    """The furthest of them counts, whichever it was."""
    clock = Clock()
    vain = Vain(clock, tokens=100.0)
    vain.lost(40.0)
    for _ in range(STRETCHES - 2):
        vain.lost(10.0)
    assert (vain.reason, clock.stopped) == (None, False)
    vain.lost(10.0)
    assert vain.reason is not None
    assert "there were 1,000 of them, and the furthest that it came is 0.4 of the" in vain.reason
    assert clock.stopped


def test_a_run_that_never_did_anything_came_no_way_at_all() -> None:
    """It is said as a share of the goal, whatever that is."""
    vain = Vain(Clock(), tokens=10.0)
    for _ in range(STRETCHES):
        vain.lost(0.0)
    assert "the furthest that it came is 0 of the goal" in str(vain.reason)


def test_one_stretch_that_came_half_way_keeps_a_run_going() -> None:
    """However many fell short."""
    clock = Clock()
    vain = Vain(clock, tokens=100.0)
    vain.lost(50.0)
    for _ in range(2 * STRETCHES):
        vain.lost(10.0)
    assert (vain.reason, clock.stopped) == (None, False)


def watched(
    posts: Posts, *, every: tuple[Account, float], in_vain: bool = False
) -> tuple[str, float]:
    """Why a run is stopped, and in which month. Twice a month an account gets so much, as `posts`
    has it for that month, else as `every` says; `in_vain`: as much is computed and lost besides.
    """
    clock, ledger = Clock(), Ledger(1)
    watch = Watch(clock, ledger, [])

    def post(wake: object) -> None:
        ledger.post(0, *posts.get(clock.now / ROUND, every))
        if in_vain:
            ledger.post(0, Account.PRODUCTIVE, 0.5)
            ledger.waste(0, 0.5)
        clock.after(ROUND // 2, Rank.NEXT, post)

    clock.after(0, Rank.NEXT, post)
    clock.run(NEVER)
    return str(watch.reason), clock.now / ROUND


@pytest.mark.parametrize(("posts", "end"), [({}, 12), ({2.5: COMPUTES}, 15)])
def test_a_year_without_compute_ends_a_run(posts: Posts, end: int) -> None:
    """Counted from the month in which something was computed last, or from the beginning."""
    said = "nothing was computed for a year: it waits for others who do not come"
    assert watched(posts, every=WAITS) == (said, end)


@pytest.mark.parametrize(("posts", "end"), [({}, 36), ({2.5: COMPUTES}, 39)])
def test_three_years_in_which_nothing_is_kept_end_a_run(posts: Posts, end: int) -> None:
    """All that is computed and lost does not: it is as much as in a run that gets on."""
    reason, month = watched(posts, every=(Account.WAITING_ON_PEERS, 0.0), in_vain=True)
    assert reason.startswith("nothing was kept for three years: failures take back what it does")
    assert month == end


@pytest.mark.parametrize(
    ("month", "why"),
    [
        (0.5, "waits for others who do not come"),
        (1.5, "waits for others who do not come"),
        (2.5, "its hardware does not come back"),
        (13.5, "its hardware does not come back"),
    ],
)
def test_a_run_is_stopped_for_what_took_most_of_its_last_year(month: float, why: str) -> None:
    """From the second month to the fourteenth: what was before is another matter."""
    posts = {2.0: COMPUTES, month: FAILS}
    reason, end = watched(posts, every=WAITS)
    assert (reason.endswith(why), end) == (True, 14)
