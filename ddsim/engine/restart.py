"""The body of a job that needs all its hardware: every strike stops it and takes it back."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from ddsim.engine.body import Body
from ddsim.engine.clock import Rank
from ddsim.engine.hardware import Hardware, UnitState
from ddsim.engine.ledger import Account
from ddsim.world.instants import NEVER, Ticks, later

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ddsim.engine.clock import Clock, Wake
    from ddsim.engine.job import Job
    from ddsim.engine.ledger import Ledger
    from ddsim.engine.recorder import Recorder
    from ddsim.world.cluster import UnitPlan
    from ddsim.world.strike import Strike

Place = tuple[int, int]
NOWHERE: Place = (-1, -1)


class SparePool(Hardware):
    """Hardware with spare slices: a free spare takes a place once its failure is detected.

    A cold spare takes `start` more. Whatever slice is repaired goes to the place that has
    waited longest, or becomes a free spare. `failures` are those of idle spares: when, which of
    all spares, and for how long it is away.
    """

    def __init__(
        self,
        clock: Clock,
        plans: Sequence[UnitPlan],
        history: Iterable[Strike],
        *,
        age_stops: bool,
        spares: int,
        crews: int | None = None,
        start: Ticks = 0,
        failures: Iterator[tuple[Ticks, int, Ticks]] | None = None,
    ) -> None:
        super().__init__(clock, plans, history, age_stops=age_stops, crews=crews)
        self._free = spares
        self._waiting: deque[Place] = deque()
        self._start = start
        self._starting = 0
        self._failures = iter(()) if failures is None else failures
        self._await_failure()

    def _await_failure(self) -> None:
        failure = next(self._failures, None)
        if failure is not None:
            time, number, away = failure
            given = number, away
            self.clock.after(time - self.clock.now, Rank.STRIKE, self._spare_fails, given)

    def _spare_fails(self, wake: Wake) -> None:
        number, away = wake.given
        if number < self._free:
            self._free -= 1
            self.clock.after(away, Rank.BACK, self._spare_back)
        self._await_failure()

    def _spare_back(self, wake: Wake) -> None:
        self._use_one()

    def take_down(self, unit: UnitState, hit: list[int], strike: Strike) -> None:
        """Take slices out; spares, then repaired slices, will fill their places."""
        super().take_down(unit, hit, strike)
        if strike.unallocated:
            return
        places = [(unit.plan.index, index) for index in hit]
        self.clock.after(strike.detection, Rank.SPARE, self._detected, places)

    def _detected(self, wake: Wake) -> None:
        self._waiting.extend(
            place for place in wake.given if place[1] in self.units[place[0]].detected
        )
        if self._start:
            self._start_spares()
            return
        while self._free and (place := self._next_place()) is not None:
            self._free -= 1
            self._fill(place)

    def _start_spares(self) -> None:
        while self._free and len(self._waiting) > self._starting:
            self._free -= 1
            self._starting += 1
            self.clock.after(self._start, Rank.SPARE, self._started)

    def _started(self, wake: Wake) -> None:
        self._starting -= 1
        self._use_one()

    def _use_one(self) -> None:
        """Put a slice that is ready into the place that has waited longest, or keep it."""
        place = self._next_place()
        if place is None:
            self._free += 1
        else:
            self._fill(place)

    def _next_place(self) -> Place | None:
        while self._waiting:
            unit, index = place = self._waiting.popleft()
            if index in self.units[unit].detected:  # it may have left the job in the meantime
                return place
        return None

    def _back(self, wake: Wake) -> None:
        _, back = wake.given
        if back.joining:
            super()._back(wake)
            return
        returned, back.slices = back.slices, []
        for _ in returned:
            self._use_one()

    def _fill(self, place: Place) -> None:
        unit = self.units[place[0]]
        body = self.bodies[place[0]]
        body.settle()
        self.fill(unit, [place[1]])
        body.returned(unit)


class RestartBody(Body):
    """All units of a job that cannot run without any of its slices.

    After a strike: `detection`, `stranded` until the places known by then are filled,
    `checkpoint_restore`, `restart`. Under `absorb` further strikes are folded in, and strand the
    job at the end while their places are empty; under `extend` each begins the order again. Where
    none of them has lost the job's state, nothing is rolled back or restored.
    """

    def __init__(
        self,
        clock: Clock,
        units: Sequence[UnitState],
        ledger: Ledger,
        recorder: Recorder,
        *,
        restore: Ticks,
        restart: Ticks,
        extend: bool,
    ) -> None:
        super().__init__(clock, units, ledger, recorder)
        self.runner: Job
        self._restore = restore
        self._restart = restart
        self._extend = extend
        self._known: set[Place] | None = None
        self._recovered = False
        self._state_lost = False

    def struck(self, unit: UnitState, strike: Strike) -> None:
        """Go back to the last save where state is lost, and begin to recover."""
        running = self.phases is None
        if strike.unallocated and self.clock.now == 0:
            self._begin_without(unit)
            return
        if running:
            if not strike.planned:
                self.interrupt()
            self._state_lost = False
        if running or self._extend or (strike.state_lost and not self._state_lost):
            self.blame = unit.blame
        if strike.state_lost and (strike.since is not None or not self._state_lost):
            self._state_lost = True
            self.runner.roll_back(NEVER if strike.since is None else strike.since)
        elif running:
            self.runner.pause()
        if not running and not self._extend:
            return
        self._known = None
        self._recovered = False
        self.halt(Account.DETECTION)
        self._await(strike.detection)

    def returned(self, unit: UnitState) -> None:
        """A place is filled; those that strand the job may have been waiting for it.

        What joins the job restarts it, from where it stands.
        """
        if self._known is not None and not self._known & self._missing():
            self._advance()
        elif unit.joined and (self.phases is None or (self._extend and self._recovering)):
            self._join(unit)

    @property
    def _recovering(self) -> bool:
        """Whether it restores or restarts."""
        return self._known is None and self.phases is not None and len(self.phases) > 1

    def _join(self, unit: UnitState) -> None:
        if self.phases is None:
            self._state_lost = False
            self.runner.pause()
        self.blame = unit.blame
        self._recovered = False
        self._advance()

    def _begin_without(self, unit: UnitState) -> None:
        """Some of the hardware is not there from the beginning."""
        self.runner.pause()
        self.blame = unit.blame
        if self.lost:
            self._known = {NOWHERE}
            self.halt(Account.UNALLOCATED)
        else:
            self.stall_over()

    def _missing(self) -> set[Place]:
        """Return the empty places; a place that does not exist where no hardware is left."""
        return self._empty() or ({NOWHERE} if self.lost else set())

    def _empty(self, known_by: Ticks = NEVER) -> set[Place]:
        """Return the empty places whose failure is detected by then."""
        return {
            (unit.plan.index, index)
            for unit in self.units
            for index, detected in unit.detected.items()
            if detected <= known_by
        }

    def _await(self, delay: Ticks) -> None:
        self.clock.after(delay, Rank.STALL_END, self._stage_end, self._epoch)

    def _stage_end(self, wake: Wake) -> None:
        if wake.given != self._epoch:
            return
        self.settle()
        assert self.phases is not None
        self._recovered = self.phases[0][0] is not Account.DETECTION
        known = self._missing() if self._recovered else self._empty(self.clock.now)
        if self.lost:
            known = known or self._missing()
        if known:
            self._known = known
            self.halt(Account.STRANDED)
        else:
            self._advance()

    def _advance(self) -> None:
        """Leave `stranded`: recover, or run where that is done."""
        self._known = None
        if self._recovered:
            self._known = self._missing() or None
            if self._known is None:
                self.stall_over()
            return
        now = self.clock.now
        self._epoch += 1
        restore = self._restore if self._state_lost else 0
        self.phases = [
            (Account.CHECKPOINT_RESTORE, later(now, restore)),
            (Account.RESTART, later(now, restore + self._restart)),
        ]
        self._await(restore + self._restart)
