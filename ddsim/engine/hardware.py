"""What stands and what is down: strikes arrive here, and repaired slices come back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from ddsim.engine.clock import Rank

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ddsim.engine.clock import Clock, Wake
    from ddsim.world.cluster import UnitPlan
    from ddsim.world.strike import Strike


class UnitState:
    """One unit's hardware now.

    `down` maps a slice that is down to its way back, `detected` to when its failure is known.
    """

    __slots__ = ("detected", "down", "healthy", "plan")

    def __init__(self, plan: UnitPlan) -> None:
        self.plan = plan
        self.healthy = plan.chips
        self.down: dict[int, Return] = {}
        self.detected: dict[int, float] = {}

    @property
    def failed(self) -> int:
        """Chips that are down."""
        return self.plan.chips - self.healthy

    @property
    def lost(self) -> bool:
        """Whether no slice is left."""
        return self.healthy == 0


class Return:
    """Slices that will come back together at `time`."""

    __slots__ = ("slices", "time")

    def __init__(self, time: float, slices: list[int]) -> None:
        self.time = time
        self.slices = slices


class Struck(Protocol):
    """What hardware belongs to: it is told before and after each change."""

    @property
    def stepping(self) -> bool:
        """Whether it steps at this instant."""
        ...

    def settle(self) -> None:
        """Book all time up to now, before the hardware changes."""
        ...

    def struck(self, unit: UnitState, strike: Strike) -> None:
        """Slices of the unit have gone down."""
        ...

    def returned(self, unit: UnitState) -> None:
        """Slices of the unit have come back."""
        ...


class Hardware:
    """All units' hardware under one failure history.

    `bodies[i]` is what unit i belongs to. With `age_stops`, a strike on what does not step is
    ignored: its clock stands still, which for constant hazards is the same.
    """

    def __init__(
        self, clock: Clock, plans: Sequence[UnitPlan], history: Iterable[Strike], *, age_stops: bool
    ) -> None:
        self.clock = clock
        self.units = [UnitState(plan) for plan in plans]
        self.bodies: list[Struck] = []
        self.strikes = 0
        self._history: Iterator[Strike] = iter(history)
        self._age_stops = age_stops

    def start(self, bodies: Iterable[Struck]) -> None:
        """Let the history begin."""
        self.bodies = list(bodies)
        self._await_strike()

    def _await_strike(self) -> None:
        strike = next(self._history, None)
        if strike is not None:
            self.clock.after(strike.time - self.clock.now, Rank.STRIKE, self._strike, strike)

    def _strike(self, wake: Wake) -> None:
        strike: Strike = wake.given
        unit, body = self.units[strike.unit], self.bodies[strike.unit]
        hit = [index for index in strike.slices if index not in unit.down]
        if hit and (body.stepping or not self._age_stops):
            self.strikes += 1
            body.settle()
            self.take_down(unit, hit, strike)
            body.struck(unit, strike)
        self._await_strike()

    def take_down(self, unit: UnitState, hit: list[int], strike: Strike) -> None:
        """Take slices out of a unit and see to it that they come back."""
        now = self.clock.now
        delay = strike.detection + strike.repair
        back = Return(now + delay, list(hit))
        unit.healthy -= sum(unit.plan.size(index) for index in hit)
        if unit.down and len(strike.slices) == unit.plan.slice_count:
            # A unit that is struck as a whole comes back as a whole, with what was down before.
            latest = max(waiting.time for waiting in unit.down.values())
            for index, waiting in unit.down.items():
                if index in waiting.slices:
                    waiting.slices.remove(index)
                    back.slices.append(index)
            if latest > back.time:
                back.time, delay = latest, latest - now
        for index in back.slices:
            unit.down[index] = back
        for index in hit:
            unit.detected[index] = now + strike.detection
        self.clock.after(delay, Rank.BACK, self._back, (unit, back))

    def _back(self, wake: Wake) -> None:
        unit, back = wake.given
        if back.slices:
            self.bodies[unit.plan.index].settle()
            self.fill(unit, back.slices)
            self.bodies[unit.plan.index].returned(unit)

    def fill(self, unit: UnitState, slices: Iterable[int]) -> None:
        """Put slices back in their places."""
        for index in slices:
            del unit.down[index]
            del unit.detected[index]
            unit.healthy += unit.plan.size(index)
