"""Figures from results: one file a figure, one colour a method."""

from ddsim.figures.bandwidth import bandwidth
from ddsim.figures.gallery import save_figures
from ddsim.figures.goodput import goodput
from ddsim.figures.learning import learning
from ddsim.figures.quality import quality
from ddsim.figures.timeline import timeline

__all__ = ["bandwidth", "goodput", "learning", "quality", "save_figures", "timeline"]
