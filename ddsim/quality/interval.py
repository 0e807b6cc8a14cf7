"""A number that is not known better than by its two ends, and by the mean between them."""

from __future__ import annotations

from typing import NamedTuple


class Ends(NamedTuple):
    """The two ends of a factor, the one at which less is lost first."""

    best: float
    worst: float

    @property
    def mid(self) -> float:
        """The mean of the two."""
        return (self.best + self.worst) / 2


class Interval(NamedTuple):
    """What comes out with every factor at its better end, at its mean, and at its worse end.

    None stands for what cannot be reached. All that is said so is a cost: less is better.
    """

    low: float | None
    mid: float | None
    high: float | None
