"""A figure that is drawn can be given other colours and another size, and stays whole."""

from __future__ import annotations

from typing import Any

import pytest
from figure_checks import assert_words_are_whole_and_apart, figure_of, legend_names
from matplotlib.axes import Axes
from matplotlib.colors import same_color, to_hex
from sample_results import comparison

from ddsim import plot
from ddsim.figures import style
from ddsim.figures.bars import bars
from ddsim.figures.beside import Curve, beside
from ddsim.figures.inside import Inside

METHODS = ("data_parallel", "streaming_diloco", "decoupled_diloco")
PINK, GREY = "#ff00aa", "#555555"


def curves() -> Axes:
    """Six curves of three methods with intervals and published points, as `goodput` has them."""
    return beside(
        [
            Curve(
                f"{style.words(name)}, M = {learners}",
                style.METHOD_COLOURS[name],
                (1, 10),
                (50 + learners, 90),
                (52, 91),
                (2, 1),
            )
            for name in METHODS
            for learners in (4, 8)
        ],
        title="Goodput against chips",
        x="chips",
        y="goodput (%)",
    )


def colours_in(ax: Axes) -> set[str]:
    """Every colour of a line, an error bar or a ring, in the axes and in the legend."""
    (legend,) = figure_of(ax).legends
    lines = [*ax.lines, *legend.get_lines()]
    found: list[Any] = [line.get_color() for line in lines]
    found += [line.get_markeredgecolor() for line in lines]
    found += [colour for group in ax.collections for colour in group.get_edgecolor()]
    return {to_hex(colour) for colour in found}


def test_lines_and_rings_are_labelled() -> None:
    """With their curve's name as the legend has it."""
    labels = {str(line.get_label()) for line in curves().lines}
    for method in METHODS:
        name = f"{style.words(method)}, M = 4"
        assert {name, f"{name}, published"} <= labels


def test_a_colour_is_followed_by_all_that_had_it() -> None:
    """Lines, error bars, rings and the legend; the others keep theirs, and again."""
    ax = curves()
    others = colours_in(ax) - {style.METHOD_COLOURS["streaming_diloco"]}
    assert plot.recolour(ax, {"streaming_diloco": PINK}) is ax
    assert colours_in(ax) == others | {PINK}
    ax.figure.set_size_inches(3.4, 3.2)  # type: ignore[union-attr]
    assert colours_in(ax) == others | {PINK}
    plot.recolour(ax, {"streaming_diloco": GREY})
    assert colours_in(ax) == others | {GREY}


def test_two_methods_may_change_colours() -> None:
    """Each has that of the other afterwards."""
    ax = curves()
    one, other = METHODS[:2]
    first = ax.lines[0]
    before = colours_in(ax)
    swapped = {one: style.METHOD_COLOURS[other], other: style.METHOD_COLOURS[one]}
    plot.recolour(ax, swapped)
    assert same_color(first.get_color(), style.METHOD_COLOURS[other])
    assert colours_in(ax) == before


def test_bars_follow_too() -> None:
    """Productive time, and the hatches of what was overwritten."""
    ax = plot.recolour(plot.goodput(comparison()), {"decoupled_diloco": PINK})
    assert any(same_color(bar.get_facecolor(), PINK) for bar in ax.patches)
    had = style.METHOD_COLOURS["decoupled_diloco"]
    paints = [paint for bar in ax.patches for paint in (bar.get_facecolor(), bar.get_edgecolor())]
    assert not any(same_color(paint, had) for paint in paints)


def ink_in_bars(ax: Axes) -> dict[str, str]:
    """The colours of the numbers that stand in bars, as they are drawn."""
    figure_of(ax).draw_without_rendering()
    return {
        words.get_text(): to_hex(words.get_color())
        for words in ax.texts
        if isinstance(words, Inside)
    }


@pytest.mark.parametrize(("colour", "ink"), [("black", "#ffffff"), ("#ffffcc", style.INK)])
def test_numbers_in_bars_read_on_the_colour_that_the_bar_has_now(colour: str, ink: str) -> None:
    """Black or white by the bar's luminance, however it came by its colour."""
    grouped = bars(["one"], {"a": [2.0]}, {"a": "#777777"}, title="", y="")
    for bar in grouped.patches:
        bar.set_facecolor(colour)
    assert ink_in_bars(grouped) == {"2": ink}
    stacked = plot.recolour(plot.goodput(comparison()), dict.fromkeys(style.METHOD_COLOURS, colour))
    ink_in_bars(stacked)
    inks = [
        to_hex(words.get_color())
        for words in stacked.texts
        if isinstance(words, Inside) and same_color(words.bar.get_facecolor(), colour)
    ]
    assert inks
    assert set(inks) == {ink}


def test_ink_that_was_chosen_by_hand_stays() -> None:
    """Whatever colour the bar has."""
    ax = bars(["one"], {"a": [2.0]}, {"a": "black"}, title="", y="")
    ax.texts[0].set_color(PINK)
    assert ink_in_bars(ax) == {"2": PINK}


def test_what_is_no_colour_is_refused() -> None:
    """Before anything is painted."""
    with pytest.raises(ValueError, match="diloco: 'rouge'"):
        plot.recolour(curves(), {"diloco": "rouge"})


@pytest.mark.parametrize("width", [2.6, 3.4, 8.0])
def test_the_legend_fits_whatever_the_size(width: float) -> None:
    """All of its words lie inside the figure, in as many columns as there is room for."""
    ax = curves()
    names = legend_names(ax)
    ax.set_title("", loc="left")
    ax.figure.set_size_inches(width, 3.2)  # type: ignore[union-attr]
    assert legend_names(ax) == names
    assert_words_are_whole_and_apart(ax)


def test_a_legend_that_was_taken_off_stays_off() -> None:
    """Whoever has put another one in its place keeps that."""
    ax = curves()
    figure = figure_of(ax)
    figure.legends[0].remove()
    figure.set_size_inches(3.4, 3.2)
    assert not figure.legends
