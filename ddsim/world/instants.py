"""Instants and lengths of time as whole nanoseconds, so that "at one instant" is exact."""

from __future__ import annotations

from math import inf
from typing import Final

Ticks = int
"""Nanoseconds since the start of a run, or a length of time."""

SECOND: Final = 1_000_000_000
NEVER: Final = 1 << 62
"""What lies at or past it, after 146 years, does not happen."""


def ticks(seconds: float) -> Ticks:
    """Return the nearest whole nanoseconds, as `whole` does."""
    return whole(seconds * SECOND)


def whole(length: float) -> Ticks:
    """Return the nearest whole number, of two the even one; what is positive is at least 1.

    Infinity, and all that does not lie within +-NEVER, becomes the one or the other.
    """
    if length >= NEVER:
        return NEVER
    if length <= -NEVER:
        return -NEVER
    return round(length) or (1 if length > 0.0 else 0)


def seconds(ticks: Ticks) -> float:
    """Return the seconds of so many nanoseconds; infinity for NEVER."""
    return ticks / SECOND if ticks < NEVER else inf


def later(now: Ticks, delay: Ticks) -> Ticks:
    """Return the instant `delay` after `now`, NEVER where it would lie beyond."""
    end = now + delay
    return end if end < NEVER else NEVER
