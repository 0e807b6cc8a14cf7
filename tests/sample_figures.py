"""Figures of values made by hand."""

from math import nan

from matplotlib.axes import Axes

from ddsim.figures.bars import bars
from ddsim.figures.beside import Curve, beside
from ddsim.figures.heatmap import heatmap
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
