"""How figures were drawn: each that has axes of its own remembers what it was drawn from."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from inspect import signature
from typing import Any, ParamSpec
from weakref import WeakKeyDictionary

from matplotlib.axes import Axes

from ddsim.registry import Registry

P = ParamSpec("P")
DRAWINGS: Registry[Callable[..., Axes]] = Registry("way to draw a figure")
"""Functions that draw a figure from what can be kept: results, or plain data."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """The name of the function that drew a figure, and what it was given by parameter."""

    by: str
    given: Mapping[str, Any]


_DRAWN: WeakKeyDictionary[Axes, Drawn] = WeakKeyDictionary()


def drawing(draw: Callable[P, Axes]) -> Callable[P, Axes]:
    """Register a function that draws a figure, on the axes `ax` or on its own, by its name."""
    parameters = signature(draw)

    @wraps(draw)
    def drawn(*args: P.args, **named: P.kwargs) -> Axes:
        given = parameters.bind(*args, **named).arguments
        ax = draw(*args, **named)
        if given.pop("ax", None) is None:
            _DRAWN[ax] = Drawn(draw.__name__, given)
        return ax

    DRAWINGS.add(draw.__name__, drawn)
    return drawn


def drawn_from(ax: Axes) -> Drawn | None:
    """What a figure was drawn from; None where the axes were given, or drawn by hand."""
    return _DRAWN.get(ax)
