"""How long each unit's steps compute, with jitter from step to step, and wait for their data."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ddsim.world.instants import SECOND, Ticks, ticks
from ddsim.world.streams import stream

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ddsim.world.cluster import UnitPlan
    from ddsim.world.distributions import Distribution

    Delay = tuple[Distribution, np.random.Generator]

BLOCK = 1024
FLOOR = 0.1


class Pace:
    """The pure compute of a unit's steps in the order in which they are begun, in ticks, and how
    long each waits for its data before.

    With jitter, the compute is the nominal step time times a normal factor of mean 1 and the given
    standard deviation, but at least a tenth: the same factors for every method. With a `delay`
    every step waits for its data, for a time drawn for each. `slows` says that a fault may slow the
    unit's compute down.
    """

    __slots__ = ("_delay", "_generator", "_jitter", "_times", "_waits", "nominal", "slows")

    def __init__(
        self,
        nominal: Ticks,
        jitter: float,
        generator: np.random.Generator,
        *,
        slows: bool = False,
        delay: Delay | None = None,
    ) -> None:
        self.nominal = nominal
        self.slows = slows
        self._jitter = jitter
        self._generator = generator
        self._delay = delay
        self._times: list[Ticks] | None = [] if jitter > 0.0 else None
        self._waits: list[Ticks] = []

    @property
    def even(self) -> bool:
        """Whether all steps have the same compute, and none waits for its data."""
        return self._times is None and self._delay is None

    @property
    def loads(self) -> bool:
        """Whether steps wait for their data."""
        return self._delay is not None

    @property
    def steady(self) -> bool:
        """Whether all steps take the same time throughout the run: no fault ever slows them."""
        return self.even and not self.slows

    def of(self, begun: int) -> Ticks:
        """Compute of the step that is begun after `begun` others."""
        times = self._times
        if times is None:
            return self.nominal
        while begun >= len(times):
            drawn = self._generator.normal(1.0, self._jitter, BLOCK)
            times.extend(_whole(self.nominal * np.maximum(FLOOR, drawn), least=1))
        return times[begun]

    def ahead(self, begun: int, count: int) -> list[Ticks]:
        """Compute of so many steps, the first of which is begun after `begun` others."""
        if count > 0 and self._times is not None:
            self.of(begun + count - 1)
            return self._times[begun : begun + count]
        return [self.nominal] * count

    def data(self, begun: int) -> Ticks:
        """How long the step that is begun after `begun` others waits for its data."""
        if self._delay is None:
            return 0
        life, generator = self._delay
        while begun >= len(self._waits):
            self._waits.extend(_whole(SECOND * life.sample(generator, BLOCK), least=0))
        return self._waits[begun]


def _whole(times: NDArray[np.float64], *, least: Ticks) -> list[Ticks]:
    """Round times to ticks."""
    whole: list[Ticks] = np.maximum(least, np.rint(times)).astype(np.int64).tolist()
    return whole


def pace(
    plan: UnitPlan,
    jitter: float,
    seed: int,
    replication: int,
    *,
    spread: float = 0.0,
    slows: bool = False,
    delay: Distribution | None = None,
) -> Pace:
    """Return the pace of a unit, which is that of the slowest of its slices.

    With a spread every slice has a speed of its own for good: normal around 1 with that standard
    deviation, but at least a tenth. A `delay` has random numbers of its own.
    """
    nominal = plan.step_time
    if spread > 0.0:
        drawn = stream(seed, "speed", plan.name, replication).normal(1.0, spread, plan.slice_count)
        nominal /= max(FLOOR, float(drawn.min()))
    generator = stream(seed, "jitter", plan.name, replication)
    delays = None
    if delay is not None:
        delays = delay, stream(seed, "delay", plan.name, replication)
    return Pace(ticks(nominal), jitter, generator, slows=slows, delay=delays)
