"""Steps that are all alike: how long each is, and what many of them put on the links."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ddsim.engine.load import WINDOW
from ddsim.engine.reduction import Stretch, drain_over
from ddsim.world.instants import Ticks, later
from ddsim.world.timeline import Timeline

if TYPE_CHECKING:
    from ddsim.engine.meter import Meter
    from ddsim.engine.step import Step
    from ddsim.world.ring import Ring
    from ddsim.world.slow_start import SlowStart

_FEW = 1024
_SHORT = 100 * WINDOW


class Steady:
    """What steps in steady state take and send; kept by all that it depends on."""

    def __init__(self, meter: Meter) -> None:
        self._meter = meter
        self._known: dict[
            tuple[Ticks, float, float, int, SlowStart | None], tuple[Ticks, list[Stretch]]
        ] = {}

    def step(self, step: Step, longest: Ticks, now: Ticks) -> tuple[Ticks, list[Stretch]]:
        """Return the length of a step that computes for `longest`, and when its link is busy."""
        rate = step.ring.rate.at(now)
        key = (longest, rate, step.bits, len(step.releases), step.ring.slow_start)
        if key not in self._known:
            length, stretches = longest, list[Stretch]()
            if step.releases:
                items = [(release, step.bits) for release in step.releases]
                passed, stretches, _ = drain_over(
                    step.ring, items, Timeline.constant(rate), 0, step.connection
                )
                length = max(longest, later(passed[-1], step.ring.latency))
            self._known[key] = (length, stretches)
        return self._known[key]

    def record(
        self,
        stretches: list[Stretch],
        start: Ticks,
        length: Ticks,
        count: int,
        ring: Ring,
        run: int = 0,
        pause: Ticks = 0,
    ) -> None:
        """Record what `count` steps send from `start` on, with a pause behind every `run` of them.

        A pause that comes more seldom than every hundred seconds is left out: neither the busiest
        second nor what one in a hundred exceeds has anything of it.
        """
        if not stretches:
            return
        period = length
        if pause and run <= _FEW and run * length < _SHORT:
            stretches = [
                (turn * length + begin, turn * length + end, bits)
                for turn in range(run)
                for begin, end, bits in stretches
            ]
            period, count = run * length + pause, count // run
        shifted = [(start + begin, start + end, bits) for begin, end, bits in stretches]
        self._meter.repeat(shifted, period, count, ring)
