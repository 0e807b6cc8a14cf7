"""What a training will take, tried on a step of it."""

from __future__ import annotations

import tracemalloc
from dataclasses import dataclass, replace
from time import process_time
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ddsim.learning.errors import LearningError
from ddsim.learning.layout import Layout
from ddsim.learning.problem import Problem, Shard, StackedProblem, Tensors, make
from ddsim.users import mistake

if TYPE_CHECKING:
    from collections.abc import Callable

    from ddsim.learning.config import LearningConfig

TRIES, LEAST = 3, 0.02
"""How often something is timed, and for how many seconds at least."""
AT_ONCE = 32
"""Learners of which a step is timed; more of them take in proportion."""
BESIDES = 1.4
"""What draws, packing and merges add to gradients, as a factor."""
FIRST, LARGER = 64, 4
"""Examples of the first batch that is tried, and how many times larger each further one is."""
ENOUGH = 0.02
"""Seconds of a step from which on larger batches are not tried: they take in proportion."""


@dataclass(frozen=True)
class Cost:
    """Of a step that every learner takes, of one point of the curve, and of making the problem:
    seconds of one core; and bytes of a step's batches and of what is computed of them.
    """

    step: float
    evaluation: float
    memory: float = 0.0
    making: float = 0.0


class _Tried(NamedTuple):
    """What a step of some learners took with batches of this size: seconds and bytes."""

    size: int
    seconds: float
    memory: float


def cost_of(config: LearningConfig) -> Cost:
    """Try a gradient and an evaluation of the problem. Raises LearningError where it fails."""
    began = process_time()
    problem = make(config.problem, config.options)
    making = process_time() - began
    try:
        return replace(_cost(problem, config), making=making)
    except BaseException as error:
        raise LearningError(f"problem {config.problem}: {mistake(error)}") from error


def _cost(problem: Problem, config: LearningConfig) -> Cost:
    learners = len(config.batches)
    mean = max(1, round(sum(config.batches) / learners))
    found = [_tried(problem, config, min(FIRST, mean))]
    while found[-1].size < mean and found[-1].seconds < ENOUGH:
        found.append(_tried(problem, config, min(LARGER * found[-1].size, mean)))
    step = _of_size(mean, found)
    share = learners / min(learners, AT_ONCE)
    parameters = problem.initial(np.random.default_rng(0))
    evaluation = _timed(lambda: problem.evaluate(parameters))
    seconds = step.seconds * share * BESIDES + learners * _optimizing(parameters, config)
    return Cost(seconds, evaluation, step.memory * share)


def _optimizing(parameters: Tensors, config: LearningConfig) -> float:
    """What the inner optimizer takes for one learner's step."""
    layout = Layout.of(parameters, 1)
    inner = config.inner.make(layout)
    x, gradient = np.zeros((2, layout.size), np.float32)
    moments = np.zeros((inner.slots, layout.size), np.float32)
    return _timed(lambda: inner.step(x, gradient, moments, 1, 0.0))


def _of_size(size: int, found: list[_Tried]) -> _Tried:
    """What a step with batches of this size takes, which grows as it did between the last two."""
    before, last = [_Tried(0, 0.0, 0.0), *found][-2:]
    further = (size - last.size) / (last.size - before.size)
    return _Tried(
        size,
        last.seconds + further * max(0.0, last.seconds - before.seconds),
        last.memory + further * max(0.0, last.memory - before.memory),
    )


def _tried(problem: Problem, config: LearningConfig, size: int) -> _Tried:
    rng = np.random.default_rng(0)
    parameters = problem.initial(rng)
    learners = len(config.batches)
    some = min(learners, AT_ONCE)

    def drawn() -> list[object]:
        shards = (Shard(learner, learners, config.skewed) for learner in range(some))
        return [problem.batch(rng, size, shard) for shard in shards]

    batches = drawn()
    if isinstance(problem, StackedProblem):
        stacked = {name: np.repeat(value[None], some, axis=0) for name, value in parameters.items()}

        def step() -> object:
            return problem.gradients(stacked, batches)

        seconds = _timed(step)
    else:

        def step() -> object:
            return problem.gradient(parameters, batches[0])

        seconds = _timed(step) * some
    return _Tried(size, seconds, _memory(lambda: (drawn(), step())))


def _timed(work: Callable[[], object]) -> float:
    """Seconds of the processor that it takes, each time done until a coarse clock can tell."""
    times = []
    for _ in range(TRIES):
        done, began = 0, process_time()
        while done < 1 or process_time() - began < LEAST:
            work()
            done += 1
        times.append((process_time() - began) / done)
    return min(times)


def _memory(work: Callable[[], object]) -> float:
    """Bytes that it has at most at a time."""
    traced = tracemalloc.is_tracing()
    if not traced:
        tracemalloc.start()
    try:
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        work()
        return float(tracemalloc.get_traced_memory()[1] - before)
    finally:
        if not traced:
            tracemalloc.stop()
