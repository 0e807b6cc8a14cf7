"""The goodput figure."""

from dataclasses import replace

import pytest
from figure_checks import figure_of, legend_names
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from sample_results import comparison, record

from ddsim import plot
from ddsim.figures import style


def bars(ax: Axes) -> list[Rectangle]:
    """The segments of all bars, in the order in which they were drawn."""
    return [patch for patch in ax.patches if isinstance(patch, Rectangle)]


def test_every_bar_is_as_long_as_its_accounts() -> None:
    """Segments have the accounts' lengths and end where all chip-time ends."""
    results = comparison()
    drawn = bars(plot.goodput(results))
    for row, item in enumerate(results.results):
        segments = [bar for bar in drawn if abs(bar.get_y() + bar.get_height() / 2 - row) < 0.1]
        assert sorted(bar.get_width() for bar in segments) == pytest.approx(
            sorted(item.accounts.values())
        )
        assert max(bar.get_x() + bar.get_width() for bar in segments) == pytest.approx(1.0)


def test_productive_stands_first_in_the_methods_colour() -> None:
    """The segment that begins at 0 is productive and has its method's colour."""
    results = comparison()
    first = [bar for bar in bars(plot.goodput(results)) if bar.get_x() == 0]
    assert [to_hex(bar.get_facecolor()) for bar in first] == [
        style.METHOD_COLOURS[name] for name in results.methods
    ]
    assert [bar.get_width() for bar in first] == [0.3, 0.9]


def test_interval_stands_beside_goodput() -> None:
    """Replications add half the width of the interval, in points."""
    results = replace(comparison(2), results=[record(goodput=0.9, goodput_ci95=(0.88, 0.92))])
    texts = [text.get_text() for text in plot.goodput(results).texts]
    assert "90.0% \N{PLUS-MINUS SIGN} 2.0" in texts


def test_legend_has_what_is_seen() -> None:
    """The legend explains the accounts that take part, and only those."""
    ax = plot.goodput(comparison())
    assert legend_names(ax) == ["exposed communication", "failed hardware"]
    (legend,) = figure_of(ax).legends
    assert legend.get_title().get_text() == "in the method's colour: productive"


def test_draws_on_the_axes_it_is_given() -> None:
    """With `ax` it draws there, legend included, and returns it."""
    ax = Figure().subplots()
    assert plot.goodput(comparison(), ax) is ax
    assert ax.get_legend() is not None
    assert not figure_of(ax).legends


def test_a_users_method_and_account_are_drawn() -> None:
    """Names that the style does not know have a colour too, always the same."""
    odd = record("mine", accounts={"productive": 0.5, "tea": 0.5})
    ax = plot.goodput(replace(comparison(), results=[odd]))
    assert len(bars(ax)) == 2
    assert style.method_colour("mine") == style.method_colour("mine")
    assert style.method_colour("mine") not in style.METHOD_COLOURS.values()


def test_methods_have_different_colours() -> None:
    """No two methods share a colour."""
    assert len(set(style.METHOD_COLOURS.values())) == len(style.METHOD_COLOURS)
