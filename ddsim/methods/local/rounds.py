"""Rounds of slots that are all alike: many are passed over at once.

Between two changes of the world, without jitter, the protocol comes back to where it was, so many
slots later, as soon as what the last change set off has died out. Whether it has is looked at every
H slots, beside a mark that is set anew after 1, 2, 4, ... looks: that finds any period of whole
turns of the fragments (R. P. Brent, An improved Monte Carlo factorization algorithm, 1980). Time is
counted in whole nanoseconds, so that rounds are alike or are not.
"""

from __future__ import annotations

from math import ceil, gcd
from typing import TYPE_CHECKING, Any

import numpy as np

from ddsim.methods.local import protocol as k

if TYPE_CHECKING:
    from ddsim.engine.thinned import Thinned
    from ddsim.methods.local.protocol import State
    from ddsim.world.ring import Ring

NEAR = 1e-9  # of tokens, which are sums of reals and decide nothing

_SUMS = [k.MERGES, k.PARTICIPANTS, k.SETTINGS_SENT]
_SUMS_OF_LEARNER = [k.WORK, k.COMPUTE, k.MERGED, k.OVERWRITTEN, k.MERGED_TOKENS]
_SLOTS = [k.LAST, k.NEXT_SLOT, k.TOP, k.SENDS, k.ARRIVED_SLOT, k.OLDEST, k.LANDS]
_ALIKE = [k.LIVE, k.CHECK, k.AWAKE, k.REACHED, k.OUTSIDE, k.STANDING, k.TURNS]
_INSTANTS = [k.LINK_ENDS, k.MERGING, k.CLOSES]
_OF_CONNECTIONS = [k.ROUND_ENDS, k.LAST_OUT, k.SLOW_UNTIL, k.ROUND_ENDS_BEFORE, k.LAST_OUT_BEFORE]
_WINDOWS = [k.WINDOW, k.ROOM, k.WINDOW_BEFORE, k.ROOM_BEFORE, k.SLOWLY]
_OF_LEARNER = [k.LEFT, k.STEP, k.CHIPS, k.RUNS, k.IS_LIVE, k.HEARD, k.STEPPING, k.ACCOUNT]
_OF_LEARNER += [k.DISCARDED, k.LOST, k.WAKES, k.ANSWERED]
_OF_SLOT = [k.OWN, k.ANSWERS, k.OPENED, k.STAGE]
_OF_SLOT_TIMES = [k.FIRST, k.OPENED_AT, k.DEADLINE, k.CLOSED_AT, k.STARTED, k.DUE]

COMPARED = {"time", "real", "number", "learner", "pace", "spent", "received", "tokens", "bases"}
COMPARED |= {"queue", "slot", "answered", "carried", "brought", "based", "presence", "merged_in"}
COMPARED |= {"arrived_at", "settled", "settled_tokens"}


class Rounds:
    """Looks for rounds that repeat themselves in what is left until the world changes.

    `least` is how much time there has to be for it to be worth while; `period` (nanoseconds) and
    `shift` (slots) are those of the round since the mark. `noted` is the log of merges, of which
    the first are all taken one by one, as they come.
    """

    def __init__(self, state: State, ring: Ring, noted: Thinned[Any]) -> None:
        self._state = state
        self._noted = noted
        self._ring = ring
        self._turn = int(state.number[k.PERIOD])
        self._turn_time = self._turn * int(state.learner[:, k.NOMINAL].max())
        shared = (state.learner[:, k.SHARED_BY] > 1).any()
        steered = state.number[k.POLICY] or state.number[k.LOCKSTEP]
        uneven = bool(state.learner[:, k.UNEVEN].any() or shared or steered)
        self._due = min(self._turn, int(state.number[k.FRAGMENTS]))
        self.least = k.NEVER if uneven else (1 + self._stride(self._turn)) * self._turn_time
        self._mark: State | None = None
        self._spacing = self._left = 1
        self.shift = 0
        self.period = 0

    def begin(self, until: int) -> None:
        """Start looking, if there may be enough rounds up to then."""
        number = self._state.number
        first = self._turns_of(self._singly)
        left = until - int(self._state.time[k.NOW])
        if self._plain and left > self.least + first * self._turn_time:
            self._spacing = self._left = 1
            number[k.PAUSE_AT] = number[k.NEXT_SLOT] + first * self._turn
        else:
            self.end()

    @property
    def _plain(self) -> bool:
        """Whether nothing but slots and steps happens: no saves, tape or goal."""
        state = self._state
        others = [k.TAPED, k.SAVE_STEPS]
        unsaved = state.time[k.SAVE_INTERVAL] == k.NEVER
        goals = state.real[[k.TOKEN_GOAL, k.COUNTED_GOAL]]
        return bool(unsaved and not state.number[others].any() and np.isinf(goals).all())

    @property
    def _singly(self) -> int:
        """How many merges more are taken one by one; the log repeats only what is then thinned."""
        number = self._state.number
        return max(0, self._noted.unfilled - int(number[k.NOTED])) if number[k.NOTES] else 0

    def end(self) -> None:
        """Look no further."""
        self._state.number[k.PAUSE_AT] = k.NEVER

    def _turns_of(self, merges: int) -> int:
        """Return in how many turns of the fragments there are so many merges, at least 1."""
        return max(1, ceil(merges / self._due))

    def _stride(self, shift: int) -> int:
        """Return how many rounds at once leave each slot of the last one in its own row."""
        rows = len(self._state.slot)
        return rows // gcd(rows, shift)

    def forget(self) -> None:
        """Drop the mark: what has happened since is not all in the buffers any more."""
        self._mark = None

    def look(self, until: int) -> int:
        """Return how many rounds like the one since the mark can be passed over."""
        state, mark = self._state, self._mark
        state.number[k.PAUSE_AT] += self._turn
        if mark is None:
            return 0
        self._left -= 1
        now = int(state.time[k.NOW])
        self.shift = int(state.number[k.NEXT_SLOT] - mark.number[k.NEXT_SLOT])
        self.period = now - int(mark.time[k.NOW])
        if self.period <= 0 or not np.array_equal(_whole(state), _whole(mark)):
            return 0
        if state.real[k.GAMMA] > 0.0:
            averages = [k.QUORUM_TIME, k.SYNC_TIME]
            if not np.array_equal(state.real[averages], mark.real[averages], equal_nan=True):
                return 0
        if not np.allclose(_amounts(state), _amounts(mark), rtol=NEAR, atol=0.0, equal_nan=True):
            return 0
        until = min(until, self._ring.rate.next_change(now))
        stride = self._stride(self.shift)
        return max(0, (until - now) // self.period - 1) // stride * stride

    @property
    def wants_mark(self) -> bool:
        """Whether it is time for another mark."""
        return not self._singly and (self._mark is None or self._left == 0)

    def set_mark(self) -> None:
        """Compare with this state from now on; the buffers are empty."""
        copies = {name: getattr(self._state, name).copy() for name in COMPARED}
        self._mark = self._state._replace(**copies)
        self._left, self._spacing = self._spacing, 2 * self._spacing

    def pass_over(self, rounds: int) -> None:
        """Be as many rounds further."""
        state, mark = self._state, self._mark
        assert mark is not None
        slots, time = rounds * self.shift, rounds * self.period
        runs = state.learner[:, k.RUNS] == 1
        steps = rounds * (state.learner[:, k.STEPS] - mark.learner[:, k.STEPS])
        tokens = rounds * (state.pace[:, k.TOKENS] - mark.pace[:, k.TOKENS])

        state.time[k.NOW] += time
        for place in _INSTANTS:
            if state.time[place] < k.NEVER:
                state.time[place] += time
        if state.time[k.ROUND_TRIP]:
            state.time[_OF_CONNECTIONS] += time
        state.number[_SUMS] += rounds * (state.number[_SUMS] - mark.number[_SUMS])
        state.number[_SLOTS] += slots
        state.merged_in[:] += slots
        state.sent_in[:] += slots
        state.arrived_at[:] += time
        state.slot[:, [k.INDEX, k.AFTER]] += slots
        state.slot[:, _OF_SLOT_TIMES] += time
        state.based[:] += slots

        stands = state.learner[:, k.ENDS] == k.NEVER
        state.learner[np.ix_(runs, [k.SINCE, k.ENTERED])] += time
        state.learner[runs & ~stands, k.ENDS] += time
        state.pace[:, k.TOKENS] += tokens
        for sums in _SUMS_OF_LEARNER:
            state.pace[:, sums] += rounds * (state.pace[:, sums] - mark.pace[:, sums])
        state.tokens[runs] += tokens[runs, None]
        state.settled[runs] += steps[runs, None]
        state.settled_tokens[runs] += tokens[runs, None]
        state.answered[:] += np.where(state.answered > 0, steps, 0)
        state.spent[:] += rounds * (state.spent - mark.spent)
        for sums in (k.LATE, k.UNSAVED_STEPS, k.UNSAVED_RUN):
            gained = state.learner[:, sums] - mark.learner[:, sums]
            state.learner[:, sums] += rounds * gained
        state.learner[:, k.STEPS] += steps
        state.learner[np.ix_(runs, [k.COUNT, k.SEEN])] += slots
        state.learner[runs & (state.learner[:, k.BLOCKED] > 0), k.BLOCKED] += slots
        state.received[runs] += steps[runs, None]
        state.bases[runs] += slots
        state.queue[runs, :, k.SLOT] += slots
        state.queue[runs, :, k.AT_STEP] += steps[runs, None]
        self._pass_presence(mark, rounds)

    def _pass_presence(self, mark: State, rounds: int) -> None:
        for now, before in zip(self._state.presence, mark.presence, strict=True):
            sums = [k.P_TOTAL, k.P_ABSENT, k.P_BREAKS]
            now[sums] += rounds * (now[sums] - before[sums])
            for place in (k.P_SINCE, k.P_GONE):
                if now[place] != before[place]:
                    now[place] += rounds * self.period


def _whole(s: State) -> Any:
    """Return all in whole numbers that decides what comes, beside the slot, time and steps now.

    A learner that does not run has no part in it.
    """
    now, turn = s.time[k.NOW], s.number[k.NEXT_SLOT]
    runs = np.flatnonzero(s.learner[:, k.RUNS])
    learner = s.learner[runs]
    steps = learner[:, k.STEPS]
    blocked = learner[:, k.BLOCKED]
    waits = learner[:, k.ACCOUNT] != k.PRODUCTIVE
    ends = learner[:, k.ENDS]
    answered = np.arange(s.queue.shape[1]) < learner[:, k.ANSWERED, None]
    queue = s.queue[runs]
    rows = [
        slot % len(s.slot)
        for slot in range(s.number[k.OLDEST], s.number[k.TOP] + 1)
        if s.slot[slot % len(s.slot), k.INDEX] == slot
    ]
    given = s.answered[rows, :, None] > 0
    kept = s.learner[:, k.STEPS] - s.learner[:, k.UNDONE]
    instants = s.time[_INSTANTS]
    opened = s.slot[rows, k.OPENED, None] == 1
    stage = s.slot[rows, k.STAGE]
    whole = [
        s.number[_ALIKE],
        s.number[_SLOTS] - turn,
        [s.number[k.UNDER_WAY] and s.number[k.UNDER_WAY] - turn],
        np.where(instants < k.NEVER, np.maximum(instants - now, -1), k.NEVER),
        s.time[_OF_CONNECTIONS] - now if s.time[k.ROUND_TRIP] else [],
        s.presence[:, k.P_COUNT],
        s.merged_in - turn,
        s.arrived_at - now,
        s.learner[:, k.RUNS],
        learner[:, _OF_LEARNER],
        learner[:, [k.COUNT, k.SEEN]] - turn,
        np.where(blocked > 0, blocked - turn, 0),
        np.where(ends < k.NEVER, ends - now, k.NEVER),
        learner[:, k.SINCE] - now,
        np.where(waits, learner[:, k.ENTERED] - now, 0),
        s.received[runs] - steps[:, None],
        s.settled[runs] - steps[:, None],
        s.bases[runs] - turn,
        (queue[:, :, k.SLOT] - turn)[answered],
        (queue[:, :, k.AT_STEP] - steps[:, None])[answered],
        queue[:, :, [k.KEPT, k.FROM, k.UPTO]][answered],
        s.slot[rows, k.INDEX] - turn,
        s.slot[rows][:, _OF_SLOT],
        s.slot[rows, k.FIRST] - now,
        np.where(opened, s.slot[rows][:, [k.OPENED_AT, k.DEADLINE]] - now, 0),
        np.where(stage > k.OPEN, s.slot[rows, k.CLOSED_AT] - now, 0),
        np.where(stage > k.QUEUED, s.slot[rows, k.STARTED] - now, 0),
        np.where((stage == k.LANDING) | (stage == k.MERGES_NOW), s.slot[rows, k.DUE] - now, 0),
        np.where(given[:, :, 0], s.answered[rows] - kept, k.NEVER),
        np.where(given, s.carried[rows], 0),
        np.where(given, s.based[rows] - turn, 0),
    ]
    return np.concatenate([np.ravel(part) for part in whole])


def _amounts(s: State) -> Any:
    """Return all that is real and belongs to what comes."""
    runs = np.flatnonzero(s.learner[:, k.RUNS])
    rows = [
        slot % len(s.slot)
        for slot in range(s.number[k.OLDEST], s.number[k.TOP] + 1)
        if s.slot[slot % len(s.slot), k.INDEX] == slot
    ]
    given = s.answered[rows, :, None] > 0
    tokens = s.pace[runs, k.TOKENS]
    return np.concatenate(
        [
            s.real[_WINDOWS] if s.time[k.ROUND_TRIP] else [],
            s.pace[runs][:, [k.RATE, k.GAIN, k.AVERAGE]].ravel(),
            (s.tokens[runs] - tokens[:, None]).ravel(),
            (s.settled_tokens[runs] - tokens[:, None]).ravel(),
            np.where(given, s.brought[rows], 0.0).ravel(),
        ]
    )
