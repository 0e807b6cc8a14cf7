"""Rounds of slots that are all alike: many are passed over at once.

Between two changes of the world, without jitter, the protocol comes back to where it was, so many
slots later, as soon as what the last change set off has died out. Whether it has is looked at every
H slots, beside a mark that is set anew after 1, 2, 4, ... looks: that finds any period of whole
turns of the fragments (R. P. Brent, An improved Monte Carlo factorization algorithm, 1980).
"""

from __future__ import annotations

from math import ceil, gcd, inf
from typing import TYPE_CHECKING, Any

import numpy as np

from ddsim.methods.compiled import kernel as k

if TYPE_CHECKING:
    from ddsim.methods.compiled.kernel import Arrays

SAME = 64.0  # times what rounding leaves of a time

_SUMS = [k.MERGES, k.PARTICIPANTS, k.MERGED, k.OVERWRITTEN]
_SLOTS = [k.NEXT_SLOT, k.TOP, k.ARRIVED, k.OLDEST]
_ALIKE = [k.FLOWS, k.LIVE, k.CHECK, k.AWAKE, k.NO_ROOM]
_OF_LEARNER = [k.RUNS, k.IS_LIVE, k.STEPPING, k.ACCOUNT, k.DISCARDED, k.LOST, k.WAKES, k.ANSWERED]
_TIMES = [k.FIRST, k.OPENED_AT, k.DEADLINE, k.CLOSED_AT, k.DUE]

COMPARED = {"clock", "number", "pace", "learner", "spent", "received", "tokens", "bases", "queue"}
COMPARED |= {"slot", "times", "answered", "carried", "brought", "based", "present", "presence"}
COMPARED |= {"merged_in", "arrived_at"}


class Rounds:
    """Looks for rounds that repeat themselves in what is left until the world changes.

    `least` is how many seconds there have to be for it to be worth while; `period` (seconds) and
    `shift` (slots) are those of the round since the mark.
    """

    def __init__(self, state: Arrays) -> None:
        self._state = state
        self._turn = len(state.gap)
        self._turn_time = self._turn * float(state.pace[:, k.NOMINAL].max())
        self.least = (1 + self._stride(self._turn)) * self._turn_time
        self._even = not state.learner[:, k.UNEVEN].any()
        self._mark: Arrays | None = None
        self._spacing = self._left = 1
        self.shift = 0
        self.period = 0.0

    def begin(self, until: float) -> None:
        """Start looking, if there may be enough rounds up to then."""
        number = self._state.number
        # Merges that are noted one by one can't be passed over.
        first = self._turns_of(number[k.NOTES] - number[k.NOTED])
        left = until - float(self._state.clock[k.NOW])
        if self._even and left > self.least + first * self._turn_time:
            self._spacing = self._left = 1
            number[k.PAUSE_AT] = number[k.NEXT_SLOT] + first * self._turn
        else:
            self.end()

    def end(self) -> None:
        """Look no further."""
        self._state.number[k.PAUSE_AT] = k.NEVER

    def _turns_of(self, merges: int) -> int:
        """Return in how many turns of the fragments there are so many merges, at least 1."""
        due = np.count_nonzero(np.diff(self._state.due_from))
        return max(1, ceil(merges / due))

    def _stride(self, shift: int) -> int:
        """Return how many rounds at once leave each slot of the last one in its own row."""
        rows = len(self._state.slot)
        return rows // gcd(rows, shift)

    def forget(self) -> None:
        """Drop the mark: what has happened since is not all in the buffers any more."""
        self._mark = None

    def look(self, until: float) -> int:
        """Return how many rounds like the one since the mark can be passed over."""
        state, mark = self._state, self._mark
        state.number[k.PAUSE_AT] += self._turn
        if mark is None:
            return 0
        self._left -= 1
        self.shift = int(state.number[k.NEXT_SLOT] - mark.number[k.NEXT_SLOT])
        self.period = float(state.clock[k.NOW] - mark.clock[k.NOW])
        whole, times, amounts = _relative(state)
        whole_before, times_before, amounts_before = _relative(mark)
        if not np.array_equal(whole, whole_before):
            return 0
        near = SAME * float(np.spacing(state.clock[k.NOW]))
        if not np.allclose(times, times_before, rtol=0.0, atol=near, equal_nan=True):
            return 0
        if not np.allclose(amounts, amounts_before, rtol=1e-9, atol=0.0):
            return 0
        left = (until - float(state.clock[k.NOW])) / self.period - 1.0
        stride = self._stride(self.shift)
        return int(min(left, self._safe(near))) // stride * stride

    def _safe(self, near: float) -> float:
        """Return in how many rounds no order of events changes, each being off by that much.

        Steps of one length and what follows from them keep their order; of several lengths only
        rounding may say which ends first.
        """
        state = self._state
        steps = state.pace[state.learner[:, k.RUNS] == 1]
        if len(np.unique(steps[:, k.STEP] / steps[:, k.RATE])) > 1:
            return 0.0
        return float(state.clock[k.CLOSEST]) / (2.0 * near)

    @property
    def wants_mark(self) -> bool:
        """Whether it is time for another mark."""
        number = self._state.number
        noted = number[k.NOTED] == number[k.NOTES]
        return bool(noted) and (self._mark is None or self._left == 0)

    def set_mark(self) -> None:
        """Compare with this state from now on; the buffers are empty."""
        copies = {name: getattr(self._state, name).copy() for name in COMPARED}
        self._mark = self._state._replace(**copies)
        self._state.clock[k.CLOSEST] = inf
        self._left, self._spacing = self._spacing, 2 * self._spacing

    def pass_over(self, rounds: int) -> None:
        """Be as many rounds further."""
        state, mark = self._state, self._mark
        assert mark is not None
        slots, time = rounds * self.shift, rounds * self.period
        runs = state.learner[:, k.RUNS] == 1
        steps = rounds * (state.learner[:, k.STEPS] - mark.learner[:, k.STEPS])
        tokens = rounds * (state.pace[:, k.TOKENS] - mark.pace[:, k.TOKENS])

        state.clock[[k.NOW, k.FLOW_SINCE, k.FLOW_END]] += time
        state.clock[k.TOKENS_MERGED] += rounds * (
            state.clock[k.TOKENS_MERGED] - mark.clock[k.TOKENS_MERGED]
        )
        state.number[_SUMS] += rounds * (state.number[_SUMS] - mark.number[_SUMS])
        state.number[_SLOTS] += slots
        state.merged_in[:] += slots
        state.arrived_at[:] += time
        state.slot[:, k.INDEX] += slots
        state.times[:, _TIMES] += time
        state.based[:] += slots

        state.pace[np.ix_(runs, [k.ENDS, k.SINCE, k.ENTERED])] += time
        state.pace[:, k.TOKENS] += tokens
        state.tokens[runs] += tokens[runs, None]
        state.spent[:] += rounds * (state.spent - mark.spent)
        state.learner[:, k.STEPS] += steps
        state.learner[:, k.LATE] += rounds * (state.learner[:, k.LATE] - mark.learner[:, k.LATE])
        state.learner[np.ix_(runs, [k.COUNT, k.SEEN])] += slots
        state.learner[runs & (state.learner[:, k.BLOCKED] > 0), k.BLOCKED] += slots
        state.received[runs] += steps[runs, None]
        state.bases[runs] += slots
        state.queue[runs, :, k.SLOT] += slots
        state.queue[runs, :, k.AT_STEP] += steps[runs, None]
        self._pass_presence(mark, rounds)

    def _pass_presence(self, mark: Arrays, rounds: int) -> None:
        state = self._state
        for row in range(len(state.present)):
            before, now = mark.present[row], state.present[row]
            sums = [k.P_TOTAL, k.P_ABSENT]
            now[sums] += rounds * (now[sums] - before[sums])
            breaks = state.presence[row, k.P_BREAKS] - mark.presence[row, k.P_BREAKS]
            state.presence[row, k.P_BREAKS] += rounds * breaks
            for place in (k.P_SINCE, k.P_GONE):
                if now[place] != before[place]:
                    now[place] += rounds * self.period


def _relative(s: Arrays) -> tuple[Any, Any, Any]:
    """Return all that decides what comes, beside the slot, time, steps and tokens now.

    That is whole numbers, times, and amounts; a learner that does not run has no part in it.
    """
    now, turn = s.clock[k.NOW], s.number[k.NEXT_SLOT]
    runs = np.flatnonzero(s.learner[:, k.RUNS])
    learner, pace = s.learner[runs], s.pace[runs]
    steps, tokens = learner[:, k.STEPS], pace[:, k.TOKENS]
    blocked = learner[:, k.BLOCKED]
    waits = learner[:, k.ACCOUNT] != k.PRODUCTIVE
    answered = np.arange(s.queue.shape[1]) < learner[:, k.ANSWERED, None]
    queue = s.queue[runs]
    rows = [
        slot % len(s.slot)
        for slot in range(s.number[k.OLDEST], s.number[k.TOP] + 1)
        if s.slot[slot % len(s.slot), k.INDEX] == slot
    ]
    given = s.answered[rows, :, None] == 1
    whole = [
        s.number[_ALIKE],
        s.number[_SLOTS] - turn,
        s.presence[:, k.P_COUNT],
        s.merged_in - turn,
        s.learner[:, k.RUNS],
        learner[:, _OF_LEARNER],
        learner[:, [k.COUNT, k.SEEN]] - turn,
        np.where(blocked > 0, blocked - turn, 0),
        s.received[runs] - steps[:, None],
        s.bases[runs] - turn,
        (queue[:, :, k.SLOT] - turn)[answered],
        (queue[:, :, k.AT_STEP] - steps[:, None])[answered],
        queue[:, :, k.KEPT][answered],
        s.slot[rows, k.INDEX] - turn,
        s.slot[rows][:, [k.OWN, k.ANSWERS, k.OPENED, k.STAGE]],
        s.answered[rows],
        np.where(given, s.carried[rows], 0),
        np.where(given, s.based[rows] - turn, 0),
    ]
    flows = s.number[k.FLOWS] > 0
    opened = s.slot[rows, k.OPENED, None] == 1
    stage = s.slot[rows, k.STAGE]
    times = [
        s.clock[[k.FLOW_SINCE, k.FLOW_END]] - now if flows else np.zeros(2),
        s.clock[[k.QUORUM_TIME, k.SYNC_TIME]] if s.clock[k.GAMMA] > 0.0 else np.zeros(2),
        s.arrived_at - now,
        pace[:, [k.ENDS, k.SINCE]] - now,
        np.where(waits, pace[:, k.ENTERED] - now, 0.0),
        pace[:, [k.LEFT, k.STEP, k.AVERAGE]],
        s.times[rows, k.FIRST] - now,
        np.where(opened, s.times[rows][:, [k.OPENED_AT, k.DEADLINE]] - now, 0.0),
        np.where(stage > k.NOWHERE, s.times[rows, k.CLOSED_AT] - now, 0.0),
        np.where(stage == k.LANDING, s.times[rows, k.DUE] - now, 0.0),
    ]
    amounts = [
        pace[:, [k.RATE, k.GAIN, k.CHIPS]],
        s.tokens[runs] - tokens[:, None],
        np.where(given, s.brought[rows], 0.0),
        np.where(stage == k.ON_LINK, s.times[rows, k.UNSENT], 0.0),
    ]
    return _joined(whole), _joined(times), _joined(amounts)


def _joined(parts: list[Any]) -> Any:
    return np.concatenate([part.ravel() for part in parts])
