"""What axes count: metrics with their units, and time in a unit that fits."""

from ddsim.figures.style import words

_SHARES = (
    "goodput",
    "time_goodput",
    "uptime",
    "merge_uptime",
    "participation",
    "merged_share",
    "compute_utilization",
    "ettr",
)
_LABELS = {name: f"{words(name)} (share)" for name in _SHARES} | {
    "tokens_per_hour": "tokens (1/h)",
    "merged_tokens_per_hour": "merged tokens (1/h)",
    "wall_clock_s": "wall-clock (s)",
    "mtbi_s": "MTBI (s)",
    "mttr_s": "MTTR (s)",
    "wan_mean_gbps": "WAN, mean (Gbit/s)",
    "wan_peak_gbps": "WAN, peak (Gbit/s)",
    "wan_total_bytes": "WAN, total (bytes)",
    "usd": "cost (US$)",
    "usd_per_billion_merged_tokens": "cost (US$ per billion merged tokens)",
    "energy_kwh": "energy (kWh)",
    "energy_kwh_per_billion_merged_tokens": "energy (kWh per billion merged tokens)",
}  # what is left are counts, and losses, which count as their problem does
_TIMES = ((86400.0, "days", 3.0), (3600.0, "h", 2.0), (60.0, "min", 2.0))


def metric_label(metric: str) -> str:
    """A metric in words, with its unit where it has one."""
    return _LABELS.get(metric, words(metric))


def is_share(metric: str) -> bool:
    """Whether a metric is a share, which is never below 0 or above 1."""
    return metric in _SHARES


def time_unit(longest: float) -> tuple[float, str]:
    """Seconds and name of the largest unit of time of which there are two at least."""
    for seconds, name, least in _TIMES:
        if longest >= least * seconds:
            return seconds, name
    return 1.0, "s"
