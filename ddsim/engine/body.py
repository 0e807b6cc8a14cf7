"""Bodies: what stalls as a whole when hardware fails or comes back."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Protocol

from ddsim.engine.clock import Rank
from ddsim.engine.ledger import Account

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ddsim.engine.clock import Clock, Wake
    from ddsim.engine.hardware import UnitState
    from ddsim.engine.ledger import Ledger
    from ddsim.engine.recorder import Recorder
    from ddsim.world.strike import Strike

RUNNING = "running"
Phases = list[tuple[Account, float]]


class Runner(Protocol):
    """What runs on a body while it does not stall."""

    finished: float | None

    @property
    def stepping(self) -> bool:
        """Whether it steps, rather than waits, while the body runs."""
        ...

    def settle(self, now: float, *, final: bool = False) -> None:
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

    def restore(self) -> None:
        """Hardware is back where none was left: state has to come from elsewhere."""
        ...

    def live_changed(self) -> None:
        """The body became live, or is no longer."""
        ...


class Body:
    """Units that stall together, the books of their stalls, and what runs on them.

    While it runs, the runner books the healthy chips; else the phase does. `phases` are the
    stall's accounts with their ends, None while running.
    """

    def __init__(
        self, clock: Clock, units: Sequence[UnitState], ledger: Ledger, recorder: Recorder
    ) -> None:
        self.clock = clock
        self.units = list(units)
        self.ledger = ledger
        self.recorder = recorder
        self.runner: Runner
        self.phases: Phases | None = None
        self.live = True
        self.interruptions = 0
        self.interrupted = 0.0
        self._struck_at: float | None = None
        self._since = 0.0
        self._epoch = 0

    @property
    def running(self) -> bool:
        """Whether nothing stalls it."""
        return self.phases is None

    @property
    def stepping(self) -> bool:
        """Whether it steps at this instant."""
        return self.phases is None and self.runner.stepping

    @property
    def lost(self) -> bool:
        """Whether no hardware is left."""
        return all(unit.lost for unit in self.units)

    def settle(self) -> None:
        """Book all time up to now."""
        self.settle_until(self.clock.now)

    def settle_until(self, now: float, *, final: bool = False) -> None:
        """Book all time up to `now`; what ends there does not count where that is `final`."""
        since = self._since
        if now <= since:
            return
        if self.phases is None:
            self.runner.settle(now, final=final)
            if self.runner.finished is not None:
                now = self.runner.finished
            self._note_running(since, now)
        for unit in self.units:
            if unit.failed:
                self.ledger.post(
                    unit.plan.index, Account.FAILED_HARDWARE, unit.failed * (now - since)
                )
        if self.phases is not None:
            start = since
            for account, end in self.phases:
                stop = min(end, now)
                if stop > start:
                    self._book(account, start, stop)
                    start = stop
        self._since = now

    def _book(self, account: Account, start: float, end: float) -> None:
        for unit in self.units:
            index, healthy = unit.plan.index, unit.healthy
            self.ledger.post(index, account, healthy * (end - start))
            state = account if healthy else Account.FAILED_HARDWARE
            self.recorder.state(index, start, end, state.label, healthy)

    def _note_running(self, start: float, end: float) -> None:
        for unit in self.units:
            state = RUNNING if unit.healthy else Account.FAILED_HARDWARE.label
            self.recorder.state(unit.plan.index, start, end, state, unit.healthy)

    def stall(self, phases: Sequence[tuple[Account, float]]) -> None:
        """Begin the given phases (account, length) now, in place of any that were under way."""
        now = self.clock.now
        total = 0.0
        self.phases = []
        for account, length in phases:
            total += length
            self.phases.append((account, now + total))
        self._epoch += 1
        self.clock.after(total, Rank.STALL_END, self._stall_end, self._epoch)

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
        self.set_live(True)

    def interrupt(self) -> None:
        """Count an interruption: a strike stops what was running."""
        self.interruptions += 1
        self._struck_at = self.clock.now

    def halt(self, account: Account) -> None:
        """Stand still in one account until something else happens."""
        self.phases = [(account, inf)]
        self._epoch += 1

    def set_live(self, live: bool) -> None:
        """Become live or not, and tell the runner where that is new."""
        if live != self.live:
            self.live = live
            self.runner.live_changed()

    def struck(self, unit: UnitState, strike: Strike) -> None:
        """Slices of a unit have gone down."""
        raise NotImplementedError

    def returned(self, unit: UnitState) -> None:
        """Slices of a unit have come back."""
        raise NotImplementedError

    def close(self, horizon: float) -> None:
        """Book all time up to the end of the run."""
        self.settle_until(horizon, final=True)
        if self._struck_at is not None:
            self.interrupted += horizon - self._struck_at


class ElasticBody(Body):
    """A body that goes on without what failed: a stall to shrink, and one to grow again.

    `absorb` folds what happens in a stall into it; under `extend` the stall ends at
    max(end, t + D).
    """

    def __init__(
        self,
        clock: Clock,
        units: Sequence[UnitState],
        ledger: Ledger,
        recorder: Recorder,
        *,
        downscale: float,
        upscale: float,
        restart: Sequence[tuple[Account, float]],
        extend: bool,
    ) -> None:
        super().__init__(clock, units, ledger, recorder)
        self._downscale = downscale
        self._upscale = [(Account.ELASTIC_UPSCALE, upscale)]
        self._restart = list(restart)
        self._extend = extend

    def struck(self, unit: UnitState, strike: Strike) -> None:
        """Shrink, or be lost."""
        if self.lost:
            if self.phases is None:
                self.interrupt()
            self.halt(Account.FAILED_HARDWARE)
            self.set_live(False)
            self.runner.lose()
            return
        if self.phases is None:
            self.interrupt()
        self._stall_for(
            [(Account.DETECTION, strike.detection), (Account.ELASTIC_DOWNSCALE, self._downscale)]
        )

    def returned(self, unit: UnitState) -> None:
        """Grow; the first to return to a body that was lost restarts it."""
        if self.phases is not None and self.phases[0][0] is Account.FAILED_HARDWARE:
            self.phases = None
            self.runner.restore()
            if sum(length for _, length in self._restart) > 0.0:
                self.stall(self._restart)
            else:
                self.stall_over()
            return
        self._stall_for(self._upscale)

    def _stall_for(self, phases: Sequence[tuple[Account, float]]) -> None:
        length = sum(length for _, length in phases)
        if self.phases is None:
            self.runner.pause()
            if length > 0.0:
                self.stall(phases)
            else:
                self.stall_over()
        elif self._extend and self.clock.now + length > self.phases[-1][1]:
            self.stall(phases)
            self.set_live(True)
