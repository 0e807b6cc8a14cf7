"""Laws from tokens to loss, by name: published ones, one's own constants, one's own class."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from math import exp, inf, isfinite, isnan, log
from typing import Any, ClassVar, TypeVar

from ddsim.naming import listed
from ddsim.quality.constants import constants, fitted_sizes
from ddsim.registry import Registry

_MOST = 1e60
"""Tokens beyond which nothing is looked for."""


class Law(ABC):
    """The loss, in nats, of a model of N parameters after D tokens, trained in small batches.

    A subclass registered with `law(name)` is what a scenario's `quality.law` names; the parameters
    of its constructor are what `quality.options` sets. The loss falls as tokens grow, towards a
    floor. `fitted` are the parameters of the smallest and of the largest model that the law was
    fitted to.
    """

    name: ClassVar[str] = "law"
    summary: ClassVar[str] = ""
    fitted: tuple[float, float] = (0.0, inf)

    @abstractmethod
    def loss(self, parameters: float, tokens: float) -> float:
        """Return the loss after so many tokens, which may be 0 or infinite."""

    def floor(self, parameters: float) -> float:
        """Return the loss that no number of tokens brings a model of this size below."""
        return self.loss(parameters, inf)

    def tokens(self, parameters: float, loss: float) -> float:
        """Return the tokens after which the loss is so low; infinite at the floor and below it.

        Found by bisection; a law that can say it in closed form does.
        """
        if loss <= self.floor(parameters) or self.loss(parameters, _MOST) > loss:
            return inf
        if self.loss(parameters, 1.0) <= loss:
            return 1.0
        from scipy.optimize import brentq

        def over(logarithm: float) -> float:
            return self.loss(parameters, exp(logarithm)) - loss

        return exp(float(brentq(over, 0.0, log(_MOST), xtol=1e-13, rtol=1e-14)))


L = TypeVar("L", bound=type[Law])
LAWS: Registry[type[Law]] = Registry("law", attribute="name")

names = LAWS.names
"""Names of all laws."""

get = LAWS.get
"""Return the law of that name; UnknownNameError where there is none."""


def law(name: str) -> Callable[[L], L]:
    """Register a class as the law of that name; ValueError if another has it."""
    return LAWS.register(name)


def options_of(name: str) -> tuple[str, ...]:
    """Names of a law's options; UnknownNameError where there is no such law."""
    return tuple(inspect.signature(get(name)).parameters)


def make(name: str, options: Mapping[str, Any]) -> Law:
    """Make the law of that name.

    Raises UnknownNameError, and ValueError for an option that it does not take, that it needs, or
    that it refuses.
    """
    parameters = inspect.signature(get(name)).parameters
    for option in options:
        if option not in parameters:
            raise ValueError(f"law {name} takes {listed(list(parameters)) or 'no option'}")
    needed = [key for key, item in parameters.items() if item.default is item.empty]
    missing = [key for key in needed if key not in options]
    if missing:
        raise ValueError(f"law {name} needs {listed(missing, 'and')}")
    return get(name)(**options)


def checked(loss: float, law: Law) -> float:
    """Return a loss that a law gave, if it is one; ValueError for what is no number, or below 0."""
    if isnan(loss) or loss < 0.0:
        raise ValueError(f"law {law.name} gave a loss of {loss}")
    return loss


@law("power_law")
class PowerLaw(Law):
    """L = E + A / N^alpha + B / D^beta, with constants of one's own, in nats."""

    summary = "E + A/N^alpha + B/D^beta with constants of one's own"

    def __init__(self, E: float, A: float, alpha: float, B: float, beta: float) -> None:
        numbers = {"E": E, "A": A, "alpha": alpha, "B": B, "beta": beta}
        for name, value in numbers.items():
            least = 0.0 if name in ("E", "A") else None
            number = isinstance(value, int | float) and not isinstance(value, bool)
            if not (number and isfinite(value) and (value > 0.0 or value == least)):
                allowed = "at least 0" if least is not None else "above 0"
                raise ValueError(f"{name} is {value!r}; a number {allowed}")
        self._E, self._A, self._alpha, self._B, self._beta = numbers.values()

    def loss(self, parameters: float, tokens: float) -> float:
        """Return the loss: infinite without a token."""
        return self.floor(parameters) + self._B * _power(tokens, -self._beta)

    def floor(self, parameters: float) -> float:
        """Return E + A / N^alpha."""
        return self._E + self._A * _power(parameters, -self._alpha)

    def tokens(self, parameters: float, loss: float) -> float:
        """Return (B / (L - floor))^(1 / beta)."""
        above = loss - self.floor(parameters)
        return _power(self._B / above, 1.0 / self._beta) if above > 0.0 else inf


def _power(base: float, exponent: float) -> float:
    """A power of a number of at least 0; infinite where no float is as large."""
    try:
        return float(base**exponent)
    except (OverflowError, ZeroDivisionError):
        return inf


class _Published(PowerLaw):
    """A power law whose constants stand in the reference table, under its own name."""

    def __init__(self) -> None:
        known = constants(self.name)
        super().__init__(*(known[symbol] for symbol in ("E", "A", "alpha", "B", "beta")))
        self.fitted = fitted_sizes(self.name)


@law("chinchilla_hoffmann")
class Hoffmann(_Published):
    """The law of arXiv 2203.15556 (Chinchilla), as published."""

    summary = "E + A/N^alpha + B/D^beta of arXiv 2203.15556 (Chinchilla)"


@law("chinchilla_besiroglu")
class Besiroglu(_Published):
    """The law of arXiv 2404.10102, a refit of Chinchilla's with other constants."""

    summary = "the same form, as arXiv 2404.10102 fits it again"
