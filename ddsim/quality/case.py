"""One reading of everything that is not known: tokens to a loss, and the loss after tokens."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import exp, inf, isfinite, log

from ddsim.quality.batch import Batch
from ddsim.quality.laws import Law, checked

_LONGEST = log(1e40)
"""Tokens, as a logarithm, up to which the cheapest beginning is looked for."""
_STEPS = 400


@dataclass(frozen=True)
class Case:
    """A law for a model of one size with one number for each factor.

    The loss is the law's times `penalty`, at most `start`, where training begins. `batch` costs
    tokens (None: nothing), `worth` is what a token that was overwritten counts.
    """

    law: Law
    parameters: float
    penalty: float
    batch: Batch | None
    worth: float
    start: float

    @property
    def floor(self) -> float:
        """The loss that no number of tokens brings it below."""
        return self.penalty * checked(self.law.floor(self.parameters), self.law)

    def counted(self, tokens: float, share: float) -> float:
        """Return the tokens that count, of those done, where that share was merged."""
        return tokens * (share + self.worth * (1.0 - share))

    def tokens_to(self, loss: float) -> float | None:
        """Return the tokens that have to count for a loss; None where no number is enough.

        The law's own, times the batch's overhead at that loss. Where the overhead falls faster
        along the way than tokens add up, as it may far above the losses that anyone trains to, a
        lower loss would be cheaper than a higher: then both take what the lower does.
        """
        if loss >= self.start:
            return 0.0
        least = self.law.tokens(self.parameters, loss / self.penalty)
        if loss <= self.floor or not isfinite(least):
            return None
        if self.batch is None:
            return least
        if least < self._turn:
            return self._spent(self._turn)
        needed = least * self.batch.overhead(loss)
        return needed if isfinite(needed) else None

    def loss_after(self, tokens: float) -> float:
        """Return the loss after tokens that count: the lowest that `tokens_to` gives them for."""
        if tokens <= 0.0:
            return self.start
        least = tokens if self.batch is None else self._least(tokens)
        return self.start if least is None else min(self.start, self._loss(least))

    def _loss(self, least: float) -> float:
        return self.penalty * checked(self.law.loss(self.parameters, least), self.law)

    def _spent(self, least: float) -> float:
        """Tokens in this batch for what so many do in a small one."""
        overhead = 1.0 if self.batch is None else self.batch.overhead(self._loss(least))
        return least * overhead

    @cached_property
    def _turn(self) -> float:
        """Tokens of a small batch from which on more of them cost more in this one as well."""
        places = [_LONGEST * index / _STEPS for index in range(_STEPS + 1)]
        lowest = min(range(_STEPS + 1), key=lambda index: self._cost(places[index]))
        if lowest == 0:
            return 1.0
        from scipy.optimize import minimize_scalar

        around = (places[lowest - 1], places[min(lowest + 1, _STEPS)])
        return exp(float(minimize_scalar(self._cost, bounds=around, method="bounded").x))

    def _cost(self, logarithm: float) -> float:
        spent = self._spent(exp(logarithm))
        return log(spent) if spent < inf else inf

    def _least(self, tokens: float) -> float | None:
        """Tokens of a small batch that do what so many do in this one; None for too few."""
        low, goal = log(self._turn), log(tokens)
        if self._cost(low) > goal:
            return None
        from scipy.optimize import brentq

        # each costs itself at least, so that more than `tokens` of them are too many
        least = brentq(lambda at: self._cost(at) - goal, low, goal, xtol=1e-13, rtol=1e-14)
        return exp(float(least))
