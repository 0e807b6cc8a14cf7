"""The protocol of Decoupled DiLoCo between two changes of the world, over arrays.

Its rules are those of `methods.decoupled_diloco`, `engine.syncer`, `engine.learner` and, for the
links, `engine.transfers`, where they are explained; whoever changes one changes the other. Here no
step, answer or arrival is an event of SimPy's. `advance` is compiled by numba. All that it calls
stands in this file, since numba compiles anew only when the file itself has changed. Slots,
learners and fragments are indices; a slot's row is its number modulo the number of rows.
"""

from __future__ import annotations

from math import inf, isnan
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numba
from numba.extending import register_jitable

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

# How `advance` ends: it is there, a buffer is full, steps are to be drawn, slot PAUSE_AT is the
# next, or there is no room for another slot.
DONE, FULL, DRAW, PAUSED, STUCK = range(5)

# When things of one instant happen: the values of `engine.clock.Rank`.
STEP_END, CLOSE, ARRIVAL, NEXT = 3, 5, 6, 7

# Accounts, in the order of `Arrays.spent`.
PRODUCTIVE, EXPOSED, WAITING = range(3)

# Columns of `Arrays.clock`: seconds, but for the rates (bit/s), bits, tokens and gamma. CLOSEST is
# how close two different instants have come, 0 where rounding alone may have made them one.
NOW, QUORUM_TIME, SYNC_TIME, FLOW_SINCE, FLOW_RATE, FLOW_END, RING_RATE = range(7)
LATENCY, BITS, GAMMA, LEAST_WAIT, TOKENS_MERGED, CLOSEST = range(7, 13)
CLOCK_COLUMNS = 13

# Columns of `Arrays.number`. LIVE counts live learners, AWAKE those that are to decide what they do
# next; CHECK says that slots may close now. NEXT_SLOT closes next, TOP is the last that somebody
# has answered, ARRIVED the last whose update is there, OLDEST the first whose is not; PAUSE_AT is a
# slot. WHO lacks steps. Sums since the start are followed by what the buffers hold now; NOTES
# merges are noted, NOTED have been.
QUORUM, TAU, AT_TAU, STEP_ON, CROSSES, LIVE, CHECK, AWAKE, NEXT_SLOT, TOP, ARRIVED = range(11)
OLDEST, FLOWS, MERGES, PARTICIPANTS, MERGED, OVERWRITTEN, NO_ROOM, WHO = range(11, 19)
SPILLED, AGED, BROUGHT, WAITED, SENT, LANDED, NOTED, NOTES, PAUSE_AT = range(19, 28)
NUMBER_COLUMNS = 28

# Columns of `Arrays.pace`: of a learner, in seconds but for RATE (a share), tokens and chips.
# IN_STEP is the time in the step under way since it was booked last, GAIN the tokens of a step.
ENDS, LEFT, STEP, RATE, SINCE, ENTERED, IN_STEP, TOKENS, GAIN, CHIPS, NOMINAL, AVERAGE = range(12)
PACE_COLUMNS = 12

# Columns of `Arrays.learner`. COUNT is its own count, SEEN the last slot that it has looked at for
# an update, BLOCKED the slot that it waits for (0: none), WAKES whether it is to decide, ANSWERED
# how many answers are in its queue, AFRESH whether a step has ended since it was booked last,
# RUNNING and COMPUTING what it counts as, UNEVEN whether its steps are drawn, DRAWN the first that
# is in `draws`, EARLY whether the step under way has been counted, all but its event.
RUNS, IS_LIVE, STEPPING, ACCOUNT, STEPS, DISCARDED, COUNT, BLOCKED, LOST, WAKES = range(10)
ANSWERED, SEEN, LATE, AFRESH, RUNNING, COMPUTING, UNEVEN, DRAWN, EARLY = range(10, 19)
LEARNER_COLUMNS = 19

# Columns of `Arrays.queue`: an answer whose update its learner has not received, though it may be
# there (KEPT).
SLOT, AT_STEP, KEPT = range(3)

# Columns of `Arrays.slot`, of which OWN counts the learners' own answers; stages of its exchange;
# columns of `Arrays.times`, in seconds and bits.
INDEX, OWN, ANSWERS, OPENED, STAGE = range(5)
NOWHERE, ON_LINK, ENDING, LANDING, THERE = range(5)
FIRST, OPENED_AT, DEADLINE, CLOSED_AT, UNSENT, DUE = range(6)
SLOT_COLUMNS, TIME_COLUMNS = 5, 6

# Columns of `Arrays.present` (seconds) and of `Arrays.presence`; rows: running, computing.
P_SINCE, P_GONE, P_TOTAL, P_ABSENT = range(4)
P_COUNT, P_BREAKS = range(2)

# A call would copy the shapes and places of all arrays, which takes longer than what it does.
inlined = register_jitable(forceinline=True)

NEVER = 1 << 62
EDGE = 1e-9
ROUNDING = 1e-12
WEIGHT = 0.1


class Arrays(NamedTuple):
    """All that the protocol knows; M learners, P fragments, C rows of slots, F fragments a slot.

    `queue` (M, C, 3) has the answers not yet received, in the order in which they were given, and
    `draws` (M, W) the compute of each learner's next steps, from step DRAWN on. Of slots,
    `answered` (C, M) says who has answered, and `carried`, `brought`, `based` (C, M, F) with which
    steps, tokens and bases. `due` has the fragments of residue r from `due_from[r]` on, `gap[r]`
    how far the next slot with a fragment is. What is to be told is put into `lags` and `steps`
    (how often which whole number came up; those beyond go to `spill`), `ages`, `tokens_in`,
    `waits`, `sent` and, of the first merges, `notes` and `weights`.
    """

    clock: Floats
    number: Ints
    pace: Floats
    learner: Ints
    spent: Floats
    received: Ints
    tokens: Floats
    bases: Ints
    queue: Ints
    draws: Floats
    slot: Ints
    times: Floats
    answered: Ints
    carried: Ints
    brought: Floats
    based: Ints
    due_from: Ints
    due: Ints
    gap: Ints
    present: Floats
    presence: Ints
    merged_in: Ints
    arrived_at: Floats
    lags: Ints
    steps: Ints
    spill: Ints
    ages: Floats
    tokens_in: Floats
    waits: Floats
    sent: Floats
    notes: Floats
    weights: Floats


@inlined
def change_presence(s: Arrays, row: int, now: float, by: int) -> None:
    """Let one more learner, or one fewer, be among those that run (0) or compute (1)."""
    before = s.presence[row, P_COUNT] >= 1
    s.presence[row, P_COUNT] += by
    after = s.presence[row, P_COUNT] >= 1
    if before == after:
        return
    if after:
        s.present[row, P_SINCE] = now
        gone = s.present[row, P_GONE]
        if now > gone:
            s.presence[row, P_BREAKS] += 1
            s.present[row, P_ABSENT] += now - gone
        s.present[row, P_GONE] = inf
    else:
        s.present[row, P_TOTAL] += now - s.present[row, P_SINCE]
        s.present[row, P_GONE] = now


@inlined
def appear(s: Arrays, m: int, running: int, computing: int) -> None:
    """Note whether a learner runs, and whether it computes."""
    if running != s.learner[m, RUNNING]:
        change_presence(s, 0, s.clock[NOW], running - s.learner[m, RUNNING])
        s.learner[m, RUNNING] = running
    if computing != s.learner[m, COMPUTING]:
        change_presence(s, 1, s.clock[NOW], computing - s.learner[m, COMPUTING])
        s.learner[m, COMPUTING] = computing


READY = 2


@inlined
def wake(s: Arrays, m: int) -> None:
    """Let a learner look, after all else at this instant, what it does next."""
    if not s.learner[m, WAKES]:
        s.number[AWAKE] += 1
    s.learner[m, WAKES] = 1


@inlined
def wake_ready(s: Arrays, m: int) -> None:
    """Let a learner whose stall is over look, after all else at this instant, what it does next."""
    if not s.learner[m, WAKES]:
        s.number[AWAKE] += 1
        s.learner[m, WAKES] = READY


@inlined
def settle(s: Arrays, m: int) -> None:
    """Count a running learner's time up to now."""
    now = s.clock[NOW]
    elapsed = now - s.pace[m, SINCE]
    s.spent[m, s.learner[m, ACCOUNT]] += elapsed
    if s.learner[m, STEPPING]:
        s.pace[m, IN_STEP] += elapsed
    s.pace[m, SINCE] = now


@inlined
def leave_wait(s: Arrays, m: int) -> None:
    """Note the wait that ends now, if it is one and long enough to be told."""
    now = s.clock[NOW]
    entered = s.pace[m, ENTERED]
    account = s.learner[m, ACCOUNT]
    if account != PRODUCTIVE and s.learner[m, RUNS] and now - entered >= s.clock[LEAST_WAIT]:
        row = s.number[WAITED]
        s.waits[row, 0] = m
        s.waits[row, 1] = entered
        s.waits[row, 2] = now
        s.waits[row, 3] = account
        s.waits[row, 4] = s.pace[m, CHIPS]
        s.number[WAITED] += 1
    s.pace[m, ENTERED] = now


@inlined
def wait(s: Arrays, m: int, account: int) -> None:
    """Let a learner wait in an account."""
    if s.learner[m, RUNS]:
        leave_wait(s, m)
        settle(s, m)
        appear(s, m, int(account != WAITING), 0)
    s.learner[m, ACCOUNT] = account


@inlined
def average(value: float, sample: float) -> float:
    """Take a sample into a moving average, which it starts where that is not a number."""
    return sample if isnan(value) else value + WEIGHT * (sample - value)


@inlined
def following(s: Arrays, slot: int) -> int:
    """Return the first slot after one in which a fragment is due."""
    return int(slot + s.gap[slot % len(s.gap)])


@inlined
def complete(s: Arrays, row: int) -> bool:
    """Whether every live learner has answered a slot."""
    for m in range(len(s.pace)):  # noqa: SIM110  # numba compiles no generators
        if s.learner[m, IS_LIVE] and not s.answered[row, m]:
            return False
    return True


# Steps and answers.


@inlined
def open_slot(s: Arrays, row: int) -> None:
    """A slot has its quorum: the grace window begins."""
    now = s.clock[NOW]
    s.slot[row, OPENED] = 1
    s.times[row, OPENED_AT] = now
    s.clock[QUORUM_TIME] = average(s.clock[QUORUM_TIME], now - s.times[row, FIRST])
    grace = 0.0
    if s.clock[GAMMA] > 0.0:
        fastest = inf
        for m in range(len(s.pace)):
            if s.learner[m, IS_LIVE]:
                mean = s.pace[m, AVERAGE]
                fastest = min(fastest, s.pace[m, NOMINAL] if isnan(mean) else mean)
        if fastest == inf:
            fastest = 0.0
        passed = s.clock[QUORUM_TIME]
        if not isnan(s.clock[SYNC_TIME]):
            passed += s.clock[SYNC_TIME]
        slack = max(0.0, s.number[TAU] * fastest - passed)
        grace = min(fastest, s.clock[GAMMA] * slack)
    s.times[row, DEADLINE] = now + grace
    if complete(s, row):
        s.number[CHECK] = 1


@inlined
def answer(s: Arrays, m: int, index: int, own: bool) -> None:
    """Let a learner answer a slot."""
    last = s.learner[m, ANSWERED]
    if last == s.queue.shape[1]:
        s.number[NO_ROOM] = 1
        return
    row = index % len(s.slot)
    residue = index % len(s.gap)
    first = s.due_from[residue]
    steps = s.learner[m, STEPS]
    for f in range(s.due_from[residue + 1] - first):
        p = s.due[first + f]
        s.carried[row, m, f] = steps - s.received[m, p]
        s.brought[row, m, f] = s.pace[m, TOKENS] - s.tokens[m, p]
        s.based[row, m, f] = s.bases[m, p]
    s.answered[row, m] = 1
    s.slot[row, ANSWERS] += 1
    s.queue[m, last, SLOT] = index
    s.queue[m, last, AT_STEP] = steps
    s.queue[m, last, KEPT] = 0
    s.learner[m, ANSWERED] += 1
    if own and not s.slot[row, OPENED]:
        if s.slot[row, OWN] == 0:
            s.times[row, FIRST] = s.clock[NOW]
        s.slot[row, OWN] += 1
        if s.slot[row, OWN] >= s.number[QUORUM]:
            open_slot(s, row)
            return
    if s.slot[row, OPENED] and complete(s, row):
        s.number[CHECK] = 1


@inlined
def answer_behind(s: Arrays, m: int, strictly: float) -> None:
    """Answer the slots that opened before this step ended and that this learner is behind."""
    count = s.learner[m, COUNT]
    for index in range(max(count + 1, s.number[NEXT_SLOT]), s.number[TOP] + 1):
        row = index % len(s.slot)
        if s.slot[row, INDEX] != index or not s.slot[row, OPENED] or s.answered[row, m]:
            continue
        if s.times[row, OPENED_AT] < strictly:
            residue = index % len(s.gap)
            for f in range(s.due_from[residue], s.due_from[residue + 1]):
                if s.learner[m, STEPS] > s.received[m, s.due[f]]:
                    answer(s, m, index, False)
                    break


@inlined
def answer_own(s: Arrays, m: int) -> None:
    """Answer the slot of this learner's own step, if it has not closed."""
    count = s.learner[m, COUNT]
    residue = count % len(s.gap)
    if s.due_from[residue] == s.due_from[residue + 1]:
        return
    if count < s.number[NEXT_SLOT]:
        s.learner[m, LATE] += 1
        return
    row = count % len(s.slot)
    if s.slot[row, INDEX] != count:
        if count - s.number[OLDEST] >= len(s.slot):
            s.number[NO_ROOM] = 1
            return
        s.slot[row, INDEX] = count
        s.slot[row, OWN] = s.slot[row, ANSWERS] = s.slot[row, OPENED] = 0
        s.slot[row, STAGE] = NOWHERE
        s.answered[row, :] = 0
        s.number[TOP] = max(s.number[TOP], count)
    if not s.answered[row, m]:
        answer(s, m, count, True)


@inlined
def step_over(s: Arrays, m: int) -> None:
    """A learner has ended a step."""
    now = s.clock[NOW]
    settle(s, m)
    s.pace[m, IN_STEP] = 0.0
    s.pace[m, ENDS] = inf
    if not s.learner[m, EARLY]:
        s.pace[m, TOKENS] += s.pace[m, GAIN]
        s.learner[m, STEPS] += 1
    s.learner[m, EARLY] = 0
    s.pace[m, AVERAGE] = average(s.pace[m, AVERAGE], s.pace[m, STEP])
    s.learner[m, AFRESH] = 1
    s.learner[m, STEPPING] = 0
    s.learner[m, COUNT] += 1
    answer_behind(s, m, now - EDGE * s.pace[m, STEP])
    answer_own(s, m)
    wake(s, m)


# What a learner does next.


@inlined
def overwrite(s: Arrays, m: int, p: int, residue: int) -> None:
    """Receive a fragment, due at this residue: steps that no answer carries are lost."""
    kept = s.received[m, p]
    for i in range(s.learner[m, ANSWERED]):
        if s.queue[m, i, SLOT] % len(s.gap) == residue:
            kept = max(kept, s.queue[m, i, AT_STEP])
    s.number[OVERWRITTEN] += s.learner[m, STEPS] - kept
    s.received[m, p] = s.learner[m, STEPS]
    s.tokens[m, p] = s.pace[m, TOKENS]


@inlined
def take(s: Arrays, m: int, index: int, place: int) -> None:
    """Receive a slot's update; `place` is that of the answer to it in the queue, -1 without."""
    s.learner[m, COUNT] = max(s.learner[m, COUNT], index)
    residue = index % len(s.gap)
    for f in range(s.due_from[residue], s.due_from[residue + 1]):
        overwrite(s, m, s.due[f], residue)
        s.bases[m, s.due[f]] = index
    if place >= 0:
        s.learner[m, ANSWERED] -= 1
        for i in range(place, s.learner[m, ANSWERED]):
            s.queue[m, i, SLOT] = s.queue[m, i + 1, SLOT]
            s.queue[m, i, AT_STEP] = s.queue[m, i + 1, AT_STEP]
            s.queue[m, i, KEPT] = s.queue[m, i + 1, KEPT]


@inlined
def receive(s: Arrays, m: int, at_tau: int) -> None:
    """Receive what has arrived, but `at_tau` what was answered less than tau steps ago."""
    early = s.learner[m, STEPS] - s.number[TAU] if at_tau else s.learner[m, STEPS]
    while True:
        first = -1
        for place in range(s.learner[m, ANSWERED]):
            ripe = s.queue[m, place, KEPT] and s.queue[m, place, AT_STEP] <= early
            if ripe and (first < 0 or s.queue[m, place, SLOT] < s.queue[m, first, SLOT]):
                first = place
        if first < 0:
            break
        take(s, m, s.queue[m, first, SLOT], first)
    index = following(s, s.learner[m, SEEN])
    while index <= s.number[ARRIVED]:
        place = -1
        for i in range(s.learner[m, ANSWERED]):
            if s.queue[m, i, SLOT] == index:
                place = i
        if place >= 0 and s.queue[m, place, AT_STEP] > early:
            s.queue[m, place, KEPT] = 1
        else:
            take(s, m, index, place)
        index = following(s, index)
    s.learner[m, SEEN] = s.number[ARRIVED]


@inlined
def forget_steps(s: Arrays, m: int) -> None:
    """Take all fragments from the replica: none of the learner's own steps is left in them."""
    for residue in range(len(s.gap)):
        for f in range(s.due_from[residue], s.due_from[residue + 1]):
            overwrite(s, m, s.due[f], residue)


@inlined
def start(s: Arrays, m: int) -> None:
    """Begin the next step."""
    now = s.clock[NOW]
    if s.learner[m, ACCOUNT] != PRODUCTIVE or s.pace[m, SINCE] != now:
        leave_wait(s, m)
        settle(s, m)
        s.learner[m, ACCOUNT] = PRODUCTIVE
    step = s.pace[m, NOMINAL]
    if s.learner[m, UNEVEN]:
        step = s.draws[m, s.learner[m, STEPS] + s.learner[m, DISCARDED] - s.learner[m, DRAWN]]
    s.pace[m, STEP] = s.pace[m, LEFT] = step
    s.pace[m, ENDS] = now + step / s.pace[m, RATE]
    s.learner[m, STEPPING] = 1
    appear(s, m, 1, 1)


@inlined
def decide(s: Arrays, m: int) -> None:
    """Let a learner at a step boundary receive what is there, and block or step on."""
    why = s.learner[m, WAKES]
    s.learner[m, WAKES] = 0
    s.number[AWAKE] -= 1
    if s.learner[m, STEPPING]:
        return
    runs, lost = s.learner[m, RUNS], s.learner[m, LOST]
    if not runs and (why == READY or lost or not s.learner[m, IS_LIVE]):
        return
    receive(s, m, 0 if lost else s.number[AT_TAU])
    if not runs:
        return
    if lost:
        forget_steps(s, m)
        s.learner[m, LOST] = 0
    s.learner[m, BLOCKED] = 0
    if s.learner[m, ANSWERED]:
        index = s.queue[m, 0, SLOT]
        closed = index < s.number[NEXT_SLOT]
        binds = closed or not s.number[STEP_ON] or s.number[LIVE] >= s.number[QUORUM]
        if binds and s.learner[m, STEPS] - s.queue[m, 0, AT_STEP] >= s.number[TAU]:
            s.learner[m, BLOCKED] = index
            wait(s, m, EXPOSED if closed else WAITING)
            return
    start(s, m)


@inlined
def undrawn(s: Arrays, m: int) -> bool:
    """Whether the compute of a learner's next step has not been drawn yet."""
    if not s.learner[m, UNEVEN]:
        return False
    place = s.learner[m, STEPS] + s.learner[m, DISCARDED] - s.learner[m, DRAWN]
    return bool(place >= s.draws.shape[1])


# What the syncer does.


@inlined
def close_ready(s: Arrays) -> None:
    """Close slots in their order, as far as they can be."""
    s.number[CHECK] = 0
    while s.number[LIVE] >= s.number[QUORUM]:
        index = s.number[NEXT_SLOT]
        row = index % len(s.slot)
        if s.slot[row, INDEX] != index or not s.slot[row, OPENED]:
            return
        if s.clock[NOW] < s.times[row, DEADLINE] and not complete(s, row):
            return
        close(s, index, row)


@inlined
def close(s: Arrays, index: int, row: int) -> None:
    """Merge what has been answered to a slot, and send it."""
    now = s.clock[NOW]
    s.times[row, CLOSED_AT] = now
    s.number[MERGES] += 1
    s.number[PARTICIPANTS] += s.slot[row, ANSWERS]
    residue = index % len(s.gap)
    first, end = s.due_from[residue], s.due_from[residue + 1]
    tokens = 0.0
    for m in range(len(s.pace)):
        if not s.answered[row, m]:
            continue
        for f in range(end - first):
            lag = max(0, s.merged_in[s.due[first + f]] - s.based[row, m, f])
            count(s, s.lags, lag, 0)
            count(s, s.steps, s.carried[row, m, f], 1)
            s.number[MERGED] += s.carried[row, m, f]
            tokens += s.brought[row, m, f]
    tokens /= len(s.due)
    s.clock[TOKENS_MERGED] += tokens
    s.tokens_in[s.number[BROUGHT]] = tokens
    s.number[BROUGHT] += 1
    for f in range(first, end):
        s.merged_in[s.due[f]] = index
    s.number[NEXT_SLOT] = following(s, index)
    for m in range(len(s.pace)):
        if s.answered[row, m] and s.learner[m, BLOCKED] == index:
            wait(s, m, EXPOSED)
    if not s.number[CROSSES]:
        land(s, row)
        return
    settle_flows(s)
    s.slot[row, STAGE] = ON_LINK
    s.times[row, UNSENT] = s.clock[BITS] * (end - first)
    s.number[FLOWS] += 1
    share(s)


@inlined
def count(s: Arrays, tally: Ints, value: int, kind: int) -> None:
    """Count a whole number that came up."""
    if value < len(tally):
        tally[value] += 1
    else:
        s.spill[s.number[SPILLED], 0] = kind
        s.spill[s.number[SPILLED], 1] = value
        s.number[SPILLED] += 1


@inlined
def record(s: Arrays, begun: float, end: float, bits: float) -> None:
    """Note what went over the link."""
    row = s.number[SENT]
    s.sent[row, 0] = begun
    s.sent[row, 1] = end
    s.sent[row, 2] = bits
    s.number[SENT] += 1


@inlined
def settle_flows(s: Arrays) -> None:
    """Bring what is left of each exchange up to now."""
    now = s.clock[NOW]
    elapsed = now - s.clock[FLOW_SINCE]
    if elapsed > 0.0 and s.number[FLOWS]:
        total = 0.0
        index = s.number[OLDEST]
        while index < s.number[NEXT_SLOT]:
            row = index % len(s.slot)
            if s.slot[row, STAGE] == ON_LINK or s.slot[row, STAGE] == ENDING:
                moved = min(s.times[row, UNSENT], s.clock[FLOW_RATE] * elapsed)
                s.times[row, UNSENT] -= moved
                total += moved
            index = following(s, index)
        record(s, s.clock[FLOW_SINCE], now, total)
    s.clock[FLOW_SINCE] = now


@inlined
def least(s: Arrays, stage: int, column: int) -> float:
    """Return the least of a column of `times` among the slots at a stage, inf without any."""
    found = inf
    index = s.number[OLDEST]
    while index < s.number[NEXT_SLOT]:
        row = index % len(s.slot)
        if s.slot[row, STAGE] == stage:
            found = min(found, s.times[row, column])
        index = following(s, index)
    return found


@inlined
def share(s: Arrays) -> None:
    """Share the link evenly among the exchanges on it, and see when the first ends."""
    s.clock[FLOW_END] = inf
    if s.number[FLOWS]:
        rate = s.clock[RING_RATE] / s.number[FLOWS]
        s.clock[FLOW_RATE] = rate
        if rate > 0.0:
            left = 0.0 if rate == inf else least(s, ON_LINK, UNSENT) / rate
            s.clock[FLOW_END] = s.clock[NOW] + left


@inlined
def end_flows(s: Arrays) -> None:
    """The exchange that was waited for is off the link, and those that end with it."""
    now, rate = s.clock[NOW], s.clock[FLOW_RATE]
    moved = least(s, ON_LINK, UNSENT)  # whatever rounding says of it
    if rate == inf:
        moved = inf
    else:
        moved = max(moved, rate * (now - s.clock[FLOW_SINCE]) * (1.0 + ROUNDING))
    index = s.number[OLDEST]
    while index < s.number[NEXT_SLOT]:
        row = index % len(s.slot)
        if s.slot[row, STAGE] == ON_LINK and s.times[row, UNSENT] <= moved:
            s.slot[row, STAGE] = ENDING
        index = following(s, index)
    settle_flows(s)
    rest = 0.0
    index = s.number[OLDEST]
    while index < s.number[NEXT_SLOT]:
        row = index % len(s.slot)
        if s.slot[row, STAGE] == ENDING:
            rest += s.times[row, UNSENT]
            s.slot[row, STAGE] = LANDING
            s.times[row, DUE] = now + s.clock[LATENCY]
            s.number[FLOWS] -= 1
        index = following(s, index)
    if rest > 0.0:
        record(s, now, now, rest)
    share(s)


@inlined
def land(s: Arrays, row: int) -> None:
    """A slot's update is there; it arrives once all before it have."""
    s.slot[row, STAGE] = THERE
    while s.number[OLDEST] < s.number[NEXT_SLOT]:
        first = s.number[OLDEST] % len(s.slot)
        if s.slot[first, STAGE] != THERE:
            return
        arrive(s, s.number[OLDEST], first)
        s.number[OLDEST] = following(s, s.number[OLDEST])


@inlined
def arrive(s: Arrays, index: int, row: int) -> None:
    """A slot's update is there for all, after those before it."""
    now = s.clock[NOW]
    closed = s.times[row, CLOSED_AT]
    s.clock[SYNC_TIME] = average(s.clock[SYNC_TIME], now - closed)
    s.number[ARRIVED] = index
    s.number[LANDED] += 1
    residue = index % len(s.gap)
    for f in range(s.due_from[residue], s.due_from[residue + 1]):
        p = s.due[f]
        s.ages[s.number[AGED]] = now - s.arrived_at[p]
        s.arrived_at[p] = now
        s.number[AGED] += 1
    if s.number[NOTED] < s.number[NOTES]:
        note(s, index, row)
    for m in range(len(s.pace)):
        if s.learner[m, BLOCKED] and not s.learner[m, STEPPING]:
            wake(s, m)


@inlined
def note(s: Arrays, index: int, row: int) -> None:
    """Note a merge: its slot, when it closed and arrived, who took part with which weight."""
    place = s.number[NOTED]
    s.notes[place, 0] = index
    s.notes[place, 1] = s.times[row, CLOSED_AT]
    s.notes[place, 2] = s.clock[NOW]
    residue = index % len(s.gap)
    for m in range(len(s.pace)):
        s.weights[place, m] = -1.0
        if s.answered[row, m]:
            steps = 0
            tokens = 0.0
            for f in range(s.due_from[residue + 1] - s.due_from[residue]):
                steps += s.carried[row, m, f]
                tokens += s.brought[row, m, f]
            s.weights[place, m] = tokens * tokens / steps if steps else 0.0
    s.number[NOTED] += 1


@inlined
def let_land(s: Arrays) -> None:
    """Let those updates land whose time it is."""
    index = s.number[OLDEST]
    end = s.number[NEXT_SLOT]
    while index < end:
        row = index % len(s.slot)
        following_one = following(s, index)
        if s.slot[row, STAGE] == LANDING and s.times[row, DUE] <= s.clock[NOW]:
            land(s, row)
        index = following_one


@inlined
def closing(s: Arrays) -> float:
    """Return when a slot may close, inf where none can."""
    now = float(s.clock[NOW])
    if s.number[CHECK]:
        return now
    row = s.number[NEXT_SLOT] % len(s.slot)
    if s.slot[row, INDEX] != s.number[NEXT_SLOT] or not s.slot[row, OPENED]:
        return inf
    if s.number[LIVE] < s.number[QUORUM]:
        return inf
    return max(now, float(s.times[row, DEADLINE]))


@inlined
def full(s: Arrays) -> bool:
    """Whether a buffer may not hold what the next thing puts into it."""
    rows = len(s.slot)
    return bool(
        s.number[AGED] + rows * s.carried.shape[2] > len(s.ages)
        or s.number[BROUGHT] + rows > len(s.tokens_in)
        or s.number[WAITED] + 2 * len(s.pace) > len(s.waits)
        or s.number[SENT] + 2 * rows > len(s.sent)
        or s.number[SPILLED] + 2 * s.carried.size > len(s.spill)
    )


@inlined
def decide_all(s: Arrays) -> bool:
    """Let all decide that are to; False where the steps of one are to be drawn first."""
    for m in range(len(s.pace)):
        if s.learner[m, WAKES]:
            if undrawn(s, m):
                s.number[WHO] = m
                return False
            decide(s, m)
    return True


def advance(s: Arrays, until: float, rank: int) -> int:
    """Let everything happen that comes before `until`, or at it with a lower rank.

    Returns DONE, or what has to be done before it is called again.
    """
    while True:
        time = inf
        for m in range(len(s.pace)):
            time = min(time, s.pace[m, ENDS])
        kind = STEP_END
        ends = time
        closes = closing(s)
        if closes < time:
            time, kind = closes, CLOSE
        arrives = inf
        lands = inf
        if s.number[CROSSES]:
            lands = least(s, LANDING, DUE)
            arrives = min(lands, s.clock[FLOW_END])
            if arrives < time:
                time, kind = arrives, ARRIVAL
        if s.number[AWAKE] and s.clock[NOW] < time:
            time, kind = s.clock[NOW], NEXT
        if s.number[NO_ROOM]:
            return STUCK
        if time > until or (time == until and kind >= rank):
            s.clock[NOW] = until
            return DONE
        if full(s):
            return FULL
        if s.number[NEXT_SLOT] >= s.number[PAUSE_AT]:
            return PAUSED
        if time > s.clock[NOW]:
            s.clock[CLOSEST] = min(s.clock[CLOSEST], time - s.clock[NOW])
        if arrives == ends and ends < inf:
            s.clock[CLOSEST] = 0.0
        s.clock[NOW] = time
        closes_now, decides = kind == CLOSE, kind == NEXT
        if kind == STEP_END:
            for m in range(len(s.pace)):
                if s.pace[m, ENDS] == time:
                    step_over(s, m)
            if time < until and not s.number[CROSSES]:
                # Most often this is all that there is at this instant.
                closes_now, decides = closing(s) <= time, True
        elif kind == ARRIVAL:
            if lands <= s.clock[FLOW_END]:
                let_land(s)
            else:
                end_flows(s)
        if closes_now:
            close_ready(s)
            decides = decides and closing(s) > time
        if decides and not decide_all(s):
            return DRAW


def compile_advance(arrays: Arrays) -> Callable[[Arrays, float, int], int]:
    """Return `advance` as machine code, kept on disk where there is a place for it.

    Nothing in this file makes an array or keeps one. That allows to leave out the counting of
    references, which would take most of the time.
    """
    types = (numba.typeof(arrays), numba.float64, numba.int64)  # type: ignore[no-untyped-call]
    uncounted: dict[str, Any] = {"_nrt": False}
    for options in ({"cache": True, **uncounted}, uncounted, {"cache": True}, {}):
        try:
            code = numba.njit(**options)(advance)
            code.compile(types)
        except Exception as error:  # a full disk, a damaged file, no such option
            reason = error
        else:
            return cast("Callable[[Arrays, float, int], int]", code)
    raise reason
