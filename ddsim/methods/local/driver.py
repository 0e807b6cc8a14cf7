"""What drives the protocol: ahead to whatever SimPy does next, by hand or as machine code.

What the protocol does not know it hands over, at its instant, to who does: exchanges among replicas
that may leave, a policy's decisions, saves, learners that return.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ddsim.engine import tape
from ddsim.engine.clock import Rank
from ddsim.engine.recorder import Merge
from ddsim.engine.reduction import Pipe, pieces
from ddsim.engine.thinned import Thinned
from ddsim.methods.local import arrays
from ddsim.methods.local import protocol as k
from ddsim.methods.local.learner import ACCOUNTS
from ddsim.methods.local.rounds import Rounds
from ddsim.world.instants import seconds
from ddsim.world.slow_start import IDLE, Connection, Course

if TYPE_CHECKING:
    from collections.abc import Callable

    from ddsim.engine.clock import Wake
    from ddsim.engine.merge_log import MergeLog
    from ddsim.engine.run import Run
    from ddsim.engine.saves import Saves
    from ddsim.methods.local.arrays import Settings
    from ddsim.methods.local.compiling import MachineCode
    from ddsim.methods.local.protocol import State
    from ddsim.world.ring import Ring

# Fewer steps of learners than these are taken by hand: to load a compiler would take longer.
LEAST_STEPS = 20_000.0


class Host(Protocol):
    """Who takes what the protocol hands over, each at the instant at which it happens."""

    def closed(self, slot: int) -> None:
        """A slot has closed; its exchange is to begin or to queue."""
        ...

    def begins(self, slot: int) -> None:
        """An exchange is to begin among replicas that may leave, or beside other transfers."""
        ...

    def arrived(self, slot: int) -> None:
        """A slot's update has arrived."""
        ...

    def save(self, learner: int) -> None:
        """A learner at a step boundary is to save."""
        ...

    def rejoined(self, learner: int) -> None:
        """A learner that had been lost has taken all fragments from its replica."""
        ...

    def stale(self, learner: int, slots: int) -> None:
        """A learner answered for the first time since, its oldest fragment so many slots behind."""
        ...

    def judge(self, slot: int) -> None:
        """All that have hardware have completed a lock-step learner's step."""
        ...

    def catching_up(self) -> None:
        """The protocol is about to go on: tell it what it has to know of the world."""
        ...


class Driver:
    """Brings the protocol up to each event of SimPy's before that takes effect.

    `view` is the state as Python reads and writes it: single items in half the time. `follow` is
    told the kind, learner, slot and members of all that the tape of the protocol has, if it has it.
    """

    def __init__(
        self, run: Run, settings: Settings, ring: Ring, log: MergeLog | None, host: Host
    ) -> None:
        self._run = run
        self._clock = run.clock
        self._ring = ring
        self._log = log
        self._host = host
        self.saves: Saves | None = None
        self.queue: Pipe | None = None
        self.follow: Callable[[int, int, int, tuple[int, ...]], None] | None = None
        self._barrier = settings.barrier
        self._advance: Callable[..., int] = k.advance
        self._code: MachineCode | None = None
        self._more: Callable[[State], MachineCode | None] | None = None
        self._of: tuple[Any, ...] = ()
        self._noted: Thinned[tuple[list[int], Any]] = Thinned(run.recorder.noted.room)
        state = arrays.begin(run, settings, ring)
        if not run.every_slot and _steps(run) >= LEAST_STEPS:
            from ddsim.methods.local.compiling import allowed, at_hand

            if allowed():
                self._more = at_hand
        self._take(state)
        self._handlers: list[Callable[[], None]] = [lambda: None] * (k.GOAL + 1)
        self._handlers[k.CLOSED] = lambda: host.closed(self.view.number[k.WHICH])
        self._handlers[k.BEGIN] = lambda: host.begins(self.view.number[k.WHICH])
        self._handlers[k.ARRIVED] = lambda: host.arrived(self.view.number[k.WHICH])
        self._handlers[k.JUDGE] = lambda: host.judge(self.view.number[k.WHICH])
        self._handlers[k.SAVE] = lambda: host.save(self.view.number[k.WHO])
        self._handlers[k.REJOIN] = lambda: host.rejoined(self.view.number[k.WHO])
        self._handlers[k.GOAL] = run.clock.stop
        run.clock.follow(self.catch_up)
        self._await_change()

    def _take(self, state: State) -> None:
        """Go on with this state, as machine code as soon as there is some."""
        if self._more is not None:
            self._code = self._more(state)
            if self._code is not None:
                self._advance = self._code.advance
                self._more = None
        if self._code is not None:
            self._of, state = self._code.pack(state)
        self.state = state
        self.view = k.State._make(memoryview(array) for array in state)  # type: ignore[arg-type]
        if self._code is None:
            self._of = (self.view,)
        self._rounds = Rounds(state, self._ring, self._noted)

    def save_by(self, saves: Saves) -> None:
        """Let learners save at step boundaries from now on, and hold their units up for it."""
        self.saves = saves
        self.view.number[k.SAVE_STEPS] = saves.steps or 0
        every = k.NEVER if saves.steps else saves.interval
        self.view.time[k.SAVE_INTERVAL], self.view.time[k.SAVE_FLIGHT] = every, saves.flight

    def catch_up(self, until: int, rank: int) -> bool:
        """Let all happen that comes before `until`, or at it before things of that rank.

        Return whether that is reached. What is handed over is taken at its own instant, up to which
        nothing else is due.
        """
        if not self._run.every_slot and until - self.view.time[k.NOW] > self._rounds.least:
            self._rounds.begin(until)
        while True:
            if self._more is not None and self._more(self.state) is not None:
                self._take(self.state)
            self._host.catching_up()
            view = self.view
            why = self._advance(*self._of, until, rank)
            if why == k.DONE:
                self._rounds.end()
                if view.number[k.SENT] and self._run.meter.mixed:
                    self.tell_sent()  # others record what they send beside it
                return True
            if why == k.FULL:
                self.tell()
            elif why == k.PAUSED:
                self._look(until)
            elif why == k.DRAW:
                self._draw(view.number[k.WHO])
            elif why == k.CROWDED:
                self.tell()
                self._take(arrays.grown(self.state))
            else:
                self._rounds.end()
                self._clock.move_on(view.time[k.NOW])
                self._handlers[why]()
                return False

    def _look(self, until: int) -> None:
        """Pass over rounds that are like the last, if it repeats itself."""
        rounds = self._rounds.look(until)
        if rounds > 0:
            self._rounds.pass_over(rounds)
            self.tell(1 + rounds, self._rounds.period, self._rounds.shift)
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
        if pace.loads:
            self.state.loads[index] = [pace.data(begun + ahead) for ahead in range(len(drawn))]
        learner[k.DRAWN] = begun

    def _await_change(self) -> None:
        """Tell apart what arrived at one rate of the link and at the next."""
        change = self._ring.rate.next_change(self._clock.now)
        if change < self._run.horizon:
            self._clock.after(change - self._clock.now, Rank.ARRIVAL, self._link_changes)

    def _link_changes(self, wake: Wake) -> None:
        self.tell()
        if self._log is not None:
            self._log.pass_to(self._clock.now)
        self._await_change()

    # What was told.

    def put_on_tape(self, event: tape.Event) -> None:
        """Put something on the tape that others know of, if one is kept."""
        if self._run.tape is not None:
            self.tell_tape()
            self._run.tape.append(event)

    def tell(self, times: int = 1, period: int = 0, shift: int = 0) -> None:
        """Put what the buffers hold into the books, as often as it happened, every `period`.

        `shift` is by how many slots a round is further than the one before.
        They hold all that has been told since the last time; a mark to compare with needs that to
        be the last time, too.
        """
        self._rounds.forget()
        state, number = self.state, self.state.number
        if self._log is not None:
            self._tell_log(self._log, times)
        waits = state.waits[: number[k.WAITED]].tolist()
        for later in (turn * period for turn in range(times if waits else 0)):
            for index, start, end, account, _ in waits:
                label = ACCOUNTS[account].label
                self._run.recorder.wait(index, start + later, end + later, label)
        self.tell_sent(times, period)
        if number[k.TAPES]:
            self.tell_tape()
        if number[k.NOTED]:
            self._tell_notes(times, period, shift)
        for filled in (k.SPILLED, k.AGED, k.BROUGHT, k.WAITED, k.LANDED, k.NOTED):
            number[filled] = 0

    def _tell_log(self, log: MergeLog, times: int) -> None:
        state, number = self.state, self.state.number
        log.add_all(
            lags=_counted(state.lags) | _spilled(state, k.OF_LAGS),
            steps=_counted(state.steps) | _spilled(state, k.OF_STEPS),
            tokens=state.tokens_in[: number[k.BROUGHT]],
            merges=int(number[k.LANDED]),
            ages=state.ages[: number[k.AGED]],
            arrived=state.arrived_at.tolist(),
            times=times,
        )
        state.lags[:] = state.steps[:] = 0

    def _tell_notes(self, times: int, period: int, shift: int) -> None:
        notes, weights = self.state.notes, self.state.weights
        count = int(self.state.number[k.NOTED])

        def entry(index: int) -> tuple[list[int], Any]:
            turn, place = divmod(index, count)
            slot, began, arrived, fragment = notes[place].tolist()
            later = turn * period
            told = [slot + turn * shift, began + later, arrived + later, fragment]
            return told, weights[place].copy()

        self._noted.offer(times * count, entry)

    def record(self, start: int, end: int, bits: float) -> None:
        """Put down what an exchange among all has moved, in the order of time."""
        view = self.view
        place = view.number[k.SENT]
        view.sent[place, 0], view.sent[place, 1], view.sent_size[place] = start, end, bits
        view.number[k.SENT] += 1
        self.tell_sent()

    def under_way(self, now: int) -> tuple[int, float, Course]:
        """Return when the exchange on the link began, its bits, and how far it is by now."""
        view = self.view
        row = view.number[k.UNDER_WAY] % len(view.slot)
        started, bits = view.slot[row, k.STARTED], view.sent_bits[row]
        slow, rate = self._ring.slow_start, self._ring.rate
        if slow is not None:
            return started, bits, slow.course(rate, self._connection(True), started, bits, now)
        left = bits - min(bits, rate.passed(started, now))
        return started, bits, Course(now, left, IDLE, started, 0.0)

    def connection(self) -> Connection:
        """Return where the connections stand that exchanges among all are sent over.

        One that is to begin now may have been reckoned with already, and does not count.
        """
        return self._connection(self.view.time[k.LAST_OUT] > self.view.time[k.NOW])

    def _connection(self, before: bool) -> Connection:
        real, time = self.view.real, self.view.time
        if before:
            return Connection(
                real[k.WINDOW_BEFORE],
                real[k.ROOM_BEFORE],
                time[k.ROUND_ENDS_BEFORE],
                time[k.LAST_OUT_BEFORE],
            )
        return Connection(real[k.WINDOW], real[k.ROOM], time[k.ROUND_ENDS], time[k.LAST_OUT])

    def take_connection(self, connection: Connection) -> None:
        """Take note of where others have left those connections."""
        real, time = self.view.real, self.view.time
        real[k.WINDOW], real[k.ROOM], time[k.ROUND_ENDS], time[k.LAST_OUT] = connection

    def tell_sent(self, times: int = 1, period: int = 0) -> None:
        """Put down what exchanges among all have moved since the last time."""
        state = self.state
        count = int(state.number[k.SENT])
        state.number[k.SENT] = 0
        if self.queue is not None:
            spans = zip(state.sent[:count].tolist(), state.sent_size[:count].tolist(), strict=True)
            self.queue.has_sent([(a, b, bits) for (a, b), bits in spans], self._clock.now)
            return
        sent = [
            piece
            for (start, end), bits in zip(
                state.sent[:count].tolist(), state.sent_size[:count].tolist(), strict=True
            )
            for piece in pieces((start, end, bits), self._ring, end)
        ]
        if times > 1:
            self._run.meter.repeat(sent, period, times, self._ring)
        else:
            for start, end, bits in sent:
                self._run.meter.record(start, end, bits, self._ring)

    def tell_tape(self) -> None:
        """Pass on what is on the tape of the protocol, first answers among it."""
        state = self.state
        count = int(state.number[k.TAPES])
        state.number[k.TAPES] = 0
        for place, (kind, at, m, what, how_many) in enumerate(state.tape[:count].tolist()):
            now = seconds(at)
            if self.follow is not None and kind != k.STALE:
                who = _present(state.tape_weights[place].tolist())[0]
                self.follow(kind, m, what, who if kind == k.MERGED_SLOT else ())
            if kind == k.STALE:
                self._host.stale(m, what)
            elif self._run.tape is None:
                continue
            elif kind == k.STEPPED:
                share = what / self._run.cluster.units[m].chips
                self._run.tape.append(tape.Steps(now, m, how_many, share))
            elif kind in (k.GAVE, k.TOO_LATE):
                answer = tape.Answer(now, m, self.label(what), self._on_tape(what))
                self._run.tape.append(answer)
            elif kind == k.RECEIVED:
                self._run.tape.append(tape.Receive(now, m, self.label(what)))
            else:
                who, weights = _present(state.tape_weights[place].tolist())
                merge = tape.Merge(now, self.label(what), self._on_tape(what), who, weights)
                self._run.tape.append(merge)

    def label(self, slot: int) -> int:
        """Return the number under which a slot is told: at a barrier that of the round."""
        return slot // self.view.number[k.PERIOD] if self._barrier else slot

    def _on_tape(self, slot: int) -> tuple[int, ...]:
        if self._barrier:
            return tuple(range(self._run.scenario.training.fragments))
        return self.fragments(slot)

    def fragments(self, slot: int) -> tuple[int, ...]:
        """Return the fragments due at a slot."""
        return tuple(range(k.due_from(self.view, slot), k.due_upto(self.view, slot)))

    def close(self, horizon: int) -> None:
        """Put everything into the books at the end of the run."""
        view = self.view
        if view.number[k.UNDER_WAY] and view.time[k.LINK_ENDS] < k.NEVER:
            started, bits, course = self.under_way(horizon)
            self.record(started, horizon, bits - course.left)
        self.tell()
        for row, presence in enumerate((self._run.running, self._run.computing)):
            since, gone, total, absent, count, breaks = self.state.presence[row].tolist()
            presence.take_over(
                count=count, since=since, gone=gone, total=total, absent=absent, breaks=breaks
            )
        self._run.recorder.noted = self._noted.made(self._merge)

    def _merge(self, noted: tuple[list[int], Any]) -> Merge[int]:
        (slot, began, arrived, fragment), of_all = noted
        who, weights = _present(of_all.tolist())
        fragments = self.fragments(slot) if fragment < 0 else (fragment,)
        if fragment >= 0:  # they average evenly
            weights = ()
        return Merge(self.label(slot), fragments, began, arrived, who, weights)


def _steps(run: Run) -> float:
    """Return about how many steps the learners of a run take, at most."""
    goal = run.goal.all_merged / run.scenario.training.tokens_per_step
    longest: float = sum(run.horizon / pace.nominal for pace in run.paces)
    return min(goal * len(run.paces), longest)


def _present(weights: list[float]) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """Return who took part in a merge, with which weights; the absent have less than none."""
    who = tuple(index for index, weight in enumerate(weights) if weight >= 0.0)
    return who, tuple(weights[index] for index in who)


def _counted(tally: Any) -> dict[int, int]:
    values = np.flatnonzero(tally)
    return dict(zip(values.tolist(), tally[values].tolist(), strict=True))


def _spilled(state: State, kind: int) -> dict[int, int]:
    spill = state.spill[: state.number[k.SPILLED]]
    values, counts = np.unique(spill[spill[:, 0] == kind, 1], return_counts=True)
    return dict(zip(values.tolist(), counts.tolist(), strict=True))
