"""A learner of the protocol as its unit's body sees it: what stalls, is lost, and goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from ddsim.engine.kept import Unsaved, between
from ddsim.engine.ledger import Account
from ddsim.engine.tape import Waste
from ddsim.methods.local import protocol as k
from ddsim.world.instants import NEVER, SECOND, seconds

if TYPE_CHECKING:
    from collections.abc import Callable

    from ddsim.engine import tape
    from ddsim.engine.body import ElasticBody
    from ddsim.engine.losses import Blame
    from ddsim.engine.saves import Saves
    from ddsim.methods.local.protocol import State

ACCOUNTS = (
    Account.PRODUCTIVE,
    Account.EXPOSED_COMMUNICATION,
    Account.WAITING_ON_PEERS,
    Account.WAITING_ON_DATA,
)


class Driver(Protocol):
    """What a learner needs of who drives the protocol."""

    saves: Saves | None

    @property
    def view(self) -> State:
        """What the protocol knows, item by item."""
        ...

    def save_by(self, saves: Saves) -> None:
        """Let learners save at step boundaries from now on, and hold their units up for it."""
        ...

    def put_on_tape(self, event: tape.Event) -> None:
        """Put something on the tape, if one is kept."""
        ...


class LocalLearner:
    """A runner whose steps the protocol takes.

    It is called once the protocol has been brought up to now.
    """

    finished: int | None = None

    def __init__(
        self,
        body: ElasticBody,
        driver: Driver,
        tokens_per_chip: float,
        on_live: Callable[[LocalLearner], None],
    ) -> None:
        self.body = body
        self._unit = body.units[0]
        self.index = self._unit.plan.index
        self._driver = driver
        self._tokens_per_chip = tokens_per_chip
        self._on_live = on_live
        self._work = 0.0
        self._compute = 0.0
        self._rate = 1.0
        self._saved = Unsaved([0.0])
        self.on_saved: Callable[[LocalLearner], None] | None = None
        self.on_lost: Callable[[LocalLearner], None] | None = None
        body.runner = self
        self._look()

    @property
    def _state(self) -> State:
        return self._driver.view

    def save_by(self, saves: Saves) -> None:
        """Save at step boundaries from now on, and hold the unit up for it."""
        self._driver.save_by(saves)

    def _look(self) -> None:
        """See what hardware there is now."""
        index, chips = self.index, self._unit.healthy
        self._rate = self._state.pace[index, k.RATE] = self._unit.rate
        self._state.learner[index, k.CHIPS] = chips
        self._state.pace[index, k.GAIN] = chips * self._tokens_per_chip

    @property
    def steps(self) -> int:
        """Steps that have ended, taken back or not."""
        return int(self._state.learner[self.index, k.STEPS])

    @property
    def undone(self) -> int:
        """Steps that have been taken back since they ended."""
        return int(self._state.learner[self.index, k.UNDONE])

    @property
    def productive(self) -> float:
        """Nanoseconds of compute that were kept."""
        return float(self._state.pace[self.index, k.COMPUTE])

    @property
    def tokens(self) -> float:
        """Tokens of the steps that were kept, by the chips that were up when each ended."""
        return float(self._state.pace[self.index, k.TOKENS])

    @property
    def stepping(self) -> bool:
        """Whether a step is under way, and has its data."""
        learner, index = self._state.learner, self.index
        return bool(learner[index, k.STEPPING]) and learner[index, k.ACCOUNT] != k.LOADING

    @property
    def lost_hardware(self) -> bool:
        """Whether it has lost what it had, and has not taken up its steps since."""
        return bool(self._state.learner[self.index, k.LOST])

    def settle(self, now: int, *, final: bool = False) -> None:
        """Book the healthy chips' time up to now."""
        index, state = self.index, self._state
        assert now == state.time[k.NOW], "something happens that the protocol was not told of"
        k.settle(state, index)
        chips, rate = self._unit.healthy, self._rate
        for place, account in enumerate(ACCOUNTS):
            length: float = state.spent[index, place]
            if not length:
                continue
            state.spent[index, place] = 0
            if account is Account.PRODUCTIVE and rate < 1.0:
                self.body.degrade(self._unit, chips * length * (1.0 - rate) / SECOND)
                length *= rate
            self.body.ledger.post(index, account, chips * length / SECOND)
        if state.learner[index, k.AFRESH]:
            state.learner[index, k.AFRESH] = 0
            self._work = self._compute = 0.0
        compute = state.learner[index, k.IN_STEP] * rate
        state.learner[index, k.IN_STEP] = 0
        self._compute += compute
        self._work += chips * compute / SECOND

    def pause(self) -> None:
        """A stall begins: suspend the step in progress."""
        k.suspend(self._state, self.index)
        self._state.learner[self.index, k.RUNS] = 0
        k.appear(self._state, self.index, 0, 0)

    def hold_for_save(self) -> None:
        """A save at this step boundary begins, and holds the unit up."""
        self.pause()
        k.appear(self._state, self.index, 1, 0)

    def resume(self) -> None:
        """Go on with the step, or see what comes next."""
        index, state = self.index, self._state
        if self.body.saving:
            self._saved = self.progress
            state.learner[index, k.UNSAVED_STEPS] = state.learner[index, k.UNSAVED_RUN] = 0
            if self.on_saved is not None:
                self.on_saved(self)
        self._look()
        state.learner[index, k.RUNS] = 1
        state.learner[index, k.SINCE] = state.learner[index, k.ENTERED] = state.time[k.NOW]
        if self._state.learner[self.index, k.STEPPING]:
            k.appear(state, index, 1, int(state.learner[index, k.ACCOUNT] != k.LOADING))
            k.go_on(state, index)
        else:
            k.appear(state, index, int(state.learner[index, k.ACCOUNT] != k.WAITING), 0)
            k.wake_ready(state, index)

    def changed_pace(self) -> None:
        """The unit has become slower or faster, the step in progress with it."""
        k.suspend(self._state, self.index)
        self._look()
        if self._state.learner[self.index, k.STEPPING]:
            k.go_on(self._state, self.index)

    def lose(self) -> None:
        """The hardware is gone, and with it the step in progress."""
        index, learner = self.index, self._state.learner
        learner[index, k.RUNS] = 0
        learner[index, k.LOST] = 1
        k.appear(self._state, index, 0, 0)
        k.lose(self._state, index)
        self.abandon(self.body.blame)
        if self.on_lost is not None:
            self.on_lost(self)

    def abandon(self, blame: Blame) -> None:
        """Give up the step in progress; all is booked up to now."""
        index, learner = self.index, self._state.learner
        if learner[index, k.STEPPING] or learner[index, k.MID_STEP]:
            self.take_back(Unsaved([self._work], compute=round(self._compute)), blame)
            learner[index, k.DISCARDED] += 1
        learner[index, k.STEPPING] = learner[index, k.MID_STEP] = learner[index, k.STOP_AT] = 0
        learner[index, k.DATA] = 0
        learner[index, k.ENDS] = NEVER
        self._work = self._compute = 0.0

    @property
    def progress(self) -> Unsaved:
        """All that it has done and not had to take back."""
        pace, index = self._state.pace, self.index
        work = pace[index, k.WORK] / SECOND
        compute = round(pace[index, k.COMPUTE])
        return Unsaved([work], self.steps - self.undone, self.tokens, compute)

    def take_back(self, done: Unsaved, blame: Blame) -> None:
        """Some of what it did has come to nothing."""
        self.body.ledger.waste(self.index, done.work[0])
        losses = self.body.ledger.losses
        losses.waste(blame, done.work[0])
        losses.catching_up += done.compute
        pace, index = self._state.pace, self.index
        pace[index, k.WORK] -= done.work[0] * SECOND
        pace[index, k.COMPUTE] -= done.compute
        learner = self._state.learner
        if done.steps:
            k.take_back(self._state, index, done.steps, done.tokens)
            for column, less in ((k.UNSAVED_STEPS, done.steps), (k.UNSAVED_RUN, done.compute)):
                learner[index, column] = max(0, learner[index, column] - less)
            full = done.tokens / (self._unit.plan.chips * self._tokens_per_chip)
            now = seconds(self.body.clock.now)
            self._driver.put_on_tape(Waste(now, index, done.steps, full))

    def restore(self, since: int = NEVER) -> None:
        """Go back to the last save, there being no other learner to take parameters from.

        Without saves at intervals nothing is lost: the copies at peers are of the last step.
        """
        if self._driver.saves is None:
            return
        self.go_back(self._saved, self.body.blame)

    def go_back(self, saved: Unsaved, blame: Blame) -> None:
        """Go back to what was done by a save; all since has come to nothing."""
        lost = between(saved, self.progress)
        index, learner = self.index, self._state.learner
        learner[index, k.UNSAVED_STEPS] = learner[index, k.UNSAVED_RUN] = 0
        self.take_back(lost, blame)
        self._saved = saved

    def live_changed(self) -> None:
        """Pass on that the unit became live, or is no longer."""
        self._on_live(self)

    def close(self, now: int) -> None:
        """Note the wait under way at the end of the run."""
        k.leave_wait(self._state, self.index)
