"""What axes count: metrics with their units, and time in a unit that fits."""

from ddsim.figures.style import words
from ddsim.results.metrics import METRICS, SHARE

_TIMES = ((86400.0, "days", 3.0), (3600.0, "h", 2.0), (60.0, "min", 2.0))


def metric_label(metric: str) -> str:
    """A metric in words, with its unit where it has one."""
    return METRICS[metric].label if metric in METRICS else words(metric)


def is_share(metric: str) -> bool:
    """Whether a metric is a share, which is never below 0 or above 1."""
    return metric in METRICS and METRICS[metric].unit == SHARE


def time_unit(longest: float) -> tuple[float, str]:
    """Seconds and name of the largest unit of time of which there are two at least."""
    for seconds, name, least in _TIMES:
        if longest >= least * seconds:
            return seconds, name
    return 1.0, "s"
