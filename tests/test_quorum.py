"""How much a quorum costs where learners keep failing: 1.2 million chips, a failure a year each."""

from __future__ import annotations

from functools import cache

import pytest

import ddsim
from ddsim.results import MethodResult
from ddsim.scenario import read_text, validate

LEARNERS = 8
LONG = "90 min"
SCENARIO = """
duration: 40 min
methods: [decoupled_diloco]
model: {parameters: 12e9, layers: 48}
training: {step_time: 1 s, tokens_per_step: 8e6, payload_bits: 4}
cluster: {chips: 1200000, chips_per_slice: 1024, learners: 8}
failures: {chip_mtbi: 1 yr, repair: 1500 s, detection: 0 s}
elastic: {downscale: 10.3 s, upscale: 10.3 s}
"""


@cache
def at_quorum(quorum: int, duration: str = "40 min") -> MethodResult:
    """Run with this quorum; all quorums meet the same failures."""
    changes = {"training.quorum": quorum, "duration": duration}
    document = read_text(SCENARIO).with_overrides(changes)
    return ddsim.run(validate(document))["decoupled_diloco"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "quorum", [*(pytest.param(quorum, marks=pytest.mark.slow) for quorum in range(2, 5)), 5]
)
def test_up_to_five_of_eight_a_quorum_costs_next_to_nothing(quorum: int) -> None:
    """K <= 5 of 8 lowers goodput by less than half a point."""
    assert at_quorum(1).goodput - at_quorum(quorum).goodput < 0.005


@pytest.mark.slow
@pytest.mark.parametrize(("quorum", "loss"), [(7, 0.05), (8, 0.20)])
def test_near_all_learners_a_quorum_costs_a_lot(quorum: int, loss: float) -> None:
    """K = 7 and K = 8 make the others wait for who reconfigures."""
    assert at_quorum(1, LONG).goodput - at_quorum(quorum, LONG).goodput > loss


@pytest.mark.slow
def test_a_quorum_takes_in_more_of_the_learners() -> None:
    """From K = 5 on, each further learner that a merge needs raises participation, up to all."""
    participation = [at_quorum(quorum).participation or 0.0 for quorum in (5, 6, 7, 8)]
    assert participation == sorted(participation)
    assert participation[-1] == 1.0


def test_reconfiguring_learners_are_live() -> None:
    """Merge uptime counts learners that have hardware, so that slice failures leave it at 1."""
    for quorum in (1, LEARNERS):
        result = at_quorum(quorum, "10 min")
        assert result.failures > 10
        assert result.merge_uptime == 1.0


def test_no_slot_closes_while_fewer_than_the_quorum_are_live() -> None:
    """Opened by three at 1 s, the slot waits a second for the fourth, but two are lost meanwhile.

    All that are left have answered at 2 s, when its grace is over, too: it closes once a third
    is there again, a minute after the first was lost.
    """
    text = """
    duration: 2 min
    methods: [decoupled_diloco]
    model: {parameters: 1e9, layers: 1}
    training: {step_time: 1 s, tokens_per_step: 4, inner_steps: 1, overlap_steps: 5, quorum: 3}
    cluster:
      chips_per_slice: 1
      units:
        - {name: a, chips: 1}
        - {name: b, chips: 1}
        - {name: c, chips: 1}
        - {name: d, chips: 1, speed: 0.5}
    restart: {time: 0 s}
    failures: {detection: 0 s}
    chaos:
      - {at: 1.25 s, fault: kill, target: a, for: 1 min}
      - {at: 1.5 s, fault: kill, target: b, for: 1 min}
    """
    merges = ddsim.run(validate(read_text(text)))["decoupled_diloco"].merges
    assert merges[0].slot == 1
    assert merges[0].start == pytest.approx(61.25)
    assert {"c", "d"} <= set(merges[0].learners)
