"""Metrics that are a sum over a sum: what stands above and below, and the quotient's scatter.

Averaged one history at a time they would mean something else: a history in which nothing was
merged has no cost a token, and one without an interruption no time between two.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from statistics import fmean

Numbers = Mapping[str, float | None]
"""The numbers of one history by name; None for what it does not have."""
_BILLION, _HOUR = 1e9, 3600.0


def _of(name: str, factor: float = 1.0) -> Callable[[Numbers], float | None]:
    def value(row: Numbers) -> float | None:
        found = row.get(name)
        return None if found is None else factor * found

    return value


def _interruptions(row: Numbers) -> float | None:
    apart, span = row.get("mtbi_s"), row.get("wall_clock_s")
    return None if span is None else span / apart if apart else 0.0


def _interrupted(row: Numbers) -> float | None:
    return (_interruptions(row) or 0.0) * (row.get("mttr_s") or 0.0)


_Side = Callable[[Numbers], float | None]
RATES: Mapping[str, tuple[_Side, _Side]] = {
    "tokens_per_hour": (_of("tokens", _HOUR), _of("wall_clock_s")),
    "merged_tokens_per_hour": (_of("tokens_merged", _HOUR), _of("wall_clock_s")),
    "mtbi_s": (_of("wall_clock_s"), _interruptions),
    "mttr_s": (_interrupted, _interruptions),
    "usd_per_billion_merged_tokens": (_of("usd", _BILLION), _of("tokens_merged")),
    "energy_kwh_per_billion_merged_tokens": (_of("energy_kwh", _BILLION), _of("tokens_merged")),
}
"""Metrics that are a sum over a sum: what each history adds above, and below."""


def sides(name: str, row: Numbers) -> tuple[float, float] | None:
    """Return what a history adds above and below; None where it lacks either."""
    above, below = (side(row) for side in RATES[name])
    return None if above is None or below is None else (above, below)


def rate(pairs: Sequence[tuple[float, float]]) -> float | None:
    """Return the sum above over the sum below; None where nothing is below."""
    below = math.fsum(pair[1] for pair in pairs)
    return math.fsum(pair[0] for pair in pairs) / below if below > 0.0 else None


def spread_of_rate(pairs: Sequence[tuple[float, float]]) -> list[float]:
    """Return one number a history, whose mean is the rate and whose scatter is its jackknife's.

    Empty where the rate rests on one history alone, or on none: without it there is no rate.
    """
    whole, n = rate(pairs), len(pairs)
    above, below = math.fsum(pair[0] for pair in pairs), math.fsum(pair[1] for pair in pairs)
    if whole is None or n < 2 or sum(pair[1] > 0.0 for pair in pairs) < 2:
        return []
    without = [(above - pair[0]) / (below - pair[1]) for pair in pairs]
    middle = fmean(without)
    return [whole + (n - 1) * (middle - other) for other in without]
