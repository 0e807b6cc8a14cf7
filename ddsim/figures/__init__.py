"""Figures from results: one file a figure, one colour a method."""

from ddsim.figures.gallery import save_figures
from ddsim.figures.goodput import goodput
from ddsim.figures.timeline import timeline

__all__ = ["goodput", "save_figures", "timeline"]
