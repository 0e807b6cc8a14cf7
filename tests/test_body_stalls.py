"""An elastic body's stalls by hand: what ends them, what extends them, and what they count as.

The bench is that of a learner's books: 2 s to shrink, 1 s to grow, 5 s to restart.
"""

from __future__ import annotations

import pytest
from test_learner_books import EVERY_15, EXPOSED, Bench, lost, shrinks, strike

from ddsim.world.instants import SECOND


def states(bench: Bench) -> list[tuple[float, float, str, int]]:
    """What the unit was in from when until when, and how many chips were up."""
    return [(each.start, each.end, each.state, each.healthy) for each in bench.recorder.states()]


def test_a_failure_of_the_job_itself_restarts_it() -> None:
    """At 15 s: the step in progress is lost, and no hardware is."""
    bench = Bench(strike(15.0)).run(26.0)
    assert bench.books == {
        "productive": 8 * (10.0 + 6.0),
        "wasted_progress": 8 * 5.0,
        "restart": 8 * 5.0,
    }
    assert bench.lived == [(15.0, False), (20.0, True)]
    assert (bench.body.interruptions, bench.body.interrupted) == (1, 5 * SECOND)
    assert states(bench) == [
        (0.0, 15.0, "running", 8),
        (15.0, 20.0, "restart", 8),
        (20.0, 26.0, "running", 8),
    ]


def test_a_failure_that_leaves_the_state_loses_no_step() -> None:
    """The step that was half way goes on after the restart."""
    bench = Bench(strike(15.0)._replace(state_lost=False)).run(26.0)
    assert bench.books == {"productive": 8 * 21.0, "restart": 8 * 5.0}
    assert bench.learner.steps == 2
    assert bench.running.total == bench.computing.total == 21 * SECOND


def test_a_crash_ends_a_save_that_has_to_be_made_again() -> None:
    """Begun at 20 s, ended at 21 s; the learner saves after the restart, before it steps."""
    bench = Bench(strike(21.0), saves=EVERY_15).run(35.0)
    assert bench.saved == [29.0]
    assert bench.books["checkpoint_save"] == 8 * (1.0 + 3.0)


@pytest.mark.parametrize("extend", [True, False])
def test_a_crash_in_a_stall_extends_it_or_is_folded_in(extend: bool) -> None:
    """A slice goes at 15 s, the job crashes at 16 s: up to 21 s, or to 17 s as without it."""
    bench = Bench(shrinks(15.0), strike(16.0), extend=extend).run(22.0)
    restart = {"restart": 4 * 5.0} if extend else {}
    assert {name: bench.books.get(name) for name in ("elastic_downscale", *restart)} == {
        "elastic_downscale": 4 * (1.0 if extend else 2.0),
        **restart,
    }
    assert ("restart" in bench.books) == extend
    assert bench.books.get("wasted_progress", 0.0) == (8 * 5.0 if extend else 0.0)
    assert (bench.body.interruptions, bench.body.interrupted) == (1, (6 if extend else 2) * SECOND)


@pytest.mark.parametrize(("back", "upscale"), [(15.5, 0.0), (16.0, 0.0), (16.5, 1.0)])
def test_what_comes_back_in_a_stall_extends_it_where_that_would_end_sooner(
    back: float, upscale: float
) -> None:
    """To shrink takes from 15 s to 17 s; to grow a second from when the slice is back."""
    bench = Bench(strike(15.0, 1, back=back)).run(22.0)
    assert bench.books.get("elastic_upscale", 0.0) == 8 * upscale
    assert bench.body.interrupted == (max(17.0, back + upscale) - 15.0) * SECOND


def test_what_comes_back_in_a_stall_is_folded_in_where_stalls_absorb() -> None:
    """However short the rest of that is."""
    bench = Bench(strike(15.0, 1, back=16.9), extend=False).run(22.0)
    assert "elastic_upscale" not in bench.books
    assert bench.books["elastic_downscale"] == pytest.approx(4 * 1.9 + 8 * 0.1)


def test_a_loss_interrupts_until_the_restart_is_over() -> None:
    """From 15 s on, back at 20 s, for 5 s; what is still lost at the end counts up to there."""
    assert Bench(lost(15.0, back=20.0)).run(30.0).body.interrupted == 10 * SECOND
    assert Bench(lost(15.0, back=20.0)).run(18.0).body.interrupted == 3 * SECOND


def test_what_is_planned_interrupts_nothing() -> None:
    """It stalls all the same."""
    bench = Bench(shrinks(15.0)._replace(planned=True)).run(22.0)
    assert (bench.body.interruptions, bench.body.interrupted) == (0, 0)
    assert bench.books["elastic_downscale"] == 8.0
    assert bench.hardware.strikes == 0


def test_a_strike_in_a_stall_is_no_second_interruption() -> None:
    """The unit's other slice goes while it shrinks for the first."""
    bench = Bench(shrinks(15.0), strike(16.0, 0, back=20.0)).run(30.0)
    assert (bench.body.interruptions, bench.body.interrupted) == (1, 10 * SECOND)
    assert bench.hardware.strikes == 2


def test_a_clock_that_stops_ages_where_there_are_steps_or_a_save() -> None:
    """A strike hits who computes or saves, and not who waits or stalls for another."""

    def hits(at: float, **options: object) -> int:
        bench = Bench(shrinks(5.0), strike(at), age_stops=True, **options)  # type: ignore[arg-type]
        return bench.run(40.0).hardware.strikes - 1

    assert hits(6.0) == 0
    assert hits(8.0) == 1
    assert hits(23.0, saves=EVERY_15) == 1
    assert hits(23.0, leg=1, then=lambda learner: learner.wait(EXPOSED)) == 0


def test_a_stall_that_another_takes_the_place_of_does_not_end_twice() -> None:
    """Shrinking would be over at 17 s, the restart that took its place is at 21 s."""
    bench = Bench(shrinks(15.0), strike(16.0)).run(30.0)
    assert bench.lived == [(16.0, False), (21.0, True)]
    assert bench.ready == [21.0]
    assert states(bench)[1:4] == [
        (15.0, 16.0, "elastic_downscale", 4),
        (16.0, 21.0, "restart", 4),
        (21.0, 30.0, "running", 4),
    ]
