"""The body of a job that needs all its hardware: every strike stops it and takes it back."""

from __future__ import annotations

from collections import deque
from math import inf
from typing import TYPE_CHECKING

from ddsim.engine.body import Body
from ddsim.engine.clock import Rank
from ddsim.engine.hardware import Hardware, UnitState
from ddsim.engine.ledger import Account

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ddsim.engine.clock import Clock, Wake
    from ddsim.engine.job import Job
    from ddsim.engine.ledger import Ledger
    from ddsim.engine.recorder import Recorder
    from ddsim.world.cluster import UnitPlan
    from ddsim.world.strike import Strike

Place = tuple[int, int]


class SparePool(Hardware):
    """Hardware with spare slices: a free spare takes a place once its failure is detected.

    Whatever slice is repaired goes to the place that has waited longest, or becomes a free spare.
    """

    def __init__(
        self,
        clock: Clock,
        plans: Sequence[UnitPlan],
        history: Iterable[Strike],
        *,
        age_stops: bool,
        spares: int,
    ) -> None:
        super().__init__(clock, plans, history, age_stops=age_stops)
        self._free = spares
        self._waiting: deque[Place] = deque()

    def take_down(self, unit: UnitState, hit: list[int], strike: Strike) -> None:
        """Take slices out; spares, then repaired slices, will fill their places."""
        super().take_down(unit, hit, strike)
        places = [(unit.plan.index, index) for index in hit]
        self.clock.after(strike.detection, Rank.SPARE, self._detected, places)

    def _detected(self, wake: Wake) -> None:
        self._waiting.extend(place for place in wake.given)
        while self._free and self._waiting:
            self._free -= 1
            self._fill(self._waiting.popleft())

    def _back(self, wake: Wake) -> None:
        _, back = wake.given
        returned, back.slices = back.slices, []
        for _ in returned:
            if self._waiting:
                self._fill(self._waiting.popleft())
            else:
                self._free += 1

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
    job at the end while their places are empty; under `extend` each begins the order again.
    """

    def __init__(
        self,
        clock: Clock,
        units: Sequence[UnitState],
        ledger: Ledger,
        recorder: Recorder,
        *,
        restore: float,
        restart: float,
        extend: bool,
    ) -> None:
        super().__init__(clock, units, ledger, recorder)
        self.runner: Job
        self._restore = restore
        self._restart = restart
        self._extend = extend
        self._known: set[Place] | None = None
        self._recovered = False

    def struck(self, unit: UnitState, strike: Strike) -> None:
        """Go back to the last save, and begin to recover."""
        if self.phases is None:
            self.interrupt()
            self.runner.roll_back()
        elif not self._extend:
            return
        self._known = None
        self._recovered = False
        self.halt(Account.DETECTION)
        self._await(strike.detection)

    def returned(self, unit: UnitState) -> None:
        """A place is filled; those that strand the job may have been waiting for it."""
        if self._known is not None and not self._known & self._empty():
            self._advance()

    def _empty(self, known_by: float = inf) -> set[Place]:
        """Return the empty places whose failure is detected by then."""
        return {
            (unit.plan.index, index)
            for unit in self.units
            for index, detected in unit.detected.items()
            if detected <= known_by
        }

    def _await(self, delay: float) -> None:
        self.clock.after(delay, Rank.STALL_END, self._stage_end, self._epoch)

    def _stage_end(self, wake: Wake) -> None:
        if wake.given != self._epoch:
            return
        self.settle()
        assert self.phases is not None
        self._recovered = self.phases[0][0] is not Account.DETECTION
        known = self._empty() if self._recovered else self._empty(self.clock.now)
        if known:
            self._known = known
            self.halt(Account.STRANDED)
        else:
            self._advance()

    def _advance(self) -> None:
        """Leave `stranded`: recover, or run where that is done."""
        self._known = None
        if self._recovered:
            self._known = self._empty() or None
            if self._known is None:
                self.stall_over()
            return
        now = self.clock.now
        self._epoch += 1
        self.phases = [
            (Account.CHECKPOINT_RESTORE, now + self._restore),
            (Account.RESTART, now + (self._restore + self._restart)),
        ]
        self._await(self._restore + self._restart)
