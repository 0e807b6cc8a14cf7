"""Training along a tape, written from the words of the domain: one event, one tensor at a time.

In double precision and without anything of `ddsim.learning` but the problem itself, whose
gradients and batches are the data of both trainers, and the records in which settings come.
`python tests/naive_trainer.py --cases N` compares the package's training with it.
"""

from __future__ import annotations

from copy import deepcopy
from functools import cache
from math import cos, pi, prod, sqrt
from typing import Any

import numpy as np
from scipy.stats import norm

from ddsim.engine import tape as t
from ddsim.learning import LearningConfig, Shard
from ddsim.learning.problem import make
from ddsim.world.streams import stream

Named = dict[str, Any]


def scheduled(schedule: Any, progress: float) -> float:
    """A rise from 0 over the warm-up, then constant, a line or half a cosine down to the rest."""
    if progress < schedule.warmup:
        return float(schedule.rate * progress / schedule.warmup)
    done = min(1.0, (progress - schedule.warmup) / (1.0 - schedule.warmup))
    left = {"constant": 1.0, "linear": 1.0 - done, "cosine": (1.0 + cos(pi * done)) / 2.0}
    above = left[schedule.decay] * (1.0 - schedule.final)
    if schedule.decay == "constant":
        return float(schedule.rate)
    return float(schedule.rate * (schedule.final + above))


# Few bits.


@cache
def gaussian_levels(count: int) -> tuple[float, ...]:
    """Lloyd's own iteration: borders half way between levels, levels at the means between them."""
    levels = norm.ppf((np.arange(count) + 0.5) / count)
    for _ in range(200_000):
        borders = np.concatenate([[-np.inf], (levels[1:] + levels[:-1]) / 2.0, [np.inf]])
        means = -np.diff(norm.pdf(borders)) / np.diff(norm.cdf(borders))
        if np.abs(means - levels).max() < 1e-14:
            break
        levels = means
    return tuple(levels)


def levels_of(quantizer: str, bits: int) -> list[float]:
    """All levels for a scale of 1."""
    if quantizer == "sign" or (bits == 1 and quantizer == "uniform"):
        return [-1.0, 1.0]
    if quantizer == "gaussian":
        return list(gaussian_levels(2**bits))
    if quantizer == "uniform":
        most = 2 ** (bits - 1) - 1
        return [k / most for k in range(-most, most + 1)]
    powers = [2.0**-k for k in range(2 ** (bits - 1) - 1)]
    return sorted([0.0, *powers, *(-power for power in powers)])


def scale_of(block: Any, quantizer: str, bits: int, top: float, *, stochastic: bool) -> float:
    """The scale of a block."""
    sizes = abs(block)
    if stochastic:
        return float(sizes.max()) / top
    if quantizer == "sign":
        return sqrt(float((block**2).sum()) / max(1, int((block != 0).sum())))
    if quantizer == "gaussian":
        return sqrt(float((block**2).mean()))
    if quantizer == "uniform" and bits == 1:
        return float(sizes.mean())
    return float(sizes.max())


def in_few_bits(tensor: Any, outer: Any, draws: Any) -> Any:
    """A tensor as its receiver sees it."""
    if outer.bits >= 32:
        return tensor
    flat = tensor.ravel()
    uniform = draws.random(flat.size) if outer.rounding == "stochastic" else None
    length = outer.block or flat.size
    levels = np.array(levels_of(outer.quantizer, outer.bits))
    seen = np.zeros(flat.size)
    for start in range(0, flat.size, length):
        block = flat[start : start + length]
        scale = scale_of(
            block, outer.quantizer, outer.bits, levels[-1], stochastic=uniform is not None
        )
        for index, value in enumerate(block, start):
            if value == 0.0 or scale == 0.0:
                continue
            x = value / scale
            if uniform is None:
                seen[index] = scale * levels[np.abs(levels - x).argmin()]
                continue
            x = min(max(x, levels[0]), levels[-1])
            below, above = levels[levels <= x].max(), levels[levels >= x].min()
            share = 0.0 if above == below else (x - below) / (above - below)
            seen[index] = scale * (above if uniform[index] < share else below)
    return seen.reshape(tensor.shape)


# One step.


def orthogonal(matrix: Any) -> Any:
    """Five rounds of Newton and Schulz, by way of singular values."""
    left, sizes, right = np.linalg.svd(matrix, full_matrices=False)
    total = sqrt(float((sizes**2).sum()))
    if total == 0.0:
        return matrix
    sizes = sizes / total
    for _ in range(5):
        sizes = 3.4445 * sizes - 4.7750 * sizes**3 + 2.0315 * sizes**5
    return left @ np.diag(sizes) @ right


class One:
    """A model with the moments of its inner optimizer; `done` are its tokens in full steps."""

    def __init__(self, tensors: Named) -> None:
        self.x = deepcopy(tensors)
        self.forget()
        self.done = 0.0

    def forget(self) -> None:
        """Begin the moments anew."""
        self.first = {name: np.zeros(value.shape) for name, value in self.x.items()}
        self.second = {name: np.zeros(value.shape) for name, value in self.x.items()}
        self.age = 0

    def copy_moments(self, peer: One) -> None:
        """Have the moments that a peer has."""
        self.first, self.second = deepcopy(peer.first), deepcopy(peer.second)
        self.age = peer.age

    def step(self, inner: Any, gradient: Named, rate: float, *, by_adam: tuple[str, ...]) -> None:
        """One step; Muon leaves vectors and the tensors `by_adam` to AdamW."""
        self.age += 1
        for name, g in gradient.items():
            matrix = g.ndim >= 2
            rule = inner.optimizer
            if rule == "muon" and (not matrix or name in by_adam):
                rule = "adamw"
            x = self.x[name]
            if rule == "sgd":
                self.x[name] = x - rate * g
            elif rule == "momentum":
                self.first[name] = inner.momentum * self.first[name] + g
                self.x[name] = x - rate * self.first[name]
            elif rule == "muon":
                self.first[name] = inner.momentum * self.first[name] + g
                ahead = g + inner.momentum * self.first[name]
                rows = ahead.reshape(len(ahead), -1)
                move = 0.2 * sqrt(max(rows.shape)) * orthogonal(rows).reshape(g.shape)
                self.x[name] = x - rate * (move + inner.weight_decay * x)
            else:
                b1, b2 = inner.beta1, inner.beta2
                self.first[name] = b1 * self.first[name] + (1.0 - b1) * g
                self.second[name] = b2 * self.second[name] + (1.0 - b2) * g**2
                mean = self.first[name] / (1.0 - b1**self.age)
                root = np.sqrt(self.second[name] / (1.0 - b2**self.age))
                decay = inner.weight_decay if matrix else 0.0
                self.x[name] = x - rate * (mean / (root + inner.epsilon) + decay * x)


# One merge.


def merged(updates: list[Any], weights: list[float], *, radial: bool) -> Any:
    """The weighted mean, or the mean norm along the direction of the mean unit vector."""
    share = [weight / sum(weights) for weight in weights]
    plain = sum(part * update for part, update in zip(share, updates, strict=True))
    if not radial:
        return plain
    norms = [float(np.linalg.norm(update)) for update in updates]
    units = [update / (size or 1.0) for size, update in zip(norms, updates, strict=True)]
    direction: Any = sum(part * unit for part, unit in zip(share, units, strict=True))
    length = float(np.linalg.norm(direction))
    if length < 1e-3:  # directions cancel
        return plain
    radius = sum(part * size for part, size in zip(share, norms, strict=True))
    return radius * direction / length


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
        self.all_steps = [
            sum(e.steps * e.share for e in tape if isinstance(e, t.Steps) and e.learner == index)
            for index in range(count)
        ]
        self.done, self.all_done = 0.0, sum(self.work(event) for event in tape)
        self.saved = self.job_state()
        self.answers: dict[tuple[int, int], tuple[Named, int]] = {}
        self.closed: dict[int, Named] = {}
        self.copies: dict[int, One] = {}
        for event in tape:
            self.do(event)

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

    def do(self, event: t.Event) -> None:
        """Do what one event says."""
        self.done += self.work(event)
        match event:
            case t.Steps(_, learner, steps, share):
                for _ in range(steps):
                    self.step(learner, share)
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
            case t.JobSteps(_, steps, shares, _):
                for _ in range(steps):
                    self.job_step(shares)
            case t.Save():
                self.saved = self.job_state()
            case t.Rollback():
                self.job, states = deepcopy(self.saved)
                for draws, state in zip(self.batches, states, strict=True):
                    draws.bit_generator.state = state
            case t.Waste():
                pass
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

    def step(self, learner: int, share: float) -> None:
        """One local step, at the rate of its middle."""
        one = self.learners[learner]
        rate = scheduled(self.config.schedule, (one.done + share / 2.0) / self.all_steps[learner])
        gradient, _ = self.gradient(learner, share, one.x)
        one.done += share
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
        """A learner is back: parameters as merged, moments of a peer, feedback lost."""
        one = self.learners[learner]
        one.x.update(deepcopy(self.initial))
        for slot in sorted(self.closed):
            if slot <= arrived:
                one.x.update(deepcopy(self.closed[slot]))
        copied = self.copies.pop(learner, None)
        if peer is None:
            one.forget()
        else:
            one.copy_moments(copied or self.learners[peer])
        if peer != learner:  # not only a round that was discarded
            self.left_out[learner] = self.nothing()
            self.lives[learner] += 1
