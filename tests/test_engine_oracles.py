"""The engine gives the closed forms, row by row, through its own mechanisms."""

from __future__ import annotations

import math
import re

import pytest
from engine_oracles import ORACLES, oracle_of
from oracle_estimates import simulated
from theory_table import (
    DOCUMENT,
    FORMULAS,
    LACKING,
    bracket,
    document,
    expected,
    is_exact,
    is_optimum,
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


@pytest.mark.slow
@pytest.mark.parametrize("row", OPTIMA, ids=_title)
def test_the_exact_optimum_is_the_best_interval(row: Row) -> None:
    """Intervals of half and double the length give less goodput, by 5 standard errors."""
    found = bracket(row)
    assert found.low < found.best < found.high
    for side in (found.shorter, found.longer):
        assert side.mean > STANDARD_ERRORS * side.error, found


def test_no_exact_row_is_passed_over() -> None:
    """Every exact row is simulated, bracketed, or said to be lacking; every row has its formula."""
    names = {row["name"] for row in EXACT}
    assert names == {*ORACLES, *LACKING, *(row["name"] for row in OPTIMA)}
    assert not ORACLES.keys() & LACKING.keys()
    assert {row["name"] for row in ALL} == FORMULAS.keys()


@pytest.mark.slow
def test_the_document_says_what_is_simulated() -> None:
    """docs/validation-theory.md is what is written now, but for noise in its figures.

    `python tests/theory_table.py --write` renews it.
    """
    kept, now = DOCUMENT.read_text(encoding="utf-8"), document()
    assert _words(kept) == _words(now)
    ours, theirs = _figures(now), _figures(kept)
    assert len(ours) == len(theirs) > len(SIMULATED)
    for (value, error), (new, new_error) in zip(theirs, ours, strict=True):
        assert abs(value - new) <= STANDARD_ERRORS * math.hypot(error, new_error) + 1e-4 * abs(new)


def _words(text: str) -> str:
    return re.sub(r"-?\d[\d.e+-]*", "#", text)


def _figures(text: str) -> list[tuple[float, float]]:
    return [(float(a), float(b)) for a, b in re.findall(r"(-?[\d.e+-]+) ± ([\d.e+-]+)", text)]
