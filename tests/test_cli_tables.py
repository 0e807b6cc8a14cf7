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


def test_a_narrow_terminal_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a line does not fit, the table is plain and every cell is there in one piece."""
    out = printed(monkeypatch, 12)
    assert "\u2500" not in out
    assert [line.split() for line in out.splitlines()] == [
        ["method", "goodput"],
        ["data_parallel", "0.5"],
        ["diloco", "0.75"],
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
    ("value", "text"), [(None, "-"), (1.0, "1x"), (83.14, "83.1x"), (1234.5, "1234x")]
)
def test_ratios(value: float | None, text: str) -> None:
    """Three digits and an x."""
    assert words.ratio(value) == text
