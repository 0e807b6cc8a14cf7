"""Figures as files."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from matplotlib import get_backend, rcParams
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text
from sample_results import comparison, record

from ddsim import plot
from ddsim.figures import save_figures
from ddsim.results import Results


def test_every_figure_of_a_result_is_written(tmp_path: Path) -> None:
    """A result with timelines gives both figures."""
    written = save_figures(comparison(), tmp_path / "new")
    assert [path.name for path in written] == ["goodput.png", "timeline.png"]
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in written)


def test_without_timelines_there_is_no_timeline(tmp_path: Path) -> None:
    """A result without timelines gives the goodput figure alone."""
    written = save_figures(replace(comparison(), results=[record()]), tmp_path, suffix="svg")
    assert [path.name for path in written] == ["goodput.svg"]


def test_global_state_is_left_alone(tmp_path: Path) -> None:
    """Neither the backend nor the settings of the caller's matplotlib change."""
    before = (get_backend(), dict(rcParams))
    save_figures(comparison(), tmp_path)
    assert (get_backend(), dict(rcParams)) == before


@pytest.mark.parametrize("draw", [plot.goodput, plot.timeline])
def test_no_text_is_cut_off_and_none_overlaps(draw: Callable[[Results], Axes]) -> None:
    """All words lie inside the figure, and no two lie on each other."""
    figure = draw(comparison(2)).get_figure(root=True)
    assert isinstance(figure, Figure)
    figure.draw_without_rendering()
    texts = [
        text
        for text in figure.findobj(Text)
        if isinstance(text, Text) and text.get_text().strip() and text.get_visible()
    ]
    boxes = [text.get_window_extent() for text in texts]
    assert len(boxes) > 10
    for box, text in zip(boxes, texts, strict=True):
        assert figure.bbox.x0 <= box.x0, text
        assert box.x1 <= figure.bbox.x1, text
        assert figure.bbox.y0 <= box.y0, text
        assert box.y1 <= figure.bbox.y1, text
    for index, box in enumerate(boxes):
        for other in range(index):
            assert not box.overlaps(boxes[other]), (texts[index], texts[other])
