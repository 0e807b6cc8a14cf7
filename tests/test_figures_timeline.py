"""The timeline figure."""

from dataclasses import replace

import numpy as np
import pytest
from figure_checks import figure_of, legend_names
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from sample_results import HOUR, comparison, record

from ddsim import plot
from ddsim.figures import style
from ddsim.figures.timeline import _COLUMNS, _coarse
from ddsim.results import Span

Box = tuple[float, float, float, float]


def painted(ax: Axes, colour: str) -> list[Box]:
    """The rectangles of one colour: left, right, base, height."""
    boxes = []
    for collection in ax.collections:
        assert isinstance(collection, PolyCollection)
        if to_hex(np.asarray(collection.get_facecolor(), dtype=float)[0]) != colour:
            continue
        for path in collection.get_paths():
            corners = np.asarray(path.vertices, dtype=float)
            (left, top), (right, base) = corners.min(axis=0).tolist(), corners.max(axis=0).tolist()
            boxes.append((left, right, base, base - top))
    return boxes


def test_a_lost_unit_leaves_and_returns_while_the_other_goes_on() -> None:
    """Under Decoupled the lost unit is dark from hour 2 to 4; the other steps all the while."""
    ax = plot.timeline(comparison(), "decoupled_diloco")
    dark = painted(ax, style.ACCOUNT_FILLS["failed_hardware"].colour)
    assert [box[:2] for box in dark] == [(2.0, 4.0)]
    steps = painted(ax, style.METHOD_COLOURS["decoupled_diloco"])
    west = sorted(box[:2] for box in steps if box[2] > 1)
    assert west == [(0.0, 6.0), (6.0, 7.0), (7.0, 10.0)]


def test_height_is_the_share_of_healthy_chips() -> None:
    """With half its chips a unit is half as high."""
    steps = painted(
        plot.timeline(comparison(), "decoupled_diloco"), style.METHOD_COLOURS["decoupled_diloco"]
    )
    heights = {box[:2]: box[3] for box in steps}
    assert heights[(6.0, 7.0)] == pytest.approx(heights[(0.0, 6.0)] / 2)


def test_all_methods_without_a_choice() -> None:
    """Without `methods` every method with a timeline has its units."""
    ax = plot.timeline(comparison())
    assert [label.get_text() for label in ax.get_yticklabels()] == ["east", "west"] * 2
    assert [text.get_text() for text in ax.texts] == ["data parallel", "decoupled diloco"]


def test_of_many_units_those_that_stepped_least_are_drawn() -> None:
    """Of 40 units the 12 with the least running are drawn, in their order."""
    spans = [
        Span(f"unit {unit}", start, end, state, 1)
        for unit in range(40)
        for start, end, state in (
            (0.0, 100.0 + unit, "running"),
            (100.0 + unit, 200.0, "restart"),
        )
    ]
    ax = plot.timeline(replace(comparison(), results=[record(timeline=spans)]))
    assert [label.get_text() for label in ax.get_yticklabels()] == [
        f"unit {unit}" for unit in range(12)
    ]


@pytest.mark.parametrize(
    ("length", "label"),
    [(50.0, "time (s)"), (600.0, "time (min)"), (10 * HOUR, "time (h)"), (1e6, "time (days)")],
)
def test_time_has_the_unit_that_fits(length: float, label: str) -> None:
    """The axis counts in the largest unit that leaves at least two of it."""
    results = replace(
        comparison(), results=[record(timeline=[Span("a", 0.0, length, "running", 1)])]
    )
    assert plot.timeline(results).get_xlabel() == label


def test_without_timeline_it_says_so() -> None:
    """Nothing to draw is an error, not an empty figure."""
    results = replace(comparison(), results=[record()])
    with pytest.raises(ValueError, match="no timeline"):
        plot.timeline(results)
    with pytest.raises(KeyError, match="no result for 'diloco'"):
        plot.timeline(comparison(), ["diloco"])


def test_draws_on_the_axes_it_is_given() -> None:
    """With `ax` it draws there and returns it."""
    ax = Figure().subplots()
    assert plot.timeline(comparison(), ax=ax) is ax


def test_the_legend_says_what_counts_as_running() -> None:
    """Waits within a step are too short to draw; they have the colour of running."""
    (legend,) = figure_of(plot.timeline(comparison())).legends
    assert "running, with those waits" in legend.get_title().get_text()
    assert "running" not in legend_names(plot.timeline(comparison()))


def test_more_states_than_pixels_are_drawn_as_what_lasts_longest() -> None:
    """Many short stalls cost no more to draw than the picture is wide."""
    running = [Span("unit", float(s), s + 0.75, "running", 8) for s in range(40_000)]
    stalls = [Span("unit", s + 0.75, s + 1.0, "restart", 8) for s in range(40_000)]
    spans = sorted([*running, *stalls], key=lambda span: span.start)
    coarse = _coarse(spans, 40_000 / _COLUMNS)
    (whole,) = coarse
    assert (whole.start, whole.state) == (0.0, "running")
    assert whole.end == pytest.approx(40_000.0)
    assert list(_coarse(spans[:100], 1.0)) == spans[:100]
