"""How long each unit's steps compute: its rated speed, and jitter from step to step."""

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
    """The pure compute of a unit's steps in the order in which they are begun, in ticks.

    With jitter, each is the nominal step time times a normal factor of mean 1 and the given
    standard deviation, but at least a tenth: the same factors for every method. A `delay` comes on
    top, drawn for each step; the sum rounds to a tick. `slows` says that a fault may slow the unit
    down.
    """

    __slots__ = ("_delay", "_generator", "_jitter", "_times", "nominal", "slows")

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
        self._times: list[Ticks] | None = [] if jitter > 0.0 or delay is not None else None

    @property
    def even(self) -> bool:
        """Whether all steps have the same compute."""
        return self._times is None

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
            times.extend(self._drawn().tolist())
        return times[begun]

    def _drawn(self) -> NDArray[np.int64]:
        """Draw the compute of the next block of steps."""
        times = np.full(BLOCK, float(self.nominal))
        if self._jitter > 0.0:
            drawn = self._generator.normal(1.0, self._jitter, BLOCK)
            times = self.nominal * np.maximum(FLOOR, drawn)
        if self._delay is not None:
            life, generator = self._delay
            times += SECOND * life.sample(generator, BLOCK)
        whole: NDArray[np.int64] = np.maximum(1, np.rint(times)).astype(np.int64)
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
