"""Published figures and tables, simulated beside published."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import numpy as np
import pytest
from command_line import ddsim
from figure_checks import legend_names
from matplotlib.axes import Axes
from sample_reproductions import made

from ddsim.reproduce import Found, Row, names, reproduce
from ddsim.reproduce.basis import KINDS
from ddsim.reproduce.gallery import gallery
from ddsim.reproduce.rows import (
    AT_LEAST,
    EXACT,
    REPORTED_BESIDE,
    Tolerance,
    beside_published,
    misses,
    without_value,
)
from ddsim.reproduce.writing import csv_text, markdown

Key = tuple[str, str, str]
DOCUMENT = Path(__file__).parent.parent / "docs" / "validation.md"
LABORIOUS = (
    "goodput",
    "quality",
    "scavenging",
    "trends",
    "causes",
    "large-jobs",
    "loss-calibration",
)
QUICK = tuple(name for name in names() if name not in LABORIOUS)
NAMED_ROWS = ("causes", "trends", "wan-sync", "storm", "losses")
"""Figures with names on their second axis."""


def settled_cells(found: Mapping[str, Found]) -> set[tuple[str, str]]:
    """Quantity and cell of the published numbers that a coarse pass gets as a full one does."""
    rows = [row for item in found.values() for row in beside_published(item.rows) if row.settled]
    return {(row.quantity, row.cell) for row in rows}


def tables(text: str) -> dict[Key, list[str]]:
    """The cells of every table of numbers of a validation page by section, quantity and cell."""
    found, section, numbers = {}, "", False
    for line in text.splitlines():
        if line.startswith("## "):
            section = line[3:]
        if not line.startswith("| "):
            numbers = False
        elif line.startswith("| quantity"):
            numbers = True
        elif numbers and not line.startswith("| ---"):
            cells = [cell.strip() for cell in line.strip("|").split(" | ")]
            found[section, cells[0], cells[1]] = cells
    return found


def disagreements(
    kept: Mapping[Key, list[str]], now: Mapping[Key, list[str]], settled: Iterable[tuple[str, str]]
) -> list[Key]:
    """Cells of a coarse pass that are not on the page, or not as they are there.

    Published numbers have to be the same, and the whole row where the number is settled.
    """
    known = set(settled)
    return [
        key
        for key, cells in now.items()
        if key not in kept or kept[key][3] != cells[3] or (key[1:] in known and kept[key] != cells)
    ]


def drawn(ax: Axes, *, across: bool = False) -> Iterator[float]:
    """Every height that a figure of lines or bars draws, or how far across its points stand."""
    for line in ax.get_lines():
        if line.get_marker() in ("_", "|"):  # the ends of an interval
            continue
        shown = line.get_xdata() if across else line.get_ydata()
        yield from np.asarray(shown, dtype=float).tolist()
    for patch in ax.patches:
        yield patch.get_height()  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def by_hand() -> dict[str, Found]:
    """Every reproduction, of results made by hand."""
    return made()


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
    assert '"everything"' in ran.err
    assert all(name in ran.err for name in names())


def test_the_list_has_every_name() -> None:
    """`--list` says what there is, and does nothing."""
    ran = ddsim("reproduce", "--list")
    assert ran.code == 0
    assert [line.split()[0] for line in ran.out.splitlines()[1:]] == list(names())


@pytest.mark.parametrize("idle", [["--quick"], ["--jobs", "1"], ["--out", "out"], ["page"]])
def test_the_list_refuses_what_it_would_ignore(idle: list[str]) -> None:
    """Whatever says how to simulate; exit 2."""
    ran = ddsim("reproduce", "--list", *idle)
    assert ran.code == 2
    assert "--list" in ran.err
    assert idle[0] in ran.err
    assert not ran.out


@pytest.mark.slow
def test_the_command_writes_table_numbers_and_figures(tmp_path: Path) -> None:
    """Each figure as PNG and SVG; what was missed is said, and is no failure."""
    ran = ddsim("reproduce", "bandwidth", "page", "--quick", "--out", tmp_path)
    assert ran.code == 0, ran.err
    assert {path.name for path in tmp_path.iterdir()} == {
        "validation.md",
        "validation.csv",
        "gallery.html",
        "figures.json",
        "bandwidth.png",
        "bandwidth.svg",
        "page.png",
        "page.svg",
    }
    assert all(path.stat().st_size > 1000 for path in tmp_path.iterdir())
    row = next(line for line in ran.out.splitlines() if line.startswith("bandwidth"))
    assert row.split() == ["bandwidth", "120", "120", "118", "2", "0"]


@pytest.mark.slow
def test_the_quick_pass_agrees_with_the_checked_in_page() -> None:
    """Settled numbers are the same, and no published number is missing from the page.

    All that is not laborious is passed over; `make validate` renews docs/validation.md.
    """
    found = reproduce(QUICK, quick=True)
    kept, now = tables(DOCUMENT.read_text(encoding="utf-8")), tables(markdown(found))
    settled = settled_cells(found)
    assert len(settled) > 160
    assert disagreements(kept, now, settled) == []


@pytest.mark.slow
def test_what_disagrees_is_found(by_hand: dict[str, Found]) -> None:
    """A number that is off by a digit, a published one that is another, and a row too many."""
    now, settled = tables(markdown(by_hand)), settled_cells(by_hand)
    keys = [key for key in now if key[1:] in settled][:3]
    for column in (3, 4):
        other = {key: list(cells) for key, cells in now.items()}
        other[keys[0]][column] += "1"
        assert disagreements(other, now, settled) == [keys[0]]
    assert disagreements({k: v for k, v in now.items() if k not in keys}, now, settled) == keys


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


@pytest.mark.slow
def test_the_numbers_hold_all_that_is_drawn(by_hand: dict[str, Found]) -> None:
    """Whatever a figure draws stands in validation.csv, simulated or published."""
    for name, item in by_hand.items():
        known = [row.simulated for row in item.rows]
        known += [row.published for row in item.rows if row.published is not None]
        for title, ax in item.figures.items():
            if title not in ("isolation", "quality"):  # pictures of states and of curves
                for value in filter(
                    np.isfinite, drawn(ax, across=title.replace("_", "-") in NAMED_ROWS)
                ):
                    assert np.isclose(value, known, rtol=1e-9).any(), (name, value)


@pytest.mark.slow
def test_every_row_of_a_figure_is_drawn(by_hand: dict[str, Found]) -> None:
    """Each number that has a published one beside it, and that one, in what is named by rows."""
    for name in NAMED_ROWS:
        item = by_hand[name]
        ax = item.figures[name.replace("-", "_")]
        values = list(drawn(ax, across=True))
        named = [text.get_text() for text in ax.get_yticklabels()]
        for row in item.rows[: len(named)]:
            assert np.isclose(row.simulated, values).any(), row
            assert row.published is not None
            assert np.isclose(row.published, values).any(), row


@pytest.mark.slow
def test_the_quality_figure_has_the_curve_of_every_run(by_hand: dict[str, Found]) -> None:
    """Its ends are the final losses in the table, in the methods' order."""
    ax = by_hand["quality"].figures["quality"]
    finals = [row.simulated for row in by_hand["quality"].rows if row.quantity == "final loss"]
    ends = [float(np.asarray(line.get_ydata())[-1]) for line in ax.get_lines()]
    assert ends == pytest.approx(finals)
    assert legend_names(ax)[0] == "data parallel, no failures"
    assert ax.get_ylabel() == "loss (nats per character)"


@pytest.mark.slow
def test_quality_is_relative_to_no_failures(by_hand: dict[str, Found]) -> None:
    """A loss over another, beside a score over another."""
    rows = by_hand["quality"].rows
    relative = [row for row in rows if row.quantity == "relative quality"]
    finals = [row.simulated for row in rows if row.quantity == "final loss"]
    assert [row.simulated for row in relative] == pytest.approx([finals[0] / x for x in finals])
    assert [row.published for row in relative] == pytest.approx([1, 69.7 / 70.1, 69.8 / 70.1])


@pytest.mark.slow
def test_scavenging_has_a_bar_and_a_ring_for_each_setting(by_hand: dict[str, Found]) -> None:
    """Two methods at five amounts; times are relative to none borrowed."""
    item = by_hand["scavenging"]
    ax = item.figures["scavenging"]
    assert [tick.get_text() for tick in ax.get_xticklabels()] == [
        "+0%",
        "+25%",
        "+50%",
        "+100%",
        "+300%",
    ]
    heights = [patch.get_height() for patch in ax.patches]  # type: ignore[attr-defined]
    assert heights == pytest.approx([row.simulated for row in item.rows])
    assert heights[0] == heights[5] == 1.0
    rings = [line for line in ax.get_lines() if line.get_marker() == "o"]
    heights = [value for line in rings for value in np.asarray(line.get_ydata()).tolist()]
    assert heights == pytest.approx([row.published for row in item.rows])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["restarts", "scavenging", "mixed", "trends"])
def test_what_is_a_mean_has_an_interval(by_hand: dict[str, Found], name: str) -> None:
    """Every row that more than one run or seed stands behind, but what is relative to itself."""
    rows = by_hand[name].rows
    if name == "restarts":
        rows = [row for row in rows if row.quantity == "goodput"]
    itself = ("+0%", "16 bits", "radial_directional M=8", "K=1 with grace")
    assert rows
    for row in rows:
        assert row.half_width is not None or row.cell.endswith(itself), row.cell


@pytest.mark.slow
def test_every_cause_is_matched_with_one_of_the_scenario(by_hand: dict[str, Found]) -> None:
    """None is at 0 for want of the name."""
    rows = [row for row in by_hand["causes"].rows if row.quantity.startswith("interruptions")]
    assert len(rows) == 18
    assert all(row.simulated > 0 for row in rows)


@pytest.mark.slow
def test_the_numbers_are_a_table(by_hand: dict[str, Found]) -> None:
    """A row a number, with error and source where one is published."""
    lines = list(csv.DictReader(csv_text(by_hand).splitlines()))
    assert len(lines) == sum(len(item.rows) for item in by_hand.values())
    for line in lines:
        assert bool(line["published"]) == bool(line["source"]) == bool(line["tolerance"])
        if line["published"]:
            error = float(line["simulated"]) - float(line["published"])
            assert float(line["error"]) == pytest.approx(error, abs=2e-4 * float(line["published"]))


@pytest.mark.slow
def test_goodput_is_simulated_as_a_study() -> None:
    """The coarse pass has all 30 cells with an interval, most of them within their tolerance."""
    found = reproduce(["goodput"], quick=True)["goodput"]
    cells = [row for row in found.rows if row.quantity == "goodput"]
    assert len(cells) == 30
    assert all(row.half_width is not None for row in cells)
    assert sum(bool(row.within) for row in cells) >= 24
    assert set(found.figures) == {"goodput", "uptime"}


@pytest.mark.slow
def test_the_gallery_has_every_published_number_and_figure(by_hand: dict[str, Found]) -> None:
    """A row a published number, a picture a figure and one more that leads there, all beside it.

    A prediction without a value yet has its row too.
    """
    text = gallery(by_hand)
    items = by_hand.values()
    rows = sum(len(beside_published(of.rows)) + len(without_value(of.rows)) for of in items)
    figures = [name for item in by_hand.values() for name in item.figures]
    assert text.count('<th scope="row">') == rows + len(KINDS)
    assert text.count("<img ") == 2 * len(figures)
    linked = set(re.findall(r'(?:src|href)="(?!data:|#)([^"]+)"', text))
    assert linked == {f"{name}.{suffix}" for name in figures for suffix in ("svg", "png")}
    assert len(text) < 1_000_000


@pytest.mark.slow
def test_settings_that_two_topics_share_are_kept_apart(by_hand: dict[str, Found]) -> None:
    """Goodput at a quorum is not its quality."""
    goodput = [row.published for row in beside_published(by_hand["mixed"].rows)]
    assert goodput == [84.0, 100.0, 100.0]
    quality = [row.published for row in by_hand["trends"].rows if row.cell.startswith("K=")]
    assert quality == pytest.approx([54.4 / 55.3, 51.4 / 55.3, 1.0])
