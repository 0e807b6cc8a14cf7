"""What a link that is cut, throttled or flapping costs each method, and who is cut off by it."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from scenario_text import scenario

import ddsim
from ddsim.bandwidth import METHODS, reading_of, step_model, utilization
from ddsim.results import MethodResult
from ddsim.scenario import Scenario
from ddsim.world.instants import ticks
from ddsim.world.network import Network

TURN = 600.0
ROUND = 20.0
TARGET = "target: region 2"
FAULTS = {
    "none": "[]",
    "cut": f"[{{at: 10 min, fault: cut, {TARGET}, for: 10 min}}]",
    "throttle": f"[{{at: 10 min, fault: throttle, {TARGET}, to: 200 Mbit/s, for: 10 min}}]",
    "flap": f"[{{at: 10 min, fault: flap, {TARGET}, every: 10 s, for: 10 min}}]",
    "link": "[{at: 10 min, fault: cut, target: region 2-region 3, for: 10 min}]",
}


def plan(fault: str, **overrides: Any) -> Scenario:
    """Four regions of one unit, steps of 1 s, rounds of 20, 8 bits; three turns."""
    settings = {
        "duration": "30 min",
        "training.inner_steps": int(ROUND),
        "training.fragments": 10,
        "training.payload_bits": 8,
        "network.ring_timeout": "never",  # who leaves an exchange has tests of its own
        **overrides,
    }
    return scenario(
        f"network: {{bandwidth: 2 Gbit/s, latency: 10 ms}}\nchaos: {FAULTS[fault]}\n", settings
    )


@cache
def run(method: str, fault: str) -> MethodResult:
    """One method under one fault."""
    return ddsim.run(plan(fault), [method])[method]


def seconds(result: MethodResult, account: str) -> float:
    """A unit's mean seconds in an account."""
    return result.accounts.get(account, 0.0) * result.wall_clock_s


@pytest.mark.slow
@pytest.mark.parametrize(
    "fault",
    ["cut", "throttle", *(pytest.param(name, marks=pytest.mark.slow) for name in ("flap", "link"))],
)
@pytest.mark.parametrize("method", METHODS)
def test_a_links_failure_is_only_ever_exposed_communication(method: str, fault: str) -> None:
    """What is not productive any more is exposed; nobody restarts, fails or waits for peers."""
    result, before = run(method, fault), run(method, "none")
    for account in result.accounts:
        if account not in ("productive", "exposed_communication"):
            assert seconds(result, account) == pytest.approx(0.0, abs=1e-6)
    lost = seconds(before, "productive") - seconds(result, "productive")
    assert lost > 20.0
    gained = seconds(result, "exposed_communication") - seconds(before, "exposed_communication")
    assert gained == pytest.approx(lost, abs=1e-6)


@pytest.mark.parametrize("fault", ["cut", pytest.param("link", marks=pytest.mark.slow)])
@pytest.mark.parametrize("method", METHODS)
def test_a_link_cut_for_long_stops_all_who_wait_for_it(method: str, fault: str) -> None:
    """Its time less what there was to compute: a step, the rest of a round, or tau steps."""
    result, before = run(method, fault), run(method, "none")
    share = before.compute_utilization
    lost = seconds(before, "productive") - seconds(result, "productive")
    assert share * (TURN - 2 * ROUND) < lost < share * (TURN + 2 * ROUND) + ROUND


@pytest.mark.parametrize("method", METHODS)
def test_a_throttled_link_sets_the_pace_while_it_is_throttled(method: str) -> None:
    """Utilization of the recurrence at 2 Gbit/s, and a third of the time at 200 Mbit/s."""
    settled = plan("none").for_method(method)
    model, reading = step_model(settled), reading_of(settled, method)
    wide, thin = utilization(method, model, [2.0, 0.2], reading).tolist()
    wanted = 2 * TURN * wide + TURN * thin
    assert seconds(run(method, "throttle"), "productive") == pytest.approx(wanted, abs=2 * ROUND)


@pytest.mark.parametrize("method", METHODS)
def test_a_flapping_link_moves_at_most_what_it_can(method: str) -> None:
    """Half the time it carries nothing; more gets through than in an hour without it."""
    result = run(method, "flap")
    line = Network(plan("flap")).lines["up:region 2"]
    use = next(
        u for u in result.extra["links"] if (u["link"], u["direction"]) == ("region 2", "up")
    )
    assert use["bytes"] * 8 <= line.passed(0, ticks(3 * TURN)) * (1 + 1e-9)
    assert seconds(result, "productive") > seconds(run(method, "cut"), "productive")


@pytest.mark.parametrize("fault", ["none", "cut", "throttle", "flap", "link"])
@pytest.mark.parametrize("method", METHODS)
def test_bytes_in_equal_bytes_out(method: str, fault: str) -> None:
    """On every site, whatever happens to a link."""
    uses = [u for u in run(method, fault).extra["links"] if u["direction"] in ("up", "down")]
    assert {u["link"] for u in uses} == {f"region {i}" for i in range(4)}
    assert [u["bytes"] for u in uses] == pytest.approx([uses[0]["bytes"]] * 8, rel=1e-12)


@pytest.mark.parametrize("fault", ["none", "cut", "throttle", "flap"])
def test_every_synchronization_sends_its_bytes_once(fault: str) -> None:
    """diloco: rounds x payload x 2 (M - 1) / M, and at most one more that is under way."""
    result = run("diloco", fault)
    each = 8e9 * 1.5 / 8
    sent = result.extra["links"][0]["bytes"]
    assert len(result.merges) * each <= sent * (1 + 1e-12)
    assert sent <= (len(result.merges) + 1) * each * (1 + 1e-12)


def made(chaos: str, places: str = "[a, b, c, d]") -> Network:
    """A network under a plan of faults."""
    return Network(
        scenario(f"network: {{bandwidth: 1 Gbit/s, regions: {places}}}\nchaos: {chaos}\n")
    )


def test_regions_without_access_are_cut_off_while_it_lasts() -> None:
    """Nobody before and after; a throttled region is slow, not cut off."""
    network = made(
        "[{at: 10 min, fault: cut, target: b, for: 10 min}, "
        "{at: 10 min, fault: throttle, target: c, to: 1 Mbit/s}]"
    )
    regions = ["a", "b", "c", "d"]
    assert [network.cut_off(regions, ticks(t * TURN)) for t in (0.5, 1, 1.5, 2)] == [
        set(),
        {"b"},
        {"b"},
        set(),
    ]


def test_the_remaining_regions_make_a_ring() -> None:
    """Its rate is what they have, while the ring of all stands still."""
    network = made("[{at: 10 min, fault: cut, target: b}]")
    regions = ["a", "b", "c", "d"]
    left = [name for name in regions if name not in network.cut_off(regions, ticks(2 * TURN))]
    assert network.ring(regions).rate.at(ticks(2 * TURN)) == 0.0
    assert network.ring(left).rate.at(ticks(2 * TURN)) == 1e9


def test_a_partition_leaves_out_the_smaller_side() -> None:
    """a and d reach nobody but each other: of five regions b, c and e go on."""
    cuts = ", ".join(
        f"{{at: 10 min, fault: cut, target: {one}-{other}}}" for one in "ad" for other in "bce"
    )
    network = made(f"[{cuts}]", "[a, b, c, d, e]")
    assert network.cut_off(list("abcde"), ticks(2 * TURN)) == {"a", "d"}


def test_a_pair_that_nothing_joins_loses_one_of_the_two() -> None:
    """The later of neighbours in the ring that reach equally many others."""
    network = made("[{at: 10 min, fault: cut, target: b-c}]")
    assert network.cut_off(list("abcd"), ticks(2 * TURN)) == {"c"}
    assert network.cut_off(list("acbd"), ticks(2 * TURN)) == {"b"}
    assert network.cut_off(["a", "b"], ticks(2 * TURN)) == set()


def test_what_a_unit_missed_goes_over_its_own_way() -> None:
    """From one region's upload to the other's download, marked as recovery."""
    way = made("[]").transfer("a", "c")
    assert (set(way.links), way.bits(5.0), way.recovery) == ({"up:a", "down:c"}, 5.0, True)
