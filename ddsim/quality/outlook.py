"""What tokens are worth to one way of training: losses, and hours and money to a loss."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import inf, isfinite

from ddsim.quality.batch import Batch
from ddsim.quality.case import Case
from ddsim.quality.constants import constants
from ddsim.quality.interval import Ends, Interval
from ddsim.quality.laws import Law
from ddsim.quality.penalty import FITS, NONE

ANYTHING = Ends(1.0, 0.0)
"""What a token that was overwritten counts, where nobody knows: all, or nothing."""


@dataclass(frozen=True)
class Outlook:
    """A law for a model of `parameters`, trained by `learners` that each take `batch` tokens.

    `penalty` is what the loss of so many learners is multiplied by, `worth` what a token that was
    overwritten counts, each from its better end to its worse. Without a `batch` its size costs
    nothing. Training begins at the loss `start`.
    """

    law: Law
    parameters: float
    learners: int
    batch: Batch | None
    penalty: Ends = NONE
    worth: Ends = ANYTHING
    start: float = 10.4

    @cached_property
    def cases(self) -> tuple[Case, Case, Case]:
        """Everything at its better end, at the mean of its two, and at its worse."""
        best, mid, worst = (
            Case(self.law, self.parameters, penalty, self.batch, worth, self.start)
            for penalty, worth in (
                (self.penalty.best, self.worth.best),
                (self.penalty.mid, self.worth.mid),
                (self.penalty.worst, self.worth.worst),
            )
        )
        return best, mid, worst

    def loss(self, tokens: float, share: float) -> Interval:
        """Return the loss after `tokens`, of which that share was merged."""
        return Interval(*(case.loss_after(case.counted(tokens, share)) for case in self.cases))

    def spent_to(self, target: float, spent: float, tokens: float, share: float) -> Interval:
        """Return what is spent, hours or money, up to the target.

        `spent` is what went into `tokens`, of which that share was merged; the rest of the way is
        taken at the same rate.
        """
        return Interval(*(_spent(case, target, spent, tokens, share) for case in self.cases))

    def unreachable(self, target: float) -> str | None:
        """Say why the mean of the factors does not reach a target; None where it does."""
        best, mid, _ = self.cases
        if mid.tokens_to(target) is not None:
            return None
        what = f"a loss of {target:g} nats"
        floor = f"floor of {self.law.name} for {size(self.parameters)} parameters"
        if target <= best.floor:
            return f"{what} is not above {best.floor:.4g}, the {floor}: no tokens are enough"
        if target <= mid.floor:
            learners = f"{self.learners} learners are taken to lose {100 * (mid.penalty - 1):.2g}%"
            return f"{what} is not above {mid.floor:.4g}, the {floor} where {learners}"
        return f"{what} is so near {mid.floor:.4g}, the {floor}, that no tokens are enough"

    def warnings(self) -> Iterator[str]:
        """Say which laws are used outside of what they were fitted to."""
        low, high = self.law.fitted
        if not low <= self.parameters <= high:
            sizes = f"{size(low)} to {size(high)} parameters"
            yield f"{self.law.name} was fitted to {sizes}, not to {size(self.parameters)}"
        if self.penalty.worst > 1.0:
            yield from self._beyond_penalty()
        if self.batch is not None and self.batch.critical is None:
            largest = constants("critical_batch")["parameters_to"]
            if self.parameters > largest:
                yield (
                    f"the critical batch was fitted to at most {size(largest)} parameters, "
                    f"not to {size(self.parameters)}"
                )

    def _beyond_penalty(self) -> Iterator[str]:
        low, high, most = (
            pick(constants(fit)[key] for fit in FITS)
            for pick, key in (
                (max, "parameters_from"),
                (min, "parameters_to"),
                (min, "learners_to"),
            )
        )
        if not low <= self.parameters <= high or self.learners > most:
            there = f"{size(low)} to {size(high)} parameters and at most {most:g} learners"
            here = f"{size(self.parameters)} and {self.learners}"
            yield f"the penalty of learners was fitted to {there}, not to {here}"


def size(parameters: float) -> str:
    """Return the size of a model as it is spoken of: 35M, 2.4B."""
    scale, letter = (1e9, "B") if parameters >= 1e9 else (1e6, "M")
    return f"{parameters / scale:.3g}{letter}"


def _spent(case: Case, target: float, spent: float, tokens: float, share: float) -> float | None:
    needed = case.tokens_to(target)
    if not needed:
        return needed
    counted = case.counted(tokens, share)
    found = needed / counted * spent if counted > 0.0 else inf
    return found if isfinite(found) else None
