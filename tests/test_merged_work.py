"""What of the work is merged, overwritten or pending: one rule for all methods."""

from __future__ import annotations

from math import inf
from typing import Any

import pytest
from naive.case import Case
from naive.hand import slice_strike, units
from naive_cases import run_engine
from scenario_text import scenario

import ddsim
from ddsim.cli.run_report import show_run
from ddsim.engine.run import Outcome
from ddsim.engine.settled import Settled
from ddsim.results import MethodResult
from ddsim.scenario import Known

FAMILY = ("diloco", "streaming_diloco", "decoupled_diloco", "async_local_sgd")
KNOWN = Known(methods=("data_parallel", "elastic_data_parallel", *FAMILY))
OVERLAPPED = ("streaming_diloco", "decoupled_diloco")


def of(method: str, duration: float, **settings: Any) -> Outcome:
    """Two units of 1 s a step at one place, H = 4, all waited for; a lost one restarts at once."""
    fields = {"inner_steps": 4, "quorum": 2, "apply": "at_tau", "release": "end_of_step"}
    fields |= {"capacity": {"region 0": inf}}
    case = Case(method, duration, units(1.0, 1.0), **{**fields, **settings})
    return run_engine(case).outcome


def fates(outcome: Outcome) -> tuple[float | None, float | None, float]:
    """Steps x fragments merged, overwritten and pending."""
    return outcome.merged, outcome.overwritten, outcome.pending


def result(method: str, **overrides: Any) -> MethodResult:
    """A method on the least scenario."""
    chosen = scenario("", {**overrides, "methods": [method]}, known=KNOWN)
    return ddsim.run(chosen)[method]


@pytest.mark.parametrize("method", OVERLAPPED)
@pytest.mark.parametrize(("H", "tau"), [(4, 1), (4, 6), (12, 2), (24, 6), (100, 4)])
def test_steps_between_an_answer_and_its_update_are_overwritten(
    method: str, H: int, tau: int
) -> None:
    """Equal learners in step merge 1 - (tau mod H)/H of each round after the first update."""
    rounds = 20
    outcome = of(method, rounds * H + 0.5, inner_steps=H, overlap_steps=tau)
    lost = tau % H * (rounds - 1 - tau // H)
    assert fates(outcome) == (2 * (rounds * H - lost), 2 * lost, 0)
    assert outcome.tokens_merged / outcome.tokens == pytest.approx(1 - lost / (rounds * H))


@pytest.mark.parametrize("tau", [1, 3])
def test_what_is_applied_on_arrival_overwrites_nothing_on_free_links(tau: int) -> None:
    """The update is there with the answer."""
    outcome = of("decoupled_diloco", 40.5, overlap_steps=tau, apply="on_arrival")
    assert fates(outcome) == (80, 0, 0)
    assert outcome.merged_share == 1.0


def mixed(method: str, alpha: float, **overrides: Any) -> MethodResult:
    """Four units of 1 s a step in step for 9.5 s, H = 4, tau = 2, all links free."""
    training = {"inner_steps": 4, "fragments": 1, "overlap_steps": 2, "mixing": alpha, "quorum": 4}
    settings: dict[str, Any] = {f"training.{name}": value for name, value in training.items()}
    settings |= {"training.apply": "at_tau", "training.release": "end_of_step"}
    free = {"duration": "9.5 s", "network.bandwidth": "unlimited", "restart.time": "1 s"}
    return result(method, **{**settings, **free, **overrides})


@pytest.mark.parametrize("alpha", [0.25, 0.5, 1.0])
def test_mixing_keeps_its_share_of_the_steps_since_the_answer(alpha: float) -> None:
    """Two steps when update 4 comes; what is kept of them is in answer 8."""
    found = mixed("streaming_diloco", alpha)
    share = 1 - 2 * (1 - alpha) / 8
    assert found.merged_share == pytest.approx(share)
    assert found.pending_share == pytest.approx(1 / 9)
    assert found.tokens_merged == pytest.approx(share * 8 / 9 * found.tokens)


def test_nothing_is_kept_of_what_a_unit_had_when_it_was_lost() -> None:
    """Lost at 5.5 s, between answer 4 and its update: its fifth step is gone whatever alpha is."""
    kill = {"at": "5.5 s", "fault": "kill", "target": "unit 0", "for": "1 s"}
    failures = {"detection": "0 s"}
    found = mixed("streaming_diloco", 1.0, chaos=[kill], failures=failures, duration="11.75 s")
    assert found.merged_share == pytest.approx((4 * 8 - 1) / (4 * 8))


@pytest.mark.parametrize("method", ["diloco", "decoupled_diloco"])
def test_only_streaming_mixes(method: str) -> None:
    """Others take an update as it is."""
    assert mixed(method, 0.5).merged_share == mixed(method, 0.0).merged_share


@pytest.mark.parametrize("method", FAMILY[:3])
def test_a_loss_in_mid_round_overwrites_what_the_unit_had_done_of_it(method: str) -> None:
    """Lost at 2.5 s with two steps, which are in no merge of any method."""
    strikes = (slice_strike(2.5, detection=0.0, repair=1.0),)
    assert fates(of(method, 8.25, strikes=strikes))[1] == 2


@pytest.mark.parametrize("rule", ["drop", "rollback"])
def test_steps_that_are_taken_back_are_in_neither(rule: str) -> None:
    """Of what is left all was merged, but for the two units' round under way."""
    strikes = (slice_strike(5.5, detection=0.0, repair=3.0),)
    outcome = of("diloco", 13.25, strikes=strikes, on_failure=rule)
    merged, overwritten, pending = fates(outcome)
    assert overwritten == 0
    assert merged == 2 * outcome.steps - pending
    assert outcome.merged_share == 1.0


def test_who_steps_on_below_the_quorum_merges_no_more_than_it_ran() -> None:
    """Slots that wait for the quorum carry the same steps again and again."""
    strikes = (slice_strike(2.5, detection=0.0, repair=30.0),)
    settings = {"inner_steps": 1, "below_quorum": "step_on", "apply": "on_arrival"}
    outcome = of("decoupled_diloco", 60.25, strikes=strikes, **settings)
    assert 0.5 * outcome.tokens < outcome.tokens_merged <= outcome.tokens


def test_what_no_merge_has_decided_by_the_end_is_pending() -> None:
    """Three steps of four; nothing is merged, and nothing lost."""
    outcome = of("diloco", 3.5)
    assert fates(outcome) == (0, 0, 6)
    assert (outcome.merged_share, outcome.pending_share) == (0.0, 1.0)


@pytest.mark.parametrize(("duration", "said"), [("11.5 s", True), ("1000.5 s", False)])
def test_a_run_says_when_more_than_two_in_a_hundred_are_pending(
    capsys: pytest.CaptureFixture[str], duration: str, said: bool
) -> None:
    """Three steps of eleven, or none of a thousand."""
    overrides = {"methods": ["diloco"], "duration": duration, "training.inner_steps": 4}
    overrides["network.bandwidth"] = "unlimited"
    show_run(ddsim.run(scenario("", overrides, known=KNOWN)))
    assert ("neither merged nor" in capsys.readouterr().out) == said


def test_an_answer_that_leaves_its_merge_with_its_replica_is_not_merged() -> None:
    """The ring is stuck from the first exchange on; the cut replica leaves, and merges no more.

    What nobody has heard of by the end is overwritten.
    """
    cut = {"at": "1 s", "fault": "cut", "target": "one", "for": "never"}
    found = result(
        "decoupled_diloco",
        **{
            "duration": "1000 s",
            "network.regions": {"one": None, "two": None},
            "network.ring_timeout": "30 s",
            "training.quorum": 1,
            "chaos": [cut],
        },
    )
    assert found.tokens_merged is not None
    assert found.merged_share == pytest.approx(0.5, abs=0.1)
    assert found.tokens_merged < 0.55 * found.tokens


@pytest.mark.parametrize("method", ["data_parallel", "elastic_data_parallel"])
def test_data_parallel_merges_every_step(method: str) -> None:
    """Gradients are reduced within it."""
    found = result(method)
    assert (found.merged_share, found.pending_share) == (1.0, 0.0)
    assert found.merged_goodput == found.goodput
    assert found.tokens_merged == found.tokens


@pytest.mark.parametrize("method", FAMILY)
def test_merged_goodput_is_goodput_times_the_merged_share(method: str) -> None:
    """Methods are ranked by it."""
    found = result(method, duration="10 min")
    assert found.merged_share is not None
    assert found.merged_goodput == pytest.approx(found.goodput * found.merged_share)


@pytest.mark.slow
def test_steps_that_a_save_does_not_have_are_neither_merged_nor_overwritten() -> None:
    """All units are lost at once and go back to a save: what is left was merged, or is pending."""
    loss = {"at": "50 min", "fault": "kill", "for": "1 min"}
    kills = [{**loss, "target": f"unit {unit}"} for unit in range(4)]
    saves = {"policy": "fixed", "interval": "20 min", "save": "1 s", "restore": "10 s"}
    for method in FAMILY:
        found = result(method, duration="51.5 min", chaos=kills, checkpoint=saves)
        assert found.accounts["wasted_progress"] > 0.0
        assert found.tokens_merged is not None
        assert found.tokens_merged <= found.tokens


def test_settled_steps_lose_as_large_a_share_of_both() -> None:
    """A quarter of all is taken back."""
    assert Settled(60.0, 20.0, 6.0).without(20, 2.0) == (45.0, 15.0, 4.5)
