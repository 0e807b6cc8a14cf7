"""Tables and numbers as people read them."""

import io

import pytest

from ddsim.cli import tables, words


class Terminal(io.StringIO):
    """A terminal that remembers what was printed."""

    def isatty(self) -> bool:
        return True


def printed(monkeypatch: pytest.MonkeyPatch, width: int) -> str:
    """What a small table looks like in a terminal of a width."""
    terminal = Terminal()
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("sys.stdout", terminal)
    tables.show(["method", "goodput"], [["data_parallel", "0.5"], ["diloco", "0.75"]])
    return terminal.getvalue()


def test_a_wide_terminal_has_a_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a line fits, a rule stands below the headings."""
    assert "\u2500" in printed(monkeypatch, 80)


def plain(
    monkeypatch: pytest.MonkeyPatch, columns: str, header: list[str], row: list[str], left: int = 1
) -> list[str]:
    """The lines of a table of one row, away from a terminal."""
    out = io.StringIO()
    monkeypatch.setattr("sys.stdout", out)
    monkeypatch.setenv("COLUMNS", columns)
    tables.show(header, [row], left=left)
    return out.getvalue().splitlines()


def test_headings_are_folded_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """At blanks and underscores, the last line beside the cells."""
    lines = plain(monkeypatch, "24", ["method", "decoupled_diloco", "loss"], ["a", "0.5", "2"])
    assert lines == ["        decoupled_", "method      diloco  loss", "a              0.5     2"]


def test_columns_go_below_one_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """In as few tables as can be, alike in width, each with the first column."""
    header, row = ["method", "one", "two", "six", "ten"], ["m", "1111", "2222", "3333", "4444"]
    lines = plain(monkeypatch, "24", header, row)
    assert lines[:3] == ["method   one   two", "m       1111  2222", ""]
    assert lines[3:] == ["method   six   ten", "m       3333  4444"]


def test_long_text_is_folded_before_columns_are_moved(monkeypatch: pytest.MonkeyPatch) -> None:
    """A number keeps its unit beside it."""
    text = "links of four sites that give 5 Gbit/s each"
    lines = plain(monkeypatch, "40", ["name", ""], ["thin", text], left=2)
    assert lines[1:] == ["thin  links of four sites that give", "      5 Gbit/s each"]


def test_where_nothing_fits_a_row_is_a_paragraph(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each cell whole, behind its heading."""
    row = ["decoupled_diloco", "0.123 (0.100 to 0.200)"]
    lines = plain(monkeypatch, "20", ["method", "merged goodput"], row)
    assert lines == [
        "method:",
        "  decoupled_diloco",
        "merged goodput:",
        "  0.123 (0.100 to",
        "  0.200)",
    ]


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "-"), (0.0, "0"), (-1e-17, "0"), (1e-7, "<0.001"), (0.0006, "0.001"), (1.0, "1.000")],
)
def test_fractions(value: float | None, text: str) -> None:
    """Three digits; what there is not, nothing, and nearly nothing look different."""
    assert words.fraction(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "-"),
        (float("inf"), "-"),
        (0.0, "0"),
        (0.5, "0.5"),
        (999.0, "999"),
        (1234.0, "1.234 k"),
        (999_999.0, "1 M"),
        (3.466e10, "34.66 G"),
        (1e21, "1000 E"),
    ],
)
def test_quantities(value: float | None, text: str) -> None:
    """Four significant digits and an SI prefix."""
    assert words.quantity(value) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (86400.0, "1 day"),
        (36000.0, "10 h"),
        (5400.0, "1.5 h"),
        (90.0, "1.5 min"),
        (100.0, "100 s"),
        (31557600.0, "1 yr"),
        (float("inf"), "unlimited"),
    ],
)
def test_durations(seconds: float, text: str) -> None:
    """The largest unit in which it is a short number."""
    assert words.duration(seconds) == text


@pytest.mark.parametrize(
    ("ends", "text"),
    [
        (None, "0.900"),
        ((0.88, 0.92), "0.900 +/- 0.020"),
        ((0.70, 0.95), "0.900 (0.700 to 0.950)"),
    ],
)
def test_a_lopsided_interval_has_both_its_ends(ends: tuple[float, float] | None, text: str) -> None:
    """One half width would say that the two sides are alike."""
    assert words.interval(0.9, ends, words.fraction) == text


@pytest.mark.parametrize(
    ("value", "text"), [(None, "-"), (1.0, "1x"), (83.14, "83.1x"), (1234.5, "1234x")]
)
def test_ratios(value: float | None, text: str) -> None:
    """Three digits and an x."""
    assert words.ratio(value) == text
