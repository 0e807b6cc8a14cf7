"""Figures for scripts and notebooks: functions that take results and return the axes.

Each takes an optional `ax`; without one it makes a figure of its own, reached by `ax.figure`.
`recolour` gives methods other colours in any figure that is drawn, reproduced ones too;
`redraw` draws those of a saved reproduction again.
"""

from ddsim.figures import bandwidth, goodput, learning, quality, timeline
from ddsim.figures.exchange import exchange
from ddsim.figures.first import first
from ddsim.figures.heatmap import heatmap
from ddsim.figures.kept import redraw
from ddsim.figures.recolouring import recolour
from ddsim.figures.streams import losses, round_trips
from ddsim.figures.study import sweep, tornado

__all__ = [
    "bandwidth",
    "exchange",
    "first",
    "goodput",
    "heatmap",
    "learning",
    "losses",
    "quality",
    "recolour",
    "redraw",
    "round_trips",
    "sweep",
    "timeline",
    "tornado",
]
