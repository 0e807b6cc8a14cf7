"""A replay as one would do it by hand: every event at once, every tensor by itself, plain numpy.

Nothing of the package is used but the problem, its pieces of data and the order of its tensors.
"""

from __future__ import annotations

from copy import deepcopy
from math import cos, pi
from typing import Any

import numpy as np

from ddsim.engine import tape as t
from ddsim.learning import LearningConfig, Shard
from ddsim.learning.problem import make
from ddsim.world.streams import stream

Named = dict[str, Any]


def fragments_of(tensors: Named, count: int) -> list[list[str]]:
    """Largest first into the lightest."""
    groups: list[list[str]] = [[] for _ in range(count)]
    for name in sorted(tensors, key=lambda name: -tensors[name].size):
        sizes = [sum(tensors[other].size for other in group) for group in groups]
        groups[sizes.index(min(sizes))].append(name)
    return groups


def rate_at(config: LearningConfig, progress: float) -> float:
    """Warm-up, then half a cosine."""
    schedule = config.schedule
    if progress < schedule.warmup:
        return schedule.rate * progress / schedule.warmup
    left = min(1.0, (progress - schedule.warmup) / (1.0 - schedule.warmup))
    shape = 0.5 * (1.0 + cos(pi * left))
    return schedule.rate * (schedule.final + (1.0 - schedule.final) * shape)


class One:
    """Parameters with AdamW's moments."""

    def __init__(self, tensors: Named) -> None:
        self.x = {name: value.copy() for name, value in tensors.items()}
        self.fresh()
        self.done = 0.0  # tokens, of a job

    def fresh(self) -> None:
        """Forget the moments."""
        self.first = {name: np.zeros_like(value) for name, value in self.x.items()}
        self.second = {name: np.zeros_like(value) for name, value in self.x.items()}
        self.age = 0

    def step(self, config: LearningConfig, gradient: Named, rate: float) -> None:
        """One step of AdamW without weight decay."""
        inner = config.inner
        self.age += 1
        for name, g in gradient.items():
            first = self.first[name] * inner.beta1 + g * (1.0 - inner.beta1)
            second = self.second[name] * inner.beta2 + g * g * (1.0 - inner.beta2)
            root = np.sqrt(second) * (1.0 - inner.beta2**self.age) ** -0.5 + inner.epsilon
            self.x[name] = self.x[name] - first / root * (rate / (1.0 - inner.beta1**self.age))
            self.first[name], self.second[name] = first, second

    def take_moments(self, peer: One) -> None:
        """Copy them."""
        self.first = {name: value.copy() for name, value in peer.first.items()}
        self.second = {name: value.copy() for name, value in peer.second.items()}
        self.age = peer.age


def _norm(tensor: Any) -> float:
    return float(np.sqrt(np.sum((tensor * tensor).ravel(), dtype=np.float64)))


def merged(updates: list[Any], weights: list[float], *, radial: bool) -> Any:
    """Plain or radial-directional mean of a tensor's updates."""
    share = [weight / sum(weights) for weight in weights]
    if not radial:
        total = share[0] * updates[0]
        for weight, update in zip(share[1:], updates[1:], strict=True):
            total = total + weight * update
        return total
    norms = [_norm(update) for update in updates]
    direction = np.zeros_like(updates[0])
    for weight, norm, update in zip(share, norms, updates, strict=True):
        direction = direction + (weight / norm) * update
    radius = sum(weight * norm for weight, norm in zip(share, norms, strict=True))
    return direction * (radius / _norm(direction))


def rounded(tensor: Any, bits: int) -> Any:
    """To the nearest of evenly spaced levels."""
    if bits >= 32:
        return tensor
    scale = np.abs(tensor).max() / (2 ** (bits - 1) - 1)
    return np.rint(tensor / scale) * scale


def kept_tokens(config: LearningConfig, tape: t.Tape) -> float:
    """Tokens that a job keeps: those of steps that no rollback undoes."""
    total = saved = 0.0
    for event in tape:
        if isinstance(event, t.JobSteps):
            tokens = sum(a * b for a, b in zip(config.tokens, event.shares, strict=True))
            total += event.steps * tokens
        if isinstance(event, t.Save):
            saved = total
        if isinstance(event, t.Rollback):
            total = saved
    return total


def tokens_by_instant(config: LearningConfig, tape: t.Tape) -> dict[float, float]:
    """Tokens that all learners have done together by each instant at which steps end."""
    each = [0.0] * config.learners
    done = {-1.0: 0.0}
    for event in tape:
        if isinstance(event, t.Steps):
            each[event.learner] += event.steps * event.share * config.tokens[event.learner]
            done[event.time] = sum(each)
    return done


class ByHand:
    """The state of all learners and of the syncer, event after event."""

    def __init__(self, config: LearningConfig, seed: int, tape: t.Tape) -> None:
        self.config = config
        self.problem = make(config.problem, config.options)
        initial = {
            name: np.asarray(value, np.float32)
            for name, value in self.problem.initial(stream(seed, "learning", "initial")).items()
        }
        self.initial = initial
        self.fragments = fragments_of(initial, config.fragments)
        count = config.learners
        self.learners = [One(initial) for _ in range(count)]
        self.streams = [stream(seed, "learning", "batches", index) for index in range(count)]
        self.done_at = tokens_by_instant(config, tape)
        self.x = {name: value.copy() for name, value in initial.items()}
        self.velocity = {name: np.zeros_like(value) for name, value in initial.items()}
        self.job = One(initial)
        self.job_total = kept_tokens(config, tape)
        self.saved = self.job_state()
        self.answers: dict[tuple[int, int], Named] = {}
        self.results: dict[int, Named] = {}
        self.fetched: dict[int, One] = {}
        for event in tape:
            self.do(event)

    def do(self, event: t.Event) -> None:
        """Do what one event says."""
        match event:
            case t.Steps(now, learner, steps, share):
                for index in range(steps):
                    self.step(learner, share, self.progress(now, (index + 0.5) / steps))
            case t.Answer(_, learner, slot, fragments):
                self.answers[slot, learner] = {
                    name: self.learners[learner].x[name].copy() for name in self.names(fragments)
                }
            case t.Merge(_, slot, fragments, learners, weights):
                self.merge(slot, self.names(fragments), learners, list(weights))
            case t.Receive(_, learner, slot):
                self.learners[learner].x.update(self.results[slot])
            case t.Fetch(_, learner, peer):
                self.fetched[learner] = deepcopy(self.learners[peer])
            case t.Rejoin(_, learner, peer, arrived):
                one = self.learners[learner]
                one.x.update(self.initial)
                for slot in sorted(self.results):
                    if slot <= arrived:
                        one.x.update(self.results[slot])
                fetched = self.fetched.pop(learner, None)
                if peer is None:
                    one.fresh()
                else:
                    one.take_moments(fetched if fetched is not None else self.learners[peer])
            case t.JobSteps(_, steps, shares):
                for _ in range(steps):
                    self.job_step(shares)
            case t.Save():
                self.saved = self.job_state()
            case t.Rollback():
                self.job, states = deepcopy(self.saved)
                for draws, state in zip(self.streams, states, strict=True):
                    draws.bit_generator.state = state

    def job_state(self) -> Any:
        """A copy of the job, and where the streams of batches are."""
        return deepcopy((self.job, [draws.bit_generator.state for draws in self.streams]))

    def job_step(self, shares: tuple[float, ...]) -> None:
        """One step on the examples of all units that are up."""
        config = self.config
        units = [index for index, share in enumerate(shares) if share > 0]
        sizes = [max(1, round(config.batches[index] * shares[index])) for index in units]
        mean: Named = {}
        for index, size in zip(units, sizes, strict=True):
            shard = Shard(index, config.learners, config.skewed)
            batch = self.problem.batch(self.streams[index], size, shard)
            _, gradient = self.problem.gradient(self.job.x, batch)
            for name, g in gradient.items():
                part = g * (size / sum(sizes))
                mean[name] = mean[name] + part if name in mean else part
        tokens = sum(a * b for a, b in zip(config.tokens, shares, strict=True))
        rate = rate_at(config, (self.job.done + 0.5 * tokens) / self.job_total)
        self.job.done += tokens
        self.job.step(config, mean, rate)

    def names(self, fragments: tuple[int, ...]) -> list[str]:
        """Tensors of fragments."""
        return [name for p in fragments for name in self.fragments[p]]

    def progress(self, now: float, part: float) -> float:
        """How far all are together, this part of the way through an instant's steps."""
        total = self.done_at[max(self.done_at)]
        before = self.done_at[max(time for time in self.done_at if time < now)] / total
        return before + part * (self.done_at[now] / total - before)

    def step(self, learner: int, share: float, progress: float) -> None:
        """One local step."""
        config, one = self.config, self.learners[learner]
        size = max(1, round(config.batches[learner] * share))
        shard = Shard(learner, config.learners, config.skewed)
        batch = self.problem.batch(self.streams[learner], size, shard)
        _, gradient = self.problem.gradient(one.x, batch)
        one.step(config, dict(gradient), rate_at(config, progress))

    def merge(
        self, slot: int, names: list[str], learners: tuple[int, ...], weights: list[float]
    ) -> None:
        """Outer gradients, their merge, and the outer step."""
        outer = self.config.outer
        for name in names:
            updates = [
                rounded(self.x[name] - self.answers[slot, index][name], outer.bits)
                for index in learners
            ]
            radial = outer.merge == "radial_directional" and name not in self.problem.embeddings
            g = merged(updates, weights, radial=radial)
            self.velocity[name] = self.velocity[name] * outer.momentum + g
            move = outer.learning_rate * (g + outer.momentum * self.velocity[name])
            self.x[name] = self.x[name] - move
        self.results[slot] = {name: self.x[name].copy() for name in names}
