"""A learner: the training that runs on one unit and steps on its own clock."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ddsim.engine.clock import Rank
from ddsim.engine.ledger import Account
from ddsim.engine.tape import Steps

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ddsim.engine.body import Body
    from ddsim.engine.clock import Wake
    from ddsim.engine.recorder import Presence
    from ddsim.engine.tape import Tape
    from ddsim.world.pace import Pace

_STEPPING = (Account.PRODUCTIVE, Account.EXPOSED_COMMUNICATION)


class Learner:
    """Runs legs of steps on a unit, or waits; a stall suspends it, a loss costs the step.

    A leg is one stretch of compute that nothing but the unit's hardware can interrupt: `bounds`
    are the offsets in it at which steps end. `productive` are its seconds of compute that were
    kept. At its end `on_leg` is called, after a stall
    without a leg `on_ready`; after a loss what is left of the leg is for `on_ready` to begin
    anew. `mid_step` says that a leg ended within a step. `tokens` are counted by the chips that
    are up when a step ends.
    """

    __slots__ = (
        "_base",
        "_bounds",
        "_elapsed",
        "_ends",
        "_entered",
        "_epoch",
        "_last",
        "_left",
        "_passed",
        "_presences",
        "_present",
        "_runs",
        "_since",
        "_spent",
        "_unit",
        "_work",
        "account",
        "body",
        "discarded",
        "finished",
        "index",
        "leg_end",
        "lost_hardware",
        "mid_step",
        "on_leg",
        "on_live",
        "on_ready",
        "pace",
        "productive",
        "steps",
        "tape",
        "tokens",
        "tokens_per_chip",
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
        self.productive = 0.0
        self.finished: float | None = None
        self.mid_step = False
        self.tape: Tape | None = None
        self.tokens = 0.0
        self.lost_hardware = False
        self.account = Account.PRODUCTIVE
        self.leg_end = 0.0
        self._unit = body.units[0]
        self._bounds: Sequence[float] | None = None
        self._passed = 0
        self._elapsed = 0.0
        self._work = 0.0
        self._spent = 0.0
        self._since = 0.0
        self._entered = 0.0
        self._epoch = 0
        self._base = 0.0
        self._left = 0.0
        self._ends = 0.0
        self._last: Sequence[float] = ()
        self._runs: list[tuple[float, float]] = []
        self._presences = presences
        self._present = (0, 0)
        body.runner = self

    @property
    def idle(self) -> bool:
        """Whether no leg is under way."""
        return self._bounds is None

    @property
    def stepping(self) -> bool:
        """Whether a leg is under way."""
        return self._bounds is not None

    def compute(self, ahead: int = 0) -> float:
        """Seconds of compute of the step in progress, or the `ahead`-th to be begun after it."""
        return self.pace.of(self.steps + self.discarded + ahead)

    def start(self, bounds: Sequence[float], end: float, base: float = 0.0) -> None:
        """Begin a leg of `end` seconds of compute with steps ending at `bounds`.

        It begins `base` seconds into the compute of the step in progress.
        """
        now = self.body.clock.now
        if self.account is not Account.PRODUCTIVE or self._since != now:
            self._leave_wait(now)
            self.settle(now)
            self.account = Account.PRODUCTIVE
            self._since = now
        self._runs = [(t, at - self.leg_end) for t, at in self._runs] if base > 0.0 else []
        self._base = base
        self._bounds = self._last = bounds
        self._passed = 0
        self._elapsed = 0.0
        self._left = end
        self.leg_end = end
        if self._present != (1, 1):
            self._appear(1, 1)
        self._run()

    def passed_at(self, share: float) -> float:
        """When the compute of the step that ended with the last leg stood at `share` of it."""
        start = self._last[-2] if len(self._last) > 1 else -self._base
        at = start + share * (self._last[-1] - start)
        for time, begun in reversed(self._runs):
            if begun < at:
                return time + (at - begun)
        return self._runs[0][0]

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
        self._runs.append((now, self._elapsed))
        self._ends = now + self._left
        self.body.clock.after(self._left, Rank.STEP_END, self._leg_over, self._epoch)

    def _leg_over(self, wake: Wake) -> None:
        if wake.given != self._epoch:
            return
        self.settle(self.body.clock.now, whole=True)
        self._bounds = None
        self.on_leg(self)

    def settle(self, now: float, *, final: bool = False, whole: bool = False) -> None:
        """Book the healthy chips' time up to now; `whole` says that the leg is at its end."""
        elapsed = now - self._since
        self._since = now
        chips = self._unit.healthy
        self.body.ledger.post(self.index, self.account, chips * elapsed)
        bounds = self._bounds
        if bounds is None:
            return
        self.productive += elapsed
        reached = self.leg_end if whole else self._elapsed + elapsed
        passed = self._passed
        while passed < len(bounds) and (
            bounds[passed] < reached or (bounds[passed] == reached and not final)
        ):
            passed += 1
        if passed > self._passed:
            count = passed - self._passed
            self.steps += count
            if self.tape is not None:
                share = chips / self._unit.plan.chips
                self.tape.append(Steps(now, self.index, count, share))
            self.tokens += count * chips * self.tokens_per_chip
            self._work = chips * (reached - bounds[passed - 1])
            self._spent = reached - bounds[passed - 1]
            self._passed = passed
        else:
            self._work += chips * elapsed
            self._spent += elapsed
        self._elapsed = reached

    def _leave_wait(self, now: float) -> None:
        if self.account is not Account.PRODUCTIVE and self.body.running:
            self.body.recorder.wait(
                self.index, self._entered, now, self.account.label, self._unit.healthy
            )
        self._entered = now

    def pause(self) -> None:
        """Suspend the leg: the unit stalls."""
        self._epoch += 1
        self._left = self._ends - self.body.clock.now
        self._appear(0, 0)

    def resume(self) -> None:
        """Go on with the leg, or ask the method what to do next."""
        self._since = self._entered = self.body.clock.now
        if self._bounds is not None:
            self._appear(1, 1)
            self._run()
        else:
            self._appear(int(self.account is not Account.WAITING_ON_PEERS), 0)
            self.body.clock.after(0.0, Rank.NEXT, self._ready, self._epoch)

    def _ready(self, wake: Wake) -> None:
        if self.body.running and self._bounds is None:
            self.on_ready(self)

    def lose(self) -> None:
        """The hardware is gone, and with it the step in progress."""
        self._epoch += 1
        self._appear(0, 0)
        self.lost_hardware = True
        if self._bounds is not None or self.mid_step:
            self.body.ledger.waste(self.index, self._work)
            self.productive -= self._spent
            self.discarded += 1
        self._work = self._spent = 0.0
        self._bounds = None
        self.mid_step = False

    def close(self, now: float) -> None:
        """Note the wait under way at the end of the run."""
        self._leave_wait(now)

    def restore(self) -> None:
        """Nothing to go back to: parameters come from the others."""

    def live_changed(self) -> None:
        """Pass on that the unit became live, or is no longer."""
        self.on_live(self)

    def _appear(self, running: int, computing: int) -> None:
        if (running, computing) == self._present:
            return
        now = self.body.clock.now
        for presence, new, old in zip(
            self._presences, (running, computing), self._present, strict=True
        ):
            if new != old:
                presence.change(now, new - old)
        self._present = (running, computing)
