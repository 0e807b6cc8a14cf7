"""A lock-step job: all units take each step together and reduce its gradients at its end.

Between two changes of hardware or of a link every step is like the one before, so that steps are
counted when something happens, not stepped through.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ddsim.engine.job_books import book_compute, book_steps, note_tail
from ddsim.engine.ledger import Account
from ddsim.engine.reduction import Stretch, record
from ddsim.engine.steady import Steady
from ddsim.engine.step import Step, whole_times
from ddsim.world.instants import NEVER, Ticks, later

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ddsim.engine.body import Body
    from ddsim.engine.job_progress import Progress
    from ddsim.engine.joint_pace import JointPace
    from ddsim.engine.meter import Meter

_PRODUCTIVE = Account.PRODUCTIVE  # to look a member of an enum up takes as long as a call


class Job:
    """Steps of all units of a body in lock-step, with saves, counted in closed form.

    Either a step is in progress or a save that holds the job up. All times are ticks.
    """

    stepping = True

    def __init__(self, body: Body, pace: JointPace, progress: Progress, meter: Meter) -> None:
        self.body = body
        self.progress = progress
        self.finished: Ticks | None = None
        self._pace = pace
        self._meter = meter
        self._alike = Steady(meter)
        self._taped = progress.tape is not None
        self._time: Ticks = 0
        self._save_left: Ticks | None = None
        body.runner = self
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
            plain = step.plain and not self._taped
            counts = (not plain or self.progress.save_stops) and step.fresh
            if counts and self._count(step, now, final):
                continue
            if plain:
                moves = self._pass(step, now, final)
            else:
                moves = self._go_on_stepping(step, now, final)
            if not moves:
                break
        if self.finished is not None:
            self._time = self.finished
        elif self._time < now:
            self._time = now

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
        self._time = now = self.body.clock.now
        step = self._step
        if self._save_left is not None:
            return
        if step is None or step.fresh:
            self._step = self._begin(now, again=step is not None)
        else:
            self._pace.go_on(step, now)

    def lose(self) -> None:
        """All hardware is gone, and with it the step in progress."""
        step = self._drop_step()
        if step is not None:
            self.progress.lose(step)

    def restore(self, since: Ticks = NEVER) -> None:
        """Go back to the last save; without any policy, completed steps stand.

        Those who are left hold the state of the last step; where it is corrupt, theirs is too.
        """
        if since < NEVER or not self.progress.saves.none:
            self.roll_back(since)

    def roll_back(self, since: Ticks = NEVER) -> None:
        """Go back to the last save that was complete at `since`, or to step 0 without one."""
        self.progress.roll_back(self._drop_step(), since)

    def changed_pace(self) -> None:
        """Go on with the step in progress at the units' new speeds."""
        step = self._step
        if step is not None and not step.over:
            self._pace.change(step, self.body.clock.now)

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
        self.progress.in_step.begin(done)
        return self._pace.begin(now, self._step, again=again)

    def _pass(self, step: Step, now: Ticks, final: bool) -> bool:
        """Let steps go by that are compute alone and all alike, from within one into another.

        Return whether it came to a boundary at which a save or the goal is due, rather than to
        `now`.
        """
        progress, start = self.progress, self._time
        length, begun = step.times[0], start - step.done
        count = whole_times(now - begun, length, final)
        until = now
        left = None if progress.endless else progress.steps_left(length, progress.run - step.done)
        if left is not None and count >= left:
            count, until = left, begun + left * length
        elapsed = until - start
        self.body.sheet.spend(_PRODUCTIVE, elapsed)
        progress.ran(elapsed, elapsed)
        end = begun + count * length
        if count:
            progress.add(count, (), count * length, begun, end)
        self._time = until
        if count == left:
            self._step_boundary(end)
            return True
        if count:
            self._step = step = self._begin(end, until - end)
            if progress.saves_all:
                progress.saved_before(until - end)
        step.done = until - end
        return False

    def _go_on_stepping(self, step: Step, now: Ticks, final: bool) -> bool:
        """Book the step in progress up to `now`; return whether it is complete."""
        longest = step.done if step.over else self._pace.longest_of(step)
        computed = step.mark + max(0, longest - step.at_mark)
        free, end, stretches, connection = step.free, computed, list[Stretch](), step.connection
        if step.ring.crosses:
            free, stretches, connection = step.drain(len(step.releases), longest)
            end = max(computed, later(free, step.ring.latency))
        complete = end < now or (end == now and not final)
        self._book_compute(step, min(now, computed), longest, computed)
        if end > computed:
            self._book_tail(min(now, end))
        if now >= computed:
            step.over = True
            step.free, step.sent, step.connection = free, len(step.releases), connection
            step.stretches += stretches
            stretches = []
        if complete:
            self._record(step, step.stretches, NEVER)
            self.progress.add(1, step.work, step.computing(longest), self._time, end)
            self._step_boundary(end)
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
        self.progress.ran(elapsed, step.computing(after) - step.computing(step.done))
        step.done = after
        self._time = until

    def _book_tail(self, until: Ticks) -> None:
        """Book what of a step's communication its compute does not hide."""
        elapsed = until - self._time
        self.body.sheet.spend(Account.EXPOSED_COMMUNICATION, elapsed)
        note_tail(self.body, self._time, until)
        self.progress.ran(elapsed)
        self._time = until

    # Many steps at once.

    def _count(self, step: Step, now: Ticks, final: bool) -> bool:
        """Count whole steps that are all alike; return whether there were any."""
        if not self._pace.steady:
            return False
        progress, saves, start = self.progress, self.progress.saves, self._time
        limit = min(now, step.ring.rate.next_change(start))
        exclusive = final and limit == now
        length, stretches = self._alike.step(step, self._pace.longest_of(step), start)
        to_save = saves.steps_left(length, progress.run, progress.taken)
        to_goal = progress.steps_to_goal()
        if to_save is not None and progress.run == progress.taken == 0 and saves.draw is None:
            cycles = whole_times(limit - start, to_save * length + saves.length, exclusive)
            if to_goal is not None:
                cycles = min(cycles, to_goal // to_save)
            if progress.each_save_counts:
                cycles = min(cycles, 1)
            if cycles >= 1:
                self._count_cycles(step, cycles, to_save, length, stretches)
                return True
        count = whole_times(limit - start, length, exclusive)
        count = min(n for n in (count, to_save, to_goal) if n is not None)
        if count < 1:
            return False
        self._count_steps(step, count, length, stretches)
        self._step_boundary(start + count * length)
        return True

    def _count_steps(
        self, step: Step, count: int, length: Ticks, stretches: list[Stretch], run: int = 0
    ) -> None:
        """Count steps; a save follows every `run` of them, where that is not 0."""
        longest = self._pace.longest_of(step)
        work = book_steps(self.body, step, count, longest, length)
        pause = self.progress.saves.length if run else 0
        self._alike.record(stretches, self._time, length, count, step.ring, run, pause)
        self._pace.passed(count - 1)
        pauses = (count - 1) // run * pause if run else 0
        end = self._time + count * length + pauses
        self.progress.ran(count * length, count * longest)
        self.progress.add(count, work, count * longest, self._time, end, run)

    def _count_cycles(
        self, step: Step, cycles: int, steps: int, length: Ticks, stretches: list[Stretch]
    ) -> None:
        """Count `cycles` times `steps` steps with a save behind each."""
        start, pause = self._time, self.progress.saves.length
        self._count_steps(step, cycles * steps, length, stretches, steps if pause else 0)
        self._book_save(cycles * pause)
        cycle = steps * length + pause
        self._time = start + cycles * cycle
        self.progress.save(self._time, start + cycle, cycle, cycles)
        self._step = self._begin(self._time)
        self._check_goal()

    # Boundaries and saves.

    def _step_boundary(self, now: Ticks) -> None:
        progress = self.progress
        self._time = now
        self._check_goal()
        if progress.saves.due(progress.run, progress.taken):
            if progress.saves.length:
                self._step = None
                self._save_left = progress.saves.next_length()
                return
            progress.save(now, now)
        self._step = self._begin(now)

    def _check_goal(self) -> None:
        if self.progress.reached:
            self.finished = self._time
            self.body.clock.stop()

    def _go_on_saving(self, now: Ticks, final: bool) -> bool:
        """Book the save in progress up to `now`; return whether it is complete."""
        assert self._save_left is not None
        end = self._time + self._save_left
        complete = end < now or (end == now and not final)
        elapsed = min(now, end) - self._time
        self._save_left -= elapsed
        self._book_save(elapsed)
        self._time += elapsed
        if complete:
            self._save_left = None
            self.progress.save(end, end)
            self._step = self._begin(end)
        return complete

    def _book_save(self, elapsed: Ticks) -> None:
        self.body.sheet.spend(Account.CHECKPOINT_SAVE, elapsed)
        self.progress.saved_for(elapsed)
