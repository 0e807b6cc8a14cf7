"""Published figures and tables, simulated beside published."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pytest
from command_line import ddsim
from matplotlib.axes import Axes

from ddsim.reproduce import Found, Row, names, reproduce, write
from ddsim.reproduce.rows import (
    AT_LEAST,
    EXACT,
    REPORTED_BESIDE,
    Tolerance,
    beside_published,
    misses,
)
from ddsim.reproduce.writing import csv_text, markdown

DOCUMENT = Path(__file__).parent.parent / "docs" / "validation.md"
QUICK = tuple(name for name in names() if name not in ("goodput", "quality", "scavenging"))


@pytest.fixture(scope="module")
def quick() -> dict[str, Found]:
    """A coarse pass over all that is not laborious."""
    return reproduce(QUICK, quick=True)


def tables(text: str) -> dict[tuple[str, str, str], list[str]]:
    """The cells of every table of a validation page by section, quantity and cell."""
    found, section = {}, ""
    for line in text.splitlines():
        if line.startswith("## "):
            section = line[3:]
        elif line.startswith("| ") and not line.startswith(("| quantity", "| ---")):
            cells = [cell.strip() for cell in line.strip("|").split(" | ")]
            found[section, cells[0], cells[1]] = cells
    return found


def drawn(ax: Axes) -> Iterator[float]:
    """Every height that a figure of lines or bars draws."""
    for line in ax.get_lines():
        yield from np.asarray(line.get_ydata(), dtype=float).tolist()
    for patch in ax.patches:
        yield patch.get_height()  # type: ignore[attr-defined]


def test_a_number_is_within_its_tolerance_or_not() -> None:
    """Absolute, relative, exact and one-sided tolerances; beside is neither within nor not."""
    assert Row("q", "c", 10.4, published=10.0, tolerance=Tolerance(0.5)).within
    assert not Row("q", "c", 10.6, published=10.0, tolerance=Tolerance(0.5)).within
    assert Row("q", "c", 10.4, published=10.0, tolerance=Tolerance(0.05, relative=True)).within
    assert not Row("q", "c", 10.6, published=10.0, tolerance=Tolerance(0.05, relative=True)).within
    assert Row("q", "c", 0.3, published=0.3, tolerance=EXACT).within
    assert not Row("q", "c", 0.31, published=0.3, tolerance=EXACT).within
    assert Row("q", "c", 99.0, published=20.0, tolerance=AT_LEAST).within
    assert not Row("q", "c", 19.9, published=20.0, tolerance=AT_LEAST).within
    assert Row("q", "c", 5.0, published=20.0, tolerance=REPORTED_BESIDE).within is None
    assert Row("q", "c", 5.0).within is None


def test_an_unknown_name_is_refused_with_those_there_are() -> None:
    """Exit 2, and the names."""
    ran = ddsim("reproduce", "everything")
    assert ran.code == 2
    assert "'everything'" in ran.err
    assert all(name in ran.err for name in names())


def test_the_list_has_every_name() -> None:
    """`--list` says what there is, and does nothing."""
    ran = ddsim("reproduce", "--list")
    assert ran.code == 0
    assert [line.split()[0] for line in ran.out.splitlines()[1:]] == list(names())


def test_the_command_writes_table_numbers_and_figures(tmp_path: Path) -> None:
    """Each figure as PNG and SVG; what was missed is said, and is no failure."""
    ran = ddsim("reproduce", "bandwidth", "page", "--quick", "--out", tmp_path)
    assert ran.code == 0, ran.err
    assert {path.name for path in tmp_path.iterdir()} == {
        "validation.md",
        "validation.csv",
        "bandwidth.png",
        "bandwidth.svg",
        "page.png",
        "page.svg",
    }
    row = next(line for line in ran.out.splitlines() if line.startswith("bandwidth"))
    assert row.split() == ["bandwidth", "120", "120", "118", "2"]


def test_the_quick_pass_agrees_with_the_checked_in_page(quick: dict[str, Found]) -> None:
    """Settled numbers are the same, and no published number is missing from the page.

    `make validate` renews docs/validation.md.
    """
    kept, now = tables(DOCUMENT.read_text(encoding="utf-8")), tables(markdown(quick))
    assert now.keys() <= kept.keys()
    settled = {
        (row.quantity, row.cell)
        for item in quick.values()
        for row in beside_published(item.rows)
        if row.settled
    }
    assert len(settled) > 160
    for key, cells in now.items():
        assert kept[key][2] == cells[2]
        if key[1:] in settled:
            assert kept[key] == cells


def test_the_page_has_at_least_150_published_numbers() -> None:
    """Of every reproduction; and it says how many miss."""
    text = DOCUMENT.read_text(encoding="utf-8")
    assert len(tables(text)) >= 150
    missed = sum(cells[-1] == "**no**" for cells in tables(text).values())
    assert text.split("## What misses")[1].split("## ")[0].count("\n- ") == missed


def test_the_page_says_what_misses() -> None:
    """A number that is off is named with its tolerance, and marked in its table."""
    row = Row("speed", "cell", 12.0, "x", 20.0, AT_LEAST, "a source")
    text = markdown({"twenty-fold": Found([row])})
    assert "- twenty-fold: speed, cell: 12 for 20 x (held to: at least)" in text
    assert "**no**" in text
    assert misses([row]) == [row]


def test_the_numbers_hold_all_that_is_drawn(quick: dict[str, Found]) -> None:
    """Whatever a figure draws stands in validation.csv, simulated or published."""
    for name, item in quick.items():
        known = [row.simulated for row in item.rows]
        known += [row.published for row in item.rows if row.published is not None]
        for title, ax in item.figures.items():
            if title != "isolation":  # a picture of states, not of numbers
                for value in filter(np.isfinite, drawn(ax)):
                    assert np.isclose(value, known, rtol=1e-9).any(), (name, value)


def test_the_numbers_are_a_table(quick: dict[str, Found]) -> None:
    """A row a number, with error and source where one is published."""
    lines = list(csv.DictReader(csv_text(quick).splitlines()))
    assert len(lines) == sum(len(item.rows) for item in quick.values())
    for line in lines:
        assert bool(line["published"]) == bool(line["source"]) == bool(line["tolerance"])
        if line["published"]:
            error = float(line["simulated"]) - float(line["published"])
            assert float(line["error"]) == pytest.approx(error, abs=2e-4 * float(line["published"]))


def test_every_figure_is_drawn_and_labelled(quick: Mapping[str, Found], tmp_path: Path) -> None:
    """A title, and labels with units on the axes that have a scale; nothing is empty."""
    figures = {name: ax for item in quick.values() for name, ax in item.figures.items()}
    assert len(figures) >= 8
    for name, ax in figures.items():
        assert ax.get_title(loc="left"), name
        assert ax.has_data(), name
        if name not in ("mixed", "isolation"):
            assert ax.get_xlabel(), name
            assert ax.get_ylabel(), name
    written = write({"page": quick["page"]}, tmp_path)
    assert all(path.stat().st_size > 1000 for path in written)


def test_goodput_is_simulated_as_a_study() -> None:
    """The coarse pass has all 30 cells with an interval, most of them within their tolerance."""
    found = reproduce(["goodput"], quick=True)["goodput"]
    cells = [row for row in found.rows if row.quantity == "goodput"]
    assert len(cells) == 30
    assert all(row.half_width is not None for row in cells)
    assert sum(bool(row.within) for row in cells) >= 24
    assert set(found.figures) == {"goodput", "uptime"}
