"""Training along a tape, written from the words of the domain: one event, one tensor at a time.

In double precision and without anything of `ddsim.learning` but the problem itself, whose
gradients and batches are the data of both trainers, and the records in which settings come.
`python tests/training_cases.py --cases N` compares the package's training with it.
"""

from __future__ import annotations

from copy import deepcopy
from math import prod
from typing import Any

import numpy as np
from naive_arithmetic import Named, One, in_few_bits, merged, scheduled

from ddsim.engine import tape as t
from ddsim.learning import LearningConfig, Shard
from ddsim.learning.problem import make
from ddsim.world.streams import stream


class NaiveTrainer:
    """Learners, syncer and job, event after event."""

    def __init__(self, config: LearningConfig, seed: int, tape: t.Tape) -> None:
        self.config, self.seed = config, seed
        self.problem = make(config.problem, config.options)
        drawn = self.problem.initial(stream(seed, "learning", "initial"))
        self.initial = {name: np.asarray(value, float) for name, value in drawn.items()}
        self.by_adam = (*self.problem.embeddings, *self.problem.heads)
        self.fragments = self.packed()
        count = config.learners
        self.learners = [One(self.initial) for _ in range(count)]
        self.batches = [stream(seed, "learning", "batches", index) for index in range(count)]
        self.x = deepcopy(self.initial)
        self.velocity = {name: np.zeros(value.shape) for name, value in self.x.items()}
        self.before = deepcopy(self.x)
        self.left_out = [self.nothing() for _ in range(count)]
        self.lives = [0] * count
        self.job = One(self.initial)
        self.all_tokens = self.counted(tape)
        self.reached = self.progress_by_place(tape)
        self.stand: list[list[Any]] = [[] for _ in range(count)]
        self.came_back = [self.inner_state(index) for index in range(count)]
        self.done, self.all_done = 0.0, sum(self.work(event) for event in tape)
        self.saved = self.job_state()
        self.answers: dict[tuple[int, int], tuple[Named, int]] = {}
        self.closed: dict[int, Named] = {}
        self.copies: dict[int, One] = {}
        for place, event in enumerate(tape):
            self.do(event, place)

    def nothing(self) -> Named:
        """Zeros in every tensor."""
        return {name: np.zeros(value.shape) for name, value in self.initial.items()}

    def packed(self) -> list[list[str]]:
        """Largest first into the lightest; within a fragment, in the problem's order."""
        groups: list[list[str]] = [[] for _ in range(self.config.fragments)]
        sizes = {name: prod(value.shape) for name, value in self.initial.items()}
        for name in sorted(sizes, key=lambda name: -sizes[name]):
            min(groups, key=lambda group: sum(sizes[other] for other in group)).append(name)
        return [[name for name in sizes if name in group] for group in groups]

    def counted(self, tape: t.Tape) -> float:
        """The tokens of a job that no rollback undoes."""
        total, saves = 0.0, [0.0]
        for event in tape:
            if isinstance(event, t.JobSteps):
                total += event.steps * self.tokens(event.shares)
            elif isinstance(event, t.Save):
                saves.append(total)
            elif isinstance(event, t.Rollback):
                total = saves[-1]
        return total

    def tokens(self, shares: tuple[float, ...]) -> float:
        """Tokens of one step of a job."""
        return sum(a * b for a, b in zip(self.config.tokens, shares, strict=True))

    def work(self, event: t.Event) -> float:
        """Tokens that learners do, or that have come to nothing."""
        if isinstance(event, t.Steps):
            return event.steps * event.share * self.config.tokens[event.learner]
        if isinstance(event, t.Waste):
            return -event.full * self.config.tokens[event.learner]
        return 0.0

    def progress_by_place(self, tape: t.Tape) -> dict[int, tuple[float, float]]:
        """From which share of all tokens that stand in the end to which the job gets by steps.

        Those that end at one instant get it there together.
        """
        done, begun, now = 0.0, 0.0, -1.0
        spans: dict[int, tuple[float, float]] = {}
        together: list[int] = []
        for place, event in enumerate(tape):
            if isinstance(event, t.Waste) or (isinstance(event, t.Steps) and event.time != now):
                spans.update(dict.fromkeys(together, (begun, done)))
                together, begun, now = [], done, event.time
            if isinstance(event, t.Waste):
                now = -1.0
            if isinstance(event, t.Steps):
                together.append(place)
            done += self.work(event)
        spans.update(dict.fromkeys(together, (begun, done)))
        return {place: (a / (done or 1.0), b / (done or 1.0)) for place, (a, b) in spans.items()}

    def inner_state(self, learner: int) -> Any:
        """A learner's moments, and where its batches are."""
        moments = One(self.initial)
        moments.copy_moments(self.learners[learner])
        return moments, deepcopy(self.batches[learner].bit_generator.state)

    def do(self, event: t.Event, place: int) -> None:
        """Do what one event says."""
        self.done += self.work(event)
        match event:
            case t.Steps(_, learner, steps, share):
                begin, end = self.reached[place]
                for index in range(steps):
                    self.step(learner, share, begin + (index + 0.5) / steps * (end - begin))
                    self.stand[learner].append(self.inner_state(learner))
            case t.Answer(_, learner, slot, fragments):
                self.answer(learner, slot, self.names(fragments))
            case t.Merge(_, slot, fragments, learners, weights):
                self.merge(slot, self.names(fragments), list(learners), list(weights))
            case t.Receive(_, learner, slot):
                own, keeps = self.learners[learner].x, self.config.mixing
                for name, value in self.closed[slot].items():
                    own[name] = keeps * own[name] + (1.0 - keeps) * value
            case t.Fetch(_, learner, peer):
                self.copies[learner] = deepcopy(self.learners[peer])
            case t.Rejoin(_, learner, peer, arrived):
                self.rejoin(learner, peer, arrived)
            case t.JobSteps():
                for _ in range(event.steps):
                    self.job_step(event.shares)
            case t.Save():
                self.saved = self.job_state()
            case t.Rollback():
                self.job, states = deepcopy(self.saved)
                for draws, state in zip(self.batches, states, strict=True):
                    draws.bit_generator.state = state
            case t.Waste(_, learner, steps, _):
                del self.stand[learner][max(0, len(self.stand[learner]) - steps) :]
            case _:
                raise NotImplementedError(f"the naive trainer knows no {type(event).__name__}")

    def names(self, fragments: tuple[int, ...]) -> list[str]:
        """Tensors of fragments."""
        return [name for p in fragments for name in self.fragments[p]]

    def gradient(self, index: int, share: float, x: Named) -> tuple[Named, int]:
        """The mean gradient over the examples of what is up of a unit, and their number."""
        size = max(1, round(self.config.batches[index] * share))
        shard = Shard(index, self.config.learners, self.config.skewed)
        batch = self.problem.batch(self.batches[index], size, shard)
        _, found = self.problem.gradient(x, batch)
        return {name: np.asarray(value, float) for name, value in found.items()}, size

    def step(self, learner: int, share: float, progress: float) -> None:
        """One local step, at the rate of the job's progress."""
        one = self.learners[learner]
        rate = scheduled(self.config.schedule, progress)
        gradient, _ = self.gradient(learner, share, one.x)
        one.step(self.config.inner, gradient, rate, by_adam=self.by_adam)

    def job_state(self) -> Any:
        """The job, and where the streams of batches are."""
        return deepcopy((self.job, [draws.bit_generator.state for draws in self.batches]))

    def job_step(self, shares: tuple[float, ...]) -> None:
        """One step on the mean over all examples of all units that are up."""
        found = [
            self.gradient(index, share, self.job.x)
            for index, share in enumerate(shares)
            if share > 0
        ]
        examples = sum(size for _, size in found)
        mean = {
            name: sum(gradient[name] * (size / examples) for gradient, size in found)
            for name in self.initial
        }
        tokens = self.tokens(shares)
        middle = self.job.done + tokens / 2.0
        progress = middle / self.all_tokens if self.all_tokens else 1.0  # nothing is kept
        rate = scheduled(self.config.schedule, progress)
        self.job.done += tokens
        self.job.step(self.config.inner, mean, rate, by_adam=self.by_adam)

    def answer(self, learner: int, slot: int, names: list[str]) -> None:
        """Hand parameters over; to a slot that is merged already they come too late."""
        handed = {name: self.learners[learner].x[name].copy() for name in names}
        if set(names) & set(self.closed.get(slot, ())):
            self.keep_back(learner, handed)
        else:
            self.answers[slot, learner] = handed, self.lives[learner]

    def keep_back(self, learner: int, handed: Named) -> None:
        """Error feedback keeps all of an answer that no merge took."""
        if self.config.outer.error_feedback:
            for name, value in handed.items():
                self.left_out[learner][name] += self.before[name] - value

    def merge(self, slot: int, names: list[str], learners: list[int], weights: list[float]) -> None:
        """Outer gradients in few bits, their merge, and the outer step at the job's progress."""
        outer = self.config.outer
        rate = scheduled(outer.schedule, self.done / self.all_done)
        self.before.update({name: self.x[name].copy() for name in names})
        heard = {who: given for (s, who), given in self.answers.items() if s == slot}
        for who, (handed, life) in heard.items():
            if who not in learners and life == self.lives[who]:
                self.keep_back(who, {name: handed[name] for name in names})
        sent: dict[str, list[Any]] = {name: [] for name in names}
        for who in learners:
            handed, life = heard[who]
            draws = stream(self.seed, "learning", "rounding", slot, who)
            for name in names:
                update = self.x[name] - handed[name]
                feeds_back = outer.error_feedback and life == self.lives[who]
                if feeds_back:
                    update = update + self.left_out[who][name]
                seen = in_few_bits(update, outer, draws)
                if feeds_back:
                    self.left_out[who][name] = update - seen
                sent[name].append(seen)
        for name in names:
            radial = outer.merge == "radial_directional" and name not in self.problem.embeddings
            g = merged(sent[name], weights, radial=radial)
            self.velocity[name] = outer.momentum * self.velocity[name] + g
            ahead = g + outer.momentum * self.velocity[name]
            self.x[name] = self.x[name] - rate * ahead
        made = self.closed.setdefault(slot, {})
        made.update({name: self.x[name].copy() for name in names})

    def rejoin(self, learner: int, peer: int | None, arrived: int) -> None:
        """A learner is back: parameters as merged, moments of a peer, feedback lost.

        Its own peer is one whose round was discarded: it goes on from the last step that stands.
        """
        one = self.learners[learner]
        one.x.update(deepcopy(self.initial))
        for slot in sorted(self.closed):
            if slot <= arrived:
                one.x.update(deepcopy(self.closed[slot]))
        copied = self.copies.pop(learner, None)
        if peer == learner:
            stand = self.stand[learner]
            moments, batches = stand[-1] if stand else self.came_back[learner]
            one.copy_moments(moments)
            self.batches[learner].bit_generator.state = deepcopy(batches)
            return
        if peer is None:
            one.forget()
        else:
            one.copy_moments(copied or self.learners[peer])
        self.left_out[learner] = self.nothing()
        self.lives[learner] += 1
        self.stand[learner].clear()
        self.came_back[learner] = self.inner_state(learner)
