"""The body of a job that needs all its hardware: every strike stops it and takes it back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ddsim.engine.body import Body
from ddsim.engine.clock import Rank
from ddsim.engine.ledger import Account
from ddsim.world.instants import NEVER, Ticks, later

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ddsim.engine.clock import Clock, Wake
    from ddsim.engine.hardware import UnitState
    from ddsim.engine.job import Job
    from ddsim.engine.ledger import Ledger
    from ddsim.engine.recorder import Recorder
    from ddsim.engine.spares import Place
    from ddsim.world.strike import Strike

# by names of their own: to look a member of an enum up takes as long as a call
_DETECTION = Account.DETECTION
_STRANDED = Account.STRANDED
_RESTORE = Account.CHECKPOINT_RESTORE
_RESTART = Account.RESTART
NOWHERE: Place = (-1, -1)


class RestartBody(Body):
    """All units of a job that cannot run without any of its slices.

    After a strike: `detection`, `stranded` until the places known by then are filled,
    `checkpoint_restore`, `restart`. Under `absorb` further strikes are folded in, and strand the
    job at the end while their places are empty; under `extend` each begins the order again. Where
    none of them has lost the job's state, nothing is rolled back or restored. Each is to blame for
    the work that it takes back, one that is folded in not for the stall. `restore` and `restart`
    say how long the next of each lasts.
    """

    def __init__(
        self,
        clock: Clock,
        units: Sequence[UnitState],
        ledger: Ledger,
        recorder: Recorder,
        *,
        restore: Callable[[], Ticks],
        restart: Callable[[], Ticks],
        extend: bool,
    ) -> None:
        super().__init__(clock, units, ledger, recorder)
        self.runner: Job
        self._restore = restore
        self._restart = restart
        self._extend = extend
        self._whole = self.chips
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
            bears, self.blame = self.blame, unit.blame  # what is taken back, if not the stall
            self.runner.roll_back(NEVER if strike.since is None else strike.since)
            self.blame = bears
        elif running:
            self.runner.pause()
        if not running and not self._extend:
            return
        self._known = None
        self._recovered = False
        self.halt(_DETECTION)
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

    def _missing(self, known_by: Ticks = NEVER) -> set[Place]:
        """Return the empty places whose failure is detected by then.

        Where no hardware is left it is all of them, or else a place that does not exist.
        """
        if self.chips == self._whole:
            return set()
        known = self._empty(known_by)
        return known or (self._empty(NEVER) or {NOWHERE} if self.lost else set())

    def _empty(self, known_by: Ticks) -> set[Place]:
        return {
            (unit.index, index)
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
        self._recovered = self.phases[0][0] is not _DETECTION
        known = self._missing(NEVER if self._recovered else self.clock.now)
        if known:
            self._known = known
            self.halt(_STRANDED)
        elif self._recovered:
            self.stall_over()
        else:
            self._recover()

    def _advance(self) -> None:
        """Leave `stranded`: recover, or run where that is done."""
        if not self._recovered:
            self._recover()
            return
        self._known = self._missing() or None
        if self._known is None:
            self.stall_over()

    def _recover(self) -> None:
        self._known = None
        now = self.clock.now
        self._epoch += 1
        restore = self._restore() if self._state_lost else 0
        length = restore + self._restart()
        self.phases = [
            (_RESTORE, later(now, restore)),
            (_RESTART, later(now, length)),
        ]
        self._await(length)
