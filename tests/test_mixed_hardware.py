"""Fast and slow learners together: what a quorum costs, and what the grace window gives back."""

from __future__ import annotations

from functools import cache

import pytest

import ddsim
from ddsim.results import MethodResult

pytestmark = pytest.mark.slow  # tests/test_laws_mixed_speeds.py says as much in less time
HOURS = "90 min"


@cache
def mixed(quorum: int, grace: float) -> MethodResult:
    """Run the shipped scenario with this quorum and grace."""
    changes = {"duration": HOURS, "training.quorum": quorum, "training.grace": grace}
    return ddsim.run(ddsim.load("heterogeneous_hardware", changes))["decoupled_diloco"]


def slow_participation(result: MethodResult) -> float:
    """Share of merges in which a slow learner takes part."""
    taken = sum(name.startswith("slow") for merge in result.merges for name in merge.learners)
    return taken / 4 / len(result.merges)


def test_fast_learners_wait_for_slow_ones_at_full_quorum() -> None:
    """K = M: the fast are used to 84%, all chips to 92% (arXiv 2604.21428 reports 84%)."""
    result = mixed(8, 0.5)
    assert result.goodput_by_chip_type["fast"] == pytest.approx(0.84, abs=0.02)
    assert result.goodput == pytest.approx(0.92, abs=0.01)


@pytest.mark.parametrize("grace", [0.0, 0.5])
def test_nobody_waits_at_a_quorum_of_one(grace: float) -> None:
    """K = 1 leaves every learner at its own pace (reported: 100%)."""
    assert mixed(1, grace).goodput >= 0.99


def test_without_grace_a_slow_learner_is_hardly_ever_in_a_merge() -> None:
    """K = 1, no grace: a slow learner takes part in under 5% of merges."""
    assert slow_participation(mixed(1, 0.0)) < 0.05


def test_with_grace_a_slow_learner_is_in_most_merges() -> None:
    """K = 1 with grace: a slow learner takes part in over 70% of merges."""
    assert slow_participation(mixed(1, 0.5)) > 0.70


@pytest.mark.parametrize(
    ("quorum", "grace", "share"), [(8, 0.5, 0.93), (1, 0.0, 0.13), (1, 0.5, 0.87)]
)
def test_merged_share_orders_as_the_reported_quality(
    quorum: int, grace: float, share: float
) -> None:
    """Merged share for K = 8, K = 1 and K = 1 with grace, as in the prototype of the rules."""
    assert mixed(quorum, grace).merged_share == pytest.approx(share, abs=0.03)


def test_a_barrier_at_every_step_costs_the_slowest_of_all() -> None:
    """tau = 0 with all learners: goodput is the mean compute over the mean slowest, 0.837."""
    changes = {
        "duration": HOURS,
        "training.quorum": 8,
        "training.overlap_steps": 0,
    }
    result = ddsim.run(ddsim.load("heterogeneous_hardware", changes))["decoupled_diloco"]
    assert result.goodput == pytest.approx(0.837, abs=0.005)
