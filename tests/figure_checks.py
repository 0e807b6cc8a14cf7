"""What every figure has to keep: words inside it, apart, and large enough in a column."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure
from matplotlib.text import Text

COLUMN = 3.4  # inches, of a paper with two columns
LEAST = 6.0  # points


def figure_of(ax: Axes) -> Figure:
    """The figure that axes are in."""
    figure = ax.get_figure(root=True)
    assert isinstance(figure, Figure)
    return figure


def legend_names(ax: Axes) -> list[str]:
    """What the legend below a figure explains."""
    legend = ax.get_legend() or next(iter(figure_of(ax).legends), None)
    return [] if legend is None else [text.get_text() for text in legend.get_texts()]


def words_in(figure: Figure) -> list[Text]:
    """All texts that can be seen: not those of ticks beyond the ends of their axis."""
    figure.draw_without_rendering()
    beyond = []
    for ax in figure.axes:
        for axis in (ax.xaxis, ax.yaxis):
            low, high = sorted(axis.get_view_interval())
            for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()):
                if not low <= tick.get_loc() <= high:
                    beyond += [tick.label1, tick.label2]
    return [
        text
        for text in figure.findobj(Text)
        if isinstance(text, Text)
        and text.get_text().strip()
        and text.get_visible()
        and text not in beyond
    ]


def assert_words_are_whole_and_apart(ax: Axes) -> None:
    """All words lie inside the figure, and no two lie on each other."""
    figure = figure_of(ax)
    texts = words_in(figure)
    boxes = [text.get_window_extent() for text in texts]
    assert boxes
    for box, text in zip(boxes, texts, strict=True):
        assert figure.bbox.x0 <= box.x0, text
        assert box.x1 <= figure.bbox.x1, text
        assert figure.bbox.y0 <= box.y0, text
        assert box.y1 <= figure.bbox.y1, text
    for index, box in enumerate(boxes):
        for other in range(index):
            assert not box.overlaps(boxes[other]), (texts[index], texts[other])


def assert_legible_in_a_column(ax: Axes) -> None:
    """Shrunk to the width of a column no word is smaller than it may be."""
    figure = figure_of(ax)
    shrunk = min(1.0, COLUMN / figure.get_figwidth())
    for text in words_in(figure):
        assert shrunk * float(text.get_fontsize()) >= LEAST, text


def assert_no_panel_is_empty(ax: Axes) -> None:
    """Every panel has data in it, and every axis with a scale says what it counts."""
    for panel in figure_of(ax).axes:
        assert panel.has_data() or panel.collections or panel.patches or panel.images, panel


def drawn(ax: Axes) -> Iterator[float]:
    """Every height that a figure of lines or bars draws."""
    for line in ax.get_lines():
        yield from np.asarray(line.get_ydata(), dtype=float).tolist()
    for patch in ax.patches:
        yield patch.get_height()  # type: ignore[attr-defined]
    for points in ax.collections:
        if isinstance(points, PathCollection):
            yield from np.asarray(points.get_offsets(), dtype=float)[:, 1].tolist()
