"""The protocol of the DiLoCo family: the rules by which learners step, slots are merged and arrive.

A rule is a function over flat arrays of one run (`State`), with its own name. Nothing here knows of
SimPy, of hardware or of files: `advance` lets everything happen up to an instant, and hands back
what it does not know (`Hand`) to the driver. It runs as it stands, over memory views, or compiled
by numba; what it calls stands in this file, since numba compiles anew only when that has changed.

Instants and durations are whole nanoseconds, averages, bits and rates are real. Slots, learners and
fragments are indices; a slot's row is its number modulo the number of rows. The rules are those of
arXiv 2604.21428 and, for lock-step methods, arXiv 2311.08105 and 2501.18512.
"""

from __future__ import annotations

from math import inf, isnan
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from ddsim.engine.settled import Settled

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    Reals = NDArray[np.float64]
    Ints = NDArray[np.int64]

# How `advance` ends. DONE: it is there. FULL: a buffer is. DRAW: steps of learner WHO are to be
# drawn. PAUSED: slot PAUSE_AT is the next. CROWDED: there may be no room for another slot. The rest
# hands something over: slot WHICH has CLOSED or ARRIVED and a policy wants to know; its exchange is
# to BEGIN among replicas that may leave; all that have hardware are there, and somebody is to JUDGE
# those that have none; learner WHO is to SAVE or to REJOIN; the GOAL is reached.
DONE, FULL, DRAW, PAUSED, CROWDED, CLOSED, BEGIN, ARRIVED, JUDGE, SAVE, REJOIN, GOAL = range(12)

# When things of one instant happen: the values of `engine.clock.Rank`.
STEP_END, LAST_BIT, CLOSE, ARRIVAL, NEXT = 3, 5, 6, 7, 8

# Accounts, in the order of `State.spent`.
PRODUCTIVE, EXPOSED, WAITING, LOADING = range(4)

# Columns of `State.time`. LINK_ENDS is when the last bit of the exchange under way is out, MERGING
# until when merges take the syncer, CLOSES when the next slot may close unless CHECK says to look,
# LINK_FREE when all is out that lock-step learners have sent. Where ROUND_TRIP is above 0 exchanges
# start slowly: ROUND_ENDS is when the round trip under way is over, LAST_OUT when the last bit was
# out, SLOW_UNTIL up to when what was sent last was held back; _BEFORE: as it stood before that.
NOW, LINK_ENDS, MERGING, LATENCY, MERGE_TIME, LEAST_WAIT, TIMEOUT = range(7)
SAVE_INTERVAL, SAVE_FLIGHT, CLOSES, LINK_FREE = range(7, 11)
ROUND_TRIP, ROUND_ENDS, LAST_OUT, SLOW_UNTIL, ROUND_ENDS_BEFORE, LAST_OUT_BEFORE = range(11, 17)
TIMES = 17

# Columns of `State.real`: moving averages (ns), gamma, what a bit of payload puts on every hop,
# parameters of a mean fragment, bits a parameter, tokens; MEASURED is what the last exchange got
# (bit/s), MIXING what a learner keeps of its own fragment in lock-step. FIRST_WINDOW is what an
# exchange sends in its first round trip, WINDOW in the present one and ROOM what of that may still
# go (infinite once it is open), SLOWLY what of what was sent last had gone by SLOW_UNTIL: bits on
# every hop. COUNTED_GOAL are tokens that count, of those overwritten the share WORTH.
QUORUM_TIME, SYNC_TIME, GAMMA, SHARE, PARAMETERS, PAYLOAD, TOKEN_GOAL, MEASURED = range(8)
MIXING = 8
FIRST_WINDOW, WINDOW, ROOM, SLOWLY, WINDOW_BEFORE, ROOM_BEFORE = range(9, 15)
COUNTED_GOAL, WORTH = 15, 16
REALS = 17

# Columns of `State.number`. LIVE counts learners that are live and heard, AWAKE those that are to
# decide what they do next; CHECK says that slots may close now. In LOCKSTEP fragments are needed
# TAU steps later, at gates within the step where they leave BY_LAYER; OTHERS_GO_ON where somebody
# has no hardware, and where that LEAVES, it is out until it has taken H steps on its own; at a
# BARRIER all hand in, and receive, at once. LAST has closed last, NEXT_SLOT
# closes next, TOP is the last that somebody has answered, SENDS the first whose exchange has not
# begun, UNDER_WAY the one on the link (0: none), ARRIVED_SLOT the last whose update is there,
# OLDEST the first whose is not, LANDS the first whose merge has not begun; PAUSE_AT is a slot. Sums
# since the start are followed by what the buffers hold now; NOTES says whether merges are noted.
QUORUM, TAU, PERIOD, FRAGMENTS, AT_TAU, STEP_ON, CROSSES, OUTSIDE, STANDING = range(9)
POLICY, TAPED, SAVE_STEPS, TURNS, LOCKSTEP, BY_LAYER = range(9, 15)
LAYERS, OTHERS_GO_ON, BARRIER, LEAVES = range(15, 19)
LIVE, CHECK, AWAKE, NEXT_SLOT, TOP, SENDS, UNDER_WAY, ARRIVED_SLOT, OLDEST, LANDS = range(19, 29)
HAND, WHO, WHICH, LAST, REACHED, PAUSE_AT = range(29, 35)
MERGES, PARTICIPANTS, SETTINGS_SENT = range(35, 38)
SPILLED, AGED, BROUGHT, WAITED, SENT, LANDED, TAPES, NOTED, NOTES = range(38, 47)
NUMBERS = 47

# Columns that hold what a parameter of the scenario says, for all methods alike; times are in
# seconds there.
TIME_SAYS = {MERGE_TIME: "training.syncer_time", TIMEOUT: "network.ring_timeout"}
REAL_SAYS = {PAYLOAD: "training.payload_bits"}
NUMBER_SAYS = {LAYERS: "model.layers"}

# Columns of `State.learner`. ENDS is when the step under way does, LEFT its compute when it stands,
# STEP its compute in all, IN_STEP the time in it since it was booked last; ENTERED when the present
# account began. COUNT is its own count, SEEN the last slot that it has looked at for an update,
# REACH the last whose update its replica has, BLOCKED the slot that it waits for (0: none), WAKES
# whether it is to decide, ANSWERED how many answers are in its queue, AFRESH whether a step has
# ended since it was booked last, UNEVEN whether its steps are drawn, DRAWN the first in `draws`,
# FRESH whether it has not answered since it came back, DATA how long the step that begins waits
# for its data. UNDONE are the steps that were taken back, GONE_AT is how many it had of the others
# when its unit was lost. In lock-step: STOP_AT is how far into the step it goes before it looks at
# a gate, MID_STEP whether it stands at one, GATE the fragment that it waits for there, RUNS_OF_STEP
# the rows of `course`, HARDWARE whether it is counted on: it has any, TAKEN_IN the last slot whose
# fragments it has received, ALONE how many steps it is still to take on its own, OUT whether others
# have gone on without it, CUT_OFF whether its link is cut. SAVED_AT is the step after which it
# began to save last. HOST is which units share their compute with it, SHARED_BY how many those are,
# with its own, RESTARTS whether it loads the host though it takes no step.
ENDS, LEFT, STEP, SINCE, ENTERED, IN_STEP, NOMINAL, CHIPS = range(8)
RUNS, IS_LIVE, HEARD, STEPPING, ACCOUNT, STEPS, DISCARDED, COUNT, BLOCKED, LOST = range(8, 18)
WAKES, ANSWERED, SEEN, REACH, LATE, AFRESH, RUNNING, COMPUTING, UNEVEN, DRAWN = range(18, 28)
FRESH, UNSAVED_STEPS, UNSAVED_RUN = range(28, 31)
STOP_AT, MID_STEP, GATE, RUNS_OF_STEP, HARDWARE, UNDONE, SAVED_AT = range(31, 38)
DATA, TAKEN_IN, GONE_AT, ALONE, OUT, CUT_OFF, HOST, SHARED_BY, RESTARTS = range(38, 47)
LEARNER_COLUMNS = 47

# Columns of `State.pace`: what of a learner is real. RATE is a share of its speed, GAIN the tokens
# of a step; WORK (chip-nanoseconds) and COMPUTE (nanoseconds) are what it did and kept. Of that,
# MERGED and OVERWRITTEN are steps, and MERGED_TOKENS tokens, summed over the fragments. GONE_TOKENS
# is what it had when its unit was lost. SPEED is what it gets of its host, 1 where all compute that
# share it, SHORTEST how long a step takes that has the host for itself, as a share of that.
RATE, TOKENS, GAIN, AVERAGE, WORK, COMPUTE, MERGED, OVERWRITTEN, MERGED_TOKENS = range(9)
GONE_TOKENS, SPEED, SHORTEST = 9, 10, 11
PACE_COLUMNS = 12

# Columns of `State.queue`: an answer whose update its learner has not received, though it may be
# there (KEPT), for fragments FROM up to UPTO.
SLOT, AT_STEP, KEPT, FROM, UPTO = range(5)

# Columns of `State.slot`, of which OWN counts the learners' own answers, LEAST is its first
# fragment and BEYOND the one after its last, AFTER the slot that closes after it, LAST_OWN when
# somebody has answered it last; stages of its exchange.
INDEX, OWN, ANSWERS, OPENED, STAGE, FIRST, OPENED_AT, DEADLINE, CLOSED_AT, STARTED, DUE = range(11)
LEAST, BEYOND, AFTER, LAST_OWN = range(11, 15)
SLOT_COLUMNS = 15
OPEN, QUEUED, ON_LINK, LANDING, THERE, MERGES_NOW, HAS_ARRIVED = range(7)

# Columns of `State.course`: since when a step goes on, from which compute, and of `marks`.
SINCE_WHEN, FROM_WHERE = range(2)
MARK_WORK, MARK_STEPS, MARK_TOKENS, MARK_COMPUTE = range(4)

# Columns of `State.turns`: from slot START on fragments are due every INNER slots from BASE on.
START, BASE, INNER = range(3)

# Columns of `State.presence`; rows: running, computing.
P_SINCE, P_GONE, P_TOTAL, P_ABSENT, P_COUNT, P_BREAKS = range(6)

# Columns of `State.tape` and its kinds.
KIND, AT, LEARNER, WHAT, HOW_MANY = range(5)
STEPPED, GAVE, MERGED_SLOT, RECEIVED, STALE, TOO_LATE = range(6)

OF_LAGS, OF_STEPS = range(2)
READY = 2  # a learner whose stall is over, beside 1 for one that is at a step boundary
NEVER = 1 << 62
SECOND = 1_000_000_000
WEIGHT = 0.1
ENOUGH = 1.0 - 1e-9  # of tokens, which are sums of reals


RULES: list[Callable[..., Any]] = []
F = TypeVar("F", bound="Callable[..., Any]")


def rule(function: F) -> F:
    """Mark what `advance` reaches: it is compiled with it."""
    RULES.append(function)
    return function


class State(NamedTuple):
    """All that the protocol knows; M learners, P fragments, C rows of slots, F fragments a slot.

    `queue` (M, C, 5) has the answers not yet received, in the order in which they were given, and
    `draws` (M, W) the compute of each learner's next steps, from step DRAWN on, `loads` (M, W) how
    long each waits for its data. `received` and `tokens` (M, P) are how many steps and tokens a
    learner had, of those that it kept, when it received each fragment last; `settled` and
    `settled_tokens` those with which an answer was merged last. Of slots, `answered` (C, M) says
    after how many steps each learner answered, plus 1; `carried`, `brought`, `based` (C, M, F) are
    the steps and tokens since the receipt, which weights count, and the bases. `sizes` (P) is how
    large each fragment is beside the mean, `link_from` and `link_rate` are since when exchanges
    move how many bits a second on every hop. What is to be told is put into `lags` and `steps` (how
    often which whole number came up; those beyond go to `spill`), `ages`, `tokens_in`, `waits`,
    `sent`, `tape` with `tape_weights`, `settings` (sums over exchanges) and, where merges are
    noted, `notes` and `weights`.
    """

    time: Ints
    real: Reals
    number: Ints
    learner: Ints
    pace: Reals
    spent: Ints
    received: Ints
    tokens: Reals
    settled: Ints
    settled_tokens: Reals
    bases: Ints
    queue: Ints
    draws: Ints
    loads: Ints
    slot: Ints
    sent_bits: Reals
    sent_at: Reals
    answered: Ints
    carried: Ints
    brought: Reals
    based: Ints
    turns: Ints
    sizes: Reals
    share_from: Ints
    shares: Reals
    course: Ints
    course_rate: Reals
    releases: Ints
    heads: Ints
    fragment_at: Ints
    marks: Reals
    marked: Ints
    link_from: Ints
    link_rate: Reals
    presence: Ints
    merged_in: Ints
    arrived_at: Ints
    sent_in: Ints
    lags: Ints
    steps: Ints
    spill: Ints
    ages: Ints
    tokens_in: Reals
    waits: Ints
    sent: Ints
    sent_size: Reals
    tape: Ints
    tape_weights: Reals
    settings: Reals
    notes: Ints
    weights: Reals


# Who is there.


@rule
def change_presence(s: State, row: int, by: int) -> None:
    """Let one more learner, or one fewer, be among those that run (0) or compute (1)."""
    now = s.time[NOW]
    before = s.presence[row, P_COUNT] >= 1
    s.presence[row, P_COUNT] += by
    after = s.presence[row, P_COUNT] >= 1
    if before == after:
        return
    if after:
        s.presence[row, P_SINCE] = now
        gone = s.presence[row, P_GONE]
        if now > gone:
            s.presence[row, P_BREAKS] += 1
            s.presence[row, P_ABSENT] += now - gone
        s.presence[row, P_GONE] = NEVER
    else:
        s.presence[row, P_TOTAL] += now - s.presence[row, P_SINCE]
        s.presence[row, P_GONE] = now


@rule
def appear(s: State, m: int, running: int, computing: int) -> None:
    """Note whether a learner runs, and whether it computes."""
    if running != s.learner[m, RUNNING]:
        change_presence(s, 0, running - s.learner[m, RUNNING])
        s.learner[m, RUNNING] = running
    if computing != s.learner[m, COMPUTING]:
        change_presence(s, 1, computing - s.learner[m, COMPUTING])
        s.learner[m, COMPUTING] = computing
        if s.learner[m, SHARED_BY] > 1:
            share_host(s, s.learner[m, HOST])


@rule
def share_host(s: State, host: int) -> None:
    """One more unit of a host computes, or one fewer: steps under way go on at another speed.

    What a step takes is linear in how many compute, from SHORTEST for one to 1 for all.
    """
    busy = 0
    for m in range(len(s.learner)):
        if s.learner[m, HOST] == host and (s.learner[m, COMPUTING] or s.learner[m, RESTARTS]):
            busy += 1
    for m in range(len(s.learner)):
        if s.learner[m, HOST] != host or not s.learner[m, COMPUTING]:
            continue
        shortest = s.pace[m, SHORTEST]
        speed = 1.0 / (shortest + (1.0 - shortest) * (busy - 1) / (s.learner[m, SHARED_BY] - 1))
        if speed != s.pace[m, SPEED]:
            goes_on = s.learner[m, ENDS] < NEVER
            suspend(s, m)
            s.pace[m, SPEED] = speed
            if goes_on:
                go_on(s, m)


def restarts(s: State, m: int, now: int) -> None:
    """A unit begins to restart on its host, or does not any more."""
    if now != s.learner[m, RESTARTS] and s.learner[m, SHARED_BY] > 1:
        s.learner[m, RESTARTS] = now
        share_host(s, s.learner[m, HOST])


@rule
def wake(s: State, m: int) -> None:
    """Let a learner look, after all else at this instant, what it does next."""
    if not s.learner[m, WAKES]:
        s.number[AWAKE] += 1
    s.learner[m, WAKES] = 1


@rule
def wake_ready(s: State, m: int) -> None:
    """Let a learner whose stall is over look, after all else at this instant, what comes next."""
    if not s.learner[m, WAKES]:
        s.number[AWAKE] += 1
        s.learner[m, WAKES] = READY


@rule
def wake_blocked(s: State) -> None:
    """Let those that wait for an update look again."""
    for m in range(len(s.learner)):
        if s.learner[m, BLOCKED] and not s.learner[m, STEPPING]:
            wake(s, m)


@rule
def settle(s: State, m: int) -> None:
    """Count a running learner's time up to now."""
    now = s.time[NOW]
    elapsed = now - s.learner[m, SINCE]
    account = s.learner[m, ACCOUNT]
    s.spent[m, account] += elapsed
    if s.learner[m, STEPPING] and account == PRODUCTIVE:
        s.learner[m, IN_STEP] += elapsed
    if account == PRODUCTIVE:
        s.pace[m, COMPUTE] += elapsed * s.pace[m, RATE]
        s.pace[m, WORK] += elapsed * s.pace[m, RATE] * s.learner[m, CHIPS]
    s.learner[m, SINCE] = now


@rule
def leave_wait(s: State, m: int) -> None:
    """Note the wait that ends now, if it is one and long enough to be told."""
    now = s.time[NOW]
    entered = s.learner[m, ENTERED]
    account = s.learner[m, ACCOUNT]
    if account != PRODUCTIVE and s.learner[m, RUNS] and now - entered >= s.time[LEAST_WAIT]:
        row = s.number[WAITED]
        s.waits[row, 0] = m
        s.waits[row, 1] = entered
        s.waits[row, 2] = now
        s.waits[row, 3] = account
        s.waits[row, 4] = s.learner[m, CHIPS]
        s.number[WAITED] += 1
    s.learner[m, ENTERED] = now


@rule
def wait(s: State, m: int, account: int) -> None:
    """Let a learner wait in an account."""
    if s.learner[m, RUNS]:
        leave_wait(s, m)
        settle(s, m)
        appear(s, m, int(account != WAITING), 0)
    s.learner[m, ACCOUNT] = account


@rule
def average(value: float, sample: float) -> float:
    """Take a sample into a moving average, which it starts where that is not a number."""
    return sample if isnan(value) else value + WEIGHT * (sample - value)


# Which fragments are due.


@rule
def turn_of(s: State, slot: int) -> int:
    """Return the turn of periods that a slot belongs to."""
    turn = s.number[TURNS] - 1
    while s.turns[turn, START] > slot:
        turn -= 1
    return turn


@rule
def due_at(residue: int, inner: int, fragments: int) -> int:
    """Return the first fragment due at a residue or after it: p is due at floor(p H / P)."""
    return (residue * fragments + inner - 1) // inner


@rule
def due_from(s: State, slot: int) -> int:
    """Return the first fragment due at a slot; those before `due_upto` are, if any."""
    turn = turn_of(s, slot)
    inner = s.turns[turn, INNER]
    return due_at((slot - s.turns[turn, BASE]) % inner, inner, s.number[FRAGMENTS])


@rule
def due_upto(s: State, slot: int) -> int:
    """Return the fragment after the last due at a slot."""
    turn = turn_of(s, slot)
    inner = s.turns[turn, INNER]
    return due_at((slot - s.turns[turn, BASE]) % inner + 1, inner, s.number[FRAGMENTS])


@rule
def following(s: State, slot: int) -> int:
    """Return the first slot after one in which a fragment is due."""
    count, fragments = s.number[TURNS], s.number[FRAGMENTS]
    turn = turn_of(s, slot + 1)
    while True:
        inner = s.turns[turn, INNER]
        residue = (slot - s.turns[turn, BASE]) % inner
        gap = due_at(residue + 1, inner, fragments) * inner // fragments - residue
        if turn == count - 1 or slot + gap < s.turns[turn + 1, START]:
            return slot + gap
        turn += 1
        slot = s.turns[turn, START] - 1


@rule
def complete(s: State, row: int) -> bool:
    """Whether every learner that is live and heard has answered a slot."""
    for m in range(len(s.learner)):  # numba compiles no generators
        if s.learner[m, IS_LIVE] and s.learner[m, HEARD] and not s.answered[row, m]:
            return False
    return True


# Steps and answers.


@rule
def kept_steps(s: State, m: int) -> int:
    """Return how many steps a learner has taken that were not taken back."""
    return s.learner[m, STEPS] - s.learner[m, UNDONE]


@rule
def step_time(s: State, m: int) -> float:
    """Return the moving average of a learner's compute of a step."""
    mean = s.pace[m, AVERAGE]
    return float(s.learner[m, NOMINAL]) if isnan(mean) else mean


@rule
def grace(s: State) -> int:
    """Return how long a slot that opens now waits for more: at most a step, gamma of the slack.

    What is left of tau steps once the quorum and the exchange have taken their mean times.
    """
    if s.real[GAMMA] <= 0.0:
        return 0
    fastest = inf
    for m in range(len(s.learner)):
        if s.learner[m, IS_LIVE] and s.learner[m, HEARD]:
            fastest = min(fastest, step_time(s, m))
    if fastest == inf:
        return 0
    spent = s.real[QUORUM_TIME]
    if not isnan(s.real[SYNC_TIME]):
        spent += s.real[SYNC_TIME]
    slack = max(0.0, s.number[TAU] * fastest - spent)
    window = min(fastest, s.real[GAMMA] * slack)
    return max(1, round(window)) if window > 0.0 else 0


@rule
def open_slot(s: State, row: int) -> None:
    """A slot has its quorum: the grace window begins."""
    now = s.time[NOW]
    s.slot[row, OPENED] = 1
    s.slot[row, OPENED_AT] = now
    s.real[QUORUM_TIME] = average(s.real[QUORUM_TIME], float(now - s.slot[row, FIRST]))
    s.slot[row, DEADLINE] = now + grace(s)
    s.number[CHECK] = 1


@rule
def answer(s: State, m: int, index: int, row: int) -> None:
    """Let a learner answer a slot."""
    last = s.learner[m, ANSWERED]
    first, beyond = s.slot[row, LEAST], s.slot[row, BEYOND]
    for f in range(beyond - first):
        s.based[row, m, f] = s.bases[m, first + f]
    give(s, m, index, row)
    s.queue[m, last, SLOT] = index
    s.queue[m, last, AT_STEP] = s.learner[m, STEPS]
    s.queue[m, last, KEPT] = 0
    s.queue[m, last, FROM] = first
    s.queue[m, last, UPTO] = beyond
    s.learner[m, ANSWERED] += 1
    if s.learner[m, FRESH]:
        first_answer(s, m)
    if s.slot[row, OPENED] and complete(s, row):
        s.number[CHECK] = 1


@rule
def give(s: State, m: int, index: int, row: int) -> None:
    """Count a learner among those that have answered, with all since it received a fragment."""
    kept = kept_steps(s, m)
    first = s.slot[row, LEAST]
    for f in range(s.slot[row, BEYOND] - first):
        s.carried[row, m, f] = kept - s.received[m, first + f]
        s.brought[row, m, f] = s.pace[m, TOKENS] - s.tokens[m, first + f]
    s.answered[row, m] = 1 + kept
    s.slot[row, ANSWERS] += 1
    if s.number[TAPED] and not s.number[BARRIER]:
        write(s, GAVE, m, index, 0)


@rule
def first_answer(s: State, m: int) -> None:
    """Tell how many slots the oldest fragment of a learner that came back lies behind."""
    s.learner[m, FRESH] = 0
    oldest = s.bases[m, 0]
    for p in range(s.number[FRAGMENTS]):
        oldest = min(oldest, s.bases[m, p])
    write(s, STALE, m, max(0, s.number[ARRIVED_SLOT] - oldest), 0)


@rule
def answer_behind(s: State, m: int) -> None:
    """Answer the slots that opened before this instant and that this learner is behind.

    Only with a step taken since it last received one of their fragments.
    """
    count = s.learner[m, COUNT]
    for index in range(max(count + 1, s.number[NEXT_SLOT]), s.number[TOP] + 1):
        row = index % len(s.slot)
        if s.slot[row, INDEX] != index or not s.slot[row, OPENED] or s.answered[row, m]:
            continue
        if s.slot[row, OPENED_AT] < s.time[NOW]:
            for p in range(s.slot[row, LEAST], s.slot[row, BEYOND]):
                if kept_steps(s, m) > s.received[m, p]:
                    answer(s, m, index, row)
                    break


@rule
def answer_own(s: State, m: int) -> None:
    """Answer the slot of this learner's own step, whose K-th such answer opens it.

    One that has closed is late, unless this learner has answered it from behind.
    """
    count = s.learner[m, COUNT]
    row = count % len(s.slot)
    if s.slot[row, INDEX] != count or count < s.number[NEXT_SLOT]:
        first = due_from(s, count)
        beyond = due_upto(s, count)
        if first == beyond:
            return
        if count < s.number[NEXT_SLOT]:
            known = s.slot[row, INDEX] == count
            if (known and s.answered[row, m]) or place_of(s, m, count) >= 0:
                return
            s.learner[m, LATE] += 1
            if known and s.number[TAPED] and not s.number[BARRIER]:
                write(s, TOO_LATE, m, count, 0)
            return
        begin_slot(s, count, row, first, beyond)
    if s.answered[row, m]:
        return
    if s.number[LOCKSTEP]:
        complete_step(s, m, count, row)
        return
    answer(s, m, count, row)
    if not s.slot[row, OPENED]:
        if s.slot[row, OWN] == 0:
            s.slot[row, FIRST] = s.time[NOW]
        s.slot[row, OWN] += 1
        if s.slot[row, OWN] >= s.number[QUORUM]:
            open_slot(s, row)


@rule
def place_of(s: State, m: int, index: int) -> int:
    """Return where a learner's answer to a slot stands in its queue, -1 where none does."""
    for place in range(s.learner[m, ANSWERED]):
        if s.queue[m, place, SLOT] == index:
            return place
    return -1


@rule
def begin_slot(s: State, index: int, row: int, first: int, beyond: int) -> None:
    """Somebody is the first to reach a slot, in which these fragments are due."""
    s.slot[row, INDEX] = index
    s.slot[row, OWN] = s.slot[row, ANSWERS] = s.slot[row, OPENED] = 0
    s.slot[row, STAGE] = OPEN
    s.slot[row, LEAST], s.slot[row, BEYOND] = first, beyond
    for f in range(beyond - first):
        s.fragment_at[row, f] = NEVER
    for m in range(len(s.learner)):
        s.answered[row, m] = 0
    s.number[TOP] = max(s.number[TOP], index)


@rule
def complete_step(s: State, m: int, index: int, row: int) -> None:
    """A lock-step learner has completed a step in which fragments are due."""
    give(s, m, index, row)
    s.slot[row, LAST_OWN] = s.time[NOW]
    s.number[CHECK] = 1
    if s.number[OTHERS_GO_ON]:
        s.marked[row, m] = index
        s.marks[row, m, MARK_WORK] = s.pace[m, WORK]
        s.marks[row, m, MARK_STEPS] = s.learner[m, STEPS] - s.learner[m, UNDONE]
        s.marks[row, m, MARK_TOKENS] = s.pace[m, TOKENS]
        s.marks[row, m, MARK_COMPUTE] = s.pace[m, COMPUTE]
    if not s.number[CROSSES]:
        return
    own = m if s.number[OTHERS_GO_ON] else 0
    fresh = s.number[OTHERS_GO_ON] or s.slot[row, ANSWERS] == 1
    place = 0
    for p in range(s.slot[row, LEAST], s.slot[row, BEYOND]):
        for layer in range(s.share_from[p], s.share_from[p + 1]):
            passed = passed_at(s, m, round(s.shares[layer] * s.learner[m, STEP]))
            if fresh or passed > s.releases[row, own, place]:
                s.releases[row, own, place] = passed
            place += 1


@rule
def passed_at(s: State, m: int, compute: int) -> int:
    """Return when so much of the step that ends now was computed: now, if no step is under way."""
    run = s.learner[m, RUNS_OF_STEP] - 1
    if run < 0:
        return s.time[NOW]
    while run > 0 and s.course[m, run, FROM_WHERE] >= compute:
        run -= 1
    more = compute - s.course[m, run, FROM_WHERE]
    if more <= 0:
        return s.course[m, run, SINCE_WHEN]
    rate = s.course_rate[m, run]
    if rate != 1.0:
        more = max(1, round(more / rate))
    return s.course[m, run, SINCE_WHEN] + more


@rule
def step_over(s: State, m: int) -> None:
    """A learner has ended a step."""
    settle(s, m)
    s.learner[m, IN_STEP] = 0
    s.learner[m, ENDS] = NEVER
    s.pace[m, TOKENS] += s.pace[m, GAIN]
    s.learner[m, STEPS] += 1
    s.learner[m, UNSAVED_STEPS] += 1
    s.learner[m, UNSAVED_RUN] += s.learner[m, STEP]
    s.pace[m, AVERAGE] = average(s.pace[m, AVERAGE], s.learner[m, STEP] / s.pace[m, SPEED])
    s.learner[m, AFRESH] = 1
    s.learner[m, STEPPING] = s.learner[m, MID_STEP] = s.learner[m, STOP_AT] = 0
    if s.learner[m, ALONE]:
        s.learner[m, ALONE] -= 1
        if not s.learner[m, ALONE]:
            s.learner[m, COUNT] = s.number[NEXT_SLOT]
            s.learner[m, OUT] = 0
    else:
        s.learner[m, COUNT] += 1
    if s.number[TAPED]:
        write(s, STEPPED, m, s.learner[m, CHIPS], 1)
    if s.learner[m, HEARD] and not s.learner[m, ALONE]:
        if not s.number[LOCKSTEP]:
            answer_behind(s, m)
        answer_own(s, m)
    wake(s, m)
    if not (s.number[BARRIER] and s.learner[m, COUNT] % s.number[PERIOD] == 0):
        look_at_goal(s)  # else once the round has arrived


@rule
def stop(s: State, m: int) -> None:
    """A learner has come to where it was to stop: it has its data, or is at a gate or the end."""
    if s.learner[m, ACCOUNT] == LOADING:
        if s.number[LOCKSTEP]:
            receive_due(s, m)
        start(s, m)
    elif s.learner[m, STOP_AT] < s.learner[m, STEP]:
        settle(s, m)
        s.learner[m, ENDS] = NEVER
        s.learner[m, STEPPING] = 0
        s.learner[m, MID_STEP] = 1
        wake(s, m)
    else:
        step_over(s, m)


@rule
def look_at_goal(s: State) -> None:
    """See whether all have done enough together."""
    if s.real[TOKEN_GOAL] == inf and s.real[COUNTED_GOAL] == inf:
        return
    done = merged = both = 0.0
    for m in range(len(s.learner)):
        done += s.pace[m, TOKENS]
        merged += s.pace[m, MERGED]
        both += s.pace[m, MERGED] + s.pace[m, OVERWRITTEN]
        if s.real[COUNTED_GOAL] < inf:
            both += overwritten_since(s, m)
    share = merged / both if both > 0.0 else 0.0
    counted = done * (share + s.real[WORTH] * (1.0 - share))
    if done >= s.real[TOKEN_GOAL] * ENOUGH or counted >= s.real[COUNTED_GOAL] * ENOUGH:
        s.number[REACHED] = 1


# What a learner does next.


@rule
def overwrite(s: State, m: int, p: int) -> None:
    """Receive a fragment: what no answer has brought into a merge by now is overwritten."""
    s.received[m, p] = kept_steps(s, m)
    s.tokens[m, p] = s.pace[m, TOKENS]


@rule
def take(s: State, m: int, index: int, place: int) -> None:
    """Receive a slot's update; `place` is that of the answer to it in the queue, -1 without."""
    s.learner[m, COUNT] = max(s.learner[m, COUNT], index)
    if s.number[TAPED]:
        write(s, RECEIVED, m, index, 0)
    for p in range(due_from(s, index), due_upto(s, index)):
        overwrite(s, m, p)
        s.bases[m, p] = index
    if place >= 0:
        s.learner[m, ANSWERED] -= 1
        for i in range(place, s.learner[m, ANSWERED]):
            for column in range(5):
                s.queue[m, i, column] = s.queue[m, i + 1, column]


@rule
def receive(s: State, m: int, at_tau: int) -> None:
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
    reach = s.number[ARRIVED_SLOT] if s.learner[m, HEARD] else s.learner[m, REACH]
    if s.learner[m, SEEN] >= reach:
        return
    index = following(s, s.learner[m, SEEN])
    while index <= reach:
        place = place_of(s, m, index)
        if place >= 0 and s.queue[m, place, AT_STEP] > early:
            s.queue[m, place, KEPT] = 1
        else:
            take(s, m, index, place)
        index = following(s, index)
    s.learner[m, SEEN] = reach


@rule
def rejoin(s: State, m: int) -> None:
    """A learner that was lost takes up its steps once that has been handed over.

    It has taken all fragments from its replica: none of its own steps is left in them. One in
    lock-step goes on where it was, or, where others have gone on, on its own from where they are.
    """
    if not s.number[LOCKSTEP]:
        for p in range(s.number[FRAGMENTS]):
            overwrite(s, m, p)
    if s.number[LEAVES]:
        s.learner[m, ALONE] = s.number[PERIOD]
        s.learner[m, COUNT] = s.learner[m, TAKEN_IN] = s.number[LAST]
    s.learner[m, LOST] = 0
    s.learner[m, SAVED_AT] = -1
    hand(s, REJOIN, m, 0)
    wake(s, m)


@rule
def start(s: State, m: int) -> None:
    """Go on in a step, from its beginning or from the gate at which it stands.

    At its beginning it waits for its data first.
    """
    now = s.time[NOW]
    if s.learner[m, DATA]:
        wait(s, m, LOADING)
        s.learner[m, LEFT] = s.learner[m, DATA]
        s.learner[m, DATA] = 0
        s.learner[m, STEPPING] = 1
        go_on(s, m)
        return
    if s.learner[m, ACCOUNT] != PRODUCTIVE or s.learner[m, SINCE] != now:
        leave_wait(s, m)
        settle(s, m)
        s.learner[m, ACCOUNT] = PRODUCTIVE
    stands = s.learner[m, STOP_AT]
    s.learner[m, STOP_AT] = s.learner[m, STEP]
    if s.number[LOCKSTEP]:
        gate = next_gate(s, m, stands)
        if gate >= 0:
            s.learner[m, STOP_AT] = gate_at(s, m, gate)
    s.learner[m, LEFT] = s.learner[m, STOP_AT] - stands
    s.learner[m, STEPPING] = 1
    go_on(s, m)
    appear(s, m, 1, 1)


@rule
def begin_step(s: State, m: int) -> None:
    """Take up the next step."""
    step = s.learner[m, NOMINAL]
    if s.learner[m, UNEVEN]:
        drawn = s.learner[m, STEPS] + s.learner[m, DISCARDED] - s.learner[m, DRAWN]
        step = s.draws[m, drawn]
        s.learner[m, DATA] = s.loads[m, drawn]
    s.learner[m, STEP] = step
    s.learner[m, STOP_AT] = s.learner[m, RUNS_OF_STEP] = 0


@rule
def gate_at(s: State, m: int, fragment: int) -> int:
    """Return how far into its step a learner needs a fragment: before its lowest layer.

    Where fragments leave at the end of a step, they are needed at the beginning of one.
    """
    if not s.number[BY_LAYER]:
        return 0
    return round(fragment * s.learner[m, STEP] / (3 * s.number[LAYERS] - 1))


@rule
def next_gate(s: State, m: int, stands: int) -> int:
    """Return the first fragment that has not arrived of those that a step needs from there on.

    They left tau steps before; -1 without any.
    """
    index = s.learner[m, COUNT] - s.number[TAU]
    row = index % len(s.slot)
    if index < s.number[OLDEST] or s.slot[row, INDEX] != index or s.learner[m, ALONE]:
        return -1
    first = s.slot[row, LEAST]
    for f in range(s.slot[row, BEYOND] - first):
        if s.fragment_at[row, f] > s.time[NOW] and gate_at(s, m, first + f) >= stands:
            return first + f
    return -1


@rule
def go_on(s: State, m: int) -> None:
    """Let the step under way go on from now, at the speed that a fault leaves."""
    left = s.learner[m, LEFT]
    if s.learner[m, ACCOUNT] == LOADING:
        s.learner[m, ENDS] = s.time[NOW] + left
        return
    rate = s.pace[m, RATE] * s.pace[m, SPEED]
    if s.number[LOCKSTEP]:
        run = s.learner[m, RUNS_OF_STEP]
        s.course[m, run, SINCE_WHEN] = s.time[NOW]
        s.course[m, run, FROM_WHERE] = s.learner[m, STOP_AT] - left
        s.course_rate[m, run] = rate
        s.learner[m, RUNS_OF_STEP] += 1
    if rate != 1.0:
        left = max(1, round(left / rate)) if left else 0
    s.learner[m, ENDS] = s.time[NOW] + left


@rule
def suspend(s: State, m: int) -> None:
    """Let the step under way stand from now."""
    if s.learner[m, STEPPING] and s.learner[m, ENDS] < NEVER:
        left = s.learner[m, ENDS] - s.time[NOW]
        rate = s.pace[m, RATE] * s.pace[m, SPEED]
        if rate != 1.0 and s.learner[m, ACCOUNT] != LOADING:
            left = round(left * rate)
        s.learner[m, LEFT] = left
        s.learner[m, ENDS] = NEVER


@rule
def save_due(s: State, m: int) -> bool:
    """Whether a learner at a step boundary is to hold its unit up for a save.

    One that came to nothing is tried again a step later.
    """
    if s.learner[m, UNSAVED_STEPS] == 0 or s.learner[m, SAVED_AT] == s.learner[m, STEPS]:
        return False
    if s.learner[m, UNSAVED_RUN] < s.time[SAVE_FLIGHT]:
        return False
    if s.number[SAVE_STEPS] > 0:
        return bool(s.learner[m, UNSAVED_STEPS] >= s.number[SAVE_STEPS])
    return bool(s.learner[m, UNSAVED_RUN] >= s.time[SAVE_INTERVAL])


@rule
def begin_save(s: State, m: int) -> None:
    """Have a learner's unit held up for a save."""
    s.learner[m, SAVED_AT] = s.learner[m, STEPS]
    hand(s, SAVE, m, 0)


@rule
def blocks(s: State, m: int) -> bool:
    """Whether a learner has taken tau steps since the oldest answer without an update."""
    if not s.learner[m, ANSWERED]:
        return False
    closed = s.queue[m, 0, SLOT] < s.number[NEXT_SLOT]
    if not closed and s.number[STEP_ON] and s.number[LIVE] < s.number[QUORUM]:
        return False
    return bool(s.learner[m, STEPS] - s.queue[m, 0, AT_STEP] >= s.number[TAU])


@rule
def decide(s: State, m: int) -> None:
    """Let a learner at a step boundary receive what is there, and block or step on."""
    why = s.learner[m, WAKES]
    s.learner[m, WAKES] = 0
    s.number[AWAKE] -= 1
    if s.learner[m, STEPPING]:
        return
    runs, lost = s.learner[m, RUNS], s.learner[m, LOST]
    if not runs and (why == READY or lost or not s.learner[m, IS_LIVE]):
        return  # else its unit reconfigures
    if s.number[LOCKSTEP]:
        receive_due(s, m)
    else:
        receive(s, m, 0 if lost else s.number[AT_TAU])
    if not runs:
        return
    if lost:
        rejoin(s, m)
        return
    s.learner[m, BLOCKED] = 0
    if s.number[LOCKSTEP]:
        look_at_gate(s, m)
    elif save_due(s, m):
        begin_save(s, m)
    elif blocks(s, m):
        index = s.queue[m, 0, SLOT]
        s.learner[m, BLOCKED] = index
        wait(s, m, WAITING if waits_on_peers(s, index) else EXPOSED)
        s.number[CHECK] = 1
    else:
        begin_step(s, m)
        start(s, m)


@rule
def look_at_gate(s: State, m: int) -> None:
    """Let a lock-step learner wait for a fragment that it needs here, or go on."""
    if s.number[TAPED] and not s.number[BARRIER]:
        take_in(s, m)
    if not s.learner[m, MID_STEP]:
        if save_due(s, m):
            begin_save(s, m)
            return
        begin_step(s, m)
    gate = next_gate(s, m, s.learner[m, STOP_AT])
    if gate >= 0 and gate_at(s, m, gate) == s.learner[m, STOP_AT]:
        index = s.learner[m, COUNT] - s.number[TAU]
        s.learner[m, BLOCKED] = index
        s.learner[m, GATE] = gate
        # At a gate within a step that step has begun, also where the gate stands at its beginning.
        s.learner[m, MID_STEP] = int(s.number[BY_LAYER] and not s.number[BARRIER])
        wait(s, m, EXPOSED if index < s.number[NEXT_SLOT] else WAITING)
    else:
        start(s, m)


@rule
def receive_due(s: State, m: int) -> None:
    """Let a lock-step learner receive what has arrived of the fragments that left tau steps ago."""
    index = s.learner[m, COUNT] - s.number[TAU]
    row = index % len(s.slot)
    if index <= s.learner[m, TAKEN_IN] or s.slot[row, INDEX] != index or s.learner[m, ALONE]:
        return
    first = s.slot[row, LEAST]
    missing = False
    for f in range(s.slot[row, BEYOND] - first):
        if index >= s.number[OLDEST] and s.fragment_at[row, f] > s.time[NOW]:
            missing = True
        else:
            overwrite(s, m, first + f)
            s.bases[m, first + f] = index
    if not missing:
        s.learner[m, TAKEN_IN] = index


@rule
def take_in(s: State, m: int) -> None:
    """Note that a learner about to go on has taken in all that it needed by now."""
    index = s.learner[m, COUNT] - s.number[TAU]
    row = index % len(s.slot)
    if index <= s.learner[m, SEEN] or index <= 0 or s.learner[m, ALONE]:
        return
    if due_from(s, index) == due_upto(s, index):
        return
    if index >= s.number[OLDEST]:
        if s.slot[row, INDEX] != index:
            return
        for f in range(s.slot[row, BEYOND] - s.slot[row, LEAST]):
            if s.fragment_at[row, f] > s.time[NOW]:
                return
    s.learner[m, SEEN] = index
    write(s, RECEIVED, m, index, 0)


@rule
def undrawn(s: State, m: int) -> bool:
    """Whether the compute of a learner's next step has not been drawn yet."""
    if not s.learner[m, UNEVEN] or s.learner[m, MID_STEP]:
        return False
    place = s.learner[m, STEPS] + s.learner[m, DISCARDED] - s.learner[m, DRAWN]
    return bool(place >= s.draws.shape[1])


@rule
def decide_all(s: State) -> int:
    """Let all decide that are to; DONE, or what one of them needs or hands over."""
    for m in range(len(s.learner)):
        if s.learner[m, WAKES]:
            if undrawn(s, m):
                s.number[WHO] = m
                return DRAW
            decide(s, m)
            if s.number[HAND]:
                return take_hand(s)
    return DONE


# Closing, exchanging, arriving.


@rule
def hand(s: State, what: int, who: int, which: int) -> None:
    """Have something handed to the driver before anything else happens."""
    s.number[HAND] = what
    s.number[WHO] = who
    s.number[WHICH] = which


@rule
def take_hand(s: State) -> int:
    """Return what is to be handed over, once."""
    what = s.number[HAND]
    s.number[HAND] = DONE
    return what


@rule
def may_close(s: State) -> int:
    """Return from when on the next slot closes as things are, NEVER where something is lacking.

    It needs its quorum of answers and of live learners, and syncer and replicas that stand. One
    that all have answered closes at once; another once its grace is over, if its exchange would not
    queue. In lock-step everybody is to have answered and to be live, or everybody with hardware.
    """
    if s.number[LOCKSTEP]:
        return s.time[NOW] if all_there(s) else NEVER
    if s.number[LIVE] < s.number[QUORUM] or not s.number[STANDING]:
        return NEVER
    row = s.number[NEXT_SLOT] % len(s.slot)
    if s.slot[row, INDEX] != s.number[NEXT_SLOT] or not s.slot[row, OPENED]:
        return NEVER
    if complete(s, row):
        return s.time[NOW]
    if s.number[UNDER_WAY] or s.number[SENDS] < s.number[NEXT_SLOT]:
        return NEVER
    return max(s.time[NOW], s.slot[row, DEADLINE])


@rule
def waits_on_peers(s: State, index: int) -> bool:
    """Whether what keeps an update from a learner that waits for it is that others lack.

    So it is while its slot, or one before it, has not closed and lacks its quorum, or its grace is
    not over though not all have answered, or while fewer than K are live. Otherwise it is bytes
    that are waited for, a lost syncer or replica included.
    """
    if index < s.number[NEXT_SLOT]:
        return False
    if s.number[LIVE] < s.number[QUORUM]:
        return True
    slot = s.number[NEXT_SLOT]
    while slot <= index:
        row = slot % len(s.slot)
        if s.slot[row, INDEX] != slot or not s.slot[row, OPENED]:
            return True
        if s.time[NOW] < s.slot[row, DEADLINE] and not complete(s, row):
            return True
        slot = following(s, slot)
    return False


@rule
def book_waits(s: State) -> int:
    """Let each that waits for an update wait in its account; return when that may change next."""
    waits = False
    for m in range(len(s.learner)):
        if s.learner[m, BLOCKED] and not s.learner[m, STEPPING]:
            account = WAITING if waits_on_peers(s, s.learner[m, BLOCKED]) else EXPOSED
            waits = waits or account == WAITING
            if account != s.learner[m, ACCOUNT]:
                wait(s, m, account)
    ends = NEVER
    if waits:
        for slot in range(s.number[NEXT_SLOT], s.number[TOP] + 1):
            row = slot % len(s.slot)
            opened = s.slot[row, INDEX] == slot and s.slot[row, OPENED]
            if opened and s.slot[row, DEADLINE] > s.time[NOW]:
                ends = min(ends, s.slot[row, DEADLINE])
    return ends


@rule
def all_there(s: State) -> bool:
    """Whether all that a lock-step synchronization waits for are live and have completed it.

    Nobody waits for one that is out. Where the link of one is cut that is still counted on, all
    wait until it is back, or is not counted on any more.
    """
    row = s.number[NEXT_SLOT] % len(s.slot)
    if s.slot[row, INDEX] != s.number[NEXT_SLOT]:
        return False
    anybody = False
    for m in range(len(s.learner)):
        if s.number[OTHERS_GO_ON] and (not s.learner[m, HARDWARE] or s.learner[m, OUT]):
            continue
        if not s.learner[m, IS_LIVE] or not s.answered[row, m] or s.learner[m, CUT_OFF]:
            return False
        anybody = True
    return anybody


@rule
def close_ready(s: State) -> None:
    """Let exchanges begin and slots close, in their order, as far as they can."""
    while True:
        begin_exchanges(s)
        if s.number[HAND]:
            return
        closes = may_close(s)
        if closes > s.time[NOW]:
            if not s.number[LOCKSTEP]:
                closes = min(closes, book_waits(s))
            s.time[CLOSES] = closes
            s.number[CHECK] = 0
            return
        if s.number[OTHERS_GO_ON]:
            hand(s, JUDGE, 0, s.number[NEXT_SLOT])
            return
        close(s, s.number[NEXT_SLOT], s.number[NEXT_SLOT] % len(s.slot))
        if s.number[LOCKSTEP]:
            send_layers(s, s.number[LAST] % len(s.slot))
        if s.number[POLICY]:
            hand(s, CLOSED, 0, s.number[LAST])
            return


@rule
def close(s: State, index: int, row: int) -> None:
    """Merge what has been answered to a slot."""
    s.slot[row, CLOSED_AT] = s.time[NOW]
    s.slot[row, STAGE] = QUEUED
    if s.number[LOCKSTEP]:
        hand_in(s, index, row)
    else:
        count_merge(s, index, row)
    if s.number[TAPED]:
        write(s, MERGED_SLOT, 0, index, 0)
    enter_merge(s, row)
    s.number[LAST] = index
    s.number[NEXT_SLOT] = s.slot[row, AFTER] = following(s, index)
    for m in range(len(s.learner)):
        if s.number[LOCKSTEP] and s.learner[m, BLOCKED] == index:
            wait(s, m, EXPOSED)


@rule
def count_merge(s: State, index: int, row: int) -> None:
    """Count what the answers of a slot that closes carry."""
    first = s.slot[row, LEAST]
    count = s.slot[row, BEYOND] - first
    s.number[MERGES] += 1
    s.number[PARTICIPANTS] += s.slot[row, ANSWERS]
    tokens = 0.0
    for m in range(len(s.learner)):
        if not s.answered[row, m]:
            continue
        for f in range(count):
            lag = max(0, s.merged_in[first + f] - s.based[row, m, f])
            tally(s, OF_LAGS, lag)
            tally(s, OF_STEPS, s.carried[row, m, f])
            tokens += s.brought[row, m, f]
    s.tokens_in[s.number[BROUGHT]] = tokens / s.number[FRAGMENTS]
    s.number[BROUGHT] += 1
    for f in range(count):
        s.merged_in[first + f] = index


# What was merged, and what overwritten.


@rule
def enter_merge(s: State, row: int) -> None:
    """Merge what the answers to a slot carry and no answer before them had brought into a merge.

    Unless its learner has received the fragment since, or was lost: then that is overwritten.
    """
    first = s.slot[row, LEAST]
    for m in range(len(s.learner)):
        upto = s.answered[row, m] - 1
        for f in range(s.slot[row, BEYOND] - first):
            if upto > s.settled[m, first + f]:
                settle_steps(s, m, first + f, upto, s.brought[row, m, f])


@rule
def settle_steps(s: State, m: int, p: int, upto: int, brought: float) -> None:
    """Say what became of a fragment's steps up to one, those that were answered with last."""
    since, tokens = s.settled[m, p], s.settled_tokens[m, p]
    received = min(upto, s.received[m, p])
    if received > since:
        kept = steps_in_kept(s, m, p, received)
        s.pace[m, MERGED] += kept
        s.pace[m, OVERWRITTEN] += received - since - kept
        each = 0.0
        if s.learner[m, GONE_AT] > since:
            since, tokens = s.learner[m, GONE_AT], s.pace[m, GONE_TOKENS]
        if s.received[m, p] > since:
            each = (s.tokens[m, p] - tokens) / (s.received[m, p] - since)
        s.pace[m, MERGED_TOKENS] += kept * each
        since, tokens = received, s.tokens[m, p] - (s.received[m, p] - received) * each
    s.settled[m, p] = upto
    s.settled_tokens[m, p] = tokens
    if upto > since:
        level = min(s.pace[m, TOKENS], s.tokens[m, p] + brought)
        s.pace[m, MERGED] += upto - since
        s.pace[m, MERGED_TOKENS] += level - tokens
        s.settled_tokens[m, p] = level


@rule
def steps_in_kept(s: State, m: int, p: int, upto: int) -> float:
    """Return how much of the steps since the last merge, up to one, is in what a learner kept.

    Each receipt leaves MIXING of what was there; in lock-step they lie H steps apart. What a unit
    had when it was lost is gone.
    """
    since = max(s.settled[m, p], s.learner[m, GONE_AT])
    edge, before = s.received[m, p], (s.bases[m, p] - 1) // s.number[PERIOD]
    share, kept = s.real[MIXING], 0.0
    while share > 0.0 and edge > since:
        begun = edge - s.number[PERIOD] if before > 0 else since
        kept += share * max(0, min(upto, edge) - max(begun, since))
        share *= s.real[MIXING]
        edge, before = begun, before - 1
    return kept


def withdraw(s: State, m: int, row: int) -> None:
    """An answer leaves the merge of a slot that has closed: what it brought is not merged yet."""
    first = s.slot[row, LEAST]
    for f in range(s.slot[row, BEYOND] - first):
        p = first + f
        carried = s.carried[row, m, f]
        since = s.answered[row, m] - 1 - carried
        for i in range(s.learner[m, ANSWERED]):  # other answers may have brought some of it
            other = s.queue[m, i, SLOT]
            there = other < s.slot[row, INDEX] and s.answered[other % len(s.slot), m]
            if there and s.queue[m, i, FROM] <= p < s.queue[m, i, UPTO]:
                since = max(since, s.queue[m, i, AT_STEP] - s.learner[m, UNDONE])
        steps = s.settled[m, p] - since
        if steps > 0:
            tokens = steps * s.brought[row, m, f] / carried
            s.pace[m, MERGED] = max(0.0, s.pace[m, MERGED] - steps)
            s.pace[m, MERGED_TOKENS] = max(0.0, s.pace[m, MERGED_TOKENS] - tokens)
            s.settled[m, p] = since
            s.settled_tokens[m, p] -= tokens


def lose(s: State, m: int) -> None:
    """A learner's unit is lost, and with it what no answer has brought into a merge by now."""
    s.learner[m, GONE_AT], s.pace[m, GONE_TOKENS] = kept_steps(s, m), s.pace[m, TOKENS]
    for p in range(s.number[FRAGMENTS]):
        overwrite(s, m, p)
    if s.number[LEAVES]:
        withdraw_open(s, m)
        if s.learner[m, ALONE]:
            s.learner[m, ALONE] = s.number[PERIOD]


def withdraw_open(s: State, m: int) -> None:
    """A lock-step learner has not completed any step after all whose fragments are not sent yet."""
    for row in range(len(s.slot)):
        if s.slot[row, INDEX] >= s.number[NEXT_SLOT] and s.answered[row, m]:
            s.answered[row, m] = 0
            s.slot[row, ANSWERS] -= 1


def step_alone(s: State, m: int, steps: int) -> None:
    """Others have gone on without a lock-step learner, until it has taken so many steps."""
    s.learner[m, ALONE] = steps
    s.learner[m, OUT] = int(steps > 0)
    s.learner[m, BLOCKED] = 0
    if not steps:
        s.learner[m, COUNT] = s.number[NEXT_SLOT]
        answer_own(s, m)
    if not s.learner[m, STEPPING]:
        wake(s, m)


def take_back(s: State, m: int, steps: int, tokens: float) -> None:
    """A learner's last steps come to nothing: they are neither merged nor overwritten any more."""
    s.learner[m, UNDONE] += steps
    s.pace[m, TOKENS] -= tokens
    kept, tokens = kept_steps(s, m), s.pace[m, TOKENS]
    s.learner[m, GONE_AT] = min(s.learner[m, GONE_AT], kept)
    s.pace[m, GONE_TOKENS] = min(s.pace[m, GONE_TOKENS], tokens)
    for row in range(len(s.slot)):
        s.answered[row, m] = min(s.answered[row, m], 1 + kept)
    settled, settled_tokens = 0, 0.0
    for p in range(s.number[FRAGMENTS]):
        if s.received[m, p] > kept:
            s.received[m, p], s.tokens[m, p] = kept, tokens
        if s.settled[m, p] > kept:
            settled += s.settled[m, p] - kept
            settled_tokens += s.settled_tokens[m, p] - tokens
            s.settled[m, p] = kept
        s.settled_tokens[m, p] = min(s.settled_tokens[m, p], tokens)
    if settled:
        sums = Settled(s.pace[m, MERGED], s.pace[m, OVERWRITTEN], s.pace[m, MERGED_TOKENS])
        left = sums.without(settled, settled_tokens)
        s.pace[m, MERGED], s.pace[m, OVERWRITTEN], s.pace[m, MERGED_TOKENS] = left


@rule
def overwritten_since(s: State, m: int) -> float:
    """Return the steps, summed over fragments, that a receipt after the last merge overwrote.

    A learner that nobody hears receives all before it is heard again: all that it has is gone.
    """
    steps = 0.0
    kept = 0 if s.learner[m, HEARD] else kept_steps(s, m)
    for p in range(s.number[FRAGMENTS]):
        received = s.received[m, p]
        if kept > s.settled[m, p]:
            steps += kept - s.settled[m, p]
        elif received > s.settled[m, p]:
            steps += received - s.settled[m, p] - steps_in_kept(s, m, p, received)
    return steps


def settle_rest(s: State) -> None:
    """The run is over: what has been received since it was merged last is overwritten."""
    for m in range(len(s.learner)):
        s.pace[m, OVERWRITTEN] += overwritten_since(s, m)


# In lock-step.


@rule
def hand_in(s: State, index: int, row: int) -> None:
    """All hand in what they have of a step's fragments."""
    if s.number[TAPED] and s.number[BARRIER]:
        for m in range(len(s.learner)):
            if s.answered[row, m]:
                write(s, GAVE, m, index, 0)


@rule
def send_layers(s: State, row: int) -> None:
    """Send a step's fragments layer by layer, as the last learner released each, one by one.

    What nobody has just completed leaves now. Each fragment arrives with its last layer.
    """
    now = s.time[NOW]
    first = s.slot[row, LEAST]
    count = s.slot[row, BEYOND] - first
    s.slot[row, STARTED] = now
    s.slot[row, STAGE] = LANDING
    s.number[SENDS] = s.slot[row, AFTER]
    for f in range(count):
        s.fragment_at[row, f] = now
        s.heads[f] = 0
    begun, end, bits = NEVER, NEVER, 0.0
    while s.number[CROSSES]:
        chosen, release, place, layer = -1, NEVER, 0, 0
        for f in range(count):
            layers = s.share_from[first + f + 1] - s.share_from[first + f]
            if s.heads[f] < layers:
                at = released(s, row, place + s.heads[f])
                if chosen < 0 or at < release or (at == release and s.heads[f] < layer):
                    chosen, release, layer = f, at, s.heads[f]
            place += layers
        if chosen < 0:
            break
        s.heads[chosen] += 1
        layers = s.share_from[first + chosen + 1] - s.share_from[first + chosen]
        part = s.real[SHARE] * (s.real[PAYLOAD] * s.real[PARAMETERS] / layers)
        starts = max(release, s.time[LINK_FREE])
        s.time[LINK_FREE] = passes(s, starts, part)
        if starts != end or s.time[SLOW_UNTIL] > starts:
            note_sent(s, begun, end, bits)
            begun, bits = starts, 0.0
        if s.time[SLOW_UNTIL] > starts:
            note_sent(s, starts, s.time[SLOW_UNTIL], s.real[SLOWLY])
            begun, bits = s.time[SLOW_UNTIL], -s.real[SLOWLY]
        end = s.time[LINK_FREE]
        bits += part
        arrival = min(NEVER, end + s.time[LATENCY])
        s.fragment_at[row, chosen] = max(s.fragment_at[row, chosen], arrival)
    note_sent(s, begun, end, bits)


@rule
def released(s: State, row: int, place: int) -> int:
    """Return when the last of those that take part released a layer."""
    if s.slot[row, LAST_OWN] < s.time[NOW]:
        return s.time[NOW]
    if not s.number[OTHERS_GO_ON]:
        return s.releases[row, 0, place]
    last = -NEVER
    for m in range(len(s.learner)):
        if s.answered[row, m]:
            last = max(last, s.releases[row, m, place])
    return last


@rule
def note_sent(s: State, begun: int, end: int, bits: float) -> None:
    """Note what goes over the link, if anything does."""
    if begun == NEVER:
        return
    place = s.number[SENT]
    s.sent[place, 0] = begun
    s.sent[place, 1] = end
    s.sent_size[place] = bits
    s.number[SENT] += 1


@rule
def fragments_land(s: State) -> None:
    """Fragments arrive that have been sent in lock-step; who waits for one looks again."""
    now = s.time[NOW]
    index = s.number[OLDEST]
    while index < s.number[NEXT_SLOT]:
        row = index % len(s.slot)
        first = s.slot[row, LEAST]
        missing = False
        for f in range(s.slot[row, BEYOND] - first):
            if s.fragment_at[row, f] > now:
                missing = True
            elif s.fragment_at[row, f] == now and s.based[row, 0, f] != index:
                s.based[row, 0, f] = index
                count_fragment(s, index, row, f)
                for m in range(len(s.learner)):
                    blocked = s.learner[m, BLOCKED] == index and s.learner[m, GATE] == first + f
                    if blocked and not s.learner[m, STEPPING]:
                        wake(s, m)
        if not missing and index == s.number[OLDEST]:
            s.slot[row, STAGE] = HAS_ARRIVED
            s.number[OLDEST] = s.slot[row, AFTER]
            s.number[ARRIVED_SLOT] = index
            if s.number[BARRIER]:
                look_at_goal(s)
            if s.number[TAPED] and s.number[BARRIER]:
                for m in range(len(s.learner)):
                    if s.answered[row, m] or not s.number[LEAVES]:
                        write(s, RECEIVED, m, index, 0)
        index = s.slot[row, AFTER]


@rule
def count_fragment(s: State, index: int, row: int, f: int) -> None:
    """Count who took part in the merge of a fragment that arrives."""
    s.number[MERGES] += 1
    s.number[PARTICIPANTS] += s.slot[row, ANSWERS]
    if s.number[NOTES]:
        note(s, index, row)
        s.notes[s.number[NOTED] - 1, 3] = s.slot[row, LEAST] + f


@rule
def fragments_due(s: State) -> int:
    """Return when a fragment that has been sent in lock-step arrives next."""
    found = NEVER
    index = s.number[OLDEST]
    while index < s.number[NEXT_SLOT]:
        row = index % len(s.slot)
        for f in range(s.slot[row, BEYOND] - s.slot[row, LEAST]):
            if s.based[row, 0, f] != index:
                found = min(found, s.fragment_at[row, f])
        index = s.slot[row, AFTER]
    return found


@rule
def begin_exchanges(s: State) -> None:
    """Let the exchange begin that has queued longest, if none is under way."""
    while (
        not s.number[LOCKSTEP]
        and s.number[UNDER_WAY] == 0
        and s.number[SENDS] < s.number[NEXT_SLOT]
        and s.number[HAND] == DONE
    ):
        index = s.number[SENDS]
        row = index % len(s.slot)
        s.number[SENDS] = s.slot[row, AFTER]
        s.number[UNDER_WAY] = index
        s.slot[row, STARTED] = s.time[NOW]
        s.slot[row, STAGE] = ON_LINK
        size = 0.0
        for p in range(s.slot[row, LEAST], s.slot[row, BEYOND]):
            size += s.sizes[p]
            s.sent_in[p] = index
        s.sent_at[row] = s.real[PAYLOAD]
        s.sent_bits[row] = s.real[SHARE] * (s.real[PAYLOAD] * s.real[PARAMETERS]) * size
        if s.number[POLICY]:
            note_settings(s)
        if not s.number[CROSSES]:
            last_bit_out(s, index, 0)
            continue
        s.time[LINK_ENDS] = NEVER if s.number[OUTSIDE] else passes(s, s.time[NOW], s.sent_bits[row])
        if s.number[OUTSIDE] or s.time[LINK_ENDS] - s.time[NOW] > s.time[TIMEOUT]:
            s.time[LINK_ENDS] = NEVER
            hand(s, BEGIN, 0, index)


@rule
def note_settings(s: State) -> None:
    """Add up what an exchange begins with, for the means that a policy's report gives."""
    s.number[SETTINGS_SENT] += 1
    s.settings[0] += s.real[PAYLOAD]
    s.settings[1] += s.number[PERIOD]
    s.settings[2] += s.number[TAU]
    s.settings[3] += s.number[QUORUM]


@rule
def rate_at(s: State, now: int) -> int:
    """Return which of the rates that the link will have holds then."""
    place, beyond = 0, len(s.link_from)
    while beyond - place > 1:
        middle = (place + beyond) // 2
        if s.link_from[middle] <= now:
            place = middle
        else:
            beyond = middle
    return place


@rule
def passes(s: State, now: int, bits: float) -> int:
    """Return when bits that flow from then on have passed, at the rates that the link will have."""
    if bits <= 0.0:
        return now
    if s.time[ROUND_TRIP]:
        return passes_slowly(s, now, bits)
    place = rate_at(s, now)
    while True:
        rate = s.link_rate[place]
        end = s.link_from[place + 1] if place + 1 < len(s.link_from) else NEVER
        if rate == inf:
            return now
        if rate > 0.0:
            lasts = bits * SECOND / rate
            if lasts < NEVER:
                finish = now + max(1, round(lasts))
                if finish <= end:
                    return finish
            bits -= rate * (end - now) / SECOND
        if end == NEVER:
            return NEVER
        now = end
        place += 1


@rule
def passes_slowly(s: State, now: int, bits: float) -> int:
    """Return when bits have passed that start slowly where the connections are idle.

    They are a round trip after their last bit. Each round trip then carries a window, twice the one
    before, until one lasts for a round trip at the link's rate; a window that nothing more follows
    goes at that rate. A link that was cut starts slowly again.
    """
    s.time[ROUND_ENDS_BEFORE], s.time[LAST_OUT_BEFORE] = s.time[ROUND_ENDS], s.time[LAST_OUT]
    s.real[WINDOW_BEFORE], s.real[ROOM_BEFORE] = s.real[WINDOW], s.real[ROOM]
    window, room, ends = s.real[WINDOW], s.real[ROOM], s.time[ROUND_ENDS]
    if now - s.time[LAST_OUT] >= s.time[ROUND_TRIP]:
        window = room = s.real[FIRST_WINDOW]
        ends = now + s.time[ROUND_TRIP]
    whole = bits
    s.time[SLOW_UNTIL] = now
    s.real[SLOWLY] = 0.0
    place = rate_at(s, now)
    while bits > 0.0:
        rate = s.link_rate[place]
        change = s.link_from[place + 1] if place + 1 < len(s.link_from) else NEVER
        if rate == 0.0:
            if change == NEVER:
                return NEVER
            now = change
            place += 1
            window = room = s.real[FIRST_WINDOW]
            ends = now + s.time[ROUND_TRIP]
            continue
        if window < inf and now >= ends:
            if room <= 0.0:
                window *= 2.0
            room = window
            ends = now + s.time[ROUND_TRIP]
        if window < inf and room >= rate * (ends - now) / SECOND:
            window = room = inf
        if bits > room:
            stop = min(ends, change)
            part = room if stop == ends else room * (stop - now) / (ends - now)
            room = 0.0 if stop == ends else room - part
            s.real[SLOWLY] = whole - bits + part
            s.time[SLOW_UNTIL] = stop
        else:
            stop, part = change, rate * (change - now) / SECOND
            lasts = bits * SECOND / rate
            if lasts < NEVER:
                over = min(NEVER, now + (max(1, round(lasts)) if lasts > 0.0 else 0))
                if over <= change:
                    stop, part = over, bits
            if part > bits:
                part = bits
            room -= part
        bits -= part
        now = stop
        if now == NEVER:
            return NEVER
        if now == change:
            place += 1
    s.real[WINDOW], s.real[ROOM], s.time[ROUND_ENDS] = window, room, ends
    s.time[LAST_OUT] = now
    return now


@rule
def exchange_over(s: State) -> None:
    """The last bit of the exchange on the link is out."""
    index = s.number[UNDER_WAY]
    row = index % len(s.slot)
    started = s.slot[row, STARTED]
    s.time[LINK_ENDS] = NEVER
    if s.time[SLOW_UNTIL] > started:
        note_sent(s, started, s.time[SLOW_UNTIL], s.real[SLOWLY])
        note_sent(s, s.time[SLOW_UNTIL], s.time[NOW], s.sent_bits[row] - s.real[SLOWLY])
    else:
        note_sent(s, started, s.time[NOW], s.sent_bits[row])
    if s.time[NOW] > started:
        s.real[MEASURED] = s.sent_bits[row] * SECOND / (s.time[NOW] - started)
    last_bit_out(s, index, s.time[LATENCY])


@rule
def last_bit_out(s: State, index: int, latency: int) -> None:
    """An exchange leaves the link; its latency runs on beside the next."""
    row = index % len(s.slot)
    s.number[UNDER_WAY] = 0
    s.slot[row, STAGE] = LANDING
    s.slot[row, DUE] = s.time[NOW] + latency
    s.number[CHECK] = 1


@rule
def arrive(s: State, index: int, row: int) -> None:
    """A slot's update is there for all, after those before it."""
    now = s.time[NOW]
    s.slot[row, STAGE] = HAS_ARRIVED
    s.number[OLDEST] = s.slot[row, AFTER]
    s.real[SYNC_TIME] = average(s.real[SYNC_TIME], float(now - s.slot[row, STARTED]))
    s.number[ARRIVED_SLOT] = index
    s.number[LANDED] += 1
    for p in range(s.slot[row, LEAST], s.slot[row, BEYOND]):
        s.ages[s.number[AGED]] = now - s.arrived_at[p]
        s.arrived_at[p] = now
        s.number[AGED] += 1
    if s.number[NOTES] and s.slot[row, ANSWERS]:
        note(s, index, row)
    wake_blocked(s)
    if s.number[POLICY]:
        hand(s, ARRIVED, 0, index)


@rule
def let_land(s: State) -> None:
    """What is there is merged once all before it are, one merge after another, and then arrives."""
    now = s.time[NOW]
    index = s.number[OLDEST]
    while index < s.number[NEXT_SLOT] and s.number[HAND] == DONE:
        row = index % len(s.slot)
        after = s.slot[row, AFTER]
        if s.slot[row, STAGE] == LANDING and s.slot[row, DUE] <= now:
            s.slot[row, STAGE] = THERE
        if s.slot[row, STAGE] == THERE and index == s.number[LANDS]:
            s.number[LANDS] = after
            s.time[MERGING] = max(now, s.time[MERGING]) + s.time[MERGE_TIME]
            s.slot[row, STAGE] = MERGES_NOW
            s.slot[row, DUE] = s.time[MERGING]
        if s.slot[row, STAGE] == MERGES_NOW and s.slot[row, DUE] <= now:
            arrive(s, index, row)
        index = after


@rule
def lands(s: State) -> int:
    """Return when something lands or arrives next."""
    found = NEVER
    index = s.number[OLDEST]
    while index < s.number[NEXT_SLOT]:
        row = index % len(s.slot)
        stage = s.slot[row, STAGE]
        if stage == THERE and index == s.number[LANDS]:
            return s.time[NOW]
        if stage in (LANDING, MERGES_NOW):
            found = min(found, s.slot[row, DUE])
        index = s.slot[row, AFTER]
    return found


# Replicas that leave and come back.


def leave(s: State, m: int) -> None:
    """A replica is cut off or lost: its learner is in no merge, waits for none, and is not heard.

    Answers that queue or are under way are gone; a slot that has opened does not shut again.
    """
    s.learner[m, REACH] = s.number[ARRIVED_SLOT]
    s.learner[m, HEARD] = 0
    for index in range(s.number[OLDEST], s.number[TOP] + 1):
        row = index % len(s.slot)
        if s.slot[row, INDEX] != index or not s.answered[row, m]:
            continue
        stage = s.slot[row, STAGE]
        if stage > ON_LINK:
            continue
        if stage > OPEN:
            withdraw(s, m, row)
        s.answered[row, m] = 0
        s.slot[row, ANSWERS] -= 1
        if stage == OPEN:
            if not s.slot[row, OPENED]:
                s.slot[row, OWN] -= 1
            continue
        s.number[PARTICIPANTS] -= 1
    there = 0
    for i in range(s.learner[m, ANSWERED]):
        if s.queue[m, i, KEPT]:  # its update is received at the next boundary
            for column in range(5):
                s.queue[m, there, column] = s.queue[m, i, column]
            s.queue[m, there, AT_STEP] = -NEVER
            there += 1
    s.learner[m, ANSWERED] = there
    s.learner[m, BLOCKED] = 0
    if not s.learner[m, STEPPING]:
        wake(s, m)


def come_back(s: State, m: int) -> None:
    """A replica has caught up: its learner is heard, and receives what it missed.

    Its count went on with its steps; it becomes at most that of the furthest of those who were
    heard, and it is to answer what needs it to open.
    """
    furthest = -1
    for other in range(len(s.learner)):
        if s.learner[other, HEARD]:
            furthest = max(furthest, s.learner[other, COUNT])
    if furthest < 0:
        furthest = s.number[ARRIVED_SLOT]
    for row in range(len(s.slot)):
        index = s.slot[row, INDEX]
        if index >= s.number[NEXT_SLOT] and not s.slot[row, OPENED]:
            furthest = min(furthest, index - 1)
    s.learner[m, COUNT] = min(s.learner[m, COUNT], furthest)
    s.learner[m, HEARD] = 1


def forget_unclosed(s: State) -> None:
    """A round is taken back: what was answered to steps that have not been sent is gone."""
    for row in range(len(s.slot)):
        if s.slot[row, INDEX] >= s.number[NEXT_SLOT]:
            s.slot[row, INDEX] = -1
    s.number[TOP] = s.number[LAST]


def begin_anew(s: State, slot: int) -> None:
    """Learners and syncer have gone back: no slot is open or under way, all go on after this one.

    It lies at or behind the last that has closed. Nobody has an answer that is to be received.
    """
    for row in range(len(s.slot)):
        s.slot[row, INDEX] = -1
    following_it = following(s, slot)
    for column in (NEXT_SLOT, SENDS, LANDS, OLDEST):
        s.number[column] = following_it
    s.number[LAST] = s.number[TOP] = s.number[ARRIVED_SLOT] = slot
    s.number[UNDER_WAY] = 0
    s.number[CHECK] = 1
    s.time[LINK_ENDS] = NEVER
    s.time[MERGING] = min(s.time[MERGING], s.time[NOW])
    for m in range(len(s.learner)):
        s.learner[m, COUNT] = s.learner[m, SEEN] = s.learner[m, REACH] = slot
        s.learner[m, TAKEN_IN] = slot
        s.learner[m, ANSWERED] = s.learner[m, BLOCKED] = s.learner[m, ALONE] = 0
        s.learner[m, OUT] = 0
        if not s.learner[m, STEPPING]:
            wake(s, m)


# What a policy decides.


def set_quorum(s: State, quorum: int) -> None:
    """Ask for another quorum of every slot that is not open yet, and of how many are live."""
    s.number[QUORUM] = quorum
    for index in range(s.number[NEXT_SLOT], s.number[TOP] + 1):
        row = index % len(s.slot)
        if s.slot[row, INDEX] == index and not s.slot[row, OPENED] and s.slot[row, OWN] >= quorum:
            open_slot(s, row)
    s.number[CHECK] = 1


def set_overlap(s: State, overlap: int) -> None:
    """Let learners take another number of steps beyond an answer."""
    s.number[TAU] = overlap
    wake_blocked(s)


def set_inner_steps(s: State, inner: int) -> None:
    """Change the period from the first slot on that nobody has reached; fragments go on in turn."""
    reached = s.number[TOP]
    heard = False
    for m in range(len(s.learner)):
        if s.learner[m, HEARD]:
            heard = True
            reached = max(reached, s.learner[m, COUNT])
    if not heard:
        reached = max(reached, s.number[ARRIVED_SLOT])
    begin_turn(s, 1 + max(reached, s.number[LAST]), inner)
    s.number[PERIOD] = inner


def begin_turn(s: State, begins: int, inner: int) -> None:
    """Let fragments be due every `inner` slots from slot `begins` on."""
    count, fragments = s.number[TURNS], s.number[FRAGMENTS]
    while count > 1 and s.turns[count - 1, START] >= begins:
        count -= 1
    if count == len(s.turns):  # the oldest concern nobody any more
        for turn in range(1, count):
            for column in range(3):
                s.turns[turn - 1, column] = s.turns[turn, column]
        s.turns[0, START] = 0
        count -= 1
    s.number[TURNS] = count
    last = begins - 1
    while last > 0 and not is_due(s, last):
        last -= 1
    base = 0
    if last > 0:
        before = due_upto(s, last) - 1
        after = (before + 1) % fragments
        residue = after * inner // fragments
        gap = (residue - before * inner // fragments) % inner
        if gap == 0:  # both are due together from now on, or it is the only one
            gap = inner if fragments == 1 else 1
        base = max(begins, last + gap) - residue
    s.turns[count, START] = begins
    s.turns[count, BASE] = base
    s.turns[count, INNER] = inner
    s.number[TURNS] = count + 1
    row = s.number[LAST] % len(s.slot)
    before, after = s.number[NEXT_SLOT], following(s, s.number[LAST])
    if s.slot[row, INDEX] == s.number[LAST]:
        s.slot[row, AFTER] = after
    for column in (NEXT_SLOT, SENDS, LANDS, OLDEST):
        if s.number[column] == before:
            s.number[column] = after


def is_due(s: State, slot: int) -> bool:
    """Whether any fragment is due at a slot."""
    return due_from(s, slot) < due_upto(s, slot)


# What is told.


@rule
def tally(s: State, what: int, value: int) -> None:
    """Count a whole number that came up as a lag (OF_LAGS) or as steps."""
    if value >= len(s.lags):
        s.spill[s.number[SPILLED], 0] = what
        s.spill[s.number[SPILLED], 1] = value
        s.number[SPILLED] += 1
    elif what == OF_LAGS:
        s.lags[value] += 1
    else:
        s.steps[value] += 1


@rule
def note(s: State, index: int, row: int) -> None:
    """Note a merge: its slot, when its exchange began, when it arrived, whose weight is which."""
    place = s.number[NOTED]
    s.notes[place, 0] = index
    s.notes[place, 1] = s.slot[row, STARTED]
    s.notes[place, 2] = s.time[NOW]
    s.notes[place, 3] = -1
    for m in range(len(s.learner)):
        s.weights[place, m] = weight(s, m, row)
    s.number[NOTED] += 1


@rule
def weight(s: State, m: int, row: int) -> float:
    """Return a learner's weight in a merge, tokens times tokens a step; -1 for the absent."""
    if not s.answered[row, m]:
        return -1.0
    if s.number[LOCKSTEP]:
        return 1.0
    steps = 0
    tokens = 0.0
    for f in range(s.slot[row, BEYOND] - s.slot[row, LEAST]):
        steps += s.carried[row, m, f]
        tokens += s.brought[row, m, f]
    return tokens * tokens / steps if steps else 0.0


@rule
def write(s: State, kind: int, m: int, what: int, how_many: int) -> None:
    """Write on the tape what happened to a learner's parameters."""
    place = s.number[TAPES]
    s.tape[place, KIND] = kind
    s.tape[place, AT] = s.time[NOW]
    s.tape[place, LEARNER] = m
    s.tape[place, WHAT] = what
    s.tape[place, HOW_MANY] = how_many
    if kind == MERGED_SLOT:
        for other in range(len(s.learner)):
            s.tape_weights[place, other] = weight(s, other, what % len(s.slot))
    s.number[TAPES] += 1


@rule
def crowded(s: State) -> bool:
    """Whether a step that ends now may answer more slots than there is room for.

    Who is not heard answers none, however far it gets.
    """
    room = len(s.slot)
    unclosed = max(0, s.number[TOP] - s.number[NEXT_SLOT] + 1)
    for m in range(len(s.learner)):
        if s.learner[m, HEARD] and s.learner[m, COUNT] + 1 - s.number[OLDEST] >= room:
            return True
        if s.learner[m, ANSWERED] + unclosed + 1 >= s.queue.shape[1]:
            return True
        if s.learner[m, RUNS_OF_STEP] + 2 * s.carried.shape[2] + 2 >= s.course.shape[1]:
            return True
    return False


@rule
def full(s: State) -> bool:
    """Whether a buffer may not hold what the next thing puts into it."""
    rows = len(s.slot)
    learners = len(s.learner)
    return bool(
        s.number[AGED] + rows * s.carried.shape[2] > len(s.ages)
        or s.number[BROUGHT] + rows > len(s.tokens_in)
        or s.number[WAITED] + 2 * learners > len(s.waits)
        or s.number[SENT] + 2 * s.releases.shape[2] + 4 > len(s.sent)
        or s.number[SPILLED] + 2 * rows * learners * s.carried.shape[2] > len(s.spill)
        or s.number[TAPES] + learners * (2 * rows * s.number[TAPED] + 4) > len(s.tape)
        or s.number[NOTED] + s.number[NOTES] * rows * s.carried.shape[2] > len(s.notes)
    )


# The clock.


def advance(s: State, until: int, rank: int) -> int:
    """Let everything happen that comes before `until`, or at it with a lower rank.

    Returns DONE, or what has to be done, at this instant, before it is called again.
    """
    while True:
        time = NEVER
        for m in range(len(s.learner)):
            time = min(time, s.learner[m, ENDS])
        kind = STEP_END
        if s.time[LINK_ENDS] < time:
            time, kind = s.time[LINK_ENDS], LAST_BIT
        closes = s.time[NOW] if s.number[CHECK] else s.time[CLOSES]
        if closes < time:
            time, kind = closes, CLOSE
        if s.number[OLDEST] < s.number[NEXT_SLOT]:
            due = fragments_due(s) if s.number[LOCKSTEP] else lands(s)
            if due < time:
                time, kind = due, ARRIVAL
        if s.number[AWAKE] and s.time[NOW] < time:
            time, kind = s.time[NOW], NEXT
        if s.number[REACHED] and time > s.time[NOW] and until > s.time[NOW]:
            return GOAL
        if time > until or (time == until and kind >= rank):
            s.time[NOW] = until
            return DONE
        if full(s):
            return FULL
        if kind == STEP_END and crowded(s):
            return CROWDED
        if s.number[NEXT_SLOT] >= s.number[PAUSE_AT]:
            return PAUSED
        s.time[NOW] = time
        if kind == STEP_END:
            for m in range(len(s.learner)):
                if s.learner[m, ENDS] == time:
                    stop(s, m)
        elif kind == LAST_BIT:
            exchange_over(s)
        elif kind == CLOSE:
            close_ready(s)
        elif kind == ARRIVAL:
            if s.number[LOCKSTEP]:
                fragments_land(s)
            else:
                let_land(s)
        else:
            why = decide_all(s)
            if why != DONE:
                return why
        if s.number[HAND]:
            return take_hand(s)
