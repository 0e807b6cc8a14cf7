"""What each step of a lock-step job is like, by the hardware and the speeds that there are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ddsim.engine.course import stretched
from ddsim.engine.reduction import release_shares
from ddsim.engine.step import Step, released
from ddsim.world.instants import Ticks

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ddsim.engine.body import Body
    from ddsim.world.network import Ring
    from ddsim.world.pace import Pace


class JointPace:
    """The pace at which the units of a body step together: each step waits for the slowest.

    The gradients of `layers` layers, of `layer_bits` each, leave in the course of a step over the
    ring of the units that have hardware then. `steady` says that all steps with the same hardware
    are alike while no fault slows it. All times are ticks.
    """

    def __init__(
        self,
        body: Body,
        paces: Sequence[Pace],
        ring_of: Callable[[tuple[int, ...]], Ring],
        layer_bits: float,
        layers: int,
    ) -> None:
        self.steady = all(pace.even for pace in paces)
        self._body = body
        self._paces = paces
        self._ring_of = ring_of
        self._layer_bits = layer_bits
        self._shares = release_shares(layers)
        self._begun = 0
        self._steps: dict[tuple[int, ...], Step] = {}
        self._like: Step | None = None
        self._full = [1.0] * len(body.units)
        self._rates = self._full
        self._there: tuple[int, ...] = ()
        self._seen = -1

    def begin(self, now: Ticks, last: Step | None, *, again: bool = False) -> Step:
        """Return a step that begins `now`, in place of the `last`; the same once more with `again`.

        A plain one becomes the next like it.
        """
        if again:
            self._begun -= 1
        if self._seen != self._body.changes:
            self._look()
        like = self._like
        if like is None:
            step = self._new_step(now)
        elif last is not None and last.plain and last.times is like.times:
            step = last
            step.begin_again(now)
        else:
            step = like.anew(now)
        self._begun += 1
        return step

    def passed(self, count: int) -> None:
        """So many steps have gone by that were like the one before, and not begun here."""
        self._begun += count

    def go_on(self, step: Step, now: Ticks) -> None:
        """Go on with a step after a stall, with the hardware that there is now."""
        step.mark = now
        step.at_mark = step.done
        if self._seen != self._body.changes:
            self._look()
        if step.there != self._there or step.rates is not self._rates:
            step.repace(self._rates, self._longest)
            step.go_by(self._there, self._shares)
        if self._like is None or not self._like.plain:  # those to come are not like it
            step.plain = False

    def change(self, step: Step, now: Ticks) -> None:
        """Go on with a step at the units' new speeds."""
        step.mark = now
        step.at_mark = step.done
        self._look()
        step.repace(self._rates, self._longest)

    def longest_of(self, step: Step) -> Ticks:
        """Compute of a step on the slowest unit."""
        return step.times[0] if step.even else self._longest(step.times)

    def _look(self) -> None:
        """See what hardware there is, and what all steps with it are like where they are alike."""
        self._seen = self._body.changes
        units = self._body.units
        self._there = there = tuple([i for i, unit in enumerate(units) if unit.healthy])
        slowed = [unit for unit in units if unit.slowed]
        self._rates = [unit.rate for unit in units] if slowed else self._full
        self._like = None
        if self.steady and not slowed:
            if there not in self._steps:
                self._steps[there] = self._new_step(0)
            self._like = self._steps[there]

    def _new_step(self, now: Ticks) -> Step:
        """Return a step with the hardware that there is."""
        units, rates, there = self._body.units, self._rates, self._there
        data = [pace.data(self._begun) for pace in self._paces]
        times = [
            begin + stretched(pace.of(self._begun), rate)
            for begin, pace, rate in zip(data, self._paces, rates, strict=True)
        ]
        ring = self._ring_of(there)
        first, releases = 0, list[Ticks]()
        if any(data):
            of_all = zip(data, times, units, strict=True)
            spans = [(begin, time) for begin, time, unit in of_all if unit.healthy]
            first = min((begin for begin, _ in spans), default=0)
            releases = released(self._shares, spans) if ring.crosses else []
        elif ring.crosses:
            longest = self._longest(times)
            releases = [round(share * longest) for share in self._shares]
        bits = ring.bits(self._layer_bits)
        even = times.count(times[0]) == len(times) and rates is self._full and not any(data)
        plain = even and self.steady and not ring.crosses
        work = [0.0] * len(units)
        step = Step(data, first, times, rates, ring, bits, releases, there, now, work)
        step.even, step.plain = even, plain
        return step

    def _longest(self, times: Sequence[Ticks]) -> Ticks:
        """Compute of the slowest unit that has hardware."""
        if len(times) == 1:
            return times[0]
        pairs = zip(times, self._body.units, strict=True)
        return max((time for time, unit in pairs if unit.healthy), default=max(times))
