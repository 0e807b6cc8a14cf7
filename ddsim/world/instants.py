"""Instants and lengths of time as whole nanoseconds, so that "at one instant" is exact."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Ticks = int
"""Nanoseconds since the start of a run, or a length of time."""

SECOND: Final = 1_000_000_000
NEVER: Final = 1 << 62
"""What lies at or past it, after 146 years, does not happen."""


def ticks(seconds: float) -> Ticks:
    """Return the nearest whole nanoseconds, as `whole` does."""
    return whole(seconds * SECOND)


def all_ticks(seconds: NDArray[np.float64]) -> list[Ticks]:
    """Return what `ticks` does for each of some lengths that are not negative."""
    lengths = seconds * SECOND
    near = np.minimum(np.rint(lengths), float(NEVER)).astype(np.int64)
    found: list[Ticks] = np.where(lengths > 0.0, np.maximum(near, 1), near).tolist()
    return found


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
