"""The naive model against pencil and paper: learners that train with a parameter server."""

from dataclasses import replace

from naive.case import Case, LinkChange
from naive.hand import about, books, nonzero, run, slice_strike, units


def served(*step_times: float, duration: float, **settings: object) -> Case:
    """Each in a region of its own, the server beside the first; 1 s up, 2 s down, 0.25 s a way."""
    regions = len(step_times)
    case = Case(
        "async_local_sgd",
        duration,
        units(*step_times, regions=regions),
        capacity={f"region {i}": 1.0 for i in range(regions)},
        latency=0.25,
        parameters=1.0,
        payload_bits=1.0,
        broadcast_bits=2.0,
        inner_steps=4,
    )
    return replace(case, **settings)  # type: ignore[arg-type]


def test_a_learner_steps_sends_and_waits_for_parameters() -> None:
    """4 s of steps, applied at 5.25 s, back at 7.5 s: the next four end at 11.5 s."""
    result = run(served(1.0, 1.0, duration=12.0))
    assert result.merges == [
        (1, 4.0, 4.0, (0,)),
        (2, 4.0, 5.25, (1,)),
        (3, 8.0, 8.0, (0,)),
    ]
    assert nonzero(result.accounts[0]) == books(productive=12.0)
    assert nonzero(result.accounts[1]) == books(productive=8.0, exposed_communication=4.0)
    # The one at the server's place is at its twelfth step, the other's second update under way.
    assert (result.merged, result.overwritten, result.pending) == (8 + 8, 0, 3)


def test_transfers_of_one_instant_share_the_servers_access() -> None:
    """Two updates take 2 s, and are applied at 6.25 s; both replies take 4 s, until 10.5 s."""
    result = run(served(1.0, 1.0, 1.0, duration=11.0))
    assert [merge[1:] for merge in result.merges if 0 not in merge[3]] == [
        (4.0, 6.25, (1,)),
        (4.0, 6.25, (2,)),
    ]
    assert nonzero(result.accounts[1]) == books(productive=4.5, exposed_communication=6.5)
    assert result.wan_bytes == about(4 / 8)


def test_a_transfer_that_is_alone_again_speeds_up() -> None:
    """Updates from 4 s and 4.5 s: a bit and a half by 5.5 s, the rest of the later by 6 s."""
    case = served(1.0, 1.0, 1.125, duration=6.5)
    applied = {merge[3]: merge[2] for merge in run(case).merges}
    assert (applied[1,], applied[2,]) == (5.75, 6.25)


def test_a_transfer_in_flight_follows_its_link_at_once() -> None:
    """Half of it is sent when the link is cut at 4.5 s; it is healed at 6 s."""
    cut = (LinkChange(4.5, "region 1", 0.0), LinkChange(6.0, "region 1", 1.0))
    result = run(served(1.0, 1.0, duration=7.0, link_changes=cut))
    assert (2, 4.0, 6.75, (1,)) in result.merges


def test_slower_learners_take_fewer_steps() -> None:
    """H = 4 at half the speed: two; and one at least."""
    case = served(1.0, 2.0, 20.0, duration=21.0, units=units(1.0, 2.0, 20.0), latency=0.0)
    last = {who: start for _, start, _, who in run(case).merges if start < 5.0 or who == (2,)}
    assert last == {(0,): 4.0, (1,): 4.0, (2,): 20.0}


def test_an_update_under_way_outlives_its_learner() -> None:
    """Lost at 4.5 s, back at 6.5 s; it asks and has parameters 0.25 + 2 + 0.25 s later."""
    strikes = (slice_strike(4.5, unit=1, detection=0.0, repair=1.0),)
    case = served(1.0, 1.0, duration=13.25, strikes=strikes, restart_time=1.0)
    result = run(case)
    assert [merge[1:3] for merge in result.merges if merge[3] == (1,)] == [(4.0, 5.25)]
    assert nonzero(result.accounts[1]) == books(
        productive=8.0, exposed_communication=0.5 + 2.5 + 0.25, failed_hardware=1.0, restart=1.0
    )
    assert (result.merged, result.overwritten, result.pending) == (12 + 8, 0, 1)


def test_steps_that_were_not_sent_are_lost_with_their_unit() -> None:
    """Lost at 2.5 s: two steps, and half a step in progress."""
    strikes = (slice_strike(2.5, unit=1, detection=0.0, repair=90.0),)
    result = run(served(1.0, 1.0, duration=3.5, strikes=strikes))
    assert (result.merged, result.overwritten, result.pending) == (0, 2, 3)
    assert result.accounts[1]["wasted_progress"] == 0.5
