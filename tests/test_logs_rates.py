"""Rates by cause with exact intervals, nodes that stand out, trends and bursts: found, or not."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from ddsim.logs import Pattern, Points, pattern
from ddsim.logs.rates import interval
from ddsim.logs.rules import Cause

Array = NDArray[np.float64]
MONTH = 30 * 86_400.0


def _points(times: Array, nodes: list[str | None], together: float = 0.0) -> Points:
    count = len(times)
    return Points(
        "log",
        0.0,
        MONTH,
        np.sort(times),
        np.ones(count, dtype=np.bool_),
        tuple(nodes),
        np.zeros(count, dtype=np.int64),
        (Cause(cause="GPU"),),
        np.full(count, np.nan),
        together=together,
    )


def _even(rng: np.random.Generator, count: int = 200, nodes: int = 20) -> Points:
    names: list[str | None] = [f"n{node}" for node in rng.integers(nodes, size=count)]
    return _points(rng.uniform(0.0, MONTH, count), names)


def _said(found: Pattern) -> str:
    return "\n".join(found.remarks)


@pytest.mark.parametrize("count", [1, 5, 40])
def test_intervals_are_those_of_a_poisson_count(count: int) -> None:
    """At their ends the count is as extreme as 2.5% allow."""
    low, high = interval(count, 1.0)
    assert stats.poisson.sf(count - 1, 1.0 / high) == pytest.approx(0.025)
    assert stats.poisson.cdf(count, 1.0 / low) == pytest.approx(0.025)


def test_without_failures_the_mean_time_has_no_upper_bound() -> None:
    """And a lower one: three failures would have been too many."""
    low, high = interval(0, 3.0)
    assert high == np.inf
    assert low == pytest.approx(3.0 / -np.log(0.025))


def test_a_node_is_watched_whether_it_fails_or_not() -> None:
    """With 40 nodes of which 20 failed the mean time of a node is twice as long."""
    points = _even(np.random.default_rng(1))
    seen, all_of_them = pattern(points), pattern(points, nodes=40)
    assert seen.rates[0].mtbf == pytest.approx(20 * MONTH / 200)
    assert all_of_them.rates[0].mtbf == pytest.approx(40 * MONTH / 200)
    assert "--nodes" in _said(seen)
    assert "--nodes" not in _said(all_of_them)


def test_even_failures_leave_nothing_to_remark() -> None:
    """No lemon, no trend, no bursts; the shape is 1 within its interval."""
    found = pattern(_even(np.random.default_rng(2)), nodes=20)
    assert found.nodes is not None
    assert found.trend is not None
    assert found.nodes.lemons == ()
    assert found.nodes.p > 0.01
    assert found.trend.low < 1.0 < found.trend.high
    assert "as chance would have it" in _said(found)
    assert "may be constant" in _said(found)
    assert "bursts" not in _said(found)


def test_false_alarms_are_as_rare_as_they_say() -> None:
    """Of a hundred even logs at most a few have a test beyond 1 in 100."""
    rng = np.random.default_rng(3)
    found = [pattern(_even(rng, 40, 10), nodes=10) for _ in range(60)]
    assert sum(one.nodes is not None and one.nodes.p < 0.01 for one in found) <= 3
    assert sum(one.trend is not None and one.trend.p < 0.01 for one in found) <= 3
    assert sum(one.bursts is not None and one.bursts.p < 0.01 for one in found) <= 3


def test_a_lemon_stands_out() -> None:
    """A node with a tenth of all failures among fifty."""
    rng = np.random.default_rng(4)
    names: list[str | None] = [f"n{node}" for node in rng.integers(50, size=180)]
    found = pattern(_points(rng.uniform(0.0, MONTH, 200), [*names, *["lemon"] * 20]), nodes=51)
    assert found.nodes is not None
    assert found.nodes.lemons == (("lemon", 20),)
    assert "lemon (20) stand out" in _said(found)


def test_a_burn_in_is_seen_as_a_rate_that_falls() -> None:
    """A power law of shape 0.5, found within its interval."""
    rng = np.random.default_rng(5)
    times = MONTH * rng.uniform(size=150) ** 2.0
    found = pattern(_points(times, [None] * 150))
    assert found.trend is not None
    assert found.trend.low < 0.5 < found.trend.high
    assert found.trend.laplace < -3.0
    assert "fall, as after a burn-in" in _said(found)


def test_failures_that_follow_each_other_are_bursts() -> None:
    """Forty times, three within two minutes."""
    rng = np.random.default_rng(6)
    begins = rng.uniform(0.0, MONTH - 200.0, 40)
    found = pattern(_points(np.concatenate([begins, begins + 60.0, begins + 120.0]), [None] * 120))
    assert found.bursts is not None
    assert found.bursts.close >= 78
    assert found.bursts.largest >= 3
    assert "failures come in bursts" in _said(found)


def test_echoes_on_one_node_are_one_incident() -> None:
    """Within the time that the format says; both numbers are told."""
    times = np.array([0.0, 100.0, 350.0, 10_000.0])
    found = pattern(_points(times, ["a", "a", "a", "a"], together=300.0))
    assert (found.failures, found.incidents) == (4, 2)
    assert found.rates[0].failures == 2
    other = pattern(_points(times, ["a", "b", "a", "b"], together=300.0))
    assert other.incidents == 4
