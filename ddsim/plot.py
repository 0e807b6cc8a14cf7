"""Figures for scripts and notebooks: functions that take results and return the axes.

Each takes an optional `ax`; without one it makes a figure of its own, reached by `ax.figure`.
"""

from ddsim.figures import goodput, timeline

__all__ = ["goodput", "timeline"]
