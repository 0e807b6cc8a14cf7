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
    """Segments have the accounts' lengths, productive in two, and end where all chip-time ends."""
    results = comparison()
    drawn = bars(plot.goodput(results))
    for row, item in enumerate(results.results):
        segments = [bar for bar in drawn if abs(bar.get_y() + bar.get_height() / 2 - row) < 0.1]
        share = item.merged_goodput / item.goodput
        parts = {"merged": item.goodput * share, "overwritten": item.goodput * (1 - share)}
        lengths = {**item.accounts, **parts, "productive": 0.0}.values()
        assert sorted(bar.get_width() for bar in segments) == pytest.approx(
            sorted(length for length in lengths if length)
        )
        assert max(bar.get_x() + bar.get_width() for bar in segments) == pytest.approx(1.0)


def test_productive_stands_first_in_the_methods_colour() -> None:
    """The segment that begins at 0 is what was merged and has its method's colour."""
    results = comparison()
    first = [bar for bar in bars(plot.goodput(results)) if bar.get_x() == 0]
    assert [to_hex(bar.get_facecolor()) for bar in first] == [
        style.METHOD_COLOURS[name] for name in results.methods
    ]
    assert [bar.get_width() for bar in first] == pytest.approx([0.3, 0.98 * 0.9])


def test_merged_goodput_stands_beside_goodput() -> None:
    """Both, each with half the width of its interval, in points, where there is one."""
    item = record(merged_share=0.5, goodput_ci95=(0.88, 0.92), merged_goodput_ci95=(0.42, 0.48))
    texts = [text.get_text() for text in plot.goodput(replace(comparison(), results=[item])).texts]
    assert "45.0%\n\N{PLUS-MINUS SIGN} 3.0" in texts
    assert "90.0%\n\N{PLUS-MINUS SIGN} 2.0" in texts


def test_overwritten_work_is_hatched_within_productive() -> None:
    """It ends where productive ends, and is as long as what was not merged."""
    item = record(goodput=0.9, merged_share=0.75)
    ax = plot.goodput(replace(comparison(), results=[item]))
    merged, overwritten = bars(ax)[:2]
    assert (merged.get_width(), overwritten.get_width()) == pytest.approx((0.675, 0.225))
    assert merged.get_hatch() is None
    assert overwritten.get_hatch()
    assert overwritten.get_x() + overwritten.get_width() == pytest.approx(0.9)


def test_legend_has_what_is_seen() -> None:
    """The legend explains the accounts that take part, and only those."""
    ax = plot.goodput(comparison())
    assert legend_names(ax) == ["exposed communication", "failed hardware"]
    (legend,) = figure_of(ax).legends
    said = "in the method's colour: productive, hatched: overwritten"
    assert legend.get_title().get_text() == said


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
