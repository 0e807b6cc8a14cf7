"""Settings under which two ways of training are one, on drawn failures and planned ones."""

from __future__ import annotations

import pytest
from replicated import world

from ddsim.results import MethodResult
from ddsim.scenario import Scenario
from ddsim.simulation import simulate
from ddsim.world.histories import Histories

SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 4))]
SAME = ("goodput", "uptime", "time_goodput", "ettr", "steps", "tokens", "failures")


def both(scenario: Scenario, one: str, other: str) -> tuple[MethodResult, MethodResult]:
    """Two methods on one failure history."""
    histories = Histories(0)
    first, second = (
        simulate(scenario.for_method(name), name, 0, histories) for name in (one, other)
    )
    return first, second


def assert_same_accounts(one: MethodResult, other: MethodResult) -> None:
    """All accounts are the same, and what follows from them."""
    for account, share in one.accounts.items():
        assert share == pytest.approx(other.accounts[account], abs=1e-9), account
    for name in SAME:
        assert getattr(one, name) == pytest.approx(getattr(other, name), rel=1e-9), name


def assert_same_states(one: MethodResult, other: MethodResult) -> None:
    """Every unit changes its state at the same times."""
    assert [(s.unit, s.state, s.healthy_chips) for s in one.timeline] == [
        (s.unit, s.state, s.healthy_chips) for s in other.timeline
    ]
    for mine, theirs in zip(one.timeline, other.timeline, strict=True):
        assert mine.start == pytest.approx(theirs.start, abs=1e-6)
        assert mine.end == pytest.approx(theirs.end, abs=1e-6)


def equals(seed: int, **changes: object) -> Scenario:
    """Equal units that all have to answer; what they send leaves at the end of the step."""
    settings: dict[str, object] = {
        "seed": seed,
        "duration": "3599.37 s",  # where no step ends: which side of it would be rounding's choice
        "network__bandwidth": "8 Gbit/s",
        "network__latency": "0 s",
        "model__parameters": 1e9,
        "training__payload_bits": 16,
        "training__quorum": 4,
        "training__inner_steps": 12,
        "training__release": "end_of_step",
        "training__below_quorum": "block",
        "cluster__chips": 64,
        "cluster__chips_per_slice": 4,
    }
    return world(**{**settings, **changes})


FAILURES: dict[str, object] = {
    "failures__chip_mtbi": "4 h",
    "failures__repair": {"exponential": {"mean": "3 min"}},
    "failures__detection": "5 s",
    "restart__time": "30 s",
    "restart__moment_bits": 0,  # a lost unit fetches less where a replica stands beside it
    "chaos": [{"at": "20 min", "fault": "kill", "target": "unit 2", "for": "10 min"}],
}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("rule", ["absorb", "extend"])
@pytest.mark.parametrize("age", ["runs", "stops"])
def test_one_decoupled_learner_is_an_elastic_job(seed: int, rule: str, age: str) -> None:
    """On one unit that always has a slice left there is nothing to be decoupled from."""
    scenario = world(
        seed=seed,
        cluster__chips=256,
        cluster__chips_per_slice=4,
        cluster__learners=1,
        cluster__jitter=0.02,
        duration="2 h",
        training__step_time="3 s",
        training__tokens_per_step=1e6,
        elastic__stall_rule=rule,
        failures__age_while_down=age,
        failures__chip_mtbi="20 h",
        failures__repair={"exponential": {"mean": "3 min"}},
    )
    decoupled, elastic = both(scenario, "decoupled_diloco", "elastic_data_parallel")
    assert elastic.failures > 10
    assert elastic.accounts["elastic_upscale"] > 0
    assert_same_accounts(decoupled, elastic)
    assert_same_states(decoupled, elastic)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("rule", ["absorb", "extend"])
def test_decoupled_without_overlap_is_diloco(seed: int, rule: str) -> None:
    """tau = 0, K = M, P = 1: every round is DiLoCo's, whatever fails, units lost whole included."""
    scenario = equals(
        seed,
        training__fragments=1,
        training__overlap_steps=0,
        elastic__stall_rule=rule,
        **FAILURES,
    )
    decoupled, diloco = both(scenario, "decoupled_diloco", "diloco")
    assert diloco.failures > 5
    assert diloco.accounts["waiting_on_peers"] > 0.01
    assert diloco.accounts["exposed_communication"] > 0.01
    assert_same_accounts(decoupled, diloco)
    assert decoupled.wan["total_bytes"] == pytest.approx(diloco.wan["total_bytes"])
    for when in ("start", "arrival"):
        mine, theirs = ([getattr(m, when) for m in r.merges] for r in (decoupled, diloco))
        assert mine == pytest.approx(theirs, abs=1e-6)


@pytest.mark.parametrize("latency", ["0 s", "50 ms"])
def test_that_synchronous_round_takes_what_the_closed_form_says(latency: str) -> None:
    """H steps, then 2(M-1)/M of the payload on the thinnest access, then 2(M-1) phases."""
    at_once = {"training__fragments": 1, "training__overlap_steps": 0}
    scenario = equals(0, **at_once, network__latency=latency, duration="900.37 s")
    payload = 1e9 * 16 * 2 * 3 / 4 / 8e9
    length = 12 * 1.0 + payload + 2 * 3 * (0.05 if latency == "50 ms" else 0.0)
    for result in both(scenario, "decoupled_diloco", "diloco"):
        arrivals = [merge.arrival for merge in result.merges]
        assert arrivals == pytest.approx([length * (i + 1) for i in range(len(arrivals))])
        assert result.steps == pytest.approx(900 / length * 12, abs=12)


@pytest.mark.slow
@pytest.mark.parametrize("tau", [0, 1, 2, 3])
@pytest.mark.parametrize("fragments", [1, 3, 12])
def test_decoupled_applied_at_tau_steps_like_streaming(tau: int, fragments: int) -> None:
    """With fragments held until tau and no failure: the step times of Streaming DiLoCo.

    The links carry one transfer at a time: several would share them here and queue there.
    """
    step = 12 / fragments  # seconds from one fragment to the next
    transfer = 1e9 * 16 * 1.5 / fragments
    seconds = 0.9 * step if fragments < 12 else 0.5
    scenario = equals(
        0,
        training__fragments=fragments,
        training__overlap_steps=tau,
        training__apply="at_tau",
        network__bandwidth=f"{transfer / seconds!r} bit/s",
    )
    decoupled, streaming = both(scenario, "decoupled_diloco", "streaming_diloco")
    assert_same_accounts(decoupled, streaming)
    mine, theirs = (
        [(m.slot, m.fragments, m.start, m.arrival) for m in result.merges]
        for result in (decoupled, streaming)
    )
    assert len(mine) > 100 / step
    for one, other in zip(mine, theirs, strict=True):
        assert one[:2] == other[:2]
        assert one[2:] == pytest.approx(other[2:], abs=1e-6)
    assert decoupled.merged_share == pytest.approx(streaming.merged_share or 0.0, abs=0.01)
    if tau < seconds:
        assert streaming.accounts["exposed_communication"] > 0


@pytest.mark.slow
def test_streaming_of_one_fragment_without_overlap_is_diloco() -> None:
    """P = 1 and tau = 0: Streaming DiLoCo is DiLoCo, released by layer or at the end."""
    for release in ("by_layer", "end_of_step"):
        scenario = equals(
            0, training__fragments=1, training__overlap_steps=0, training__release=release
        )
        assert_same_accounts(*both(scenario, "streaming_diloco", "diloco"))


@pytest.mark.parametrize("seed", SEEDS)
def test_diloco_of_single_steps_is_elastic_data_parallel(seed: int) -> None:
    """H = 1 with the gradients' bits, by layer: the accounts of a data-parallel step.

    With failures too while no unit is lost, where the stalls, which a job takes together and units
    take alone, have no length.
    """
    scenario = equals(
        seed,
        training__inner_steps=1,
        training__fragments=1,
        training__release="by_layer",
        training__gradient_bits=16,
        cluster__chips=256,
        failures__chip_mtbi="10 h",
        failures__repair="1 min",
        failures__detection="0 s",
        elastic__downscale="0 s",
        elastic__upscale="0 s",
    )
    diloco, elastic = both(scenario, "diloco", "elastic_data_parallel")
    assert elastic.failures > 10
    for account, share in diloco.accounts.items():
        assert share == pytest.approx(elastic.accounts[account], abs=1e-9), account
    # the last step's compute is over, its reduction not: DiLoCo counts it already
    assert diloco.steps == pytest.approx(elastic.steps, abs=1)
