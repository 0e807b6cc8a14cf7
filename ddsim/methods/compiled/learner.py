"""A compiled learner as its unit's body sees it: what stalls, is lost, and goes on."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from ddsim.engine.kept import Unsaved
from ddsim.engine.learner import ROUNDING
from ddsim.engine.ledger import Account
from ddsim.methods.compiled import kernel as k
from ddsim.methods.compiled.slots import ACCOUNTS

if TYPE_CHECKING:
    from collections.abc import Callable

    from ddsim.engine.body import Body
    from ddsim.methods.compiled.slots import Slots


class SlotLearner:
    """A runner whose steps compiled code takes.

    It is called once the slots have been brought up to now. `productive` are its seconds of
    compute that were kept; no step is ever undone, only discarded.
    """

    finished: float | None = None
    undone = 0

    def __init__(
        self,
        body: Body,
        slots: Slots,
        tokens_per_chip: float,
        on_live: Callable[[SlotLearner], None],
    ) -> None:
        self.body = body
        self._unit = body.units[0]
        self.index = self._unit.plan.index
        self._slots = slots
        self._state = slots.view
        self._tokens_per_chip = tokens_per_chip
        self._on_live = on_live
        self.productive = 0.0
        self._work = 0.0
        self._compute = 0.0
        self._rate = 1.0
        body.runner = self
        self._look()

    def _look(self) -> None:
        """See what hardware there is now."""
        pace, index, chips = self._state.pace, self.index, self._unit.healthy
        self._rate = pace[index, k.RATE] = self._unit.rate
        pace[index, k.CHIPS] = chips
        pace[index, k.GAIN] = chips * self._tokens_per_chip

    @property
    def steps(self) -> int:
        """Steps that have ended."""
        return int(self._state.learner[self.index, k.STEPS])

    @property
    def tokens(self) -> float:
        """Tokens of those steps, by the chips that were up when each ended."""
        return float(self._state.pace[self.index, k.TOKENS])

    @property
    def stepping(self) -> bool:
        """Whether a step is under way."""
        return bool(self._state.learner[self.index, k.STEPPING])

    def settle(self, now: float, *, final: bool = False) -> None:
        """Book the healthy chips' time up to now."""
        index, state = self.index, self._state
        assert now == state.clock[k.NOW], "something happens that the slots were not told of"
        k.settle(state, index)
        chips, rate = self._unit.healthy, self._rate
        for place, account in enumerate(ACCOUNTS):
            seconds = state.spent[index, place]
            if not seconds:
                continue
            state.spent[index, place] = 0.0
            if account is Account.PRODUCTIVE:
                if rate < 1.0:
                    self.body.degrade(self._unit, chips * seconds * (1.0 - rate))
                    seconds *= rate
                self.productive += seconds
            self.body.ledger.post(index, account, chips * seconds)
        if not final:  # a step that would end at the horizon does not count
            self._count_early(now)
        if state.learner[index, k.AFRESH]:
            state.learner[index, k.AFRESH] = 0
            self._work = self._compute = 0.0
        compute = state.pace[index, k.IN_STEP] * rate
        state.pace[index, k.IN_STEP] = 0.0
        self._compute += compute
        self._work += chips * compute

    def _count_early(self, now: float) -> None:
        """Count a step that ends now but for rounding; its event is still to come."""
        state, index = self._state, self.index
        if not state.learner[index, k.STEPPING] or state.learner[index, k.EARLY]:
            return
        pace = state.pace
        left = (pace[index, k.ENDS] - now) * self._rate
        if left <= ROUNDING * (now + pace[index, k.STEP]):
            state.learner[index, k.EARLY] = state.learner[index, k.AFRESH] = 1
            state.learner[index, k.STEPS] += 1
            pace[index, k.TOKENS] += pace[index, k.GAIN]
            pace[index, k.IN_STEP] = 0.0

    def pause(self) -> None:
        """A stall begins: suspend the step in progress."""
        self._suspend()
        self._state.learner[self.index, k.RUNS] = 0
        k.appear(self._state, self.index, 0, 0)

    def _suspend(self) -> None:
        pace, index = self._state.pace, self.index
        if self.stepping:
            left = pace[index, k.ENDS] - self._state.clock[k.NOW]
            pace[index, k.LEFT] = left * self._rate
            pace[index, k.ENDS] = inf

    def _go_on(self) -> None:
        pace, index = self._state.pace, self.index
        pace[index, k.ENDS] = self._state.clock[k.NOW] + pace[index, k.LEFT] / self._rate

    def resume(self) -> None:
        """Go on with the step, or see what comes next."""
        index, state = self.index, self._state
        self._look()
        state.learner[index, k.RUNS] = 1
        state.pace[index, k.SINCE] = state.pace[index, k.ENTERED] = state.clock[k.NOW]
        if self.stepping:
            k.appear(state, index, 1, 1)
            self._go_on()
        else:
            k.appear(state, index, int(state.learner[index, k.ACCOUNT] != k.WAITING), 0)
            k.wake_ready(state, index)

    def changed_pace(self) -> None:
        """The unit has become slower or faster, the step in progress with it."""
        self._suspend()
        self._look()
        if self.stepping:
            self._go_on()

    def lose(self) -> None:
        """The hardware is gone, and with it the step in progress."""
        index, learner = self.index, self._state.learner
        learner[index, k.RUNS] = 0
        learner[index, k.LOST] = 1
        k.appear(self._state, index, 0, 0)
        if learner[index, k.STEPPING]:
            self._waste(Unsaved([self._work], compute=self._compute))
            learner[index, k.DISCARDED] += 1
            learner[index, k.EARLY] = 0
            learner[index, k.STEPPING] = 0
            self._state.pace[index, k.ENDS] = inf
        self._work = self._compute = 0.0

    def _waste(self, done: Unsaved) -> None:
        self.body.ledger.waste(self.index, done.work[0])
        losses = self.body.ledger.losses
        losses.waste(self.body.blame, done.work[0])
        losses.catching_up += done.compute
        self.productive -= done.compute

    def restore(self, since: float = inf) -> None:
        """Nothing is lost but the step in progress: no save is older than the last step."""

    def live_changed(self) -> None:
        """Pass on that the unit became live, or is no longer."""
        self._on_live(self)

    def close(self, now: float) -> None:
        """Note the wait under way at the end of the run."""
        k.leave_wait(self._state, self.index)
