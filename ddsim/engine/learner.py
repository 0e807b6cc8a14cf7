"""A learner: the training that runs on one unit and steps on its own clock."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

from ddsim.engine.clock import Rank
from ddsim.engine.course import SlowRun
from ddsim.engine.kept import Unsaved, between
from ddsim.engine.ledger import Account
from ddsim.engine.recorder import Attendance
from ddsim.engine.saving import Saving
from ddsim.world.instants import NEVER, SECOND, Ticks, later

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ddsim.engine.body import Body
    from ddsim.engine.clock import Wake
    from ddsim.engine.losses import Blame
    from ddsim.engine.recorder import Presence
    from ddsim.engine.saves import Saves
    from ddsim.world.pace import Pace


class Learner:
    """Runs legs of steps on a unit, or waits; a stall suspends it, a loss costs the step.

    A leg is one stretch of steps that nothing but the unit's hardware can interrupt: `bounds` are
    the offsets in its compute at which they end, in ticks, the last that of the leg; where steps
    wait for their data, `data` says for how long each does first. `productive` is its
    compute that was kept, `work` its chip-seconds, `undone` the steps that have been taken back
    since. At its end `on_leg` is called, after a stall without a leg `on_ready`, for which it is to
    begin what a loss left of one, and after a save `on_saved`. `tokens` are counted by the chips
    that are up when a step ends.
    """

    __slots__ = (
        "_attendance",
        "_bounds",
        "_data",
        "_elapsed",
        "_entered",
        "_epoch",
        "_passed",
        "_saving",
        "_since",
        "_slow",
        "_spent",
        "_to_load",
        "_unit",
        "_work",
        "account",
        "body",
        "discarded",
        "finished",
        "index",
        "lost_hardware",
        "on_leg",
        "on_live",
        "on_ready",
        "on_saved",
        "pace",
        "productive",
        "steps",
        "tokens",
        "tokens_per_chip",
        "undone",
        "work",
    )

    def __init__(
        self,
        body: Body,
        pace: Pace,
        tokens_per_chip: float,
        presences: tuple[Presence, Presence],
        on_leg: Callable[[Learner], None],
        on_ready: Callable[[Learner], None],
        on_live: Callable[[Learner], None],
    ) -> None:
        self.body = body
        self.pace = pace
        self.tokens_per_chip = tokens_per_chip
        self.on_leg = on_leg
        self.on_ready = on_ready
        self.on_live = on_live
        self.index = body.units[0].plan.index
        self.steps = 0
        self.discarded = 0
        self.productive: Ticks = 0
        self.finished: Ticks | None = None
        self.tokens = 0.0
        self.lost_hardware = False
        self.account = Account.PRODUCTIVE
        self._unit = body.units[0]
        self._bounds: Sequence[Ticks] | None = None
        self._data: Sequence[Ticks] = ()
        self._to_load: Ticks = 0
        self._passed = 0
        self._elapsed: Ticks = 0
        self._work = 0.0
        self._spent: Ticks = 0
        self._since: Ticks = 0
        self._entered: Ticks = 0
        self._epoch = 0
        self._slow: SlowRun | None = None
        self._saving = Saving(body, self._suspend_for_save)
        self.undone = 0
        self.work = 0.0
        self.on_saved: Callable[[Learner], None] | None = None
        self._attendance = Attendance(*presences)
        body.runner = self

    @property
    def idle(self) -> bool:
        """Whether no leg is under way."""
        return self._bounds is None

    @property
    def stepping(self) -> bool:
        """Whether a leg is under way, and its step has its data."""
        return self._bounds is not None and self.account is Account.PRODUCTIVE

    def compute(self, ahead: int = 0) -> Ticks:
        """Compute of the step in progress, or the `ahead`-th to be begun after it."""
        return self.pace.of(self.steps + self.discarded + ahead)

    def computes(self, count: int) -> list[Ticks]:
        """Compute of so many steps from the one in progress on."""
        return self.pace.ahead(self.steps + self.discarded, count)

    def data(self, ahead: int = 0) -> Ticks:
        """How long the step in progress, or one `ahead` of it, waits for its data."""
        return self.pace.data(self.steps + self.discarded + ahead)

    def start(self, bounds: Sequence[Ticks], data: Sequence[Ticks] = ()) -> None:
        """Begin a leg with steps ending at `bounds`, in ticks of compute from now on.

        With `data` each waits for so long before it computes.
        """
        now = self.body.clock.now
        self._leave_wait(now)
        self.settle(now)
        self._bounds = bounds
        self._data = data
        self._passed = 0
        self._elapsed = 0
        if data:
            self._to_load = data[0]
        self._run()

    def wait(self, account: Account) -> None:
        """Wait in an account, with no leg, until a method starts the next one."""
        if not self.body.running:
            self.account = account
            return
        now = self.body.clock.now
        self._leave_wait(now)
        self.settle(now)
        self.account = account
        self._since = now
        self._appear(int(account is not Account.WAITING_ON_PEERS), 0)

    def _run(self) -> None:
        now = self.body.clock.now
        self._epoch += 1
        if self._to_load:
            self.account = Account.WAITING_ON_DATA
            self._appear(1, 0)
            self.body.clock.after(self._to_load, Rank.STEP_END, self._loaded, self._epoch)
            return
        self.account = Account.PRODUCTIVE
        self._appear(1, 1)
        rate, at = self._unit.rate, self._elapsed
        assert self._bounds is not None
        ahead = self._bounds[self._passed :]
        begun = self._bounds[self._passed - 1] if self._passed else 0
        if self._data:  # the next step is not begun before it has its own
            ahead = ahead[:1]
        if rate < 1.0:
            self._slow = SlowRun(now, at, rate, ahead)
            ends = self._slow.ends
        else:
            self._slow = None
            ends = later(now, ahead[-1] - at)
        self.body.clock.after(ends - now, Rank.STEP_END, self._leg_over, self._epoch)
        saves = self._saving.saves
        if saves is not None:
            when = (lambda end: now + end - at) if self._slow is None else self._slow.when
            self._saving.arm(saves, ahead, at, when, fresh=at == begun)

    def save_by(self, saves: Saves) -> None:
        """Save at step boundaries from now on, and hold the unit up for it."""
        self._saving.saves = saves

    def _suspend_for_save(self) -> None:
        self.pause()
        self._appear(1, 0)

    def _leg_over(self, wake: Wake) -> None:
        if wake.given != self._epoch:
            return
        self.settle(self.body.clock.now)
        assert self._bounds is not None
        if self._passed < len(self._bounds):
            self._to_load = self._data[self._passed]
            self._entered = self.body.clock.now
            self._run()
            return
        self._bounds = None
        self.on_leg(self)

    def _loaded(self, wake: Wake) -> None:
        """The data of the step in progress are there."""
        if wake.given != self._epoch:
            return
        now = self.body.clock.now
        self._leave_wait(now)
        self.settle(now)
        self._run()

    def settle(self, now: Ticks, *, final: bool = False) -> None:
        """Book the healthy chips' time up to now; a step that ends now counts unless `final`."""
        elapsed = now - self._since
        self._since = now
        chips = self._unit.healthy
        bounds = self._bounds
        if bounds is None or self.account is not Account.PRODUCTIVE:
            idle = bounds is None and self.account is Account.PRODUCTIVE  # nobody said for what
            account = Account.WAITING_ON_PEERS if idle else self.account
            self.body.ledger.post(self.index, account, chips * elapsed / SECOND)
            if bounds is not None:
                self._to_load -= elapsed
            return
        upto = now - 1 if final else now
        passed = self._passed
        if self._slow is None:
            done = elapsed
            reached = self._elapsed + elapsed
            passed = bisect_right(bounds, reached + upto - now, passed)
        else:
            reached = self._slow.at(now)
            done = reached - self._elapsed
            self.body.degrade(self._unit, chips * (elapsed - done) / SECOND)
            passed += self._slow.pass_to(upto)
        work = chips * done / SECOND
        self.body.ledger.post(self.index, self.account, work)
        self.productive += done
        self.work += work
        unsaved = self._saving.unsaved
        unsaved.work[0] += work
        unsaved.compute += done
        if passed > self._passed:
            count = passed - self._passed
            self.steps += count
            self.tokens += count * chips * self.tokens_per_chip
            unsaved.steps += count
            unsaved.tokens += count * chips * self.tokens_per_chip
            self._work = chips * (reached - bounds[passed - 1]) / SECOND
            self._spent = reached - bounds[passed - 1]
            self._passed = passed
        else:
            self._work += work
            self._spent += done
        self._elapsed = reached

    def _leave_wait(self, now: Ticks) -> None:
        if self.account is not Account.PRODUCTIVE and self.body.running:
            self.body.recorder.wait(self.index, self._entered, now, self.account.label)
        self._entered = now

    def pause(self) -> None:
        """Suspend the leg: the unit stalls."""
        self._epoch += 1
        self._appear(0, 0)

    def changed_pace(self) -> None:
        """The unit has become slower or faster, what is under way with it."""
        if self._bounds is not None:
            self._run()

    def resume(self) -> None:
        """Go on with the leg, or ask the method what to do next."""
        self._since = self._entered = self.body.clock.now
        if self.body.saving:
            self._saving.done()
            if self.on_saved is not None:
                self.on_saved(self)
        if self._bounds is not None:
            self._run()
        else:
            self._appear(int(self.account is not Account.WAITING_ON_PEERS), 0)
            self.body.clock.after(0, Rank.NEXT, self._ready, self._epoch)

    def _ready(self, wake: Wake) -> None:
        if self.body.running and self._bounds is None:
            self.on_ready(self)

    def lose(self) -> None:
        """The hardware is gone, and with it the step in progress."""
        self._epoch += 1
        self._appear(0, 0)
        self.lost_hardware = True
        step = Unsaved([self._work], compute=self._spent)
        self._saving.take_back(step)
        if self._bounds is not None:
            self._take_back(step)
            self.discarded += 1
        self._work, self._spent = 0.0, 0
        self._bounds = None
        self._to_load = 0

    def _take_back(self, done: Unsaved) -> None:
        """Some of what it did has come to nothing."""
        self.body.waste(self.index, done.work[0])
        self.body.ledger.losses.catching_up += done.compute
        self.productive -= done.compute
        self.work -= done.work[0]
        self.tokens -= done.tokens
        self.undone += done.steps

    def close(self, now: Ticks) -> None:
        """Note the wait under way at the end of the run."""
        self._leave_wait(now)

    def restore(self, since: Ticks = NEVER) -> None:
        """Go back to the last save, there being no other learner to take parameters from.

        Without saves at intervals nothing is lost: the copies at peers are of the last step.
        """
        unsaved = self._saving.lost()
        if unsaved is not None:
            self._take_back(unsaved)

    @property
    def progress(self) -> Unsaved:
        """All that it has done and not had to take back."""
        steps = self.steps - self.undone
        return Unsaved([self.work], steps, self.tokens, self.productive)

    def go_back(self, saved: Unsaved, blame: Blame) -> None:
        """Go back to what was done by a save; all since has come to nothing."""
        self.body.blame = blame
        self._saving.done()
        self._take_back(between(saved, self.progress))

    def live_changed(self) -> None:
        """Pass on that the unit became live, or is no longer."""
        self.on_live(self)

    def _appear(self, running: int, computing: int) -> None:
        self._attendance.note(self.body.clock.now, running, computing)
