"""Confidence intervals."""

import math
from collections.abc import Sequence
from statistics import fmean, stdev


def student_interval(values: Sequence[float], level: float = 0.95) -> tuple[float, float] | None:
    """Return Student's t interval of the mean; None for fewer than two values."""
    if len(values) < 2:
        return None
    from scipy.special import stdtrit  # scipy.stats takes twice as long to import

    centre = fmean(values)
    quantile = float(stdtrit(len(values) - 1, (1 + level) / 2))
    half = quantile * stdev(values) / math.sqrt(len(values))
    return centre - half, centre + half
