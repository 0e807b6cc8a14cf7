"""The timeline figure."""

from dataclasses import replace
from io import BytesIO
from itertools import pairwise

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
from ddsim.figures.stretches import COLUMNS, COMPUTING, WITHIN, stretches_of
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


def test_stretches_that_are_narrower_than_a_pixel_are_all_seen() -> None:
    """Each as a part of its pixels, wherever it falls on them, so that what is even looks even."""
    spans = [
        Span("unit", start, end, state, 1)
        for at in range(0, 3_000, 50)
        for start, end, state in (
            (at, at + 48.0, "running"),
            (at + 48.0, at + 50.0, "failed_hardware"),
        )
    ]
    ax = plot.timeline(replace(comparison(), results=[record(timeline=spans)]))
    figure, pixels = figure_of(ax), BytesIO()
    figure.savefig(pixels, format="rgba", dpi=figure.dpi)
    width, height = (figure.get_size_inches() * figure.dpi).astype(int)
    picture = np.frombuffer(pixels.getvalue(), np.uint8).reshape(height, width, 4)
    minutes = np.arange(24.0, 3_000.0, 50.0) / 60.0  # in between the stretches
    across, up = ax.transData.transform([(at, 0.0) for at in minutes]).round().astype(int).T
    light = picture[height - up[0]].sum(axis=1, dtype=float)
    seen = [np.ptp(light[first:last]) for first, last in pairwise(across)]
    assert min(seen) > 0.3 * max(seen)


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


def test_a_running_unit_is_coloured_as_high_as_it_computes() -> None:
    """A quarter of its chips' time, over half of its chips; the rest of these is pale."""
    spans = [
        Span("a", 0.0, 3600.0, "running", 8, 1.0),
        Span("a", 3600.0, 7200.0, "running", 4, 0.25),
    ]
    (drawn,) = stretches_of(record(timeline=spans), 7200.0).values()
    assert [dict(stretch.parts) for stretch in drawn] == [
        {COMPUTING: 1.0},
        {COMPUTING: 0.125, WITHIN: 0.375},
    ]
    ax = plot.timeline(replace(comparison(), results=[record("diloco", timeline=spans)]))
    whole, quarter = sorted(painted(ax, style.METHOD_COLOURS["diloco"]))
    assert quarter[3] == pytest.approx(whole[3] / 8)
    assert "waits within steps" in legend_names(ax)


def test_waits_look_the_same_whether_they_are_seen_or_not() -> None:
    """Half of the time computing in every step, or in half of all spans: the same area."""
    hidden = [Span("a", 0.0, 40_000.0, "running", 8, 0.5)]
    seen = [
        Span("a", start, start + 1.0, state, 8, share)
        for second in range(0, 40_000, 2)
        for start, state, share in (
            (float(second), "running", 1.0),
            (second + 1.0, "waiting_on_peers", 0.0),
        )
    ]
    areas = []
    for spans in (hidden, seen):
        (drawn,) = stretches_of(record(timeline=spans), 40_000.0).values()
        assert len(drawn) <= COLUMNS
        areas.append(sum((s.end - s.start) * s.parts.get(COMPUTING, 0.0) for s in drawn))
    assert areas == pytest.approx([20_000.0, 20_000.0], rel=1e-3)


@pytest.mark.slow
def test_more_states_than_pixels_are_drawn_as_their_mixture() -> None:
    """Many short stalls cost no more to draw than the picture is wide, and none is lost."""
    running = [Span("unit", float(s), s + 0.75, "running", 8) for s in range(40_000)]
    stalls = [Span("unit", s + 0.75, s + 1.0, "restart", 8) for s in range(40_000)]
    spans = sorted([*running, *stalls], key=lambda span: span.start)
    (drawn,) = stretches_of(record(timeline=spans), 40_000.0).values()
    assert len(drawn) <= COLUMNS
    for stretch in drawn:
        assert dict(stretch.parts) == pytest.approx({COMPUTING: 0.75, "restart": 0.25}, abs=2e-3)
