"""Distributions by name: how a scenario's words become an object."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from ddsim.naming import nearest
from ddsim.registry import Registry
from ddsim.world.distributions.base import Distribution, DistributionError

D = TypeVar("D", bound=Distribution)

DISTRIBUTIONS: Registry[type[Distribution]] = Registry("distribution", attribute="kind")


def register(name: str) -> Callable[[type[D]], type[D]]:
    """Class decorator that makes a `Distribution` known to scenarios under `name`.

    A class without `forms` takes the parameters of its constructor. Raises ValueError where another
    class has the name.
    """
    return DISTRIBUTIONS.register(name)


def names() -> tuple[str, ...]:
    """The registered names, in alphabetical order."""
    return tuple(sorted(DISTRIBUTIONS.names()))


def family(kind: str) -> type[Distribution]:
    """The class registered under `kind`; DistributionError with near misses if there is none."""
    if kind not in DISTRIBUTIONS:
        allowed = DISTRIBUTIONS.there_are(kind)
        raise DistributionError(kind, None, "no such distribution", allowed)
    return DISTRIBUTIONS.get(kind)


def from_spec(kind: str, params: Mapping[str, object]) -> Distribution:
    """The distribution that a specification names, e.g. `from_spec("exponential", {"mean": 60.0})`.

    Parameters are SI floats; `empirical` takes a sequence of them, `mixture` a sequence of
    components. Raises DistributionError for an unknown kind, an unknown, missing or contradictory
    parameter, or a value out of range.
    """
    cls = family(kind)
    given = set(params)
    forms = cls.forms or (_constructor_names(cls),)
    known = {name for form in forms for name in form}
    for name in params:
        if name not in known:
            raise DistributionError(
                kind, str(name), "no such parameter", f"{_forms_text(forms)}{_near(name, known)}"
            )
    if cls.forms and given not in [set(form) for form in forms]:
        found = " and ".join(params) if params else "nothing"
        raise DistributionError(kind, None, f"found {found}", _forms_text(forms))
    try:
        return cls.from_parameters(params)
    except TypeError as error:
        if cls.forms:
            raise
        raise DistributionError(kind, None, str(error), _forms_text(forms)) from error


def _constructor_names(cls: type[Distribution]) -> tuple[str, ...]:
    constructor: Any = cls
    return tuple(inspect.signature(constructor).parameters)


def _forms_text(forms: tuple[tuple[str, ...], ...]) -> str:
    return "it takes " + ", or ".join(" and ".join(form) if form else "nothing" for form in forms)


def _near(word: object, known: set[str] | tuple[str, ...]) -> str:
    near = nearest(str(word), sorted(known))
    return f"; did you mean {near}?" if near else ""
