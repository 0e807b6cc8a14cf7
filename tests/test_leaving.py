"""`on_failure: leave`: others go on without a unit, which comes back with steps of its own."""

from __future__ import annotations

import textwrap
from dataclasses import replace

import pytest
from naive.model import simulate
from naive.random_cases import random_case
from naive_cases import run_engine

import ddsim
from ddsim.loading import load_text
from ddsim.results import MethodResult
from ddsim.scenario.errors import ScenarioError

WORLD = """
    duration: 20 s
    model: {parameters: 1, layers: 2}
    training: {step_time: 1 s, inner_steps: 4, on_failure: leave}
    cluster: {units: [{name: a, chips: 1}, {name: b, chips: 1}]}
    restart: {time: 1 s, moment_bits: 0}
    elastic: {downscale: 0 s, upscale: 0 s}
    network: {ring_timeout: 2 s}
    failures: {detection: 1 s}
    chaos: [CHAOS]
"""
KILL = "{at: 2.5 s, fault: kill, target: b, for: 3 s}"
LATE_KILL = "{at: 3.5 s, fault: kill, target: b, for: 3 s}"
CUT = "{at: 6.5 s, fault: cut, target: region 1, for: 7 s}"
BOTH = [("a", "b")]


def run(*chaos: str, method: str = "diloco", **changes: str) -> MethodResult:
    """The world with these faults; `network__latency` is `network.latency`."""
    text = textwrap.dedent(WORLD).replace("CHAOS", ", ".join(chaos))
    scenario = load_text(text, {key.replace("__", "."): value for key, value in changes.items()})
    (result,) = ddsim.run(scenario, [method]).results
    return result


def merges(result: MethodResult) -> list[tuple[float, tuple[str, ...]]]:
    """When each merge arrived, and who took part."""
    return [(merge.arrival, merge.learners) for merge in result.merges]


def test_nobody_waits_for_a_unit_that_is_back() -> None:
    """Back at 5.5 s, restarted at 6.5 s, it has its 4 steps at 10.5 s, in the others' round."""
    assert merges(run(KILL))[:4] == [(4, ("a",)), (8, ("a",)), (12, ("a", "b")), (16, ("a", "b"))]


def test_a_lost_unit_is_waited_for_until_that_is_detected() -> None:
    """Lost half a second before the barrier, with a detection of 1 s."""
    assert merges(run(LATE_KILL))[0] == (4.5, ("a",))


def test_its_steps_of_the_round_are_overwritten_not_wasted() -> None:
    """As those of any unit that was lost: the step in progress alone is wasted."""
    result = run(KILL)
    assert result.accounts["wasted_progress"] * 40 == pytest.approx(0.5)
    assert result.merged_share == pytest.approx((16 + 8) / (16 + 8 + 2))


def test_a_unit_whose_link_is_cut_is_left_out_after_the_timeout() -> None:
    """Cut at 6.5 s: the barrier of 8 s waits until 8.5 s, that of 12.5 s does not."""
    found = merges(run(CUT))
    assert found == [(4, ("a", "b")), (8.5, ("a",)), (12.5, ("a",)), (16.5, ("a", "b"))]


def test_what_a_cut_unit_has_done_is_merged_once_it_is_back() -> None:
    """It has its four steps, waits with them, and nothing of them comes to nothing."""
    result = run(CUT)
    assert result.accounts["wasted_progress"] == 0.0
    assert result.merged_share == 1.0
    assert result.accounts["waiting_on_peers"] * 40 == pytest.approx(0.5 + 8.5)


def test_a_cut_that_is_over_before_the_timeout_holds_the_barrier() -> None:
    """Up to its end and no longer."""
    short = "{at: 7.5 s, fault: cut, target: region 1, for: 1 s}"
    assert merges(run(short))[1] == (8.5, ("a", "b"))


def test_a_unit_alone_whose_link_is_cut_merges_when_it_is_back() -> None:
    """Nobody is left to merge with or without."""
    gone = "{at: 2.5 s, fault: kill, target: b, for: 17 s}"
    alone = "{at: 5 s, fault: cut, target: region 0, for: 5.5 s}"
    assert merges(run(gone, alone))[:3] == [(4, ("a",)), (10.5, ("a",)), (14.5, ("a",))]


def test_streaming_takes_it_in_after_its_own_steps_too() -> None:
    """From 10.5 s on it answers every slot, as the others do."""
    found = merges(run(KILL, method="streaming_diloco", training__overlap_steps="1"))
    assert [who for at, who in found if 4 <= at <= 10] == [("a",)] * 4
    assert all(who == ("a", "b") for at, who in found if at > 12)


@pytest.mark.parametrize("method", ["diloco", "streaming_diloco"])
@pytest.mark.parametrize(
    "seed", [*range(6), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(6, 12))]
)
def test_the_naive_model_agrees(method: str, seed: int) -> None:
    """Accounts to 1e-9 of the capacity, what became of the steps, and every merge.

    On links that stay: the naive model waits for cut ones as under other rules. Which fragments one
    of streaming_diloco receives that come in while it is back on its own is the engine's to say.
    """
    case = replace(random_case(seed, method), on_failure="leave", link_changes=())
    naive, engine = simulate(case), run_engine(case)
    capacity = case.duration * case.chips
    for expected, found in zip(naive.accounts, engine.accounts(), strict=True):
        for account, chip_seconds in found.items():
            assert chip_seconds == pytest.approx(expected.get(account, 0.0), abs=1e-9 * capacity)
    outcome = engine.outcome
    assert outcome.tokens == pytest.approx(naive.tokens, rel=1e-9)
    if method == "diloco":
        became = outcome.merged, outcome.overwritten
        assert became == pytest.approx((naive.merged, naive.overwritten))
    last = {m.slot: (m.start, m.arrival, m.participants) for m in engine.run.recorder.merges}
    assert sorted(last) == sorted(number for number, *_ in naive.merges)
    for number, start, arrival, members in naive.merges:
        assert last[number][:2] == pytest.approx((start, arrival), abs=1e-9 * case.duration)
        assert last[number][2] == members


@pytest.mark.parametrize("method", ["diloco", "streaming_diloco"])
def test_every_chip_second_is_booked(method: str) -> None:
    """In random cases, and nothing is merged twice."""
    for seed in range(5):
        case = replace(random_case(seed, method), on_failure="leave")
        result = run_engine(case, taped=seed % 2 == 0)
        booked = sum(sum(accounts.values()) for accounts in result.accounts())
        assert booked == pytest.approx(case.duration * case.chips, rel=1e-9)
        assert result.outcome.tokens_merged <= result.outcome.tokens * (1 + 1e-9)


HOST = "{name: %s, chips: 1, host: gpu, step_time: 0.8 s, step_time_alone: 0.4 s}"
SHARED = f"[{HOST % 'a'}, {HOST % 'b'}]"


def shared(
    *chaos: str, units: str = SHARED, method: str = "diloco", **changes: str
) -> MethodResult:
    """The world with two units on one host."""
    text = textwrap.dedent(WORLD).replace("CHAOS", ", ".join(chaos))
    text = text.replace("[{name: a, chips: 1}, {name: b, chips: 1}]", units)
    scenario = load_text(text, {"failures.detection": "0 s", **changes})
    (result,) = ddsim.run(scenario, [method]).results
    return result


def test_a_unit_that_has_its_host_for_itself_steps_faster() -> None:
    """At 4.2 s 0.75 of a step is left and one more to take: 0.3 s and 2 x 0.4 s."""
    found = merges(shared("{at: 4.2 s, fault: kill, target: b, for: 3 s}"))
    assert found[0] == (3.2, ("a", "b"))
    assert found[1][0] == pytest.approx(5.3)


def test_who_waits_does_not_compute() -> None:
    """The second is done first and waits: the first takes its last steps alone."""
    units = SHARED.replace("name: b, chips: 1", "name: b, chips: 1, speed: 1").replace(
        "0.8 s, step_time_alone: 0.4 s}]", "0.4 s, step_time_alone: 0.2 s}]"
    )
    assert merges(shared(units=units))[0][0] == pytest.approx(1.6 + 2 * 0.4)


def test_units_of_a_host_share_it_evenly_where_nothing_else_is_said() -> None:
    """With one of two gone a step takes half the time."""
    units = SHARED.replace(", step_time_alone: 0.4 s", "")
    found = merges(shared("{at: 1 ms, fault: kill, target: b, for: 30 s}", units=units))
    assert found[0][0] == pytest.approx(4 * 0.4, abs=1e-3)


def test_hosts_do_not_change_what_is_booked_where_all_compute() -> None:
    """The step time is the one with all of a host's units computing."""
    plain = SHARED.replace("host: gpu, ", "").replace(", step_time_alone: 0.4 s", "")
    one, other = shared(), shared(units=plain)
    assert merges(one) == merges(other)
    assert one.accounts == pytest.approx(other.accounts)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("host: gpu", "host: b"), "shares no host"),
        (("alone: 0.4", "alone: 0.9"), "no longer than"),
    ],
)
def test_a_step_time_alone_needs_company(change: tuple[str, str], said: str) -> None:
    """And is no longer than the one in company."""
    with pytest.raises(ScenarioError, match=said):
        shared(units=SHARED.replace(*change, 1))


def test_a_unit_that_is_back_before_others_went_on_is_waited_for() -> None:
    """Back at 3.5 s, before the barrier of 4 s: its H steps are over at 8.5 s."""
    soon = "{at: 1.5 s, fault: kill, target: b, for: 2 s}"
    assert merges(run(soon))[0] == (8.5, ("a", "b"))


def test_a_restart_loads_the_host() -> None:
    """From 2.6 s on a step takes 0.8 s: 1.5 of the second round's four are left then."""
    found = merges(shared("{at: 1 ms, fault: kill, target: b, for: 2.599 s}"))
    assert found[1][0] == pytest.approx(2.6 + 1.5 * 0.8, abs=1e-3)
