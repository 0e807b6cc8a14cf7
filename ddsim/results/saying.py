"""A metric's value in a sentence: four digits that a person reads, and its unit."""

from __future__ import annotations

from math import floor, isfinite, log10

from ddsim.results.metrics import METRICS, SHARE

DIGITS = 4
_LARGE = ((1e12, " trillion"), (1e9, " billion"))


def in_words(metric: str, value: float) -> str:
    """The value with its unit: `97.8%`, `312,100 US$`, `32.01 billion 1/h`."""
    return f"{_bare(metric, value)}{_unit(metric)}"


def with_ends(metric: str, value: float, ends: tuple[float, float] | None, more: str = "") -> str:
    """The value, its 95% interval in brackets where it has one, and `more` to say of that."""
    if ends is None:
        return in_words(metric, value)
    low, high = (_bare(metric, end) for end in ends)
    return f"{in_words(metric, value)} ({low} to {high} at 95%{more})"


def _unit(metric: str) -> str:
    unit = METRICS[metric].unit if metric in METRICS else ""
    return "%" if unit == SHARE else f" {unit}" if unit else ""


def _bare(metric: str, value: float) -> str:
    if not isfinite(value):
        return "never" if value > 0 else str(value)
    if metric in METRICS and METRICS[metric].unit == SHARE:
        return f"{100 * value:.2f}"
    for size, word in _LARGE:
        if abs(value) >= size:
            return f"{value / size:.{DIGITS}g}{word}"
    if abs(value) < 1.0:
        return f"{value:.{DIGITS}g}"
    rounded = round(value, DIGITS - 1 - floor(log10(abs(value))))
    return f"{rounded:,.{DIGITS}g}" if abs(rounded) < 10.0**DIGITS else f"{rounded:,.0f}"
