"""What some histories do not have: one rule a metric, wherever it is shown."""

from __future__ import annotations

from pathlib import Path
from statistics import fmean

import numpy as np
import pytest
from study_case import small

import ddsim
from ddsim.study import Study, compare
from ddsim.study.grid import CellName
from ddsim.study.measures import difference, mean, measured, parts, shared
from ddsim.study.rows import rows_text
from ddsim.study.words import lacking_sentence
from ddsim.study.work import METRICS, Row
from ddsim.world.chance import Chance

COST = "usd_per_billion_merged_tokens"


def history(number: int, shift: float, *, has: bool) -> Row:
    """A history of some participation; of the lucky ones, which have it, it is higher."""
    row: Row = dict.fromkeys(METRICS, 1.0)
    row["participation"] = 0.5 + 0.01 * (number % 7) + shift if has else None
    return row


def halves(shift: float, first: int) -> list[Row]:
    """Twenty histories, every second of which has the metric, and the first few besides."""
    return [history(n, shift, has=n % 2 == 0 or n < first) for n in range(20)]


def study_of(rows: dict[int, list[Row]], cells: list[CellName], metric: str) -> Study:
    """A study with these rows."""
    columns = tuple(dict.fromkeys(name for cell in cells for name in cell.settings))
    return Study("sample", 0, "0", metric, columns, tuple(cells), rows)


def test_a_difference_is_that_of_the_histories_that_have_both() -> None:
    """By hand, pair by pair, with how many there are."""
    one, other = halves(0.1, first=0), halves(0.0, first=5)
    cells = [CellName(0, "data_parallel", {}), CellName(1, "diloco", {})]
    study = study_of({0: other, 1: one}, cells, "participation")
    (row,) = study.differences().to_dict("records")
    by_hand = [
        a["participation"] - b["participation"]
        for a, b in zip(one, other, strict=True)
        if a["participation"] is not None and b["participation"] is not None
    ]
    assert row["difference"] == pytest.approx(fmean(by_hand), abs=1e-12)
    assert row["replications"] == len(by_hand) == 10
    assert list(study.summary()["participation_n"]) == [12, 10]
    assert lacking_sentence(study) == (
        "participation is the mean of the histories that have it: 10 of 20 in diloco, "
        "where fewest have"
    )


def test_the_ends_of_a_tornado_differ_by_its_swing() -> None:
    """Each end is of the histories that both have."""
    cells = [
        CellName(0, "diloco", {"input": ""}),
        CellName(1, "diloco", {"input": "restart.time = 1 s"}),
        CellName(2, "diloco", {"input": "restart.time = 9 s"}),
    ]
    rows = {0: halves(0.0, 0), 1: halves(0.0, first=9), 2: halves(-0.2, first=2)}
    (row,) = study_of(rows, cells, "participation").tornado().to_dict("records")
    assert row["swing"] == pytest.approx(-0.2, abs=1e-12)
    assert row["at_high"] - row["at_low"] == pytest.approx(row["swing"], abs=1e-12)


def test_compare_pairs_the_histories_that_both_have(tmp_path: Path) -> None:
    """And its two means are of these alone, so that they differ by the difference."""
    for name, rows in (("a", halves(0.0, first=9)), ("b", halves(-0.2, first=2))):
        ddsim.sweep(small(tmp_path), methods=["data_parallel"], replications=2, out=tmp_path / name)
        (tmp_path / name / "cells" / "000000.csv").write_text(rows_text(rows))
    found = compare(tmp_path / "a", tmp_path / "b", "participation").outcomes
    (row,) = [dict(zip(found.columns, line, strict=True)) for line in found.rows]
    assert row["difference"] == pytest.approx(-0.2, abs=1e-12)
    assert row["b"] - row["a"] == row["difference"]
    assert (row["basis"], row["histories"]) == ("paired", 11)


def priced(usd: float, tokens: float, hours: float = 1.0) -> Row:
    """A history that cost so much and merged so many tokens."""
    each = usd / tokens * 1e9 if tokens else None
    return {"usd": usd, "tokens_merged": tokens, COST: each, "wall_clock_s": 3600 * hours}


def test_cost_a_token_is_total_over_total(tmp_path: Path) -> None:
    """In a study, with what a history cost that merged nothing, and an interval around it."""
    scenario = small(tmp_path).with_({"prices.chip_hour": "2 USD"})
    rows = ddsim.sweep(scenario, replications=6).rows[1]
    paid, merged = (sum(row[name] or 0.0 for row in rows) for name in ("usd", "tokens_merged"))
    assert mean(rows, COST) == pytest.approx(paid / merged * 1e9, rel=1e-12)
    nothing = [*rows, priced(100.0, 0.0)]
    assert mean(nothing, COST) == pytest.approx((paid + 100.0) / merged * 1e9, rel=1e-12)
    found = measured(rows, COST, Chance())
    assert found is not None
    assert found.low < found.value < found.high
    assert fmean(parts(rows, COST)) == pytest.approx(found.value, rel=1e-12)


def test_cost_a_token_does_not_depend_on_how_a_run_is_cut() -> None:
    """Sixty days in one history each or in three: the same within the interval of either."""
    rng = np.random.default_rng(24)
    days = [(100.0, float(t)) for t in rng.lognormal(21.0, 0.5, 60)]
    short = [priced(*day) for day in days]
    long = [
        priced(sum(d[0] for d in days[i : i + 3]), sum(d[1] for d in days[i : i + 3]))
        for i in range(0, 60, 3)
    ]
    one, other = (measured(rows, COST, Chance()) for rows in (short, long))
    assert one is not None
    assert other is not None
    assert one.value == pytest.approx(other.value, rel=1e-12)
    assert one.half_width == pytest.approx(other.half_width, rel=0.3)


def test_a_ratio_of_sums_has_the_jackknifes_spread() -> None:
    """Against its definition, leaving out each history in turn."""
    rng = np.random.default_rng(1)
    rows = [priced(float(u), float(t)) for u, t in rng.uniform(1.0, 2.0, (12, 2))]
    whole = mean(rows, COST)
    without = [mean(rows[:i] + rows[i + 1 :], COST) or 0.0 for i in range(12)]
    variance = 11 / 12 * sum((value - fmean(without)) ** 2 for value in without)
    assert whole is not None
    assert np.var(parts(rows, COST), ddof=1) / 12 == pytest.approx(variance, rel=1e-9)


def test_time_between_interruptions_is_of_all_the_time() -> None:
    """An hour with two, and nine without any: five hours apart, and no interval of one history."""
    rows: list[Row] = [{"wall_clock_s": 3600.0, "mtbi_s": 1800.0, "mttr_s": 60.0}]
    rows += [{"wall_clock_s": 3600.0, "mtbi_s": None, "mttr_s": None}] * 9
    assert mean(rows, "mtbi_s") == pytest.approx(5 * 3600.0)
    assert mean(rows, "mttr_s") == pytest.approx(60.0)
    found = measured(rows, "mtbi_s", Chance(1.0))
    assert found is not None
    assert not found.enough
    quiet = shared(rows, rows[1:] + rows[:1], "mtbi_s")
    assert difference(quiet, "mtbi_s", Chance()).value == 0.0  # type: ignore[union-attr]
