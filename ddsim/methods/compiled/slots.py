"""The slots of one run, and the books into which they tell what happened."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from ddsim.engine.clock import Rank
from ddsim.engine.ledger import Account
from ddsim.engine.recorder import Merge
from ddsim.engine.run import StepThrough
from ddsim.methods.compiled import kernel as k
from ddsim.methods.compiled.rounds import Rounds

if TYPE_CHECKING:
    from collections.abc import Callable

    from ddsim.engine.clock import Wake
    from ddsim.engine.merge_log import MergeLog
    from ddsim.engine.run import Run
    from ddsim.methods.compiled.kernel import Arrays
    from ddsim.world.ring import Ring

ACCOUNTS = (Account.PRODUCTIVE, Account.EXPOSED_COMMUNICATION, Account.WAITING_ON_PEERS)


AT_THE_HORIZON = 0  # a rank before all others: what would happen there does not


_COMPILED: list[Callable[[Arrays, float, int], int]] = []


def compiled(arrays: Arrays) -> Callable[[Arrays, float, int], int]:
    """Return `kernel.advance` as machine code, for arrays of these types: all have the same."""
    if not _COMPILED:
        _COMPILED.append(k.compile_advance(arrays))
    return _COMPILED[0]


class Slots:
    """Brings the protocol up to each change of the world, before that takes effect."""

    def __init__(self, run: Run, state: Arrays, ring: Ring, log: MergeLog) -> None:
        self._run = run
        self._clock = run.clock
        self.state = state
        # The same memory, of which Python reads and writes single items in half the time.
        self.view = k.Arrays._make(memoryview(array) for array in state)  # type: ignore[arg-type]
        self._ring = ring
        self._log = log
        self._rounds = Rounds(state)
        self._advance: Callable[[Arrays, float, int], int] = compiled(state)
        run.clock.watch(self._before)
        self._await_change()

    def _before(self, rank: Rank) -> None:
        self.advance(self._clock.now, rank)

    def advance(self, until: float, rank: int) -> None:
        """Let all happen that comes before `until`, or at it before things of that rank."""
        if until - self.view.clock[k.NOW] > self._rounds.least:
            self._rounds.begin(until)
        while True:
            why = self._advance(self.state, float(until), int(rank))
            if why == k.DONE:
                break
            if why == k.FULL:
                self.tell()
            elif why == k.PAUSED:
                self._look(until)
            elif why == k.DRAW:
                self._draw(int(self.state.number[k.WHO]))
            else:
                raise StepThrough("more slots are under way than there is room for")
        self._rounds.end()

    def _look(self, until: float) -> None:
        """Pass over rounds that are like the last, if it repeats itself."""
        rounds = self._rounds.look(until)
        if rounds > 0:
            self._rounds.pass_over(rounds)
            self.tell(1 + rounds, self._rounds.period)
            self._rounds.end()
        elif self._rounds.wants_mark:
            self.tell()
            self._rounds.set_mark()

    def _draw(self, index: int) -> None:
        learner = self.state.learner[index]
        begun = int(learner[k.STEPS] + learner[k.DISCARDED])
        pace = self._run.paces[index]
        drawn = self.state.draws[index]
        drawn[:] = [pace.of(begun + ahead) for ahead in range(len(drawn))]
        learner[k.DRAWN] = begun

    # Links.

    def _await_change(self) -> None:
        now = self._clock.now
        change = self._ring.rate.next_change(now)
        if change < self._run.horizon:
            self._clock.after(change - now, Rank.ARRIVAL, self._link_changes)

    def _link_changes(self, wake: Wake) -> None:
        now = self._clock.now
        # As in Fabric: what begins now has the new rate, and what ends now still ends.
        self.advance(now, Rank.CLOSE)
        self.view.clock[k.RING_RATE] = self._ring.rate.at(now)
        self.advance(now, Rank.ARRIVAL)
        self.tell()
        self._log.pass_to(now)
        self.advance(now, Rank.NEXT)
        k.settle_flows(self.view)
        k.share(self.view)
        self._await_change()

    # Books.

    def tell(self, times: int = 1, period: float = 0.0) -> None:
        """Put what the buffers hold into the books, as often as it happened, every `period`.

        They hold all that has been told since the last time; a mark to compare with needs that to
        be the last time, too.
        """
        self._rounds.forget()
        state, number = self.state, self.state.number
        self._log.add_all(
            lags=_counted(state.lags) | _spilled(state, 0),
            steps=_counted(state.steps) | _spilled(state, 1),
            tokens=state.tokens_in[: number[k.BROUGHT]],
            merges=int(number[k.LANDED]),
            ages=state.ages[: number[k.AGED]],
            arrived=state.arrived_at.tolist(),
            times=times,
        )
        state.lags[:] = state.steps[:] = 0
        waits = state.waits[: number[k.WAITED]].tolist()
        for later in (turn * period for turn in range(times if waits else 0)):
            for index, start, end, account, chips in waits:
                label = ACCOUNTS[int(account)].label
                self._run.recorder.wait(int(index), start + later, end + later, label, int(chips))
        sent = [tuple(row) for row in state.sent[: number[k.SENT]].tolist()]
        if times > 1:
            self._run.meter.repeat(sent, period, times, self._ring)
        else:
            for start, end, bits in sent:
                self._run.meter.record(start, end, bits, self._ring)
        for filled in (k.SPILLED, k.BROUGHT, k.AGED, k.WAITED, k.SENT, k.LANDED):
            number[filled] = 0

    def close(self, horizon: float) -> None:
        """Bring everything up to the end of the run."""
        self.advance(horizon, AT_THE_HORIZON)
        k.settle_flows(self.view)
        self.tell()
        state = self.state
        for row, presence in enumerate((self._run.running, self._run.computing)):
            since, gone, total, absent = state.present[row].tolist()
            count, breaks = state.presence[row].tolist()
            presence.take_over(
                count=count, since=since, gone=gone, total=total, absent=absent, breaks=breaks
            )
        self._note_merges()

    def _note_merges(self) -> None:
        state = self.state
        noted = int(state.number[k.NOTED])
        bounds = state.due_from.tolist()
        turns = [tuple(state.due[a:b].tolist()) for a, b in pairwise(bounds)]
        everyone = tuple(range(state.weights.shape[1]))
        rows = zip(state.notes[:noted].tolist(), state.weights[:noted].tolist(), strict=True)
        for (slot, closed, arrived), of_all in rows:
            who, weights = everyone, of_all
            if min(of_all) < 0.0:  # somebody's who has not answered
                who = tuple(index for index in everyone if of_all[index] >= 0.0)
                weights = [of_all[index] for index in who]
            fragments = turns[int(slot) % len(turns)]
            self._run.recorder.note(
                Merge(int(slot), fragments, closed, arrived, who, tuple(weights))
            )


def _counted(tally: Any) -> dict[int, int]:
    values = np.flatnonzero(tally)
    return dict(zip(values.tolist(), tally[values].tolist(), strict=True))


def _spilled(state: Arrays, kind: int) -> dict[int, int]:
    spill = state.spill[: state.number[k.SPILLED]]
    values, counts = np.unique(spill[spill[:, 0] == kind, 1], return_counts=True)
    return dict(zip(values.tolist(), counts.tolist(), strict=True))
