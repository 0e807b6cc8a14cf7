"""The figure of one method in time: failures, merges, links."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure
from sample_figures import merging
from sample_results import comparison, record

from ddsim import plot
from ddsim.figures.exchange import busy, failures, participation
from ddsim.results import Merge


def test_participation_is_the_mean_over_the_merges_that_arrive() -> None:
    """Half of two learners, then both and one; nothing where nothing arrives."""
    found = participation(merging()["decoupled_diloco"], np.array([0.0, 10.0, 20.0, 30.0]), 2)
    assert found[:2] == pytest.approx([0.5, 0.75])
    assert np.isnan(found[2])


def test_links_are_busy_from_the_start_of_a_merge_to_its_arrival() -> None:
    """Overlapping merges count once, and spans are cut at the edges."""
    found = busy(merging()["decoupled_diloco"], np.array([0.0, 10.0, 20.0, 30.0]))
    assert found == pytest.approx([0.4, 0.7, 0.0])


def test_a_thinned_log_says_how_busy_links_were_throughout() -> None:
    """Merges of 0.5 s every second for 100 s, nothing for 100 s, then merges that overlap."""
    times = [*((n, n + 0.5) for n in range(100)), *((n, n + 1.5) for n in range(200, 300))]
    merges = [Merge(n, (0,), float(a), b, ("east",)) for n, (a, b) in enumerate(times)]
    edges = np.arange(0.0, 301.0, 20.0)
    whole = busy(record(merges=merges), edges)
    thinned = busy(record(merges=merges[::4], merges_every=4), edges)
    assert thinned == pytest.approx(whole, abs=0.03)


def test_a_failure_is_marked_when_a_unit_stops() -> None:
    """Once, whatever states follow one another while it is down."""
    assert failures(comparison()["decoupled_diloco"]) == [("east", 7200.0)]


def test_it_has_three_panels_on_one_time_axis() -> None:
    """Units, learners in merges, links busy; the marks stand at the unit that is struck."""
    ax = plot.exchange(merging(), "decoupled_diloco")
    figure = ax.figure
    assert isinstance(figure, Figure)
    assert [panel.get_ylabel() for panel in figure.axes[1:]] == [
        "learners in\nmerges (%)",
        "links busy\n(%)",
    ]
    assert {panel.get_xlim() for panel in figure.axes} == {ax.get_xlim()}
    (marks,) = [line for line in ax.get_lines() if line.get_marker() == "v"]
    assert np.asarray(marks.get_xdata()).tolist() == [2.0]


def test_a_method_without_merges_is_refused() -> None:
    """There is nothing to draw."""
    with pytest.raises(ValueError, match="data_parallel kept no log of merges"):
        plot.exchange(comparison(), "data_parallel")
    with pytest.raises(KeyError):
        plot.exchange(replace(comparison(), results=[]), "diloco")
