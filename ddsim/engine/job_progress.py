"""How far a lock-step job has come, what of that is saved, and what failures take back."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING

from ddsim.engine import goal
from ddsim.engine.job_books import book_waste
from ddsim.engine.kept import KeptSaves, Unsaved
from ddsim.engine.tape import JobSteps, Rollback, Save
from ddsim.world.instants import Ticks, seconds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ddsim.engine.body import Body
    from ddsim.engine.saves import Saves
    from ddsim.engine.step import Step
    from ddsim.engine.tape import Tape
    from ddsim.engine.vain import Vain


class Progress:
    """What a job has done in all and since its last save, and the saves that it keeps.

    `steps` and `tokens` are net of what was rolled back; `running` is the time in which it ran,
    saves included, `computing` that in which it computed, `wasted` what of this was rolled back.
    `run` and `taken` are how long it ran, and how many steps it took, since the last save. Earlier
    saves than the last are kept where `keep_saves` says that a failure may ask for one. With
    `saves_all` there is a save after every step, at no cost, so that steps need not be told apart
    for it; `save_stops` says that saves part the steps, `endless` that a goal does not either.
    `in_step` counts the chip-ticks of the step in progress from when the job begins it. `vain` is
    told of what is lost where nothing is ever saved. All times are ticks.
    """

    def __init__(
        self,
        body: Body,
        saves: Saves,
        tokens_per_chip: float,
        token_goal: float,
        *,
        keep_saves: bool = False,
        tape: Tape | None = None,
        vain: Vain | None = None,
    ) -> None:
        self.saves = saves
        self.tape = tape
        self.steps = 0
        self.tokens = 0.0
        self.running: Ticks = 0
        self.computing: Ticks = 0
        self.wasted: Ticks = 0
        self.run: Ticks = 0
        self.taken = 0
        self._body = body
        self._tokens_per_chip = tokens_per_chip
        self._goal = token_goal
        self._vain = vain if saves.none else None
        self._kept = KeptSaves(
            keep_saves, max(0, saves.flight - saves.length), last_only=saves.last_only
        )
        self._nothing = [0.0] * len(body.units)
        self._unsaved = Unsaved(self._nothing)
        self.saves_all = saves.free and not saves.flight and not self._kept.asked_for
        self.save_stops = not (saves.none or self.saves_all)
        self.endless = not self.save_stops and token_goal == inf
        self.in_step = body.sheet.stint()
        self._not_saved = self.in_step if self.saves_all else body.sheet.stint()

    @property
    def reached(self) -> bool:
        """Whether it has come to its goal."""
        return goal.reached(self._goal, self.tokens)

    @property
    def each_save_counts(self) -> bool:
        """Whether training on the tape may ask for any of its saves."""
        return self.tape is not None and self._kept.earlier

    def ran(self, elapsed: Ticks, computing: Ticks = 0) -> None:
        """It ran for so long, and computed in so much of it."""
        self.running += elapsed
        self.run += elapsed
        self.computing += computing

    def saved_for(self, elapsed: Ticks) -> None:
        """A save held it up for so long."""
        self.running += elapsed

    def saved_before(self, run: Ticks) -> None:
        """The last step was saved, and it has run for so long since: with a save after each."""
        self.run = run
        self.taken = 0

    def steps_left(self, length: Ticks, run: Ticks) -> int | None:
        """Return the steps of this length until a save or the goal is due, None for no end.

        The first of them begins, or began, after running for `run` since the last save.
        """
        to_save = self.saves.steps_left(length, run, self.taken) if self.save_stops else None
        to_goal = self.steps_to_goal()
        return min((left for left in (to_save, to_goal) if left is not None), default=None)

    def steps_to_goal(self) -> int | None:
        """Return the steps with the chips that are up now until it has its tokens."""
        return goal.steps_to(self._goal, self.tokens, self._tokens_per_chip * self._body.chips)

    def add(
        self,
        steps: int,
        work: Sequence[float],
        compute: Ticks,
        begun: Ticks,
        end: Ticks,
        run: int = 0,
    ) -> None:
        """Add whole steps, the first `begun` by then and the last at its `end`.

        Units that do not compute alike did `work` in them, in chip-seconds. A save follows every
        `run` steps, where that is not 0.
        """
        tokens = steps * self._tokens_per_chip * self._body.chips
        self.steps += steps
        self.tokens += tokens
        self.taken += steps
        if not self.saves_all:
            unsaved = self._unsaved
            unsaved.steps += steps
            unsaved.tokens += tokens
            unsaved.add(work, compute)
        if self.tape is not None:
            shares = tuple(unit.healthy / unit.plan.chips for unit in self._body.units)
            pause = seconds(self.saves.length) if run else 0.0
            first = seconds(min(begun, end))
            self.tape.append(JobSteps(seconds(end), steps, shares, first, run, pause))

    def save(self, now: Ticks, first: Ticks, period: Ticks = 0, count: int = 1) -> None:
        """Save `now`, once or for the last of `count` times.

        The job went on at `first`, and then every `period`.
        """
        if self._kept.asked_for:
            self._kept.add(self._all_unsaved(), first, period, count)
        if self.tape is not None:
            self.tape.append(Save(seconds(now)))
        self._reset_unsaved()

    def lose(self, step: Step) -> None:
        """The step in progress has come to nothing."""
        alike = self.in_step.read()
        self._not_saved.take_away(alike)
        self._undo(Unsaved(step.work, compute=step.computing(step.done), alike=alike), 1)

    def roll_back(self, step: Step | None, since: Ticks) -> None:
        """Go back to the last save that was complete at `since`, or to step 0 without one.

        The step in progress, where there is one, is lost as well.
        """
        now = self._body.clock.now
        if step is not None and any(step.work):  # of decimals what came last goes first
            self.lose(step)
        elif step is not None:
            self._unsaved.compute += step.computing(step.done)
        lost = self._all_unsaved()
        self._undo(lost, 1)
        if self._vain is not None and (step is not None or lost.compute):
            self._vain.lost(lost.tokens)
        self._reset_unsaved()
        saves = 0
        for work, count in self._kept.lost(now, since):
            self._undo(work, count)
            saves += count
        if self.tape is not None:
            self.tape.append(Rollback(seconds(now), saves))

    def _undo(self, work: Unsaved, times: int) -> None:
        book_waste(self._body, work, times)
        self.wasted += times * work.compute
        self.steps -= times * work.steps
        self.tokens -= times * work.tokens

    def _all_unsaved(self) -> Unsaved:
        """What would be lost without the next save, of units that compute alike or not."""
        return replace(self._unsaved, alike=self._not_saved.read())

    def _reset_unsaved(self) -> None:
        """Everything is saved, or gone."""
        self._unsaved = Unsaved(self._nothing)
        self._not_saved.begin()
        self.run = 0
        self.taken = 0
