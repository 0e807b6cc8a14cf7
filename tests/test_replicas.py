"""A replica that is cut off, or too slow, leaves the exchange after a timeout and comes back."""

from __future__ import annotations

from functools import cache

import pytest

import ddsim
from ddsim.results import Merge, MethodResult
from ddsim.scenario import read_text, validate

SCENARIO = """
duration: 30 min
methods: [decoupled_diloco]
model: {parameters: 12e9, layers: 48}
training: {step_time: 1 s, tokens_per_step: 8e6, payload_bits: 4}
cluster: {chips: 4096, chips_per_slice: 64, learners: 4}
network:
  bandwidth: 5 Gbit/s
  efficiency: 0.8
  latency: 30 ms
  regions: {a: , b: , c: , d: }
"""
CUT = "chaos: [{at: 6 min, fault: cut, target: b, for: 10 min}]\n"
SLOW = SCENARIO.replace("b: ,", "b: {bandwidth: 0.5 Gbit/s},")
CUT_AT, HEALED_AT, TIMEOUT = 360.0, 960.0, 2.0


@cache
def outcome(text: str, timeout: str) -> MethodResult:
    """Run a scenario with this timeout."""
    document = read_text(text).with_overrides({"network.ring_timeout": timeout})
    return ddsim.run(validate(document))["decoupled_diloco"]


def merges_between(result: MethodResult, start: float, end: float) -> list[Merge]:
    """Merges that closed in a stretch of time."""
    return [merge for merge in result.merges if start < merge.start < end]


def test_without_a_timeout_everyone_waits_for_a_cut_link() -> None:
    """The ten minutes of the cut is exposed communication for all learners."""
    lost = outcome(SCENARIO + CUT, "never").accounts["exposed_communication"] * 1800.0
    assert lost == pytest.approx(HEALED_AT - CUT_AT, rel=0.01)


@pytest.mark.slow
def test_with_a_timeout_the_others_keep_stepping() -> None:
    """With a timeout of 2 s the cut, the way back included, costs a tenth of that at most."""
    lost = outcome(SCENARIO + CUT, "2 s").accounts["exposed_communication"] * 1800.0
    assert lost < 0.1 * (HEALED_AT - CUT_AT)


def test_who_is_cut_off_is_in_no_merge() -> None:
    """From the timeout on until the link is healed the unit takes part in no merge."""
    merges = merges_between(outcome(SCENARIO + CUT, "2 s"), CUT_AT + TIMEOUT, HEALED_AT)
    assert merges
    assert all("unit 1" not in merge.learners for merge in merges)


def test_who_was_cut_off_comes_back() -> None:
    """Once it has caught up, merges that need everyone are made again."""
    everyone = SCENARIO.replace("payload_bits: 4", "payload_bits: 4, quorum: 4")
    merges = merges_between(outcome(everyone + CUT, "2 s"), 1500.0, 1800.0)
    assert len(merges) > 220
    assert all("unit 1" in merge.learners for merge in merges)


def test_who_is_cut_off_steps_on_and_is_overwritten() -> None:
    """It waits for nobody, and what it did meanwhile counts from its return on."""
    result = outcome(SCENARIO + CUT, "2 s")
    assert result.goodput > 0.97
    assert result.merged_share is not None
    assert result.merged_share < 0.95


def test_a_slow_site_slows_all_without_a_timeout() -> None:
    """A link ten times slower than the others' sets the pace of every step."""
    assert outcome(SLOW, "never").compute_utilization < 0.15


def test_with_a_timeout_a_slow_site_leaves_the_others_alone() -> None:
    """The others keep their utilization; the slow site's learner is in no merge."""
    result = outcome(SLOW, "2 s")
    assert result.compute_utilization > 0.999
    assert result.participation == pytest.approx(0.75, abs=0.001)


def test_a_link_that_is_slow_everywhere_is_waited_for() -> None:
    """Where leaving anyone out would not help, nobody leaves."""
    everywhere = SCENARIO.replace("bandwidth: 5 Gbit/s", "bandwidth: 0.5 Gbit/s")
    result = outcome(everywhere, "2 s")
    assert result.participation == 1.0
