"""Who leaves an exchange over thin links: what holds the others up, and nothing that they need."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ddsim
from ddsim.results import MethodResult
from ddsim.scenario import Scenario, read_text, validate

TEXT = """\
duration: 4 h
methods: [decoupled_diloco]
model: {parameters: 40e9, layers: 60}
training:
  {step_time: 6 s, tokens_per_step: 256, inner_steps: 100, fragments: 20, payload_bits: 4}
cluster: {chips: 64, chips_per_slice: 8, learners: 2}
network: {bandwidth: 0.1 Gbit/s, regions: [here, there]}
"""
THIRD = {
    "cluster.learners": 4,
    "network.regions": {
        "a": {"bandwidth": "10 Gbit/s"},
        "b": {"bandwidth": "10 Gbit/s"},
        "c": {"bandwidth": "10 Gbit/s"},
        "thin": {"bandwidth": "0.1 Gbit/s"},
    },
}


def scenario(**settings: Any) -> Scenario:
    """The scenario with these settings, whose keys have __ for dots."""
    named = {key.replace("__", "."): value for key, value in settings.items()}
    return validate(read_text(TEXT, "thin.yaml").with_overrides(named))


def run(**settings: Any) -> MethodResult:
    """What Decoupled DiLoCo does in it."""
    return ddsim.run(scenario(**settings)).results[0]


@pytest.mark.parametrize("learners", [2, 3])
def test_links_that_are_all_thin_are_nobody_s_fault(learners: int) -> None:
    """All wait for the bytes, as the bandwidth study says; nobody trains on alone."""
    thin = {"cluster__learners": learners, "network__regions": ["a", "b", "c"][:learners]}
    result = run(**thin)
    study = ddsim.required_bandwidth(scenario(**thin), methods=["decoupled_diloco"])
    (curve,) = study.results
    expected = float(np.interp(0.1, curve.gbps, curve.utilization))
    assert result.participation is not None
    assert result.participation > 0.95
    assert result.compute_utilization == pytest.approx(expected, rel=0.03)


def test_a_thinner_link_than_the_others_leaves() -> None:
    """Three units keep their pace; what the fourth trains is not merged, and counts so."""
    result = run(**THIRD)
    assert result.compute_utilization > 0.99
    assert result.participation == pytest.approx(0.75, abs=0.01)
    assert result.tokens_merged is not None
    assert result.merged_share == pytest.approx(result.tokens_merged / result.tokens, abs=0.03)


def test_nobody_leaves_whom_the_quorum_needs() -> None:
    """With K = M a merge waits for the thin link, rather than that there is none for ever."""
    result = run(**THIRD, training__quorum=4)
    assert result.participation == 1.0
    assert result.merge_uptime == pytest.approx(1.0)
    assert result.compute_utilization < 0.4
    assert result.tokens_merged is not None
    assert result.tokens_merged > 0.8 * result.tokens


def test_who_is_cut_off_is_not_there_for_a_merge() -> None:
    """With K = M and a link cut for half the time, enough are there to merge for about half."""
    cut = [{"at": "2 h", "fault": "cut", "target": "c"}]
    settings = {**THIRD, "network.regions": ["a", "b", "c", "d"], "network.bandwidth": "10 Gbit/s"}
    result = run(**settings, training__quorum=4, chaos=cut)
    assert result.merge_uptime == pytest.approx(0.5, abs=0.02)
