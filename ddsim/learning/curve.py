"""How the loss fell."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import nan
from typing import NamedTuple

from ddsim.learning.errors import Divergence


class Point(NamedTuple):
    """The loss of the merged model at a time, beside what had been done by then.

    `tokens` were processed by learners, `merged` of them have entered the merged model; `steps`
    are the mean over learners, or the job's.
    """

    time: float
    tokens: float
    merged: float
    steps: float
    loss: float


@dataclass
class Curve:
    """One seed's points, in the order of time; `diverged` says where numbers ended, if they did.

    `floor` is the loss that no model of the problem gets below, where that is known; `rates` are
    the learning rates of the training, `inner` and, where something was merged, `outer`.
    """

    seed: int
    points: list[Point] = field(default_factory=list)
    diverged: Divergence | None = None
    floor: float | None = None
    rates: dict[str, float] = field(default_factory=dict)

    @property
    def initial_loss(self) -> float:
        """Loss before the first step."""
        return self.points[0].loss if self.points else nan

    @property
    def final_loss(self) -> float:
        """Loss at the end, nan where the run diverged."""
        return nan if self.diverged or not self.points else self.points[-1].loss

    def when(self, loss: float, by: str = "time") -> float | None:
        """Return when the loss first was so low, between points by straight lines, or None.

        `by` names what is asked for: `time`, `tokens`, `merged` or `steps`.
        """
        before: Point | None = None
        for point in self.points:
            if point.loss <= loss:
                here = float(getattr(point, by))
                if before is None or before.loss == point.loss:
                    return here
                there = float(getattr(before, by))
                return there + (here - there) * (before.loss - loss) / (before.loss - point.loss)
            before = point
        return None
