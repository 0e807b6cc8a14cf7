"""Figures of simulated beside published values, and maps of two scenario paths."""

from __future__ import annotations

from math import isnan
from pathlib import Path

import numpy as np
import pytest
from figure_checks import legend_names
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from sample_figures import map_of, quality_bars, three_rows, two_curves
from study_case import small

import ddsim
from ddsim import plot
from ddsim.figures.beside import short


def test_curves_are_lines_and_published_values_are_rings() -> None:
    """Both in the curve's colour, at its places; what is not published has no ring."""
    ax = two_curves()
    first = ax.containers[0].lines[0]  # type: ignore[attr-defined]
    assert list(first.get_xdata()) == [1, 10, 100]
    assert list(first.get_ydata()) == [5, 50, 90]
    rings = [line for line in ax.get_lines() if line.get_marker() == "o"]
    assert [np.asarray(ring.get_ydata()).tolist() for ring in rings] == [[6, 91]]
    assert to_hex(rings[0].get_markeredgecolor()) == "#d55e00"


def test_named_ticks_stand_on_a_logarithmic_axis() -> None:
    """As short numbers."""
    ax = two_curves()
    assert ax.get_xscale() == "log"
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["1", "10", "100"]


def test_the_legend_explains_rings_where_there_are_some() -> None:
    """One entry for all curves."""
    assert legend_names(two_curves()) == ["first", "second", "published"]


def test_bars_are_as_high_as_their_values() -> None:
    """A bar a series in each group; nan has neither bar nor ring."""
    ax = quality_bars()
    heights = [patch.get_height() for patch in ax.patches]  # type: ignore[attr-defined]
    assert heights == [80, 60, 3]
    texts = [text.get_text() for text in ax.texts]
    assert texts == ["80", "60", "3"]
    rings = [value for line in ax.get_lines() for value in np.asarray(line.get_ydata(), float)]
    assert rings == [82]


def cells(ax: Axes) -> list[list[float]]:
    """The values of a map, rows from below."""
    return np.asarray(ax.images[0].get_array(), dtype=float).tolist()  # type: ignore[no-any-return]


def test_a_map_has_the_mean_of_every_pair() -> None:
    """Rows and columns in the order of their values; what is not done is white."""
    ax = map_of()
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["1 Gbit/s", "5 Gbit/s"]
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["4", "16"]
    values = cells(ax)
    assert values[0] == pytest.approx([0.3, 0.9])
    assert values[1][0] == pytest.approx(0.1)
    assert isnan(values[1][1])
    assert [text.get_text() for text in ax.texts] == ["0.3", "0.9", "0.1"]


def test_a_map_of_a_study(tmp_path: Path) -> None:
    """Its numbers are those of the study's table, for the method that is asked for."""
    vary = {"failures.chip_mtbi": ["5 day", "50 day"], "elastic.downscale": ["5 s", "60 s"]}
    study = ddsim.sweep(small(tmp_path), vary, replications=2)
    table = study.summary()
    for method in ("data_parallel", "elastic_data_parallel"):
        mine = table[table["method"] == method]
        drawn = cells(plot.heatmap(study, method=method))
        assert np.transpose(drawn).ravel() == pytest.approx(mine["goodput"].to_numpy())


def test_a_map_needs_two_things_that_vary(tmp_path: Path) -> None:
    """And names those that do, or the methods there are."""
    one = ddsim.sweep(small(tmp_path), {"elastic.downscale": ["5 s", "60 s"]}, replications=1)
    with pytest.raises(ValueError, match="two things that vary"):
        plot.heatmap(one)
    with pytest.raises(ValueError, match=r"these do: elastic\.downscale"):
        plot.heatmap(one, x="network.bandwidth")
    two = ddsim.sweep(
        small(tmp_path),
        {"elastic.downscale": ["5 s"], "elastic.upscale": ["5 s", "9 s"]},
        replications=1,
    )
    with pytest.raises(ValueError, match='no method "diloco"'):
        plot.heatmap(two, method="diloco")


def test_rows_have_a_dot_and_a_ring() -> None:
    """From the top, a value each and rings where there is something published."""
    ax = three_rows()
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["first", "second", "third"]
    values = ax.containers[0].lines[0]  # type: ignore[attr-defined]
    assert list(values.get_xdata()) == [0.0, 3.0, 40.0]
    assert list(values.get_ydata()) == [0, 1, 2]
    (rings,) = [line for line in ax.get_lines() if line.get_markerfacecolor() == "none"]
    assert np.asarray(rings.get_xdata()).tolist() == [1.0, 50.0]
    low, high = ax.get_ylim()
    assert low > high
    assert ax.get_xlim()[0] == 0.0


def test_numbers_on_an_axis_are_short_where_they_can_be() -> None:
    """A letter for the size where that leaves few digits."""
    assert [short(x) for x in (0.5, 20, 150e3, 2.4e6, 3e9)] == ["0.5", "20", "150k", "2.4M", "3G"]
    assert [short(x) for x in (1024, 16384)] == ["1,024", "16,384"]
