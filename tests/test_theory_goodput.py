"""Goodput theory: limits and orderings."""

import math

import numpy as np
import pytest

from ddsim.theory import goodput as gp


def test_barrier_at_every_step_tends_to_data_parallel() -> None:
    """Steps far below the time between failures: every failure stalls all."""
    every = gp.sync_every_step_goodput(8, 0.001, 1e-4, 20.0)
    assert every == pytest.approx(gp.sync_dp_goodput(8, 0.001, 20.0), rel=1e-5)


def test_long_rounds_tend_to_a_learner_of_their_own() -> None:
    """The more failures a round holds, the less the unluckiest stands out."""
    alone = gp.decoupled_learner_goodput(0.001, 20.0)
    rounds = [gp.sync_diloco_round_goodput(8, 0.001, work, 20.0) for work in (1e2, 1e4, 1e7)]
    assert rounds == sorted(rounds)
    assert rounds[-1] == pytest.approx(alone, rel=1e-3)


def test_one_learner_has_nobody_to_wait_for() -> None:
    """M = 1 is a learner on its own clock, whatever the round."""
    assert gp.sync_diloco_round_goodput(1, 0.01, 137.0, 20.0) == pytest.approx(
        gp.decoupled_learner_goodput(0.01, 20.0), rel=1e-12
    )


def test_round_goodput_counts_the_unluckiest_learner() -> None:
    """The expected maximum of Poisson counts, against numpy's own sample within 5 errors."""
    counts = np.random.default_rng(7).poisson(0.4, size=(200_000, 5)).max(axis=1)
    mean, error = counts.mean(), counts.std() / math.sqrt(counts.size)
    goodput = gp.sync_diloco_round_goodput(5, 0.004, 100.0, 10.0)
    most = (100.0 / goodput - 100.0) / 10.0
    assert abs(most - mean) <= 5 * error


def test_elastic_job_without_repair_time_pays_for_stalls_alone() -> None:
    """R = 0: no slice is missing, 1 / (1 + S l (Dd + Du))."""
    value = gp.elastic_dp_goodput(100, 1e-5, 0.0, 10.0, 10.0)
    assert value == pytest.approx(1 / (1 + 100 * 1e-5 * 20), rel=1e-12)


def test_elastic_fixed_point_holds_under_heavy_load() -> None:
    """The value solves its equations even where the plain iteration would swing."""
    slices, rate, repair, stall = 1000, 1e-4, 1e4, 100.0
    value = gp.elastic_dp_goodput(slices, rate, repair, stall / 2, stall / 2)
    # f from g = a f with a = 1 / (1 + l f R): f = g / (1 - g l R)
    moving = value / (1 - value * rate * repair)
    up = value / moving
    assert moving == pytest.approx(1 / (1 + slices * up * rate * stall), rel=1e-9)


def test_merge_uptime_falls_with_the_quorum() -> None:
    """Needing more learners is met less often; needing all is their product."""
    year = 365.25 * 86400
    ups = [gp.merge_uptime(4, k, 2.4e6, year, 20.6) for k in (1, 2, 3, 4)]
    assert ups == sorted(ups, reverse=True)
    assert ups[-1] == pytest.approx(gp.learners_goodput(4, 2.4e6, year, 20.6) ** 4, rel=1e-12)


def test_learners_share_the_chips() -> None:
    """M learners on N chips do as well as one on N / M."""
    year = 365.25 * 86400
    assert gp.learners_goodput(8, 1.2e6, year, 20.0) == gp.learners_goodput(1, 1.5e5, year, 20.0)
