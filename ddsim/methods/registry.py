"""The registry of methods: what a scenario can name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from ddsim.engine.hardware import Hardware
    from ddsim.engine.run import Outcome, Run


class Method(ABC):
    """A way of training.

    It is made for one run, sets up its bodies on the run's hardware, and lets them act when the
    clock starts; afterwards it says what it did.
    """

    name: ClassVar[str]
    summary: ClassVar[str]

    def __init__(self, run: Run) -> None:
        self.run = run

    @classmethod
    def for_run(cls, run: Run) -> Method:
        """Return the method made for a run; subclasses inherit what a class does here.

        It may have a faster way where a run allows it; if that raises StepThrough, the run is made
        again with `counted` turned off.
        """
        return cls(run)

    @abstractmethod
    def start(self) -> Hardware:
        """Set everything up at time 0 and return the hardware, its strikes awaited."""

    @abstractmethod
    def close(self, horizon: float) -> Outcome:
        """Book all time up to the end of the run and say what was done."""


M = TypeVar("M", bound=type[Method])
_METHODS: dict[str, type[Method]] = {}


def method(name: str) -> Callable[[M], M]:
    """Register a class as the method of that name; ValueError if another has it."""

    def register(cls: M) -> M:
        known = _METHODS.get(name)
        if known is not None and known.__qualname__ != cls.__qualname__:
            raise ValueError(f"method {name!r} is already registered, by {known.__qualname__}")
        cls.name = name
        _METHODS[name] = cls
        return cls

    return register


def names() -> tuple[str, ...]:
    """Names of all methods, in the order in which results stand."""
    return tuple(_METHODS)


def get(name: str) -> type[Method]:
    """Return the method of that name; KeyError where there is none."""
    return _METHODS[name]
