"""What a model to be trained is: the interface of a problem, and the registry of problems."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from ddsim.learning.errors import LearningError
from ddsim.registry import Registry
from ddsim.users import mistake

Array = npt.NDArray[Any]
Tensors = Mapping[str, Array]


class Shard(NamedTuple):
    """Whose data are drawn: those of learner `learner` of `learners`.

    Each sees all of them alike, or, where they are `skewed`, a part of its own.
    """

    learner: int = 0
    learners: int = 1
    skewed: bool = False


class Problem(ABC):
    """A model, its data and its loss.

    A subclass registered with `problem(name)` is what a scenario's `learning.problem` names. Its
    constructor takes `rng`, from which it draws its data (always the same numbers), and keyword
    options with defaults, which `learning.options` sets. Tensors are named; `embeddings` lists
    those that a radial-directional merge averages plainly, and that Muon leaves to AdamW as it does
    the output layers, `heads`. `floor` is the loss that no model gets below, where that is known.
    """

    name: ClassVar[str]
    embeddings: tuple[str, ...] = ()
    heads: tuple[str, ...] = ()
    floor: float | None = None

    @abstractmethod
    def __init__(self, rng: np.random.Generator) -> None: ...

    @abstractmethod
    def initial(self, rng: np.random.Generator) -> Tensors:
        """Draw the initial parameters: tensors of any shapes, by name."""

    @abstractmethod
    def batch(self, rng: np.random.Generator, size: int, shard: Shard) -> Any:
        """Draw a batch of `size` examples of a shard."""

    @abstractmethod
    def gradient(self, parameters: Tensors, batch: Any) -> tuple[float, Tensors]:
        """Return the mean loss over a batch and its gradient, a tensor for each parameter.

        The parameters are the learner's own, and cannot be written to.
        """

    @abstractmethod
    def evaluate(self, parameters: Tensors) -> float:
        """Return the loss that curves show: of data held out, or exact where it is known."""


class StackedProblem(Problem):
    """A problem that computes the gradients of several learners at once, which is faster.

    What it returns for a learner may not depend, to the last bit, on who is computed beside it.
    """

    @abstractmethod
    def gradients(self, parameters: Tensors, batches: Sequence[Any]) -> tuple[Array, Tensors]:
        """Return the losses and gradients of several learners with batches of one size.

        Parameters and gradients have a leading axis for the learners.
        """

    def gradient(self, parameters: Tensors, batch: Any) -> tuple[float, Tensors]:
        """Return the mean loss over a batch and its gradient, a tensor for each parameter."""
        losses, tensors = self.gradients(
            {name: value[None] for name, value in parameters.items()}, [batch]
        )
        return float(losses[0]), {name: value[0] for name, value in tensors.items()}


P = TypeVar("P", bound=type[Problem])
PROBLEMS: Registry[type[Problem]] = Registry("problem", attribute="name", unknown=LearningError)

names = PROBLEMS.names
"""Names of all problems, in the order of their registration."""

get = PROBLEMS.get
"""Return the problem of that name; LearningError where there is none."""


def problem(name: str) -> Callable[[P], P]:
    """Register a class as the problem of that name; ValueError if another has it."""
    return PROBLEMS.register(name)


def options_of(name: str) -> tuple[str, ...]:
    """Names of the options that a problem takes."""
    parameters = list(inspect.signature(get(name)).parameters.values())[1:]
    return tuple(item.name for item in parameters)


def make(name: str, options: Mapping[str, Any]) -> Problem:
    """Make the problem of that name.

    Raises LearningError for an option that it does not take, or that it refuses.
    """
    cls = get(name)
    known = options_of(name)
    for option in options:
        if option not in known:
            allowed = f"it takes {', '.join(known)}" if known else "it takes none"
            raise LearningError(f'problem {name} has no option "{option}"; {allowed}')
    try:
        return cls(np.random.default_rng(0), **options)
    except BaseException as error:
        raise LearningError(f"problem {name}: {mistake(error)}") from error
