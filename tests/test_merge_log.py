"""Distributions of merges, by hand."""

from __future__ import annotations

import numpy as np
import pytest

import ddsim
from ddsim.engine.merge_log import MergeLog
from ddsim.results import MethodResult
from ddsim.scenario import read_text, validate
from ddsim.world.instants import ticks
from ddsim.world.timeline import Timeline

CALM = """
duration: 15 min
methods: [decoupled_diloco]
model: {parameters: 1e9, layers: 24}
training: {step_time: 1 s, tokens_per_step: 1000, inner_steps: 24, fragments: 12}
cluster: {chips: 16, chips_per_slice: 4, learners: 4}
"""


def outcome(text: str) -> MethodResult:
    """Run a scenario."""
    return ddsim.run(validate(read_text(text)))["decoupled_diloco"]


def test_without_failures_every_merge_is_alike() -> None:
    """A fragment is merged every 24 s, of all four learners' steps since, on the latest base."""
    merges = outcome(CALM).extra["merges"]
    assert merges["fragment_age_s"]["p50"] == 24.0
    assert merges["base_version_lag_slots"]["max"] == 0
    assert merges["achieved_inner_steps"]["p50"] == merges["achieved_inner_steps"]["max"] == 24
    # 24 steps of 1000 tokens of one of 12 fragments
    assert merges["tokens_per_merge"]["p50"] == pytest.approx(24 * 1000.0 / 12)
    assert merges["late_answers_per_learner"]["max"] == 0


@pytest.mark.slow
def test_an_answer_before_the_last_update_is_there_lags_by_a_period() -> None:
    """With an overlap longer than the period, what a learner merges lacks the merges on the way."""
    slow = CALM.replace("inner_steps: 24", "inner_steps: 2, overlap_steps: 5").replace(
        "fragments: 12", "fragments: 2"
    )
    slow += "network: {latency: 700 ms}\n"
    merges = outcome(slow).extra["merges"]
    assert merges["base_version_lag_slots"]["p50"] == 4
    assert merges["base_version_lag_slots"]["max"] <= 6


def test_slow_learners_are_late() -> None:
    """With K = 1 and no grace a learner half as fast is late more often than not."""
    every = CALM.replace("fragments: 12", "fragments: 24, grace: 0")
    mixed = every.replace(
        "cluster: {chips: 16, chips_per_slice: 4, learners: 4}",
        "cluster: {chips_per_slice: 4, units: [{name: a, chips: 4}, "
        "{name: b, chips: 4, speed: 0.5}]}",
    )
    late = outcome(mixed).extra["merges"]["late_answers_per_learner"]
    assert late["p50"] == 0
    assert late["max"] > 25


def arrive(log: MergeLog, *updates: tuple[float, int]) -> None:
    """Let updates (time, fragment) arrive one by one, each in its spell."""
    arrived = [0] * (1 + max(fragment for _, fragment in updates))
    for time, fragment in updates:
        log.pass_to(ticks(time))
        ages = np.array([ticks(time) - arrived[fragment]])
        arrived[fragment] = ticks(time)
        none = np.zeros(0)
        log.add_all(lags={}, steps={}, tokens=none, merges=1, ages=ages, arrived=list(arrived))


def test_spells_tell_merges_and_ages_between_changes() -> None:
    """Ages count up to the end of a spell, also of fragments that wait for an update."""
    log = MergeLog(2, Timeline.of(4e9, [(ticks(10), 1e9), (ticks(30), 4e9)]))
    arrive(log, (2.0, 0), (4.0, 1), (12.0, 0), (29.0, 1), (31.0, 0))
    spells = log.spells(ticks(40))
    assert [spell["merges"] for spell in spells] == [2, 2, 1]
    assert [spell["gbps"] for spell in spells] == [4.0, 1.0, 4.0]
    # the first: fragment 0 from 2 to 10; then 1 from 4 to 29; then 0 from 12 to 31
    assert [spell["longest_fragment_age_s"] for spell in spells] == [8.0, 25.0, 19.0]


def test_a_link_that_never_changes_has_no_spells() -> None:
    """Nor has one that changes all the time: the extra stays small."""
    assert "spells" not in outcome(CALM).extra
    restless = Timeline.of(1.0, [(ticks(time), 1.0 + time % 2) for time in range(1, 100)])
    log = MergeLog(1, restless)
    arrive(log, (50.0, 0))
    assert log.spells(ticks(100)) == []
