"""What a training will take, timed on a step of it."""

from __future__ import annotations

from dataclasses import dataclass
from time import process_time
from typing import TYPE_CHECKING

import numpy as np

from ddsim.learning.errors import LearningError
from ddsim.learning.problem import Problem, Shard, StackedProblem, make
from ddsim.users import mistake

if TYPE_CHECKING:
    from collections.abc import Callable

    from ddsim.learning.config import LearningConfig

TRIES, LEAST = 3, 0.02
"""How often something is timed, and for how many seconds at least."""
AT_ONCE = 32
"""Learners of which a step is timed; more of them take in proportion."""
BESIDES = 1.4
"""What optimizer, merges and quantization add to gradients, as a factor."""


@dataclass(frozen=True)
class Cost:
    """Seconds of one core: of a step that every learner takes, and of one point of the curve."""

    step: float
    evaluation: float


def cost_of(config: LearningConfig) -> Cost:
    """Time a gradient and an evaluation of the problem. Raises LearningError where it fails."""
    problem = make(config.problem, config.options)
    try:
        return _cost(problem, config)
    except BaseException as error:
        raise LearningError(f"problem {config.problem}: {mistake(error)}") from error


def _cost(problem: Problem, config: LearningConfig) -> Cost:
    rng = np.random.default_rng(0)
    parameters = problem.initial(rng)
    learners = len(config.batches)
    mean = max(1, round(sum(config.batches) / learners))
    batches = [
        problem.batch(rng, mean, Shard(learner, learners, config.skewed))
        for learner in range(min(learners, AT_ONCE))
    ]
    if isinstance(problem, StackedProblem):
        stacked = {
            name: np.repeat(value[None], len(batches), axis=0) for name, value in parameters.items()
        }
        together = _timed(lambda: problem.gradients(stacked, batches))
    else:
        together = _timed(lambda: problem.gradient(parameters, batches[0])) * len(batches)
    evaluation = _timed(lambda: problem.evaluate(parameters))
    return Cost(together / len(batches) * learners * BESIDES, evaluation)


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
