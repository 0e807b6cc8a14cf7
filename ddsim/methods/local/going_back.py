"""Learners of the protocol, and the syncer, that go back to saves from before a corruption."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from ddsim.engine import tape
from ddsim.engine.kept import Unsaved
from ddsim.methods import going_back
from ddsim.methods.local import protocol as k
from ddsim.world.instants import Ticks, seconds

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ddsim.engine.saves import Saves
    from ddsim.methods.local.driver import Driver
    from ddsim.methods.local.learner import LocalLearner

_SETTLED = [k.MERGED, k.OVERWRITTEN, k.MERGED_TOKENS]  # what was settled after a save is not


class Saved(NamedTuple):
    """A learner's state and the syncer's, at an instant: the learner's save of that number.

    `own` is the learner's own count. `carried`, `brought` and `bases` (P) have the steps and tokens
    since each fragment was received, and in which slot; `settled`, `settled_tokens` (P) and `sums`
    what had become of its steps; `merged_in` (P) is when, in slots, each fragment was merged last.
    """

    at: Ticks
    number: int
    done: Unsaved
    own: int
    carried: Any
    brought: Any
    bases: Any
    settled: Any
    settled_tokens: Any
    sums: Any
    merged_in: Any


class Method(going_back.Method, Protocol):
    """Whose learners go back."""

    driver: Driver

    def drop_exchanges(self) -> None:
        """What is on the links of slots that have not arrived is of no use any more."""
        ...

    def has_gone_back(self, learner: LocalLearner, slot: int) -> None:
        """A learner has gone back, and goes on with the step after a slot."""
        ...


class LocalGoingBack(going_back.GoingBack[Saved]):
    """Slots go on in their turn: the first after the last that closed, by the saved step count."""

    def __init__(self, method: Method, saves: Saves) -> None:
        super().__init__(method, saves)
        self._method = method
        self._numbers = [0] * len(method.run.cluster.units)
        state = method.driver.state
        self.start = Saved(
            at=-1,
            number=0,
            done=Unsaved([0.0]),
            own=0,
            carried=np.zeros_like(state.received[0]),
            brought=np.zeros_like(state.tokens[0]),
            bases=np.zeros_like(state.bases[0]),
            settled=np.zeros_like(state.settled[0]),
            settled_tokens=np.zeros_like(state.settled_tokens[0]),
            sums=np.zeros(len(_SETTLED)),
            merged_in=np.zeros_like(state.merged_in),
        )

    def keep(self, learner: LocalLearner) -> None:
        """A learner has saved its state."""
        self._numbers[learner.index] += 1
        super().keep(learner)
        now = seconds(self._clock.now)
        self._method.driver.put_on_tape(tape.Kept(now, learner.index))

    def state_of(self, learner: LocalLearner) -> Saved:
        """Return a learner's state as it is now, and the syncer's."""
        m, state = learner.index, self._method.driver.state
        return Saved(
            at=self._clock.now,
            number=self._numbers[m],
            done=learner.progress,
            own=int(state.learner[m, k.COUNT]),
            carried=k.kept_steps(state, m) - state.received[m],
            brought=state.pace[m, k.TOKENS] - state.tokens[m],
            bases=state.bases[m].copy(),
            settled=state.settled[m].copy(),
            settled_tokens=state.settled_tokens[m].copy(),
            sums=state.pace[m, _SETTLED],
            merged_in=state.merged_in.copy(),
        )

    def restore(self, targets: Mapping[int, Saved], source: int, here: set[int]) -> None:
        """Let learners go on from these states, and the syncer from that of `source`."""
        method = self._method
        method.drop_exchanges()
        method.driver.tell()
        slot = self._restore_syncer(targets[source])
        state = method.driver.state
        for m, saved in targets.items():
            state.received[m] = k.kept_steps(state, m)
            state.tokens[m] = state.pace[m, k.TOKENS]
            state.settled[m], state.settled_tokens[m] = saved.settled, saved.settled_tokens
            state.pace[m, _SETTLED] = saved.sums
            if m in here:
                state.received[m] -= saved.carried
                state.tokens[m] -= saved.brought
                state.bases[m] = saved.bases
                state.learner[m, k.LOST] = 0
            method.has_gone_back(method.learners[m], slot)
        who = tuple(m for m in targets if m in here)
        saves = tuple(targets[m].number for m in who)
        now, kept = seconds(self._clock.now), (source, targets[source].number)
        method.driver.put_on_tape(tape.GoBack(now, who, saves, kept))

    def _restore_syncer(self, saved: Saved) -> int:
        """Restore what is merged; return the slot after which slots go on."""
        state = self._method.driver.state
        last = int(state.number[k.LAST])
        slot = last + (saved.own - last) % int(state.number[k.PERIOD])
        k.begin_anew(state, slot)
        state.merged_in[:] = saved.merged_in
        np.minimum(state.bases, state.merged_in, out=state.bases)
        return slot
