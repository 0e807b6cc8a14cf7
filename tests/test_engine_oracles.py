"""The engine gives the closed forms, row by row, through its own mechanisms."""

from __future__ import annotations

import pytest
import theory_table
from engine_oracles import ORACLES, oracle_of
from oracle_estimates import Estimate, simulated
from theory_table import (
    DOCUMENT,
    FORMULAS,
    LACKING,
    Bracket,
    beside_line,
    bracket,
    bracket_line,
    document,
    exact_line,
    expected,
    is_exact,
    is_kept,
    is_optimum,
    words,
)

from ddsim.reference import Row, rows

ALL = rows("theory_oracles")
EXACT = [row for row in ALL if is_exact(row)]
SIMULATED = [row for row in EXACT if row["name"] in ORACLES]
OPTIMA = [row for row in EXACT if is_optimum(row)]
STANDARD_ERRORS = 5.0
LARGEST_ERROR = 0.005  # of the value


def _title(row: Row) -> str:
    return f"{row['name']}({row['parameters']})"


@pytest.mark.slow
@pytest.mark.parametrize("row", SIMULATED, ids=_title)
def test_the_engine_gives_the_exact_form(row: Row) -> None:
    """Simulated and exact value are within 5 standard errors, each at most half a percent."""
    oracle = oracle_of(row)
    assert oracle is not None
    found = simulated(oracle)
    assert found.error <= LARGEST_ERROR * abs(found.mean)
    assert found.off(expected(row)) <= STANDARD_ERRORS, found
    assert is_kept(exact_line(row))


@pytest.mark.slow
@pytest.mark.parametrize("row", OPTIMA, ids=_title)
def test_the_exact_optimum_is_the_best_interval(row: Row) -> None:
    """Intervals of half and double the length give less goodput, by 5 standard errors."""
    found = bracket(row)
    assert found.low < found.best < found.high
    for side in (found.shorter, found.longer):
        assert side.mean > STANDARD_ERRORS * side.error, found
    assert is_kept(bracket_line(row))


def test_no_exact_row_is_passed_over() -> None:
    """Every exact row is simulated, bracketed, or said to be lacking; every row has its formula."""
    names = {row["name"] for row in EXACT}
    assert names == {*ORACLES, *LACKING, *(row["name"] for row in OPTIMA)}
    assert not ORACLES.keys() & LACKING.keys()
    assert {row["name"] for row in ALL} == FORMULAS.keys()


def test_the_document_has_all_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """docs/validation-theory.md is what is written now, but for what is simulated.

    `python tests/theory_table.py --write` renews it.
    """
    any_figure = Estimate(1.0, 0.1)
    monkeypatch.setattr(theory_table, "simulated", lambda oracle: any_figure)
    monkeypatch.setattr(theory_table, "bracket", lambda row: Bracket(1.0, any_figure, any_figure))
    assert words(DOCUMENT.read_text(encoding="utf-8")) == words(document())


@pytest.mark.slow
@pytest.mark.parametrize("row", [row for row in ALL if row["name"] == "ETTR_meta"], ids=_title)
def test_what_is_only_reported_is_what_the_document_says(row: Row) -> None:
    """The exact process behind a first-order formula."""
    assert is_kept(beside_line(row))
