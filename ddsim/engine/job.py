"""A lock-step job: all units take each step together and reduce its gradients at its end.

Between two changes of hardware or of a link every step is like the one before, so that steps are
counted when something happens, not stepped through.
"""

from __future__ import annotations

from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING

from ddsim.engine import goal
from ddsim.engine.course import stretched
from ddsim.engine.job_books import book_compute, book_steps, book_waste, note_tail
from ddsim.engine.kept import KeptSaves, Unsaved
from ddsim.engine.ledger import Account
from ddsim.engine.reduction import Stretch, record, release_shares
from ddsim.engine.steady import Steady
from ddsim.engine.step import Step, released, whole_times
from ddsim.engine.tape import JobSteps, Rollback, Save
from ddsim.world.instants import NEVER, Ticks, later, seconds

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ddsim.engine.body import Body
    from ddsim.engine.meter import Meter
    from ddsim.engine.saves import Saves
    from ddsim.engine.tape import Tape
    from ddsim.engine.vain import Vain
    from ddsim.world.network import Ring
    from ddsim.world.pace import Pace

_PRODUCTIVE = Account.PRODUCTIVE  # to look a member of an enum up takes as long as a call


class Job:
    """Steps of all units of a body in lock-step, with saves, counted in closed form.

    All times are ticks.
    `steps` and `tokens` are net of what was rolled back; `computing` is the time in which the
    job computes, `wasted` what of it was rolled back; `vain` is told of that where nothing is ever
    saved. Earlier saves than the last are kept where `keep_saves` says that a failure may ask for
    one.
    """

    stepping = True

    def __init__(
        self,
        body: Body,
        paces: Sequence[Pace],
        ring_of: Callable[[tuple[int, ...]], Ring],
        layer_bits: float,
        layers: int,
        saves: Saves,
        tokens_per_chip: float,
        token_goal: float,
        meter: Meter,
        *,
        keep_saves: bool = False,
    ) -> None:
        self.body = body
        self.steps = 0
        self.tokens = 0.0
        self.running: Ticks = 0
        self.computing: Ticks = 0
        self.wasted: Ticks = 0
        self.finished: Ticks | None = None
        self.tape: Tape | None = None
        self.vain: Vain | None = None
        self._paces = paces
        self._steady = all(pace.even for pace in paces)
        self._ring_of = ring_of
        self._layer_bits = layer_bits
        self._shares = release_shares(layers)
        self._saves = saves
        self._tokens_per_chip = tokens_per_chip
        self._goal = token_goal
        self._meter = meter
        self._begun = 0
        self._run: Ticks = 0
        self._taken = 0
        self._save_left: Ticks | None = None
        self._kept = KeptSaves(
            keep_saves, max(0, saves.flight - saves.length), last_only=saves.last_only
        )
        self._nothing = [0.0] * len(body.units)
        self._unsaved = Unsaved(self._nothing)
        # after every step and at no cost: steps need not be told apart for that
        self._saves_all = saves.free and not saves.flight and not self._kept.asked_for
        self._save_stops = not (saves.none or self._saves_all)
        self._endless = not self._save_stops and token_goal == inf
        self._in_step = body.sheet.stint()
        self._not_saved = self._in_step if self._saves_all else body.sheet.stint()
        self._time: Ticks = 0
        self._alike = Steady(meter)
        body.runner = self
        self._steps: dict[tuple[int, ...], Step] = {}
        self._like: Step | None = None
        self._full = [1.0] * len(body.units)
        self._rates = self._full
        self._there: tuple[int, ...] = ()
        self._seen = -1
        self._step: Step | None = None
        self._step = self._begin(0)

    def live_changed(self) -> None:
        """Nobody waits for a job."""

    def settle(self, now: Ticks, *, final: bool = False) -> None:
        """Count the steps and saves up to `now`, and book their chip-seconds.

        What ends exactly at `now` counts, except at the end of the run (`final`).
        """
        while self.finished is None:
            if self._save_left is not None:
                if not self._go_on_saving(now, final):
                    break
                continue
            step = self._step
            assert step is not None
            plain = step.plain and self.tape is None
            if step.fresh and (self._save_stops or not plain) and self._count(now, final):
                continue
            if not (self._pass(step, now, final) if plain else self._go_on_stepping(now, final)):
                break
        self._time = max(self._time, now) if self.finished is None else self.finished

    def close(self, horizon: Ticks) -> None:
        """Record what a step that a stall has suspended has sent by the end of the run."""
        if self._step is not None and not self.body.running:
            self._record(self._step, self._step.stretches, horizon)

    def pause(self) -> None:
        """A stall begins: compute stops, layers on their way go on."""
        if self._step is not None and not self._step.plain:
            self._step.send_done()

    def resume(self) -> None:
        """The stall is over."""
        now = self.body.clock.now
        self._time = now
        if self._save_left is not None:
            return
        if self._step is None or self._step.fresh:
            self._step = self._begin(now, again=self._step is not None)
        else:
            self._step.mark = now
            self._step.at_mark = self._step.done
            if self._seen != self.body.changes:
                self._look()
            if self._step.there != self._there or self._step.rates is not self._rates:
                self._step.repace(self._rates, self._longest)
                self._step.go_by(self._there, self._shares)
            if self._like is None or not self._like.plain:  # those to come are not like it
                self._step.plain = False

    def lose(self) -> None:
        """All hardware is gone, and with it the step in progress."""
        step = self._drop_step()
        if step is not None:
            self._undo_step(step)

    def restore(self, since: Ticks = NEVER) -> None:
        """Go back to the last save; without any policy, completed steps stand.

        Those who are left hold the state of the last step; where it is corrupt, theirs is too.
        """
        if since < NEVER or not self._saves.none:
            self.roll_back(since)

    def roll_back(self, since: Ticks = NEVER) -> None:
        """Go back to the last save that was complete at `since`, or to step 0 without one."""
        step = self._drop_step()
        if step is not None and any(step.work):  # of decimals what came last goes first
            self._undo_step(step)
        elif step is not None:
            self._unsaved.compute += step.computing(step.done)
        lost = self._all_unsaved()
        self._undo(lost, 1)
        if self.vain is not None and (step is not None or lost.compute):
            self.vain.lost(lost.tokens)
        self._reset_unsaved()
        saves = 0
        for work, count in self._kept.lost(self.body.clock.now, since):
            self._undo(work, count)
            saves += count
        if self.tape is not None:
            self.tape.append(Rollback(seconds(self.body.clock.now), saves))

    def _undo(self, work: Unsaved, times: int) -> None:
        book_waste(self.body, work, times)
        self.wasted += times * work.compute
        self.steps -= times * work.steps
        self.tokens -= times * work.tokens

    def _undo_step(self, step: Step) -> None:
        alike = self._in_step.read()
        self._not_saved.take_away(alike)
        self._undo(Unsaved(step.work, compute=step.computing(step.done), alike=alike), 1)

    def changed_pace(self) -> None:
        """Go on with the step in progress at the units' new speeds."""
        step = self._step
        if step is not None and not step.over:
            step.mark = self.body.clock.now
            step.at_mark = step.done
            self._look()
            step.repace(self._rates, self._longest)

    def _drop_step(self) -> Step | None:
        """Leave the step in progress, or the save; return the step."""
        step = self._step
        if step is not None and not step.plain:
            step.send_done()
            self._record(step, step.stretches, self.body.clock.now)
        self._step = None
        self._save_left = None
        return step

    # The step in progress.

    def _begin(self, now: Ticks, done: Ticks = 0, *, again: bool = False) -> Step:
        """Begin a step at `now`, of which `done` is booked; the same once more with `again`."""
        if again:
            self._begun -= 1
        self._in_step.begin(done)
        if self._seen != self.body.changes:
            self._look()
        like, step = self._like, self._step
        if like is None:
            step = self._new_step(now)
        elif step is not None and step.plain and step.times is like.times:
            step.begin_again(now)
        else:
            step = like.anew(now)
        self._begun += 1
        return step

    def _look(self) -> None:
        """See what hardware there is, and what all steps with it are like where they are alike."""
        self._seen = self.body.changes
        units = self.body.units
        self._there = there = tuple([i for i, unit in enumerate(units) if unit.healthy])
        slowed = [unit for unit in units if unit.slowed]
        self._rates = [unit.rate for unit in units] if slowed else self._full
        self._like = None
        if self._steady and not slowed:
            if there not in self._steps:
                self._steps[there] = self._new_step(0)
            self._like = self._steps[there]

    def _new_step(self, now: Ticks) -> Step:
        """Return a step with the hardware that there is."""
        units, rates, there = self.body.units, self._rates, self._there
        data = [pace.data(self._begun) for pace in self._paces]
        times = [
            begin + stretched(pace.of(self._begun), rate)
            for begin, pace, rate in zip(data, self._paces, rates, strict=True)
        ]
        ring = self._ring_of(there)
        first, releases = 0, list[Ticks]()
        if any(data):
            of_all = zip(data, times, units, strict=True)
            spans = [(begin, time) for begin, time, unit in of_all if unit.healthy]
            first = min((begin for begin, _ in spans), default=0)
            releases = released(self._shares, spans) if ring.crosses else []
        elif ring.crosses:
            longest = self._longest(times)
            releases = [round(share * longest) for share in self._shares]
        bits = ring.bits(self._layer_bits)
        even = times.count(times[0]) == len(times) and rates is self._full and not any(data)
        plain = even and self._steady and not ring.crosses
        work = [0.0] * len(units)
        step = Step(data, first, times, rates, ring, bits, releases, there, now, work)
        step.even, step.plain = even, plain
        return step

    def _longest_of(self, step: Step) -> Ticks:
        return step.times[0] if step.even else self._longest(step.times)

    def _longest(self, times: Sequence[Ticks]) -> Ticks:
        """Compute of the slowest unit that has hardware."""
        if len(times) == 1:
            return times[0]
        pairs = zip(times, self.body.units, strict=True)
        return max((time for time, unit in pairs if unit.healthy), default=max(times))

    def _pass(self, step: Step, now: Ticks, final: bool) -> bool:
        """Let steps go by that are compute alone and all alike, from within one into another.

        Return whether it came to a boundary at which a save or the goal is due, rather than to
        `now`.
        """
        length, begun = step.times[0], self._time - step.done
        count = whole_times(now - begun, length, final)
        until = now
        left = None if self._endless else self._steps_left(length, self._run - step.done)
        if left is not None and count >= left:
            count, until = left, begun + left * length
        elapsed = until - self._time
        self.body.sheet.spend(_PRODUCTIVE, elapsed)
        self.running += elapsed
        self.computing += elapsed
        self._run += elapsed
        end = begun + count * length
        if count:
            self._add_unsaved(count, (), count * length, end)
        self._time = until
        if count == left:
            self._step_boundary(end, count)
            return True
        if count:
            self._taken += count
            self._step = step = self._begin(end, until - end)
            if self._saves_all:
                self._run, self._taken = until - end, 0
        step.done = until - begun - count * length
        return False

    def _steps_left(self, length: Ticks, run: Ticks) -> int | None:
        """Return the steps of this length until a save or the goal is due, None for no end.

        The first of them begins, or began, after running for `run` since the last save.
        """
        to_save = self._saves.steps_left(length, run, self._taken) if self._save_stops else None
        per_step = self._tokens_per_chip * self.body.chips
        to_goal = goal.steps_to(self._goal, self.tokens, per_step)
        return min((left for left in (to_save, to_goal) if left is not None), default=None)

    def _go_on_stepping(self, now: Ticks, final: bool) -> bool:
        """Book the step in progress up to `now`; return whether it is complete."""
        step = self._step
        assert step is not None
        longest = step.done if step.over else self._longest_of(step)
        computed = step.mark + max(0, longest - step.at_mark)
        free, end, stretches, connection = step.free, computed, list[Stretch](), step.connection
        if step.ring.crosses:
            free, stretches, connection = step.drain(len(step.releases), longest)
            end = max(computed, later(free, step.ring.latency))
        complete = end < now or (end == now and not final)
        self._book_compute(step, min(now, computed), longest, computed)
        if end > computed:
            tail = self._time
            self._book(Account.EXPOSED_COMMUNICATION, min(now, end))
            note_tail(self.body, tail, self._time)
        if now >= computed:
            step.over = True
            step.free, step.sent, step.connection = free, len(step.releases), connection
            step.stretches += stretches
            stretches = []
        if complete:
            self._record(step, step.stretches, NEVER)
            self._add_unsaved(1, step.work, step.computing(longest), end)
            self._step_boundary(end, 1)
        elif final:
            self._record(step, [*step.stretches, *stretches], now)
        return complete

    def _record(self, step: Step, stretches: Sequence[Stretch], until: Ticks) -> None:
        if stretches:
            record(self._meter, stretches, step.ring, until)

    def _book_compute(self, step: Step, until: Ticks, longest: Ticks, computed: Ticks) -> None:
        elapsed = until - self._time
        if elapsed <= 0:
            return
        after = longest if until == computed else step.done + elapsed
        book_compute(self.body, step, after, self._time, elapsed)
        self.running += elapsed
        self.computing += step.computing(after) - step.computing(step.done)
        step.done = after
        self._run += elapsed
        self._time = until

    def _book(self, account: Account, until: Ticks) -> None:
        elapsed = until - self._time
        if elapsed <= 0:
            return
        self.body.sheet.spend(account, elapsed)
        self.running += elapsed
        if account is not Account.CHECKPOINT_SAVE:
            self._run += elapsed
        self._time = until

    # Many steps at once.

    def _count(self, now: Ticks, final: bool) -> bool:
        """Count whole steps that are all alike; return whether there were any."""
        step = self._step
        assert step is not None
        if not (self._steady and step.fresh):
            return False
        start = self._time
        change = step.ring.rate.next_change(start)
        limit = min(now, change)
        length, stretches = self._alike.step(step, self._longest_of(step), start)
        exclusive = final and limit == now
        to_save = self._saves.steps_left(length, self._run, self._taken)
        per_step = self._tokens_per_chip * self.body.chips
        to_goal = goal.steps_to(self._goal, self.tokens, per_step)
        alike = self._saves.draw is None
        if self._run == 0 and self._taken == 0 and to_save is not None and alike:
            cycle = to_save * length + self._saves.length
            cycles = whole_times(limit - start, cycle, exclusive)
            if to_goal is not None:
                cycles = min(cycles, to_goal // to_save)
            if self.tape is not None and self._kept.earlier:
                cycles = min(cycles, 1)  # each save may be asked for
            if cycles >= 1:
                self._count_cycles(step, cycles, to_save, length, stretches)
                return True
        count = whole_times(limit - start, length, exclusive)
        count = min(n for n in (count, to_save, to_goal) if n is not None)
        if count < 1:
            return False
        self._count_steps(step, count, length, stretches)
        self._step_boundary(start + count * length, count)
        return True

    def _count_steps(
        self, step: Step, count: int, length: Ticks, stretches: list[Stretch], run: int = 0
    ) -> None:
        """Count steps; a save follows every `run` of them, where that is not 0."""
        longest = self._longest_of(step)
        work = book_steps(self.body, step, count, longest, length)
        pause = self._saves.length if run else 0
        self._alike.record(stretches, self._time, length, count, step.ring, run, pause)
        self.running += count * length
        self.computing += count * longest
        self._run += count * length
        self._begun += count - 1
        pauses = (count - 1) // run * pause if run else 0
        end = self._time + count * length + pauses
        self._add_unsaved(count, work, count * longest, end, run)

    def _count_cycles(
        self, step: Step, cycles: int, steps: int, length: Ticks, stretches: list[Stretch]
    ) -> None:
        """Count `cycles` times `steps` steps with a save behind each."""
        start = self._time
        run = steps if self._saves.length else 0
        self._count_steps(step, cycles * steps, length, stretches, run)
        saving = cycles * self._saves.length
        self.body.sheet.spend(Account.CHECKPOINT_SAVE, saving)
        self.running += saving
        cycle = steps * length + self._saves.length
        self._time = start + cycles * cycle
        self._saved(start + cycle, cycle, cycles)
        self._step = self._begin(self._time)
        self._check_goal()

    # Boundaries and saves.

    def _add_unsaved(
        self, steps: int, work: Sequence[float], compute: Ticks, end: Ticks, run: int = 0
    ) -> None:
        tokens = steps * self._tokens_per_chip * self.body.chips
        self.steps += steps
        self.tokens += tokens
        if not self._saves_all:
            unsaved = self._unsaved
            unsaved.steps += steps
            unsaved.tokens += tokens
            unsaved.add(work, compute)
        if self.tape is not None:
            shares = tuple(unit.healthy / unit.plan.chips for unit in self.body.units)
            begun = seconds(min(self._time, end))
            pause = seconds(self._saves.length) if run else 0.0
            self.tape.append(JobSteps(seconds(end), steps, shares, begun, run, pause))

    def _step_boundary(self, now: Ticks, steps: int) -> None:
        self._time = now
        self._taken += steps
        self._check_goal()
        if self._saves.due(self._run, self._taken):
            if self._saves.length:
                self._step = None
                self._save_left = self._saves.next_length()
                return
            self._saved(now)
        self._step = self._begin(now)

    def _check_goal(self) -> None:
        if goal.reached(self._goal, self.tokens):
            self.finished = self._time
            self.body.clock.stop()

    def _all_unsaved(self) -> Unsaved:
        """What would be lost without the next save, of units that compute alike or not."""
        return replace(self._unsaved, alike=self._not_saved.read())

    def _saved(self, first: Ticks, period: Ticks = 0, count: int = 1) -> None:
        if self._kept.asked_for:
            self._kept.add(self._all_unsaved(), first, period, count)
        if self.tape is not None:
            self.tape.append(Save(seconds(self._time)))
        self._reset_unsaved()

    def _reset_unsaved(self, done: Ticks = 0) -> None:
        """All but what was `done` last, of a step that has just begun, is saved."""
        self._unsaved = Unsaved(self._nothing)
        self._not_saved.begin(done)
        self._run = done
        self._taken = 0

    def _go_on_saving(self, now: Ticks, final: bool) -> bool:
        """Book the save in progress up to `now`; return whether it is complete."""
        assert self._save_left is not None
        end = self._time + self._save_left
        complete = end < now or (end == now and not final)
        self._save_left -= min(now, end) - self._time
        self._book(Account.CHECKPOINT_SAVE, min(now, end))
        if complete:
            self._save_left = None
            self._saved(end)
            self._step = self._begin(end)
        return complete
