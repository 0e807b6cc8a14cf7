"""Gradients of several learners into one array, checked, however a problem computes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ddsim.learning.errors import DivergedError, Divergence, LearningError
from ddsim.learning.layout import Layout
from ddsim.learning.problem import Array, Problem, Shard, StackedProblem, Tensors
from ddsim.users import mistake


def draw(problem: Problem, rng: np.random.Generator, size: int, shard: Shard, step: int) -> Any:
    """Draw a learner's batch; raises LearningError where the problem fails to."""
    try:
        return problem.batch(rng, size, shard)
    except BaseException as error:
        what = mistake(error)
        where = f"problem {problem.name}, learner {shard.learner} at step {step}"
        raise LearningError(f"{where}: its batch raised {what}") from error


def sealed(parameters: Array) -> Array:
    """Return parameters as a problem gets to see them: nobody can write to them."""
    view = parameters.view()
    view.flags.writeable = False
    return view


def said_of(error: BaseException) -> str:
    """Return in words what a problem raised that was handed parameters."""
    what = mistake(error)
    if isinstance(error, ValueError) and "read-only" in str(error):
        what += ", since parameters may not be changed in place: copy what is to be written to"
    return what


class Gradients:
    """Computes and checks; `rows` of learners come and go as flat float32 vectors."""

    def __init__(self, problem: Problem, layout: Layout) -> None:
        self._problem = problem
        self._layout = layout

    def of(
        self, rows: Array, batches: Sequence[Any], learners: Sequence[int], steps: Sequence[int]
    ) -> Array:
        """Return the gradient of each row on its batch.

        `learners` and `steps` name them where something is wrong. Raises LearningError for a
        problem that fails, DivergedError for numbers that are not finite.
        """
        out = np.empty(rows.shape, rows.dtype)
        rows = sealed(rows)
        groups: dict[int, list[int]] = {}
        for index, batch in enumerate(batches):
            groups.setdefault(_size(batch), []).append(index)
        for members in groups.values():
            self._some(rows, batches, learners, steps, members, out)
        return out

    def _some(
        self,
        rows: Array,
        batches: Sequence[Any],
        learners: Sequence[int],
        steps: Sequence[int],
        members: list[int],
        out: Array,
    ) -> None:
        problem, layout = self._problem, self._layout
        if not isinstance(problem, StackedProblem):
            for index in members:
                where = learners[index], steps[index]
                self._one(rows[index], batches[index], *where, out[index])
            return
        alone = len(members) == len(rows)
        chosen = rows if alone else sealed(rows[members])
        try:
            losses, tensors = problem.gradients(
                layout.views(chosen), [batches[index] for index in members]
            )
        except BaseException as error:
            raised = self._raised(error, learners[members[0]], steps[members[0]])
            self._find_who_raises(rows, batches, learners, steps, members)
            raise raised from error
        target = out if alone else np.empty(chosen.shape, chosen.dtype)
        self._write(tensors, target, learners[members[0]], steps[members[0]])
        if not alone:
            out[members] = target
        if np.shape(losses) != (len(members),):
            found = f"losses of shape {np.shape(losses)} for {len(members)} learners"
            raise LearningError(f"{self._where(learners[members[0]], steps[members[0]])}: {found}")
        for index, loss in zip(members, losses, strict=True):
            self._check(loss, out[index], learners[index], steps[index])

    def _one(self, row: Array, batch: Any, learner: int, step: int, out: Array) -> None:
        try:
            loss, tensors = self._problem.gradient(self._layout.views(row), batch)
        except BaseException as error:
            raise self._raised(error, learner, step) from error
        self._write(tensors, out, learner, step)
        self._check(loss, out, learner, step)

    def _find_who_raises(
        self,
        rows: Array,
        batches: Sequence[Any],
        learners: Sequence[int],
        steps: Sequence[int],
        members: list[int],
    ) -> None:
        """Raise what a learner alone raises; a stack does not say whose batch it was."""
        for index in members:
            where = learners[index], steps[index]
            self._one(rows[index], batches[index], *where, np.empty_like(rows[index]))

    def _write(self, tensors: Tensors, out: Array, learner: int, step: int) -> None:
        if not isinstance(tensors, Mapping):
            found = f"gradients as a {type(tensors).__name__}, not a mapping by name"
            raise LearningError(f"{self._where(learner, step)}: {found}")
        lead = out.shape[:-1]
        for name, shape in self._layout.shapes.items():
            if name not in tensors:
                found = f'no gradient of "{name}"'
            elif np.shape(tensors[name]) != (*lead, *shape):
                found = (
                    f'a gradient of shape {np.shape(tensors[name])[len(lead) :]} for "{name}", '
                    f"whose shape is {shape}"
                )
            else:
                continue
            raise LearningError(f"{self._where(learner, step)}: {found}")
        try:
            self._layout.flatten(tensors, out)
        except (TypeError, ValueError) as error:
            found = f"gradients that are not numbers: {error}"
            raise LearningError(f"{self._where(learner, step)}: {found}") from error

    def _check(self, loss: Any, gradient: Array, learner: int, step: int) -> None:
        """Refuse a loss that is no number, mark numbers that are not finite."""
        try:
            value = float(loss)
        except (TypeError, ValueError) as error:
            found = f"a loss of {loss!r}, not a number"
            raise LearningError(f"{self._where(learner, step)}: {found}") from error
        if not np.isfinite(value):
            raise DivergedError(Divergence(learner, step, f"the loss is {value}"))
        if not np.isfinite(np.dot(gradient, gradient)):
            raise DivergedError(Divergence(learner, step, "the gradient is not finite"))

    def _raised(self, error: BaseException, learner: int, step: int) -> LearningError:
        what = said_of(error)
        return LearningError(f"{self._where(learner, step)}: its gradient raised {what}")

    def _where(self, learner: int, step: int) -> str:
        return f"problem {self._problem.name}, learner {learner} at step {step}"


def _size(batch: Any) -> int:
    first = batch[0] if isinstance(batch, tuple) else batch
    return len(first) if hasattr(first, "__len__") else 0
