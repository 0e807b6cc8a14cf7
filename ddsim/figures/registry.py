"""The figures that a result may have, by name."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from matplotlib.axes import Axes

from ddsim.registry import Registry
from ddsim.results import MethodResult, Results

Draw = TypeVar("Draw", bound=Callable[..., Axes])


def _always(result: MethodResult) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Figure:
    """How a figure is drawn from results alone, and which methods' results have something in it."""

    draw: Callable[[Results], Axes]
    shows: Callable[[MethodResult], bool]


FIGURES: Registry[Figure] = Registry("figure")


def figure(name: str, *, shows: Callable[[MethodResult], bool] = _always) -> Callable[[Draw], Draw]:
    """Register a function that draws results as the figure `name` of those that it `shows`."""

    def register(draw: Draw) -> Draw:
        FIGURES.add(name, Figure(draw, shows))
        return draw

    return register
