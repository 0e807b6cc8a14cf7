"""Figures of values made by hand."""

from dataclasses import replace
from math import nan

from matplotlib.axes import Axes
from sample_results import comparison

from ddsim.figures.bars import bars
from ddsim.figures.beside import Curve, beside
from ddsim.figures.heatmap import heatmap
from ddsim.results import Merge, Results
from ddsim.study.grid import CellName
from ddsim.study.results import Study


def two_curves() -> Axes:
    """Two curves, one of them with an interval and published values at two of three places."""
    return beside(
        [
            Curve("first", "#d55e00", (1, 10, 100), (5, 50, 90), (6, nan, 91), (1, 4, 2)),
            Curve("second", "#0072b2", (1, 10, 100), (40, 80, 99), line="dashed"),
        ],
        title="Two curves",
        x="bandwidth (Gbit/s)",
        y="utilization (%)",
        log_x=True,
        ticks=(1, 10, 100),
    )


def quality_bars() -> Axes:
    """Two series in two groups, one value missing."""
    return bars(
        ["a", "b"],
        {"goodput": [80, 60], "merged": [3, nan]},
        {"goodput": "#0072b2", "merged": "#e69f00"},
        title="Bars",
        x="setting",
        y="share (%)",
        published={"goodput": [82, nan]},
    )


def map_of() -> Axes:
    """A study of four pairs of values, one of them not done."""
    pairs = [(rate, bits) for rate in ("1 Gbit/s", "5 Gbit/s") for bits in (4, 16)]
    found = {0: 0.3, 1: 0.1, 2: 0.9}
    study = Study(
        scenario="sample",
        seed=1,
        version="0.1.0",
        metric="goodput",
        columns=("network.bandwidth", "training.payload_bits"),
        cells=tuple(
            CellName(index, "diloco", {"network.bandwidth": rate, "training.payload_bits": bits})
            for index, (rate, bits) in enumerate(pairs)
        ),
        rows={
            index: [{"goodput": mean - 0.05}, {"goodput": mean + 0.05}]
            for index, mean in found.items()
        },
    )
    return heatmap(study)


def merging() -> Results:
    """Two learners: a merge of one, two that overlap, and hours later one of both."""
    results = comparison()
    merges = (
        Merge(1, (0,), 2.0, 6.0, ("west",)),
        Merge(2, (1,), 11.0, 16.0, ("east", "west")),
        Merge(3, (2,), 13.0, 18.0, ("west",)),
        Merge(4, (3,), 18000.0, 25200.0, ("east", "west")),
    )
    return replace(
        results,
        results=[replace(item, merges=merges) if item.merges else item for item in results.results],
    )
