"""The figure of losses."""

from __future__ import annotations

import numpy as np
import pytest
from figure_checks import assert_words_are_whole_and_apart, legend_names
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from sample_figures import losses
from sample_results import comparison

from ddsim import plot
from ddsim.figures import style
from ddsim.figures.learning import By


def curves(ax: Axes) -> list[tuple[list[float], list[float]]]:
    """Across and up of every curve."""
    return [
        (np.asarray(line.get_xdata()).tolist(), np.asarray(line.get_ydata()).tolist())
        for line in ax.get_lines()
    ]


def test_each_method_has_its_curve_in_its_colour() -> None:
    """Through every point of its record, on a logarithmic axis."""
    results = losses()
    ax = plot.learning(results)
    for item, (_, up) in zip(results.results, curves(ax), strict=True):
        assert item.learning is not None
        assert up == [point[2] for point in item.learning["curve"]]
    assert [to_hex(line.get_color()) for line in ax.get_lines()] == [
        style.METHOD_COLOURS[name] for name in results.methods
    ]
    assert ax.get_yscale() == "log"
    assert legend_names(ax) == ["data parallel", "decoupled diloco"]


@pytest.mark.parametrize(
    ("by", "last", "label"),
    [
        ("wall_clock", 60.0, "wall-clock (min)"),
        ("tokens", 3.6e9, "tokens processed"),
        ("tokens_merged", 0.9 * 3.6e9, "tokens merged"),
        ("steps", 360.0, "steps"),
    ],
)
def test_what_it_cost_is_what_by_names(by: By, last: float, label: str) -> None:
    """The axis says what it counts, time in a unit that fits."""
    ax = plot.learning(losses(), by=by)
    assert curves(ax)[0][0][-1] == pytest.approx(last)
    assert ax.get_xlabel() == label


def test_the_legend_can_call_methods_otherwise() -> None:
    """Those that are named; the others keep their names."""
    ax = plot.learning(losses(), names={"data_parallel": "no failures"})
    assert legend_names(ax) == ["no failures", "decoupled diloco"]


def test_without_training_it_says_so() -> None:
    """Nothing to draw is an error, and so is an unknown cost."""
    with pytest.raises(ValueError, match="nothing was trained"):
        plot.learning(comparison())
    with pytest.raises(ValueError, match='not "luck"'):
        plot.learning(losses(), by="luck")  # type: ignore[arg-type]


def test_ticks_have_room_whatever_the_range() -> None:
    """Over several powers of ten only these are named."""
    results = losses()
    for item in results.results:
        assert item.learning is not None
        for place, point in enumerate(item.learning["curve"]):
            point[2] = 10.0 ** (1 - place)
    assert_words_are_whole_and_apart(plot.learning(results))
