"""Rates of their own: a grid around a rate, a parabola through its losses, and the rate taken."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import exp, inf, isfinite, log
from typing import Literal

import numpy as np

from ddsim.learning.config import LearningConfig
from ddsim.learning.errors import LearningError
from ddsim.learning.replay import replay
from ddsim.learning.tape import Event, JobSteps

Which = Literal["outer", "inner"]
"""Whose learning rate is searched for."""

FACTOR = 1.6
"""Between two rates of a grid that stand side by side."""
MOST = 9
"""Rates of a grid that is extended because its lowest loss stands at an end."""
NEAR = 2
"""How many rates on either side of the lowest the parabola is laid through."""


@dataclass(frozen=True)
class Search:
    """Losses at a grid of rates, from the lowest rate to the highest.

    `losses` has those of each rate, one for each seed (inf where the training diverged).
    """

    which: Which
    rates: tuple[float, ...]
    losses: tuple[tuple[float, ...], ...]

    @property
    def means(self) -> tuple[float, ...]:
        """The mean loss of each rate over seeds."""
        return tuple(sum(each) / len(each) for each in self.losses)

    @property
    def lowest(self) -> int:
        """Place of the rate with the lowest mean loss."""
        return self.means.index(min(self.means))

    @property
    def open(self) -> bool:
        """Whether the lowest loss stands at an end of the grid, so that a lower one may follow."""
        return self.lowest in (0, len(self.rates) - 1)

    @property
    def parabola(self) -> tuple[float, float, float] | None:
        """Curvature, rate and loss of the lowest point of loss = loss + curvature ln(rate / .)^2.

        It is the least squares' through the lowest and up to two rates on either side of it; None
        where those do not bend upwards.
        """
        first = max(0, self.lowest - NEAR)
        pairs = zip(
            self.rates[first : self.lowest + NEAR + 1],
            self.means[first : self.lowest + NEAR + 1],
            strict=True,
        )
        near = [(log(rate), loss) for rate, loss in pairs if isfinite(loss)]
        if len(near) < 3:
            return None
        x, y = np.array(near).T
        middle = float(x.mean())
        bend, slope, height = (float(item) for item in np.polyfit(x - middle, y, 2))
        if not bend > 0.0:
            return None
        least = -slope / (2.0 * bend)
        return bend, exp(middle + least), height - slope * slope / (4.0 * bend)

    @property
    def rate(self) -> float:
        """The rate taken, to two digits: the parabola's lowest, no further from the grid's lowest
        than its neighbours.
        """
        parabola, here = self.parabola, self.lowest
        found = self.rates[here]
        if parabola is not None:
            low, high = self.rates[max(0, here - 1)], self.rates[min(len(self.rates) - 1, here + 1)]
            found = min(max(parabola[1], low), high)
        return float(f"{found:.2g}")


def with_rate(config: LearningConfig, which: Which, rate: float) -> LearningConfig:
    """Return a configuration with another outer or inner learning rate."""
    if which == "outer":
        return replace(config, outer=replace(config.outer, learning_rate=rate))
    return replace(config, schedule=replace(config.schedule, rate=rate))


def rate_of(config: LearningConfig, which: Which) -> float:
    """Return the outer or inner learning rate of a configuration."""
    return config.outer.learning_rate if which == "outer" else config.schedule.rate


def search(
    tape: Sequence[Event],
    config: LearningConfig,
    which: Which = "outer",
    seeds: Sequence[int] = (0,),
    *,
    end: float | None = None,
    told: Callable[[float, float], None] | None = None,
) -> Search:
    """Train along a tape at rates around the configuration's, until the lowest lies between two.

    The grid is of three rates, 1.6 apart, and grows on the side on which its lowest loss is, up to
    nine. A training that diverges is worse than any. `told` is called with each rate and its mean
    loss. Raises LearningError where all diverge.
    """
    found: dict[float, tuple[float, ...]] = {}

    def at(power: int) -> None:
        rate = float(f"{rate_of(config, which) * FACTOR**power:.3g}")
        curves = replay(tape, with_rate(config, which, rate), seeds, end=end)
        losses = (curve.final_loss for curve in curves)
        found[rate] = tuple(loss if isfinite(loss) else inf for loss in losses)
        if told is not None:
            told(rate, sum(found[rate]) / len(seeds))

    low, high = -1, 1
    for power in (-1, 0, 1):
        at(power)
    while (result := _sorted(which, found)).open and len(found) < MOST:
        if result.lowest == 0 or not isfinite(result.means[-1]):
            low -= 1
            at(low)
        else:
            high += 1
            at(high)
    if not isfinite(min(result.means)):
        rates = f"{result.rates[0]:g} to {result.rates[-1]:g}"
        raise LearningError(f"training diverges at every {which} learning rate from {rates}")
    return result


def _sorted(which: Which, found: dict[float, tuple[float, ...]]) -> Search:
    rates = tuple(sorted(found))
    return Search(which, rates, tuple(found[rate] for rate in rates))


def search_all(
    tape: Sequence[Event],
    config: LearningConfig,
    which: Sequence[Which] = ("inner", "outer"),
    seeds: Sequence[int] = (0,),
    *,
    end: float | None = None,
    told: Callable[[Which, float, float], None] | None = None,
) -> tuple[LearningConfig, list[Search]]:
    """Search for one rate after the other; return the configuration with those taken, and how."""
    done = []
    for one in which:
        tell = None if told is None else (lambda *what, one=one: told(one, *what))
        done.append(search(tape, config, one, seeds, end=end, told=tell))
        config = with_rate(config, one, done[-1].rate)
    return config, done


def upto(tape: Sequence[Event], end: float) -> list[Event]:
    """Return what of a tape had happened by `end`; of steps counted together, those that had."""
    found: list[Event] = []
    for event in tape:
        if event.time <= end:
            found.append(event)
        elif isinstance(event, JobSteps):
            ended = [time for time in event.ends() if time <= end]
            if ended:
                found.append(event._replace(time=ended[-1], steps=len(ended)))
    return found
