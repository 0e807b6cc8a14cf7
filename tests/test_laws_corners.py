"""Corners of time: what ends at one instant, and what happens after the end."""

from __future__ import annotations

import pytest
from replicated import world

from ddsim.simulation import simulate


@pytest.mark.parametrize("method", ["data_parallel", "elastic_data_parallel"])
def test_a_strike_after_the_last_token_is_nobodys(method: str) -> None:
    """A job that has all its tokens is over: what strikes later takes nothing back from it."""
    scenario = world(
        training__tokens=3,
        chaos=[{"at": "3.5 s", "fault": "kill", "target": "unit 0", "for": "10 s"}],
    )
    result = simulate(scenario.for_method(method), method)
    assert result.steps == 3
    assert result.tokens == pytest.approx(3.0)
    assert result.wall_clock_s == pytest.approx(3.0)
    assert result.failures == 0
    assert result.accounts["productive"] == pytest.approx(1.0)


def test_fragments_of_one_step_may_arrive_together() -> None:
    """Several fragments due at one step, on links that take no time: each is merged once."""
    scenario = world(duration="10.5 s", training__inner_steps=1, training__fragments=3)
    result = simulate(scenario.for_method("streaming_diloco"), "streaming_diloco")
    assert sorted(merge.fragments for merge in result.merges[:3]) == [(0,), (1,), (2,)]
    assert len(result.merges) == 3 * 10


@pytest.mark.parametrize(("inner_steps", "overlap"), [(1, 2), (2, 2), (2, 3), (6, 2)])
@pytest.mark.parametrize("method", ["streaming_diloco", "decoupled_diloco"])
def test_merged_share_of_fragments_that_overlap_their_own_next(
    method: str, inner_steps: int, overlap: int
) -> None:
    """Steps after an answer and before its receipt are overwritten, unless a later answer of the
    same fragment has carried them: of H steps tau mod H are lost.
    """
    scenario = world(
        duration="10 min",
        training__inner_steps=inner_steps,
        training__fragments=1,
        training__overlap_steps=overlap,
        training__apply="at_tau",
        training__quorum=4,
    )
    result = simulate(scenario.for_method(method), method)
    expected = 1.0 - (overlap % inner_steps) / inner_steps
    assert result.merged_share == pytest.approx(expected, abs=0.01)


def test_a_step_whose_save_is_under_way_counts() -> None:
    """A unit that saves at the end of a step has completed it, whatever rounding makes of when."""
    for scale in (1.0, 7.0, 1 / 3):
        scenario = world(
            duration=f"{75 * scale!r} s",
            training__step_time=f"{0.7 * scale!r} s",
            training__inner_steps=200,
            checkpoint__policy="fixed",
            checkpoint__interval="100 steps",
            checkpoint__save=f"{20 * scale!r} s",
            cluster__jitter=0.1,
        )
        result = simulate(scenario.for_method("diloco"), "diloco")
        assert result.accounts["checkpoint_save"] > 0.0
        assert result.steps == pytest.approx(100, abs=0.1)
