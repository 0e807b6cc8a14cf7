"""Replicas that a cut link keeps from the others leave their ring and catch up later."""

from __future__ import annotations

from functools import cache

import pytest
from scenario_text import scenario

import ddsim
from ddsim.results import MethodResult

TURN = 300.0
CUT = "[{at: 5 min, fault: cut, target: region 2, for: 5 min}]"


@cache
def run(chaos: str, timeout: str = "30 s", quorum: int = 1) -> MethodResult:
    """Four regions, steps of 1 s, ten fragments in 20 steps, a quarter of an hour."""
    settings = {
        "duration": "15 min",
        "training.inner_steps": 20,
        "training.fragments": 10,
        "training.payload_bits": 8,
        "training.quorum": quorum,
    }
    links = f"network: {{bandwidth: 2 Gbit/s, latency: 10 ms, ring_timeout: {timeout}}}\n"
    return ddsim.run(scenario(f"{links}chaos: {chaos}\n", settings), ["decoupled_diloco"])[
        "decoupled_diloco"
    ]


def seconds(result: MethodResult, account: str) -> float:
    """A unit's mean seconds in an account."""
    return result.accounts[account] * result.wall_clock_s


def learners(result: MethodResult, start: float, end: float) -> set[tuple[str, ...]]:
    """Who took part in the merges of a stretch of time."""
    return {merge.learners for merge in result.merges if start < merge.start < end}


@pytest.mark.parametrize(
    "fault", ["target: region 2", "target: region 2-region 3"], ids=["region", "link"]
)
def test_all_step_on_though_a_region_is_cut_off_for_long(fault: str) -> None:
    """What is lost is the timeout, less the steps that a transfer may take."""
    result = run(f"[{{at: 5 min, fault: cut, {fault}, for: 5 min}}]")
    assert 25.0 < seconds(result, "exposed_communication") < 35.0
    assert seconds(result, "productive") > 3 * TURN - 35.0
    assert sum(result.accounts.values()) == pytest.approx(1.0, abs=1e-9)


def test_without_a_timeout_all_wait_for_the_link() -> None:
    """The default: its time is lost."""
    result = run(CUT, "never")
    assert seconds(result, "exposed_communication") == pytest.approx(TURN, abs=5.0)


def test_those_in_the_ring_merge_without_the_one_that_is_out() -> None:
    """From the timeout to the end of the cut; all three learners of the ring take part."""
    result = run(CUT)
    assert learners(result, 1.1 * TURN, 1.9 * TURN) == {("unit 0", "unit 1", "unit 3")}
    assert learners(result, 0.0, 0.9 * TURN) == {("unit 0", "unit 1", "unit 2", "unit 3")}


def test_a_replica_that_is_back_has_copied_what_it_missed() -> None:
    """Every fragment, at the bits of a broadcast, over its own access; marked as recovery.

    What is merged during the copy is copied again.
    """
    uses = {(u["link"], u["direction"]): u for u in run(CUT).extra["links"]}
    model = 16 * 1e9 / 8
    copied = uses["region 2", "down"]["recovery_bytes"]
    assert model * (1 - 1e-9) <= copied <= 3 * model
    assert uses["region 0", "up"]["recovery_bytes"] == pytest.approx(copied)
    assert uses["region 1", "down"]["recovery_bytes"] == 0.0


def test_bytes_in_equal_bytes_out_though_transfers_are_sent_again() -> None:
    """What is given up has gone through every site alike."""
    uses = run(CUT).extra["links"]
    up, down = (sum(u["bytes"] for u in uses if u["direction"] == way) for way in ("up", "down"))
    assert up == pytest.approx(down, rel=1e-12)


def test_a_quorum_of_all_waits_for_the_one_that_is_out() -> None:
    """With K = M no slot closes meanwhile; afterwards all go on, and all take part."""
    result = run(CUT, quorum=4)
    waited = seconds(result, "waiting_on_peers")
    assert waited == pytest.approx(0.75 * TURN, abs=60.0)
    assert learners(result, 2.1 * TURN, 3 * TURN) == {("unit 0", "unit 1", "unit 2", "unit 3")}


def test_a_second_region_can_be_cut_off_and_come_back_first() -> None:
    """Those out are known one by one."""
    result = run(CUT[:-1] + ", {at: 7 min, fault: cut, target: region 1, for: 90 s}]")
    assert learners(result, 7.6 * 60, 8.4 * 60) == {("unit 0", "unit 3")}
    assert seconds(result, "productive") > 3 * TURN - 60.0


def test_a_link_that_flaps_faster_than_the_timeout_leaves_all_in() -> None:
    """10 s down and 10 s up: nobody is left out, all wait while it is down."""
    flap = "[{at: 5 min, fault: flap, target: region 2, every: 10 s, for: 5 min}]"
    result = run(flap)
    assert result.participation == pytest.approx(1.0)
    assert seconds(result, "exposed_communication") < 0.5 * TURN
    assert all(u["recovery_bytes"] == 0.0 for u in result.extra["links"])


def test_a_region_that_stays_cut_off_is_out_for_good() -> None:
    """The others merge to the end; its own steps enter no merge."""
    result = run("[{at: 5 min, fault: cut, target: region 2}]")
    assert learners(result, 1.1 * TURN, 3 * TURN) == {("unit 0", "unit 1", "unit 3")}
    assert result.participation == pytest.approx(10 / 12, abs=0.01)
