"""The registry of methods: what a scenario can name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar, TypeVar

from ddsim.registry import Registry

if TYPE_CHECKING:
    from collections.abc import Callable

    from ddsim.engine.hardware import Hardware
    from ddsim.engine.run import Outcome, Run
    from ddsim.world.instants import Ticks


class Method(ABC):
    """A way of training.

    It is made for one run, sets up its bodies on the run's hardware, and lets them act when the
    clock starts; afterwards it says what it did.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    uses_spares: ClassVar[bool] = False
    """Whether it puts spare slices into the places of failed ones."""
    apart: ClassVar[bool] = False
    """Whether every unit is a learner with batches of its own, whose work is merged."""
    taped: ClassVar[bool] = True
    """Whether it can put its steps on a tape, on which a model is trained."""

    def __init__(self, run: Run) -> None:
        self.run = run

    @abstractmethod
    def start(self) -> Hardware:
        """Set everything up at time 0 and return the hardware, its strikes awaited."""

    @abstractmethod
    def close(self, horizon: Ticks) -> Outcome:
        """Book all time up to the end of the run and say what was done, in seconds."""


M = TypeVar("M", bound=type[Method])
METHODS: Registry[type[Method]] = Registry("method", attribute="name")

names = METHODS.names
"""Names of all methods, in the order in which results stand."""

get = METHODS.get
"""Return the method of that name; UnknownNameError where there is none."""


def method(name: str) -> Callable[[M], M]:
    """Register a class as the method of that name.

    ValueError if another has it, TypeError for what does not derive from `Method`.
    """

    def register(thing: M) -> M:
        if not (isinstance(thing, type) and issubclass(thing, Method)):
            allowed = "one of ddsim's methods, or SteppingMethod of ddsim.methods.stepping"
            said = getattr(thing, "__name__", repr(thing))
            raise TypeError(f"method {name!r}: {said} derives from no method; from {allowed}")
        METHODS.add(name, thing)
        return thing

    return register
