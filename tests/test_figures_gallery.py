"""Figures as files."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from figure_checks import assert_legible_in_a_column, assert_words_are_whole_and_apart
from matplotlib import get_backend, rcParams
from matplotlib.axes import Axes
from sample_results import comparison, record

from ddsim import plot
from ddsim.figures import save_figures
from ddsim.figures.style import WIDTH, OwnFigure
from ddsim.results import Results


@pytest.mark.slow
def test_every_figure_of_a_result_is_written(tmp_path: Path) -> None:
    """A result with timelines gives both figures."""
    written = save_figures(comparison(), tmp_path / "new")
    assert [path.name for path in written] == ["goodput.png", "timeline.png"]
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in written)


def test_without_timelines_there_is_no_timeline(tmp_path: Path) -> None:
    """A result without timelines gives the goodput figure alone."""
    written = save_figures(replace(comparison(), results=[record()]), tmp_path, suffix="svg")
    assert [path.name for path in written] == ["goodput.svg"]


@pytest.mark.slow
def test_global_state_is_left_alone(tmp_path: Path) -> None:
    """Neither the backend nor the settings of the caller's matplotlib change."""
    before = (get_backend(), dict(rcParams))
    save_figures(comparison(), tmp_path)
    assert (get_backend(), dict(rcParams)) == before


@pytest.mark.parametrize("draw", [plot.goodput, plot.timeline])
def test_long_names_have_room(draw: Callable[[Results], Axes]) -> None:
    """A title breaks into lines where the figure ends, and no word lies on another."""
    name = "a scenario with a name as long as nobody would give one that has to be typed"
    ax = draw(replace(comparison(2), scenario=name))
    assert_words_are_whole_and_apart(ax)
    assert_legible_in_a_column(ax)


def test_a_notebook_shows_a_sharp_picture() -> None:
    """A figure draws itself as PNG, at more pixels than its size in inches asks for."""
    figure = plot.goodput(comparison()).get_figure(root=True)
    assert isinstance(figure, OwnFigure)
    width = int.from_bytes(figure._repr_png_()[16:20], "big")
    assert width == round(150 * WIDTH)
