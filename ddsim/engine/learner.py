"""A learner: the training that runs on one unit and steps on its own clock."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ddsim.engine.clock import Rank
from ddsim.engine.course import Course, SlowRun
from ddsim.engine.kept import Unsaved
from ddsim.engine.ledger import Account
from ddsim.engine.recorder import Attendance
from ddsim.engine.saving import Saving
from ddsim.engine.tape import Steps, Waste
from ddsim.world.instants import NEVER, SECOND, Ticks, later, seconds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ddsim.engine.body import Body
    from ddsim.engine.clock import Wake
    from ddsim.engine.losses import Blame
    from ddsim.engine.recorder import Presence
    from ddsim.engine.saves import Saves
    from ddsim.engine.tape import Tape
    from ddsim.world.pace import Pace


class Learner:
    """Runs legs of steps on a unit, or waits; a stall suspends it, a loss costs the step.

    A leg is one stretch of compute that nothing but the unit's hardware can interrupt: `bounds`
    are the offsets in it at which steps end, in ticks. `productive` is its compute that was kept,
    `undone` the steps that have been taken back since. At its end `on_leg` is called, after a stall
    without a leg `on_ready`. Of a loss `on_lost` is told, where it is set; what is left of
    the leg is for `on_ready` to begin anew. `mid_step` says that a leg ended within a step.
    `tokens` are counted by the chips that are up when a step ends; `ends` is when the leg under way
    ends, if nothing comes between.
    """

    __slots__ = (
        "_attendance",
        "_base",
        "_bounds",
        "_course",
        "_elapsed",
        "_entered",
        "_epoch",
        "_last",
        "_passed",
        "_saving",
        "_since",
        "_slow",
        "_spent",
        "_unit",
        "_work",
        "account",
        "body",
        "discarded",
        "ends",
        "finished",
        "index",
        "leg_end",
        "lost_hardware",
        "mid_step",
        "on_leg",
        "on_live",
        "on_lost",
        "on_ready",
        "pace",
        "productive",
        "steps",
        "tape",
        "tokens",
        "tokens_per_chip",
        "undone",
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
        self.on_lost: Callable[[Learner], None] | None = None
        self.index = body.units[0].plan.index
        self.steps = 0
        self.discarded = 0
        self.productive: Ticks = 0
        self.finished: Ticks | None = None
        self.mid_step = False
        self.tape: Tape | None = None
        self.tokens = 0.0
        self.lost_hardware = False
        self.account = Account.PRODUCTIVE
        self.leg_end: Ticks = 0
        self._unit = body.units[0]
        self._bounds: Sequence[Ticks] | None = None
        self._passed = 0
        self._elapsed: Ticks = 0
        self._work = 0.0
        self._spent: Ticks = 0
        self._since: Ticks = 0
        self._entered: Ticks = 0
        self._epoch = 0
        self._base: Ticks = 0
        self.ends: Ticks = 0
        self._last: Sequence[Ticks] = ()
        self._slow: SlowRun | None = None
        self._course = Course()
        self._saving = Saving(body, self._suspend_for_save)
        self.undone = 0
        self._attendance = Attendance(*presences)
        body.runner = self

    @property
    def idle(self) -> bool:
        """Whether no leg is under way."""
        return self._bounds is None

    @property
    def stepping(self) -> bool:
        """Whether a leg is under way."""
        return self._bounds is not None

    def compute(self, ahead: int = 0) -> Ticks:
        """Compute of the step in progress, or the `ahead`-th to be begun after it."""
        return self.pace.of(self.steps + self.discarded + ahead)

    def start(self, bounds: Sequence[Ticks], end: Ticks, base: Ticks = 0) -> None:
        """Begin a leg of `end` ticks of compute with steps ending at `bounds`.

        It begins `base` into the compute of the step in progress.
        """
        now = self.body.clock.now
        if self.account is not Account.PRODUCTIVE or self._since != now:
            self._leave_wait(now)
            self.settle(now)
            self.account = Account.PRODUCTIVE
            self._since = now
        self._course.next_leg(self.leg_end, mid_step=base > 0)
        self._base = base
        self._bounds = self._last = bounds
        self._passed = 0
        self._elapsed = 0
        self.leg_end = end
        self._appear(1, 1)
        self._run()

    def passed_at(self, shares: Iterable[float]) -> list[Ticks]:
        """When the compute of the step that ended with the last leg stood at shares of it."""
        start = self._last[-2] if len(self._last) > 1 else -self._base
        length = self._last[-1] - start
        return self._course.times_of(start + round(share * length) for share in shares)

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

    def _run(self, *, again: bool = False) -> None:
        now = self.body.clock.now
        self._epoch += 1
        rate, at = self._unit.rate, self._elapsed
        assert self._bounds is not None
        if not again:
            self._course.run(now, at, rate)
        if rate < 1.0:
            bounds = self._bounds[self._passed :]
            self._slow = SlowRun(now, at, rate, bounds, self.leg_end)
            self.ends = self._slow.ends
        else:
            self._slow = None
            self.ends = later(now, self.leg_end - at)
        self.body.clock.after(self.ends - now, Rank.STEP_END, self._leg_over, self._epoch)
        saves = self._saving.saves
        if saves is not None:
            fresh = at == self._base == 0
            ends = self._bounds[self._passed :]
            when = (lambda end: now + end - at) if self._slow is None else self._slow.when
            self._saving.arm(saves, ends, at, when, fresh=fresh)

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
        self._bounds = None
        self.on_leg(self)

    def stand(self) -> None:
        """Book up to now and stand still until `move_on`, whatever is under way."""
        now = self.body.clock.now
        self.settle(now)
        self._epoch += 1

    def move_on(self, steps: int, shift: Ticks, tokens: float, productive: Ticks) -> None:
        """Go on `shift` later as it stood, that much further; others have booked it."""
        self._since = self.body.clock.now
        self._entered += shift
        self._course.shift(shift)
        self.steps += steps
        self.tokens += tokens
        self.productive += productive
        if self._bounds is not None:
            self._run(again=True)

    def settle(self, now: Ticks, *, final: bool = False) -> None:
        """Book the healthy chips' time up to now; a step that ends now counts unless `final`."""
        elapsed = now - self._since
        self._since = now
        chips = self._unit.healthy
        bounds = self._bounds
        if bounds is None:
            self.body.ledger.post(self.index, self.account, chips * elapsed / SECOND)
            return
        upto = now - 1 if final else now
        passed = self._passed
        if self._slow is None:
            done = elapsed
            reached = self._elapsed + elapsed
            while passed < len(bounds) and bounds[passed] <= reached + upto - now:
                passed += 1
        else:
            reached = self._slow.at(now)
            done = reached - self._elapsed
            self.body.degrade(self._unit, chips * (elapsed - done) / SECOND)
            for time, at in self._slow.pass_to(upto):
                self._course.run(time, at, self._slow.rate)
                passed += 1
        work = chips * done / SECOND
        self.body.ledger.post(self.index, self.account, work)
        self.productive += done
        unsaved = self._saving.unsaved
        unsaved.work[0] += work
        unsaved.compute += done
        if passed > self._passed:
            count = passed - self._passed
            self.steps += count
            if self.tape is not None:
                share = chips / self._unit.plan.chips
                self.tape.append(Steps(seconds(now), self.index, count, share))
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
            self.body.recorder.wait(
                self.index, self._entered, now, self.account.label, self._unit.healthy
            )
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
        if self._bounds is not None:
            self._appear(1, 1)
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
        self._discard(self.body.blame)
        if self.on_lost is not None:
            self.on_lost(self)

    def abandon(self, blame: Blame) -> None:
        """Give up the step in progress though the hardware is there; all is booked up to now."""
        self._epoch += 1
        self._discard(blame)

    def _discard(self, blame: Blame) -> None:
        if self._bounds is not None or self.mid_step:
            self.drop(Unsaved([self._work], compute=self._spent), blame)
            self.discarded += 1
        self._work, self._spent = 0.0, 0
        self._bounds = None
        self.mid_step = False

    @property
    def progress(self) -> Unsaved:
        """All that it has done and not had to take back."""
        work = self.body.ledger.books[self.index][Account.PRODUCTIVE]
        return Unsaved([work], self.steps - self.undone, self.tokens, self.productive)

    def take_back(self, done: Unsaved, blame: Blame) -> None:
        """Some of what it did has come to nothing."""
        self.body.ledger.waste(self.index, done.work[0])
        losses = self.body.ledger.losses
        losses.waste(blame, done.work[0])
        losses.catching_up += done.compute
        self.productive -= done.compute
        self.tokens -= done.tokens
        self.undone += done.steps
        if self.tape is not None and done.steps:
            full = done.tokens / (self._unit.plan.chips * self.tokens_per_chip)
            now = seconds(self.body.clock.now)
            self.tape.append(Waste(now, self.index, done.steps, full))

    def drop(self, done: Unsaved, blame: Blame) -> None:
        """Take back the last of what it did, saved or not."""
        self.take_back(done, blame)
        self._saving.take_back(done)

    def close(self, now: Ticks) -> None:
        """Note the wait under way at the end of the run."""
        self._leave_wait(now)

    def restore(self, since: Ticks = NEVER) -> None:
        """Go back to the last save, there being no other learner to take parameters from.

        Without saves at intervals nothing is lost: the copies at peers are of the last step.
        """
        unsaved = self._saving.lost()
        if unsaved is not None:
            self.take_back(unsaved, self.body.blame)

    def live_changed(self) -> None:
        """Pass on that the unit became live, or is no longer."""
        self.on_live(self)

    def _appear(self, running: int, computing: int) -> None:
        self._attendance.note(self.body.clock.now, running, computing)
