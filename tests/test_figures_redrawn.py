"""What a reproduction leaves in its folder draws its figures again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import ddsim
from figure_checks import legend_names
from matplotlib.axes import Axes
from matplotlib.colors import same_color
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from sample_figures import quality_bars, three_rows, two_curves
from sample_reproductions import made
from sample_results import comparison

from ddsim import plot
from ddsim.figures import style
from ddsim.figures.drawing import drawn_from
from ddsim.figures.kept import KEPT, keep


def marks(ax: Axes) -> Iterator[Any]:
    """All that stands in axes: words, ends, points, colours.

    They are laid out first: how many ticks there are goes by the room for them.
    """
    figure = ax.figure
    assert isinstance(figure, Figure)
    figure.draw_without_rendering()
    yield ax.get_title(loc="left"), ax.get_xlabel(), ax.get_ylabel(), legend_names(ax)
    yield ax.get_xscale(), ax.get_yscale(), ax.get_xlim(), ax.get_ylim()
    yield [text.get_text() for text in (*ax.texts, *ax.get_xticklabels(), *ax.get_yticklabels())]
    for line in ax.get_lines():
        yield np.nan_to_num(np.asarray(line.get_xydata(), float), nan=-1.0).tolist()
        yield line.get_color(), line.get_linestyle(), line.get_marker()
    for patch in ax.patches:
        yield patch.get_path().vertices.tolist(), patch.get_facecolor()  # type: ignore[union-attr]
    for group in ax.collections:
        yield [path.vertices.tolist() for path in group.get_paths()]  # type: ignore[union-attr]


def assert_drawn_again(figures: Mapping[str, Axes], folder: Path) -> None:
    """All of them, from the folder alone."""
    keep(figures, folder)
    again = plot.redraw(folder)
    assert {name: list(marks(ax)) for name, ax in again.items()} == {
        name: list(marks(ax)) for name, ax in figures.items()
    }


def test_a_figure_is_drawn_again_as_it_was(tmp_path: Path) -> None:
    """With values that are missing, of plain data and of results."""
    timeline = plot.timeline(comparison(), ["decoupled_diloco"])
    figures = {"a": two_curves(), "b": quality_bars(), "c": three_rows(), "d": timeline}
    assert_drawn_again(figures, tmp_path)


@pytest.mark.slow
def test_every_reproduced_figure_is_drawn_again_as_it_was(tmp_path: Path) -> None:
    """None is drawn from anything that is not kept."""
    found = made()
    figures = {name: ax for item in found.values() for name, ax in item.figures.items()}
    assert_drawn_again(figures, tmp_path)


def test_a_figure_that_was_drawn_again_is_recoloured(tmp_path: Path) -> None:
    """As one that was never kept."""
    keep({"timeline": plot.timeline(comparison())}, tmp_path)
    ax = plot.recolour(plot.redraw(tmp_path)["timeline"], {"decoupled_diloco": "#ff00aa"})
    paints: list[Any] = [colour for group in ax.collections for colour in group.get_facecolor()]
    assert any(same_color(paint, "#ff00aa") for paint in paints)


def test_what_others_drew_on_is_not_taken_for_one_figure() -> None:
    """Axes that were given may hold more than the figure."""
    ax = style.own_axes(2.0)
    ax.add_line(Line2D([0, 1], [0, 1]))
    assert drawn_from(plot.timeline(comparison(), ax=ax)) is None


def test_the_command_draws_a_reproduction_again(tmp_path: Path) -> None:
    """In the format that is asked for."""
    keep({"rows": three_rows()}, tmp_path)
    ran = ddsim("plot", tmp_path, "--format", "svg")
    assert (ran.code, ran.out.split()) == (0, [str(tmp_path / "rows.svg")])


@pytest.mark.parametrize(
    "text", ["[", "[1]", '{"a": 1}', '{"a": {"drawn_by": "nothing", "results": null, "given": {}}}']
)
def test_a_damaged_file_is_named(tmp_path: Path, text: str) -> None:
    """With exit code 2."""
    (tmp_path / KEPT).write_text(text)
    ran = ddsim("plot", tmp_path)
    assert ran.code == 2
    assert f"{tmp_path / KEPT}: not what figures are drawn from" in " ".join(ran.err.split())
