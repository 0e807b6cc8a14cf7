"""What lock-step learners do about units without hardware: leave them out, or take a round back.

A round is the stretch of steps since the step before at which fragments were due.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from ddsim.engine.kept import Unsaved, between
from ddsim.engine.reduction import Pipe
from ddsim.methods.local import protocol as k
from ddsim.world.instants import NEVER, SECOND

if TYPE_CHECKING:
    from ddsim.engine.losses import Blame
    from ddsim.engine.run import Run
    from ddsim.methods.local.learner import LocalLearner
    from ddsim.methods.local.protocol import State


class Driver(Protocol):
    """Who brings the protocol up to each event."""

    def tell_sent(self) -> None:
        """Put down what exchanges among all have moved since the last time."""
        ...


class Method(Protocol):
    """Whose learners are judged."""

    run: Run
    learners: list[LocalLearner]

    @property
    def driver(self) -> Driver:
        """Who brings the protocol up to each event."""
        ...

    @property
    def state(self) -> State:
        """What the protocol knows, item by item."""
        ...

    def tape_own_rejoin(self, learner: LocalLearner, step: int) -> None:
        """A learner goes back to its own copy of a step's end."""
        ...


class Absences:
    """Says what becomes of those who have no hardware when all others are there.

    With `roll_back` all go back to the end of the step before at which fragments were due.
    Otherwise whoever has no hardware is left out: its steps of the round are gone, and it goes on
    with the next.
    """

    def __init__(self, method: Method, *, roll_back: bool) -> None:
        self._method = method
        self._roll_back = roll_back
        self._pipes: dict[tuple[int, ...], Pipe] = {}

    def lost(self, learner: LocalLearner) -> None:
        """A learner has lost what it had."""

    def look(self) -> None:
        """See who has hardware."""
        state = self._method.state
        for learner in self._method.learners:
            there = int(not learner.body.lost)
            if there != state.learner[learner.index, k.HARDWARE]:
                state.learner[learner.index, k.HARDWARE] = there
                state.number[k.CHECK] = 1

    def judge(self, slot: int) -> None:
        """All that have hardware have completed a step: send it, or go back."""
        method, state = self._method, self._method.state
        absent = [learner for learner in method.learners if learner.body.lost]
        if absent and self._roll_back:
            self._go_back(self._before(slot), absent[0].body.blame)
            return
        row = slot % len(state.slot)
        for learner in absent:
            self._drop(learner, slot)
            if state.answered[row, learner.index]:
                state.answered[row, learner.index] = 0
                state.slot[row, k.ANSWERS] -= 1
        k.close(state, slot, row)
        if absent:
            present = [m for m in range(len(method.learners)) if state.answered[row, m]]
            self._send_among(tuple(present), row)
        else:
            k.send_layers(state, row)

    def _send_among(self, members: tuple[int, ...], row: int) -> None:
        """Send a step's fragments among some of the units, behind what is on the links."""
        method, state = self._method, self._method.state
        if members not in self._pipes:
            self._pipes[members] = Pipe(method.run.ring(members), method.run.meter)
        pipe = self._pipes[members]
        pipe.free = max(pipe.free, state.time[k.LINK_FREE])
        now, first = state.time[k.NOW], state.slot[row, k.LEAST]
        method.driver.tell_sent()
        items = []
        place = 0
        for p in range(first, state.slot[row, k.BEYOND]):
            layers = state.share_from[p + 1] - state.share_from[p]
            bits = state.real[k.PAYLOAD] * state.real[k.PARAMETERS] / layers
            crosses = state.number[k.CROSSES]
            at = [k.released(state, row, place + n) if crosses else now for n in range(layers)]
            items += [(time, layer, p, bits) for layer, time in enumerate(at)]
            place += layers
        items.sort()
        arrived = pipe.send([(time, bits) for time, _, _, bits in items], now)
        state.time[k.LINK_FREE] = max(state.time[k.LINK_FREE], pipe.free)
        for p in range(first, state.slot[row, k.BEYOND]):
            state.fragment_at[row, p - first] = now
        for (_, _, p, _), arrival in zip(items, arrived, strict=True):
            f = p - first
            state.fragment_at[row, f] = max(state.fragment_at[row, f], min(arrival, NEVER))
        state.slot[row, k.STARTED] = now
        state.slot[row, k.STAGE] = k.LANDING
        state.number[k.SENDS] = state.slot[row, k.AFTER]

    def close(self, horizon: int) -> None:
        """Record on the meter what was sent among some units by the end of the run."""
        for pipe in self._pipes.values():
            pipe.close(horizon)

    def _before(self, slot: int) -> int:
        """Return the last step before this one at which fragments were due, or 0."""
        slot -= 1
        while slot > 0 and not k.is_due(self._method.state, slot):
            slot -= 1
        return slot

    def _mark(self, learner: int, slot: int) -> Unsaved | None:
        """What a learner had done when it completed a step, None where it has not."""
        state = self._method.state
        if slot == 0:
            return Unsaved([0.0])
        row = slot % len(state.slot)
        if state.marked[row, learner] != slot:
            return None
        work, steps, tokens, compute = (state.marks[row, learner, n] for n in range(4))
        return Unsaved([work / SECOND], int(steps), tokens, round(compute))

    def _set_mark(self, learner: int, slot: int, done: Unsaved) -> None:
        state = self._method.state
        row = slot % len(state.slot)
        state.marked[row, learner] = slot
        values = (done.work[0] * SECOND, done.steps, done.tokens, done.compute)
        for place, value in enumerate(values):
            state.marks[row, learner, place] = value

    def restored(self, learner: LocalLearner) -> None:
        """A learner is back, perhaps from a save from before what it had done since."""
        now = learner.progress
        for slot in self._marked(learner.index):
            mark = self._mark(learner.index, slot)
            assert mark is not None
            self._set_mark(learner.index, slot, _least(mark, now))

    def begin_anew(self, learner: LocalLearner, slot: int) -> None:
        """A learner has gone back to a save, and goes on after this step with its round."""
        index, state = learner.index, self._method.state
        for row in range(len(state.marked)):
            state.marked[row, index] = 0
        before = self._before(slot + 1)
        if before:
            self._set_mark(index, before, learner.progress)

    def _marked(self, learner: int) -> list[int]:
        marked = self._method.state.marked
        return [marked[row, learner] for row in range(len(marked)) if marked[row, learner]]

    def _drop(self, learner: LocalLearner, slot: int) -> None:
        """Leave a learner out: its steps of the round are gone, and it goes on behind it."""
        state, index = self._method.state, learner.index
        first = self._before(slot)
        learner.body.settle()
        before = self._mark(index, first) or learner.progress
        lost = between(before, self._mark(index, slot) or learner.progress)
        learner.take_back(lost, learner.body.blame)
        for other in self._marked(index):
            if other > slot:
                mark = self._mark(index, other)
                assert mark is not None
                self._set_mark(index, other, between(lost, mark))
        self._set_mark(index, slot, before)
        state.learner[index, k.COUNT] = max(slot, state.learner[index, k.COUNT])

    def _go_back(self, slot: int, blame: Blame) -> None:
        """All learners go back to the end of a step, and what they did since is gone."""
        method, state = self._method, self._method.state
        for learner in method.learners:
            index = learner.index
            learner.body.settle()
            learner.abandon(blame)
            before = self._mark(index, slot) or learner.progress
            lost = between(before, learner.progress)
            learner.take_back(lost, blame)
            for row in range(len(state.marked)):
                state.marked[row, index] = 0
            if slot:
                self._set_mark(index, slot, learner.progress)
            state.learner[index, k.COUNT] = slot
            received = min(slot - state.number[k.TAU], state.learner[index, k.TAKEN_IN])
            state.learner[index, k.TAKEN_IN] = received
            method.tape_own_rejoin(learner, slot)
            k.wake(state, index)
        k.forget_unclosed(state)


def _least(one: Unsaved, other: Unsaved) -> Unsaved:
    return Unsaved(
        [min(one.work[0], other.work[0])],
        min(one.steps, other.steps),
        min(one.tokens, other.tokens),
        min(one.compute, other.compute),
    )
