"""Bodies: what stalls as a whole when hardware fails or comes back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from ddsim.engine.clock import Rank
from ddsim.engine.ledger import Account
from ddsim.engine.time_sheet import TimeSheet
from ddsim.engine.tracks import RUNNING
from ddsim.world.instants import NEVER, Ticks, later
from ddsim.world.stalls import nothing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ddsim.engine.clock import Clock, Wake
    from ddsim.engine.hardware import UnitState
    from ddsim.engine.ledger import Ledger
    from ddsim.engine.losses import Blame
    from ddsim.engine.recorder import Recorder
    from ddsim.world.strike import Strike

# by names of their own: to look a member of an enum up takes as long as a call
_FAILED = Account.FAILED_HARDWARE
_DETECTION = Account.DETECTION
_DOWNSCALE = Account.ELASTIC_DOWNSCALE
_RESTART = Account.RESTART
_SAVE = Account.CHECKPOINT_SAVE
Phases = list[tuple[Account, Ticks]]


class Runner(Protocol):
    """What runs on a body while it does not stall."""

    finished: Ticks | None

    @property
    def stepping(self) -> bool:
        """Whether it steps, rather than waits, while the body runs."""
        ...

    def settle(self, now: Ticks, *, final: bool = False) -> None:
        """Book the healthy chips' time since the last call, up to now."""
        ...

    def pause(self) -> None:
        """A stall begins: suspend the step in progress."""
        ...

    def resume(self) -> None:
        """The stall is over, or hardware changed in a stall of no length: go on."""
        ...

    def lose(self) -> None:
        """No hardware is left: the step in progress is gone."""
        ...

    def restore(self, since: Ticks = NEVER) -> None:
        """State has to come from elsewhere, from before `since`."""
        ...

    def changed_pace(self) -> None:
        """A unit has become slower or faster."""
        ...

    def live_changed(self) -> None:
        """The body became live, or is no longer."""
        ...


class Body:
    """Units that stall together, the books of their stalls, and what runs on them.

    While it runs, the runner books the healthy chips; else the phase does. `phases` are the
    stall's accounts with their ends, None while running; a save that stands is a stall that what
    happens to hardware ends. `blame` says what struck, or brought the
    stall about. `chips` are those that are up; `changes` counts how often that left a unit without
    hardware, or gave it some again, or its speed changed.
    """

    def __init__(
        self, clock: Clock, units: Sequence[UnitState], ledger: Ledger, recorder: Recorder
    ) -> None:
        self.clock = clock
        self.units = list(units)
        self.ledger = ledger
        self.recorder = recorder
        self.sheet = TimeSheet(self.units, ledger.losses)
        ledger.sheets.append(self.sheet)
        self._track = recorder.track(self.units)
        self.changes = 0
        self.chips = sum(unit.healthy for unit in units)
        self.runner: Runner
        self.phases: Phases | None = None
        self.live = True
        self.saving = False
        self.blame: Blame = ("", "")
        self.interruptions = 0
        self.interrupted = 0
        self._struck_at: Ticks | None = None
        self._epoch = 0

    @property
    def running(self) -> bool:
        """Whether nothing stalls it."""
        return self.phases is None

    @property
    def stepping(self) -> bool:
        """Whether it steps at this instant."""
        return self.saving or (self.phases is None and self.runner.stepping)

    @property
    def over(self) -> bool:
        """Whether the runner has all its tokens; it may find out later than it happened."""
        return self.runner.finished is not None

    @property
    def lost(self) -> bool:
        """Whether no hardware is left."""
        return not self.chips

    def take(self, unit: UnitState, slices: Iterable[int], strike: Strike) -> None:
        """Slices of a unit go down or out of the job; all time is booked up to now."""
        self.sheet.stand(unit)
        for index in slices:
            unit.take(index, strike)
        self._changed(unit)

    def give_back(self, unit: UnitState, slices: Iterable[int]) -> None:
        """Slices of a unit are up again; all time is booked up to now."""
        sheet = self.sheet
        sheet.stand(unit)
        for index in slices:
            if index in unit.failing:
                sheet.fail(unit, index)
            unit.give_back(index)
        self._changed(unit)

    def _changed(self, unit: UnitState) -> None:
        """The hardware of a unit has changed."""
        more = self.sheet.changed(unit)
        self.chips += more
        if unit.slowed or not unit.healthy or unit.healthy == more:
            self.changes += 1
        if self._track is not None:
            self._track.changed(unit, self.sheet, self.ledger)

    def settle(self, horizon: Ticks | None = None) -> None:
        """Book all time up to now; at the end of the run up to there, where nothing ends."""
        final = horizon is not None
        now = self.clock.now if horizon is None else horizon
        sheet, runner = self.sheet, self.runner
        since = sheet.until
        if now <= since or runner.finished is not None:
            return
        phases, track = self.phases, self._track
        if phases is None:
            runner.settle(now, final=final)
            sheet.until = now = now if runner.finished is None else runner.finished
            if now > since and track is not None:
                track.note(now, RUNNING, sheet, self.ledger)
            return
        sheet.until = now
        chips, losses = self.chips, self.ledger.losses
        for account, end in phases:
            if end > since:
                stop = end if end < now else now
                sheet.spend(account, stop - since)
                if track is not None:
                    track.note(stop, account, sheet, self.ledger)
                if chips and account is not _SAVE:
                    losses.lose(self.blame, chips, since, stop)
                since = stop
                if stop == now:
                    return

    def stall(self, phases: Sequence[tuple[Account, Ticks]], *, at_once: bool = False) -> None:
        """Begin the given phases (account, length) now, in place of any that were under way.

        With `at_once` what takes no time is over without an event.
        """
        end = now = self.clock.now
        ends: Phases = []
        for account, length in phases:
            end = later(end, length)
            ends.append((account, end))
        if at_once and end == now:
            self.stall_over()
            return
        self.phases = ends
        self._epoch += 1
        self.clock.after(end - now, Rank.STALL_END, self._stall_end, self._epoch)

    def _stall_end(self, wake: Wake) -> None:
        if wake.given == self._epoch:
            self.settle()
            self.stall_over()

    def stall_over(self) -> None:
        """Let the runner go on."""
        self.phases = None
        if self._struck_at is not None:
            self.interrupted += self.clock.now - self._struck_at
            self._struck_at = None
        self.runner.resume()
        self.saving = False
        self.set_live(True)

    @property
    def restarts(self) -> bool:
        """Whether it is in a restart."""
        return self.phases is not None and self.phases[-1][0] is _RESTART and not self.lost

    @property
    def free(self) -> bool:
        """Whether nothing but a save stalls it."""
        return self.phases is None or self.saving

    def interrupt(self) -> None:
        """Count an interruption: a strike stops what was running."""
        self.interruptions += 1
        self._struck_at = self.clock.now

    def halt(self, account: Account) -> None:
        """Stand still in one account until something else happens."""
        self.phases = [(account, NEVER)]
        self._epoch += 1

    def set_live(self, live: bool) -> None:
        """Become live or not, and tell the runner where that is new."""
        if live != self.live:
            self.live = live
            self.runner.live_changed()

    def changed_pace(self) -> None:
        """A unit has become slower or faster; in a stall that shows at its end."""
        self.changes += 1
        if self.phases is None:
            self.runner.changed_pace()

    def degrade(self, unit: UnitState, chip_seconds: float) -> None:
        """Book what running slow for a fault has cost a unit."""
        self.ledger.post(unit.plan.index, Account.DEGRADED, chip_seconds)
        self.ledger.losses.waste(unit.slowest, chip_seconds)

    def waste(self, unit: int, chip_seconds: float) -> None:
        """Book compute of a unit that is lost to what the body suffers from."""
        self.ledger.waste(unit, chip_seconds)
        self.ledger.losses.waste(self.blame, chip_seconds)

    def struck(self, unit: UnitState, strike: Strike) -> None:
        """Slices of a unit have gone down, or none: the job itself has failed."""
        raise NotImplementedError

    def returned(self, unit: UnitState) -> None:
        """Slices of a unit have come back."""
        raise NotImplementedError

    def close(self, horizon: Ticks) -> None:
        """Book all time up to the end of the run."""
        self.settle(horizon)
        self.sheet.bring_up()
        for unit in self.units:
            self._changed(unit)
        if self._struck_at is not None:
            self.interrupted += horizon - self._struck_at


class ElasticBody(Body):
    """A body that goes on without what failed: a stall to shrink, and one to grow again.

    `absorb` folds what happens in a stall into it; under `extend` the stall ends at
    max(end, t + D). A learner's body that was lost takes its state from a peer; where `alone` says
    that there is none, it takes `restore` to go back to its own last save. `noticed` is told of
    corruption that is found, and says whether it takes more than a restart of this body's own;
    `goes_back` while it recovers from that. `restart` says how long the next restart lasts, of
    which `restores` comes before. `detected_at` is when it was, or will be, known that it was lost
    last. All lengths are ticks.
    """

    def __init__(
        self,
        clock: Clock,
        units: Sequence[UnitState],
        ledger: Ledger,
        recorder: Recorder,
        *,
        downscale: Ticks,
        upscale: Ticks,
        restart: Callable[[], Ticks],
        restores: Callable[[], Ticks] | None = None,
        extend: bool,
        alone: Callable[[], bool] | None = None,
        restore: Callable[[], Ticks] = nothing,
        noticed: Callable[[Strike], bool] | None = None,
    ) -> None:
        super().__init__(clock, units, ledger, recorder)
        self._alone = alone
        self._noticed = noticed
        self.goes_back = False
        self._restore_length = restore
        self._downscale = downscale
        self._upscale = [(Account.ELASTIC_UPSCALE, upscale)]
        self._length = restart
        self._restores = restores
        self._extend = extend
        self.detected_at: Ticks = 0

    def _restart(self) -> list[tuple[Account, Ticks]]:
        """The phases of the next restart, as long as that one is."""
        phases = [(_RESTART, self._length())]
        if self._restores is not None:
            phases.insert(0, (Account.CHECKPOINT_RESTORE, self._restores()))
        return phases

    def _restore(self) -> tuple[Account, Ticks]:
        """The phase of the next restore, as long as that one is."""
        return Account.CHECKPOINT_RESTORE, self._restore_length()

    def struck(self, unit: UnitState, strike: Strike) -> None:
        """Shrink, or be lost; a failure of the job itself restarts it."""
        lost = self.lost
        noticed = None if strike.since is None else self._noticed
        if noticed is not None and noticed(strike) and not lost:
            return  # it has gone back with others
        if not lost and (not strike.slices or strike.since is not None):
            self._crash(strike)
            return
        if (self.phases is None or self.saving) and not strike.planned:
            self.interrupt()
        if lost:
            self.blame = unit.blame
            self.halt(_FAILED)
            self.saving = False
            self.set_live(False)
            self.detected_at = later(self.clock.now, strike.detection)
            self.runner.lose()
            return
        if strike.unallocated and self.clock.now == 0:  # it was never there
            self._stall_for([], unit.blame)
            return
        if self.phases is not None and not self.saving and not self._extend:
            return  # folded into the stall under way
        phases = [
            (_DETECTION, strike.detection),
            (_DOWNSCALE, self._downscale),
        ]
        self._stall_for(phases, unit.blame)

    def returned(self, unit: UnitState) -> None:
        """Grow; the first to return to a body that was lost restarts it."""
        if self.phases is not None and self.phases[0][0] is _FAILED:
            self.phases = None
            phases = self._restart()
            if self._alone is None:
                self.runner.restore()
            elif self._alone():
                self.runner.restore()
                phases = [self._restore(), *phases]
            self.stall(phases, at_once=True)
            return
        self._stall_for(self._upscale, unit.blame)

    def stall_over(self) -> None:
        """Let the runner go on."""
        self.goes_back = False
        super().stall_over()

    def _outlasts(self, phases: Sequence[tuple[Account, Ticks]]) -> bool:
        """Whether a stall of such phases from now on extends the one under way."""
        assert self.phases is not None
        if not self._extend:
            return False
        return self.clock.now + sum(length for _, length in phases) > self.phases[-1][1]

    def _crash(self, strike: Strike) -> None:
        """The job fails, its hardware or most of it does not: detection, then a restart.

        In a stall `absorb` folds it in, and so does `extend` where the stall lasts longer anyway.
        """
        phases = [(_DETECTION, strike.detection), *self._restart()]
        if self.free:
            self.interrupt()
            if not strike.state_lost:
                self.runner.pause()
            self.saving = False
        elif not self._outlasts(phases):
            return
        self.blame = strike.blame
        self.phases = []
        self.set_live(False)
        if strike.state_lost:
            self.detected_at = later(self.clock.now, strike.detection)
            self.runner.lose()
            if self._alone is None:
                self.runner.restore(NEVER if strike.since is None else strike.since)
        self.stall(phases, at_once=True)

    def go_back(self, strike: Strike) -> None:
        """Recover from a save to which the runner has gone back, with others that a strike hit.

        A stall that lasts longer goes on.
        """
        phases = [(_DETECTION, strike.detection), self._restore(), *self._restart()]
        length = sum(length for _, length in phases)
        free, self.blame = self.free, strike.blame
        if free:
            self.interrupt()
            self.saving = False
        self.goes_back = True
        self.set_live(False)
        ends = 0 if free or self.phases is None else self.phases[-1][1]
        if self.clock.now + length >= ends:
            self.stall(phases, at_once=True)

    def _stall_for(self, phases: Sequence[tuple[Account, Ticks]], blame: Blame) -> None:
        if self.phases is None or self.saving:
            self.runner.pause()
            self.saving = False
            self.blame = blame
            self.stall(phases, at_once=True)
        elif self._outlasts(phases):
            self.blame = blame
            self.stall(phases)
            self.set_live(True)
