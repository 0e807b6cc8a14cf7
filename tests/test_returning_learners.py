"""A learner whose unit was lost copies its moments from a peer, over the links, before it steps."""

from __future__ import annotations

from typing import Any

import pytest

from ddsim import methods
from ddsim.engine import tape
from ddsim.engine.ledger import Account
from ddsim.engine.run import Outcome, Run
from ddsim.scenario import Scenario, read_text, validate
from ddsim.simulation import simulate
from ddsim.world.histories import Histories
from ddsim.world.instants import SECOND, ticks
from ddsim.world.strike import Strike

H = 20
LOST, DOWN, RESTART = 60.0, 300.0, 50.0
PARAMETERS, MOMENT_BITS, CAP = 1e9, 64, 0.25
TEXT = """\
duration: 16 min
methods: [decoupled_diloco]
model: {parameters: 1e9, layers: 24}
training: {step_time: 1 s, inner_steps: 20, fragments: 20, payload_bits: 4}
cluster:
  chips_per_slice: 8
  units:
    - {name: one, region: a, chips: 16}
    - {name: two, region: b, chips: 16}
    - {name: three, region: c, chips: 16}
    - {name: four, region: d, chips: 16}
network:
  bandwidth: 1 Gbit/s
  latency: 20 ms
  regions: {a: , b: , c: , d: }
failures: {detection: 10 s}
restart: {time: 50 s}
"""
KILL = {"at": "60 s", "fault": "kill", "target": "one", "for": "300 s"}


def scenario(*chaos: dict[str, Any], text: str = TEXT, **settings: object) -> Scenario:
    """The scenario with these faults and settings, whose keys have __ for dots."""
    named = {key.replace("__", "."): value for key, value in settings.items()}
    return validate(read_text(text, "return.yaml").with_overrides({"chaos": [*chaos], **named}))


def run(one: Scenario, *strikes: Strike, every_slot: bool = False) -> tuple[Run, Outcome]:
    """Run it, with these strikes in place of its own if there are any; keep each unit's books."""
    cluster, history = Histories(0).of(one)
    made = Run(one, cluster, strikes or history, 0)
    made.every_slot = every_slot
    method = methods.get("decoupled_diloco")(made)
    method.start()
    made.clock.run(made.horizon)
    return made, method.close(made.horizon)


def seconds(made: Run, account: Account, unit: int = 0) -> float:
    """What a unit spent in an account, in seconds of its 16 chips."""
    return made.ledger.books[unit][account] / 16


@pytest.mark.parametrize("gbps", [1.0, 4.0])
def test_a_copy_takes_its_bytes_over_the_cap_plus_latency(gbps: float) -> None:
    """Nobody else needs more than three quarters of the link, so that the cap binds."""
    made, outcome = run(scenario(KILL, network__bandwidth=f"{gbps} Gbit/s"))
    copy = PARAMETERS * MOMENT_BITS / (CAP * gbps * 1e9) + 0.02
    (rejoin,) = outcome.extra["rejoins"]
    assert rejoin["copy_s"] == pytest.approx(copy)
    assert rejoin["bytes"] == pytest.approx(PARAMETERS * MOMENT_BITS / 8)
    assert (rejoin["left_s"], rejoin["back_s"]) == (LOST, LOST + DOWN)
    assert rejoin["moment_age_s"] == pytest.approx(copy)
    assert seconds(made, Account.RESTART) == pytest.approx(RESTART + copy)
    assert seconds(made, Account.FAILED_HARDWARE) == pytest.approx(DOWN)


@pytest.mark.parametrize("gbps", [1.0, 4.0])
def test_without_a_cap_a_copy_takes_the_whole_of_an_idle_link(gbps: float) -> None:
    """No slot is due within the run, and so nothing else is sent."""
    idle: dict[str, Any] = {"training__inner_steps": 100_000, "training__fragments": 1}
    whole: dict[str, Any] = {"network__bandwidth": f"{gbps} Gbit/s", "network__recovery_share": 1.0}
    _, outcome = run(scenario(KILL, **idle, **whole))
    (rejoin,) = outcome.extra["rejoins"]
    assert rejoin["copy_s"] == pytest.approx(PARAMETERS * MOMENT_BITS / (gbps * 1e9) + 0.02)


@pytest.mark.slow
@pytest.mark.parametrize("turns", [0.0, 0.1, 0.5, 1.0, 1.7, 3.0, 5.0])
@pytest.mark.parametrize("every_slot", [False, True])
def test_parameters_are_at_most_h_slots_stale_whatever_the_copy_took(
    turns: float, every_slot: bool
) -> None:
    """Copies of 0 to 5 rounds: what arrived meanwhile was kept, and is taken in before a step."""
    bits = turns * H * CAP * 1e9 / PARAMETERS
    _, outcome = run(scenario(KILL, restart__moment_bits=max(bits, 1e-6)), every_slot=every_slot)
    (rejoin,) = outcome.extra["rejoins"]
    assert rejoin["copy_s"] == pytest.approx(turns * H + 0.02, abs=1e-3)
    assert 0 <= rejoin["parameter_staleness_slots"] <= H


def test_two_copies_at_once_share_the_cap() -> None:
    """Both come from the same region, whose access is what they share."""
    two = {**KILL, "target": "two"}
    _, outcome = run(scenario(KILL, two))
    for rejoin in outcome.extra["rejoins"]:
        assert rejoin["peer"] == "three"
        expected = PARAMETERS * MOMENT_BITS / (CAP / 2 * 1e9) + 0.02
        assert rejoin["copy_s"] == pytest.approx(expected)


def test_the_others_keep_all_but_the_cap_of_a_busy_link() -> None:
    """Exchanges take the whole link; while a copy is under way they have three quarters of it."""
    thin: dict[str, Any] = {
        "training__payload_bits": 32,
        "training__tokens_per_step": 1,
    }
    without, _ = run(scenario(KILL, restart__moment_bits=0, **thin))
    made, outcome = run(scenario(KILL, **thin))
    (rejoin,) = outcome.extra["rejoins"]
    for unit in (1, 2, 3):
        productive = seconds(made, Account.PRODUCTIVE, unit)
        lost = seconds(without, Account.PRODUCTIVE, unit) - productive
        pace = seconds(without, Account.PRODUCTIVE, unit) * SECOND / made.horizon
        assert 0.5 < pace * 2.4 < 1.1  # they do wait for bytes
        assert lost <= CAP * pace * rejoin["copy_s"] + 5.0
        assert lost > 0.0


def test_the_others_lose_nothing_where_the_link_has_room() -> None:
    """Exchanges take a third of the link, and end in time beside a copy too."""
    made, _ = run(scenario(KILL))
    without, _ = run(scenario(KILL, restart__moment_bits=0))
    for unit in (1, 2, 3):
        assert seconds(made, Account.PRODUCTIVE, unit) == pytest.approx(
            seconds(without, Account.PRODUCTIVE, unit), abs=1e-6
        )


def test_a_peer_in_the_same_region_costs_no_time_on_the_links() -> None:
    """Inside a region a copy crosses no link."""
    text = TEXT.replace("{name: two, region: b,", "{name: two, region: a,")
    made, outcome = run(scenario(KILL, text=text))
    (rejoin,) = outcome.extra["rejoins"]
    assert (rejoin["peer"], rejoin["copy_s"], rejoin["bytes"]) == ("two", 0.0, 0.0)
    assert seconds(made, Account.RESTART) == pytest.approx(RESTART)


def test_the_nearest_peer_is_asked() -> None:
    """That is the one that a message reaches soonest."""
    near = TEXT.replace("b: , c: , d: ", "b: {latency: 80 ms}, c: {latency: 30 ms}, d: ")
    _, outcome = run(scenario(KILL, text=near))
    assert outcome.extra["rejoins"][0]["peer"] == "four"
    near = TEXT.replace("b: , c: , d: ", "b: {latency: 80 ms}, c: , d: {latency: 90 ms}")
    _, outcome = run(scenario(KILL, text=near))
    assert outcome.extra["rejoins"][0]["peer"] == "three"


def test_a_copy_follows_the_link() -> None:
    """100 s at a quarter of 1 Gbit/s, the rest at a quarter of 500 Mbit/s."""
    slower = {"at": "510 s", "fault": "throttle", "target": "a", "to": "500 Mbit/s"}
    _, outcome = run(scenario(KILL, slower))
    left = PARAMETERS * MOMENT_BITS - 100 * CAP * 1e9
    (rejoin,) = outcome.extra["rejoins"]
    assert rejoin["copy_s"] == pytest.approx(100 + left / (CAP * 0.5e9) + 0.02)


def test_a_copy_whose_peer_is_lost_begins_anew_with_another() -> None:
    """What had been sent was sent in vain; the moments are those of the second peer."""
    again = {"at": "510 s", "fault": "kill", "target": "two", "for": "30 min"}
    made, outcome = run(scenario(KILL, again))
    first = outcome.extra["rejoins"][0]
    whole = PARAMETERS * MOMENT_BITS
    assert first["peer"] == "three"
    assert first["copy_s"] == pytest.approx(100 + whole / (CAP * 1e9) + 0.02)
    assert first["bytes"] == pytest.approx((whole + 100 * CAP * 1e9) / 8)
    assert first["moment_age_s"] == pytest.approx(first["copy_s"] - 100)
    assert seconds(made, Account.RESTART) == pytest.approx(RESTART + first["copy_s"])


def test_a_peer_that_is_cut_off_is_given_up_for_another() -> None:
    """After the ring's timeout, from the start."""
    cut = {"at": "510 s", "fault": "cut", "target": "b", "for": "30 min"}
    _, outcome = run(scenario(KILL, cut, network__ring_timeout="30 s"))
    first = outcome.extra["rejoins"][0]
    assert first["peer"] == "three"
    # the replica of b has left the ring by then, so that nobody waits for it
    assert first["copy_s"] == pytest.approx(130 + PARAMETERS * MOMENT_BITS / (CAP * 1e9) + 0.02)


def test_without_a_peer_it_goes_back_to_its_last_save() -> None:
    """The peers are lost during the copy: `checkpoint_restore`, and no copy."""
    text = TEXT.replace("- {name: three, region: c, chips: 16}\n", "").replace(
        "    - {name: four, region: d, chips: 16}\n", ""
    )
    text = text.replace("    network", "network")
    again = {"at": "510 s", "fault": "kill", "target": "two", "for": "30 min"}
    saves = {"policy": "fixed", "interval": "500 s", "save": "1 s", "restore": "70 s"}
    made, outcome = run(scenario(KILL, again, text=text, checkpoint=saves))
    first = outcome.extra["rejoins"][0]
    assert (first["peer"], first["moment_age_s"]) == (None, None)
    assert seconds(made, Account.CHECKPOINT_RESTORE) == pytest.approx(70.0)
    assert seconds(made, Account.RESTART) == pytest.approx(RESTART + 100.0)
    assert seconds(made, Account.WASTED_PROGRESS) > 50.0


def test_a_unit_lost_again_during_its_copy_begins_a_new_one() -> None:
    """The copy so far is gone with the hardware."""
    again = {"at": "510 s", "fault": "kill", "target": "one", "for": "100 s"}
    made, outcome = run(scenario(KILL, again))
    (rejoin,) = outcome.extra["rejoins"]
    copy = PARAMETERS * MOMENT_BITS / (CAP * 1e9) + 0.02
    assert (rejoin["left_s"], rejoin["back_s"]) == (LOST, 610.0)
    assert seconds(made, Account.RESTART) == pytest.approx(2 * RESTART + 100.0 + copy)


def test_a_slice_lost_or_back_during_the_copy_changes_only_the_hardware() -> None:
    """Neither a downscale nor an upscale comes on top."""
    again = {"at": "460 s", "fault": "kill", "target": "one/slice 0", "for": "100 s"}
    made, outcome = run(scenario(KILL, again))
    copy = PARAMETERS * MOMENT_BITS / (CAP * 1e9) + 0.02
    assert outcome.extra["rejoins"][0]["copy_s"] == pytest.approx(copy)
    assert seconds(made, Account.ELASTIC_UPSCALE) == 0.0
    assert seconds(made, Account.RESTART) == pytest.approx(RESTART + copy - 100.0 / 2)


def test_a_first_answer_is_heard_before_the_learner_is_lost_again() -> None:
    """However little happens between the two."""
    again = {"at": "12 min", "fault": "kill", "target": "one", "for": "60 s"}
    _, outcome = run(scenario(KILL, again, duration="25 min"))
    stale = [rejoin["parameter_staleness_slots"] for rejoin in outcome.extra["rejoins"]]
    assert len(stale) == 2
    assert None not in stale


@pytest.mark.parametrize("more", [{"network__bandwidth": "unlimited"}, {"restart__moment_bits": 0}])
def test_nothing_is_copied_where_nothing_limits_it(more: dict[str, Any]) -> None:
    """A restart takes its own time alone, and no copy is reported."""
    made, outcome = run(scenario(KILL, **more))
    assert seconds(made, Account.RESTART) == RESTART
    assert "rejoins" not in outcome.extra


def test_a_unit_that_joins_for_the_first_time_copies_like_one_that_returns() -> None:
    """`unallocated` until it is there, then `restart`; its parameters are at most H slots old."""
    late = [{"target": "one", "joins": "5 min"}]
    made, outcome = run(scenario(scavenging=late))
    copy = PARAMETERS * MOMENT_BITS / (CAP * 1e9) + 0.02
    (rejoin,) = outcome.extra["rejoins"]
    assert (rejoin["left_s"], rejoin["back_s"]) == (0.0, 300.0)
    assert rejoin["copy_s"] == pytest.approx(copy)
    assert 0 <= rejoin["parameter_staleness_slots"] <= H
    assert seconds(made, Account.UNALLOCATED) == pytest.approx(300.0)
    assert seconds(made, Account.RESTART) == pytest.approx(RESTART + copy)


@pytest.mark.parametrize("method", ["diloco", "streaming_diloco", "decoupled_diloco"])
def test_the_tape_says_when_the_copy_began_and_of_whom(method: str) -> None:
    """What a model's moments are then as old as: the copy begins when the restart is over."""
    one = scenario(KILL, methods=[method]).for_method(method)
    (recording,) = simulate(one, method, tape=True).tapes
    (fetch,) = [event for event in recording.events if isinstance(event, tape.Fetch)]
    (rejoin,) = [event for event in recording.events if isinstance(event, tape.Rejoin)]
    besides = 0 if method == "decoupled_diloco" else 64  # parameters and outer momentum
    copy = PARAMETERS * (MOMENT_BITS + besides) / (CAP * 1e9) + 0.02
    assert (fetch.learner, fetch.peer) == (rejoin.learner, rejoin.peer)
    assert fetch.time == pytest.approx(LOST + DOWN + RESTART)
    assert rejoin.time == pytest.approx(fetch.time + copy)


def test_a_learner_that_crashes_first_of_all_copies_its_moments() -> None:
    """Its hardware stands, and nothing has stalled it before."""
    crash = Strike(ticks(5), 0, (), ticks(10), 0, "crash", "job")
    _, outcome = run(scenario(duration="90 s", restart__moment_bits=1), crash)
    (rejoin,) = outcome.extra["rejoins"]
    assert (rejoin["left_s"], rejoin["peer"]) == (5.0, "two")
