"""Intervals, differences on common histories, and when to stop."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from study_case import small

import ddsim
from ddsim.results.interval import mean_interval
from ddsim.scenario import read_text, validate
from ddsim.study import Rule, StudyError
from ddsim.study.measures import measured, shared
from ddsim.study.rules import FIRST, read_half_width
from ddsim.study.statistics import apart, estimate, paired
from ddsim.study.words import variance_sentence
from ddsim.study.work import Row
from ddsim.world.chance import Chance

# Hardware that does not come back within the hour and costs no stall: a slice is productive until
# its first failure, so that goodput is E[min(X, T)] / T of an exponential X.
CLOSED = """\
name: closed
duration: 1 h
methods: [elastic_data_parallel]
model: {parameters: 1e9, layers: 8}
training: {step_time: 60 s}
cluster: {chips: 32, chips_per_slice: 1, learners: 1}
failures: {chip_mtbi: 4 h, repair: 1 day, detection: 0 s}
elastic: {downscale: 0 s, upscale: 0 s}
"""
TRUTH = (1.0 - math.exp(-0.25)) / 0.25


@pytest.mark.slow
def test_intervals_cover_a_known_truth() -> None:
    """92 to 98% of a thousand small studies' 95% intervals hold it: 950 +/- 5 standard errors."""
    base = validate(read_text(CLOSED))
    covered = 0
    for seed in range(1000):
        study = ddsim.sweep(base, seed=seed, replications=6)
        found = estimate([row["goodput"] or 0.0 for row in study.rows[0]], np.random.default_rng(0))
        covered += found.low <= TRUTH <= found.high
    print(f"{covered} of 1000 intervals of 95% hold the truth")  # noqa: T201 (for `pytest -rP`)
    assert 920 <= covered <= 980


def test_an_interval_is_students() -> None:
    """The mean, give or take the quantile of t times the standard error, of even values."""
    half = np.random.default_rng(1).normal(0.0, 2.0, 6)
    values = [*(3.0 + half).tolist(), *(3.0 - half).tolist()]
    found = estimate(values, np.random.default_rng(2))
    low, high = stats.t.interval(0.95, 11, np.mean(values), stats.sem(values))
    assert (found.low, found.high) == pytest.approx((low, high), rel=1e-6)
    assert found.half_width == pytest.approx((high - low) / 2, rel=1e-6)


def test_a_long_tail_moves_its_end() -> None:
    """As Hall's transformation has it, by which the quantile of t stands there."""
    values, n = np.exp(np.linspace(-1.0, 2.0, 12)), 12
    found = mean_interval(values.tolist())
    assert found is not None
    low, high = stats.t.interval(0.95, n - 1, np.mean(values), stats.sem(values))
    assert found[0] == pytest.approx(low)
    assert found[1] > high
    skewness, root = stats.skew(values, bias=False), math.sqrt(n)
    t = (values.mean() - found[1]) / stats.sem(values)
    moved = t + skewness * t**2 / (3 * root) + skewness**2 * t**3 / (27 * n)
    moved += skewness / (6 * root)
    assert moved == pytest.approx(stats.t.ppf(0.025, n - 1))


def test_the_bootstrap_agrees_where_students_holds() -> None:
    """Many normal values: both intervals are the same but for the resampling."""
    values = np.random.default_rng(3).normal(0.0, 1.0, 400).tolist()
    found = estimate(values, np.random.default_rng(4))
    assert found.boot_low == pytest.approx(found.low, abs=0.03)
    assert found.boot_high == pytest.approx(found.high, abs=0.03)


def test_few_values_are_not_resampled() -> None:
    """Below ten a bootstrap's interval covers far less than it says."""
    values = np.random.default_rng(3).normal(0.0, 1.0, 10).tolist()
    assert math.isnan(estimate(values[:9], np.random.default_rng(0)).boot_low)
    assert math.isfinite(estimate(values, np.random.default_rng(0)).boot_low)


def test_values_that_do_not_vary_have_intervals_of_no_width() -> None:
    """Not NaN, and no warning, as with rounding between them."""
    found = estimate([0.1 + 0.2, *[0.3] * 9], np.random.default_rng(0))
    assert found.boot_low == pytest.approx(0.3, abs=1e-15)
    assert found.boot_high == pytest.approx(0.3, abs=1e-15)
    assert math.isnan(estimate([1.0], np.random.default_rng(0)).low)


def rows_of(values: Iterable[float]) -> list[Row]:
    """Histories with these goodputs, each of which met a failure."""
    return [{"merged_goodput": float(value), "failures": 1.0} for value in values]


def test_pairs_take_out_what_both_share() -> None:
    """A common part of variance 100 leaves that of the difference alone."""
    rng = np.random.default_rng(5)
    common = rng.normal(0.0, 10.0, 50)
    one = common + rng.normal(1.0, 0.1, 50)
    pairs = shared(rows_of(one), rows_of(common), "merged_goodput")
    found = paired(pairs, "merged_goodput", Chance(1.0))
    assert found is not None
    assert found.found.value == pytest.approx(1.0, abs=5 * 0.1 / math.sqrt(50))
    assert found.cut > 1000
    _, low, high = apart(one.tolist(), common.tolist())
    assert high - low > 20 * (found.found.high - found.found.low)


def test_common_histories_cut_the_variance_of_a_difference(tmp_path: Path) -> None:
    """Two elastic stalls on the same strikes differ by the stalls alone."""
    alone = {"checkpoint.policy": "in_memory", "restart.spares": 8}
    spared = {
        "methods": [{"data_parallel": alone}, "elastic_data_parallel"],
        "failures.repair": "1 min",
    }
    study = ddsim.sweep(small(tmp_path).with_(spared), replications=30)
    (row,) = study.differences().to_dict("records")
    said = variance_sentence(study)
    print(said)  # noqa: T201 (for `pytest -rP`)
    assert said is not None
    assert f"divided by {row['variance_cut']:.3g}" in said
    assert row["variance_cut"] > 2.0


def test_a_fixed_rule_wants_its_replications() -> None:
    """Whatever they show."""
    assert Rule(7).wanted([], Chance()) == 7
    assert Rule(7).wanted(rows_of([1.0, 2.0]), Chance()) == 7


def test_a_half_width_is_asked_for_until_it_is_there() -> None:
    """First some, then at most twice as many, then no more than needed or allowed."""
    rows = rows_of(np.random.default_rng(6).normal(10.0, 1.0, 2000) / 20)
    rule = Rule(half_width=0.01, relative=True, most=1000)
    assert rule.wanted([], Chance(1.0)) == FIRST
    assert rule.wanted(rows[:FIRST], Chance(1.0)) == 2 * FIRST
    n = FIRST
    while (more := rule.wanted(rows[:n], Chance(1.0))) != n:
        n = more
    found = measured(rows[:n], "merged_goodput", Chance(1.0))
    assert found is not None
    assert found.half_width <= 0.01 * found.value
    assert 250 <= n <= 600
    assert Rule(half_width=1e-6, most=50).wanted(rows[:50], Chance(1.0)) == 50


def test_a_metric_that_half_the_histories_lack_does_not_stop_it() -> None:
    """It counts histories, not those that have the metric."""
    rows = rows_of(np.random.default_rng(6).normal(10.0, 1.0, 100) / 20)
    for row in rows[::2]:
        row["merged_goodput"] = None
    assert Rule(half_width=1e-6, most=80).wanted(rows[:20], Chance(1.0)) == 40
    assert Rule(half_width=1e-6, metric="usd").wanted(rows[:20], Chance(1.0)) == 20


def test_a_study_stops_by_the_rule(tmp_path: Path) -> None:
    """Cells that vary more get more; where no failure was seen it goes on to the most."""
    vary = {"failures.chip_mtbi": ["5 day", "50 yr", "never"]}
    study = ddsim.sweep(
        small(tmp_path), vary, half_width="0.2%", most=40, methods=["elastic_data_parallel"]
    )
    counts = study.summary()["replications"].tolist()
    assert counts == [40, 40, FIRST]
    assert study.without_interval == 1


def test_a_half_width_is_a_share_or_a_number() -> None:
    """`0.5%` of the mean, `0.005` in the metric's unit."""
    assert read_half_width("0.5%") == (0.005, True)
    assert read_half_width(0.005) == (0.005, False)
    for wrong in ("0%", "-1", "much", "1..5"):
        with pytest.raises(StudyError, match=r"such as 0\.5%"):
            read_half_width(wrong)


def test_a_half_width_is_less_than_what_it_is_of() -> None:
    """Of a share less than 1, of any mean less than the mean; other metrics have any."""
    for wrong in ("5", "1", "100%", "500%"):
        with pytest.raises(StudyError, match=r"below 1.* such as 0\."):
            read_half_width(wrong)
    assert read_half_width("5", "mttr_s") == (5.0, False)
    assert read_half_width("99%", "mttr_s") == (0.99, True)
