"""Train a real model the way a simulated run went."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple
from pathlib import Path
from typing import Any

import numpy as np

from ddsim.learning.config import LearningConfig
from ddsim.learning.corruption import Corruption
from ddsim.learning.crew import Crew, Wrong
from ddsim.learning.curve import Curve, Point
from ddsim.learning.errors import DivergedError, Divergence, LearningError, TapeError
from ddsim.learning.gradients import said_of, sealed
from ddsim.learning.job import START, LockstepModel, step_tokens
from ddsim.learning.keeper import Keeper
from ddsim.learning.layout import Layout
from ddsim.learning.plan import Plan, plan
from ddsim.learning.problem import Problem, make
from ddsim.learning.saving import Saver
from ddsim.learning.tally import Tally, kept_tokens
from ddsim.learning.tape import (
    Answer,
    Corrupt,
    Event,
    Fetch,
    GoBack,
    JobSteps,
    Kept,
    Merge,
    Receive,
    Rejoin,
    Rollback,
    Save,
    Steps,
    Waste,
)
from ddsim.progress import Progress
from ddsim.users import mistake
from ddsim.world.streams import stream


def replay(
    tape: Sequence[Event],
    config: LearningConfig,
    seeds: Sequence[int] = (0,),
    progress: Progress | None = None,
    *,
    end: float | None = None,
    checkpoints: Path | None = None,
    files: Sequence[Path] = (),
) -> list[Curve]:
    """Train the model along a tape once for each seed, and return the curves.

    A seed draws the initial parameters and the batches; the data are the same for all. `progress`
    is called with what is done, out of how much, and for which seed. The run ends at `end`, or
    with the tape. In the folder `checkpoints` a replay leaves its state every half a minute, and
    one that was interrupted goes on from there, unless its problem's files, those `files` besides
    or ddsim's own sources have changed. A run whose numbers do not stay finite ends early
    and its curve says where; a problem that fails raises LearningError.
    """
    return [
        Replay(tape, config, seed, end=end, checkpoints=checkpoints, files=files).run(
            None if progress is None else _part_of(progress, index, len(seeds), seed)
        )
        for index, seed in enumerate(seeds)
    ]


def _part_of(progress: Progress, index: int, count: int, seed: int) -> Callable[[int, int], None]:
    def part(done: int, total: int) -> None:
        progress(index * total + done, count * total, f"seed {seed}")

    return part


_OF_LEARNERS = ("keeper", "crew", "corruption")
"""What of a replay has a state of its own, where it is not one of a job."""


class Replay:
    """One seed's way along a tape."""

    def __init__(
        self,
        tape: Sequence[Event],
        config: LearningConfig,
        seed: int,
        *,
        end: float | None = None,
        checkpoints: Path | None = None,
        files: Sequence[Path] = (),
        problem: Problem | None = None,
    ) -> None:
        self.tape = tape
        self.config = config
        self.seed = seed
        self.plan: Plan = plan(tape, config)
        self.problem = problem or make(config.problem, config.options)
        rng = stream(seed, "learning", "initial")
        tensors = _drawn(self.problem, rng)
        self.layout = Layout.of(tensors, config.fragments)
        initial = np.empty(self.layout.size, config.precision)
        self.layout.flatten(tensors, initial)
        by_adamw = (*self.problem.embeddings, *self.problem.heads)
        inner = config.inner.make(self.layout, by_adamw, initial.dtype)
        count = config.learners
        shared = (config, self.problem, self.layout, inner, initial)
        self.crew = Crew(*shared, self.plan.marks, seed)
        self.job = LockstepModel(*shared, max(self.plan.job_total, 1e-300), seed)
        embeddings = self.problem.embeddings
        self.keeper = Keeper(config.outer, self.layout, embeddings, initial, count, seed)
        self._all_tokens = kept_tokens(tape, config)
        held, settled = ([[0.0] * config.fragments for _ in range(count)] for _ in range(2))
        self.tally = Tally(held, settled, [0.0] * count, [0.0] * count)
        self.corruption = Corruption(self.plan, self.crew, self.keeper, self.tally)
        rates = {"inner": config.schedule.rate}
        if not self.plan.is_job:
            rates["outer"] = config.outer.learning_rate
        self.curve = Curve(seed, floor=self.problem.floor, rates=rates)
        self.end = end if end is not None else (tape[-1].time if tape else 0.0)
        self._needed = {save: place for place, save in self.plan.rollbacks.items()}
        self._place = 0
        self._evaluated: tuple[int, float] | None = None
        self._saver = None if checkpoints is None else Saver(checkpoints, tape, config, seed, files)

    @property
    def parameters(self) -> Any:
        """The model that the curve shows: the job's, or the merged one, flat."""
        return self.job.parameters if self.plan.is_job else self.keeper.parameters

    def run(self, progress: Callable[[int, int], None] | None = None) -> Curve:
        """Go along the whole tape."""
        state = None if self._saver is None else self._saver.load()
        if self._saver is None or state is None:
            return self._go(progress)
        try:
            self._resume(state)
            return self._go(progress)
        except LearningError:
            raise
        except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
            found = f"{self._saver.path}: not the state of this training"
            raise LearningError(f"{found} ({error}); delete it to begin anew") from error

    def _go(self, progress: Callable[[int, int], None] | None) -> Curve:
        total = max(1, len(self.tape))
        try:
            with np.errstate(all="ignore"):
                while self._place < len(self.tape):
                    event = self.tape[self._place]
                    self._mark(_begin(event))
                    self._do(event)
                    self._let_go()
                    self._place += 1
                    if progress is not None and self._place % 64 == 0:
                        progress(self._place, total)
                    if self._saver is not None and self._saver.due():
                        self._saver.save(self._state())
                self._mark(self.end, last=True)
        except DivergedError as error:
            self.curve.diverged = error.where
        if self._saver is not None:
            self._saver.save(self._state(settle=False))
        if progress is not None:
            progress(total, total)
        return self.curve

    # Events.

    def _do(self, event: Event) -> None:
        tally = self.tally
        match event:
            case Steps():
                progress = self.plan.progress[self._place]
                self.crew.step(event.learner, event.steps, event.share, progress)
                tokens = event.steps * event.share * self.config.tokens[event.learner]
                tally.tokens[event.learner] += tokens
                tally.steps[event.learner] += event.steps
            case Answer() if self.keeper.is_late(event.slot, event.fragments):
                self._too_late(event)
            case Answer():
                self.crew.answer(event.learner, event.slot, event.fragments)
                if self.keeper.feedback is not None:
                    self.keeper.feedback.settled(event.slot, event.learner)
                self.corruption.answered(event)
                held, now = tally.held[event.learner], tally.tokens[event.learner]
                tally.carried[event.slot, event.learner] = {
                    p: (now, held[p]) for p in event.fragments
                }
            case Merge():
                self._merge(event)
            case Receive():
                made = self.keeper.results[event.slot]
                self._take(event.learner, made)
            case Fetch():
                self.crew.fetch(event.learner, event.peer)
            case Rejoin():
                slots = self.plan.rejoins[self._place]
                pieces = [(p, self.keeper.piece(slot, p)) for p, slot in enumerate(slots)]
                if self._place in self.plan.discards:
                    mark, last = self.plan.discards[self._place]
                    self.crew.discard(event.learner, mark, pieces, last=last)
                else:
                    self.crew.rejoin(event.learner, event.peer, pieces)
                    self.corruption.begun_anew([event.learner])
                    if self.keeper.feedback is not None:
                        self.keeper.feedback.lost(event.learner, self.crew.answers)
                tally.held[event.learner] = [tally.tokens[event.learner]] * len(pieces)
                tally.settled[event.learner] = [tally.tokens[event.learner]] * len(pieces)
            case Waste():
                tally.tokens[event.learner] -= event.full * self.config.tokens[event.learner]
                tally.steps[event.learner] -= event.steps
                left = tally.tokens[event.learner]
                for levels in (tally.held, tally.settled):
                    levels[event.learner] = [min(level, left) for level in levels[event.learner]]
            case JobSteps():
                self._job_steps(event)
            case Save():
                if self._place in self._needed:
                    self.job.save(self._place)
                    tally.saved[self._place] = tally.job_tokens, tally.job_steps
            case Rollback():
                number = self.plan.rollbacks[self._place]
                self.job.roll_back(number)
                tally.job_tokens, tally.job_steps = tally.saved[number]
                if number != START and self._needed[number] == self._place:
                    del self.job.saves[number], tally.saved[number]
            case Corrupt():
                wrong = Wrong(self.config.corruption, self.seed, self._place)
                if self.plan.is_job:
                    self.job.wrong = wrong
                else:
                    self.corruption.begin(event, wrong)
            case Kept():
                self.corruption.keep(self._place, tally)
            case GoBack():
                self.corruption.go_back(event, tally)

    def _merge(self, event: Merge) -> None:
        self.crew.settle()
        answers = self.crew.answers
        left_out = self.corruption.leave_out(event.slot, event.learners)
        pairs = zip(event.learners, event.weights, strict=True)
        weights = {index: weight for index, weight in pairs if index not in left_out}
        try:
            given = {index: answers[event.slot, index] for index in weights}
            done = sum(self.tally.tokens) / self._all_tokens
            each = list(weights.values())
            self.keeper.merge(event.slot, event.fragments, given, each, min(1.0, done))
        except KeyError as error:
            raise TapeError(f"merged without an answer: {event}") from error
        self._drop(event)
        for index in event.learners:
            key = event.slot, index
            if index in left_out:
                fresh = [0.0]
            else:
                fresh = [
                    self.tally.merge(index, fragment, event.slot, self.config.mixing)
                    for fragment in event.fragments
                ]
            self.tally.merged += sum(fresh) / self.config.fragments
            self._forget(key, event.fragments)

    def _forget(self, key: tuple[int, int], fragments: Sequence[int]) -> None:
        """Forget these fragments of an answer."""
        answers, carried = self.crew.answers, self.tally.carried
        for fragment in fragments:
            del answers[key][fragment]
        if not answers[key]:
            del answers[key], carried[key]
            if self.keeper.feedback is not None:
                self.keeper.feedback.settled(*key)

    def _drop(self, event: Merge) -> None:
        """Drop the answers to a slot that are not in its merge; feedback keeps what was in them."""
        answers = self.crew.answers
        heard = set(event.learners)
        for key in [key for key in answers if key[0] == event.slot and key[1] not in heard]:
            found = {p: values for p, values in answers[key].items() if p in event.fragments}
            if self.keeper.feedback is not None:
                self.keeper.feedback.dropped(*key, found)
            self._forget(key, list(found))

    def _too_late(self, event: Answer) -> None:
        """Keep in the feedback what came after its slot was merged."""
        if self.keeper.feedback is None:
            return
        self.crew.answer(event.learner, event.slot, event.fragments)
        self.crew.settle()
        key = event.slot, event.learner
        self.keeper.feedback.dropped(*key, self.crew.answers.pop(key))

    def _take(self, learner: int, pieces: Mapping[int, Any]) -> None:
        self.crew.receive(learner, list(pieces.items()))
        held, now = self.tally.held[learner], self.tally.tokens[learner]
        for fragment in pieces:
            held[fragment] = now

    def _job_steps(self, event: JobSteps) -> None:
        tokens = step_tokens(self.config, event.shares)
        for end in event.ends():
            self._mark(end)
            self.job.step(event.shares)
            self.tally.job_tokens += tokens
            self.tally.job_steps += 1

    def _let_go(self) -> None:
        for slot in self.plan.let_go.get(self._place, ()):
            self.keeper.results.pop(slot, None)

    # The curve.

    def _mark(self, now: float, *, last: bool = False) -> None:
        """Add the points that are due before what happens now, and with `last` the one now."""
        points = self.curve.points
        every = self.end / self.config.evaluations
        while len(points) <= self.config.evaluations:
            due = len(points) * every
            final = len(points) == self.config.evaluations
            if not (last or (due < now and not final) or not points):
                return
            self._point(due)

    def _point(self, time: float) -> None:
        tally = self.tally
        if self.plan.is_job:
            key = self.job.steps
            tokens = merged = tally.job_tokens
            steps = float(tally.job_steps)
        else:
            key = self.keeper.merges
            tokens, merged = sum(tally.tokens), tally.merged
            steps = sum(tally.steps) / len(tally.steps)
        if self._evaluated is None or self._evaluated[0] != key:
            tensors = self.layout.views(sealed(self.parameters))
            loss = _evaluated(self.problem, tensors, int(steps))
            if not np.isfinite(loss):
                raise DivergedError(Divergence(None, int(steps), f"the loss is {loss}"))
            self._evaluated = key, loss
        self.curve.points.append(Point(time, tokens, merged, steps, self._evaluated[1]))

    # To be resumed.

    def _state(self, *, settle: bool = True) -> dict[str, Any]:
        diverged = self.curve.diverged
        state: dict[str, Any] = {
            "place": self._place,
            "evaluated": self._evaluated,
            "tally": vars(self.tally),
            "points": [tuple(point) for point in self.curve.points],
            "diverged": None if diverged is None else astuple(diverged),
        }
        if settle:  # at the end there is nothing more to go on with
            parts = {name: getattr(self, name).state() for name in _OF_LEARNERS}
            state |= {"job": self.job.state()} if self.plan.is_job else parts
        return state

    def _resume(self, state: dict[str, Any]) -> None:
        self._place = state["place"]
        self._evaluated = state["evaluated"]
        self.tally = Tally(**state["tally"])
        self.curve.points = [Point(*point) for point in state["points"]]
        if state["diverged"] is not None:
            self.curve.diverged = Divergence(*state["diverged"])
            self._place = len(self.tape)
        if not 0 <= self._place <= len(self.tape):
            raise ValueError(f"event {self._place} of {len(self.tape)}")
        if self._place < len(self.tape):
            for name in ("job",) if self.plan.is_job else _OF_LEARNERS:
                getattr(self, name).restore(state[name])


def _begin(event: Event) -> float:
    """When the first of what an event stands for began."""
    return event.begun if isinstance(event, JobSteps) else event.time


def _evaluated(problem: Problem, tensors: Mapping[str, Any], step: int) -> float:
    try:
        return float(problem.evaluate(tensors))
    except BaseException as error:
        what = said_of(error)
        where = f"problem {problem.name}, the merged model at step {step}"
        raise LearningError(f"{where}: its evaluation raised {what}") from error


def _drawn(problem: Problem, rng: np.random.Generator) -> dict[str, Any]:
    try:
        tensors = {name: np.asarray(value) for name, value in problem.initial(rng).items()}
    except BaseException as error:
        what = mistake(error)
        raise LearningError(f"problem {problem.name}: its initial parameters: {what}") from error
    for name, value in tensors.items():
        if value.dtype.kind not in "fiu" or not np.isfinite(value).all():
            found = f'initial parameter "{name}" is not made of finite numbers'
            raise LearningError(f"problem {problem.name}: {found}")
    return tensors
