"""What a clock counts in. Time on it, and all that is measured with it, is exact.

Where the model says `float`, a number is an int or a Fraction while a case is lived through.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import cast

from .case import Case, retimed


@dataclass(frozen=True)
class Reckoning:
    """Ticks in a second, and whether the clock knows whole ones only."""

    per_second: int
    whole: bool

    def length(self, ticks: float | Fraction) -> float:
        """So much time on this clock: the nearest, half to even, and something if it is any."""
        if not self.whole:
            return cast(float, ticks)
        return max(1, round(ticks)) if ticks > 0 else 0

    def seconds(self, ticks: float) -> float:
        """The float that is nearest to so much time, or to so many chip-ticks."""
        return float(Fraction(ticks) / self.per_second)


EXACT = Reckoning(per_second=1, whole=False)
NANOSECONDS = Reckoning(per_second=10**9, whole=True)


def exact(value: float) -> float:
    """The decimal that a float is written as; without limit remains so."""
    return value if math.isinf(value) else cast(float, Fraction(str(value)))


def in_ticks(case: Case, reckoning: Reckoning) -> Case:
    """The case in exact numbers of the clock, what is an instant or a stall rounded to it.

    The compute of a step and the latency of a phase are not: what they make up is rounded.
    """

    def ticks(seconds: float) -> float:
        return exact(seconds) * reckoning.per_second

    def rate(capacity: float) -> float:
        return exact(capacity) / reckoning.per_second

    timed = retimed(case, lambda seconds: reckoning.length(ticks(seconds)))
    return replace(
        timed,
        reckoning=reckoning,
        units=tuple(replace(unit, step_time=ticks(unit.step_time)) for unit in case.units),
        capacity={region: rate(capacity) for region, capacity in case.capacity.items()},
        link_changes=tuple(
            replace(change, capacity=rate(change.capacity)) for change in timed.link_changes
        ),
        latency=ticks(case.latency),
        parameters=exact(case.parameters),
        grace=exact(case.grace),
        mixing=exact(case.mixing),
        payload_bits=exact(case.payload_bits),
        gradient_bits=exact(case.gradient_bits),
        broadcast_bits=exact(case.broadcast_bits),
        tokens_per_step=exact(case.tokens_per_step),
        jitter=lambda unit, k: exact(case.jitter(unit, k)),
        delay=lambda unit, k: reckoning.length(ticks(case.delay(unit, k))),
    )
