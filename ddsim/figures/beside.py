"""Simulated curves with the published points beside them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

from ddsim.figures import style
from ddsim.figures.drawing import drawing

Line = Literal["solid", "dashed", "dashdot", "dotted"]
_DIGITS = 3  # and a point, of a number with a letter for its size
_SHORT = 50.0  # ends of a logarithmic axis this far apart have few powers of ten between them
_ENTRY = 0.18  # height of a row of the legend, in inches


@dataclass(frozen=True, slots=True)
class Curve:
    """One curve: simulated values with their intervals, and published ones where there are any.

    `y` and `published` have the length of `x`; nan where there is none. `half_width` is that of the
    95% intervals, empty where nothing is random.
    """

    name: str
    colour: str
    x: Sequence[float]
    y: Sequence[float]
    published: Sequence[float] = ()
    half_width: Sequence[float] = ()
    line: Line = "solid"
    marker: str = ""


@drawing
def beside(
    curves: Sequence[Curve],
    *,
    title: str,
    x: str,
    y: str,
    log_x: bool = False,
    log_y: bool = False,
    ticks: Sequence[float] = (),
    between: Sequence[float] = (),
    ax: Axes | None = None,
) -> Axes:
    """Draw simulated values as lines and published ones as rings of the same colour.

    A line is labelled with its curve's name, its rings with that and ", published". `x` and `y`
    are the axes' labels, units included; `ticks` the places on the first that are named,
    `between` the ends of the second where they are not those of the values.
    """
    if ax is None:
        rows = math.ceil((len(curves) + 1) / style.columns_of(curve.name for curve in curves))
        ax = style.own_axes(2.8 + _ENTRY * rows)
    for curve in curves:
        _draw(ax, curve)
    style.dress(ax, title)
    for log, axis in ((log_x, ax.xaxis), (log_y, ax.yaxis)):
        if log:
            (ax.set_xscale if axis is ax.xaxis else ax.set_yscale)("log")
            low, high = axis.get_view_interval()
            if low > 0.0 and high < _SHORT * low:
                axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
            axis.set_major_formatter(FuncFormatter(lambda value, _: short(value)))
            axis.set_minor_formatter(NullFormatter())
    if ticks:
        ax.set_xticks(list(ticks), [short(tick) for tick in ticks])
        ax.xaxis.set_minor_locator(NullLocator())
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    if between:
        ax.set_ylim(*between)
    ax.grid(axis="y", color=style.GRID, linewidth=0.8)
    ax.tick_params(which="minor", length=0)
    _legend(ax, curves)
    return ax


def _draw(ax: Axes, curve: Curve) -> None:
    spread = list(curve.half_width) if curve.half_width else None
    drawn = ax.errorbar(
        curve.x,
        curve.y,
        yerr=spread,
        capsize=2.5,
        color=curve.colour,
        linewidth=1.6,
        linestyle=curve.line,
        marker=curve.marker,
        markersize=3.5,
    )
    drawn.lines[0].set_label(style.plain(curve.name))
    known = [
        (at, value)
        for at, value in zip(curve.x, curve.published, strict=False)
        if math.isfinite(value)
    ]
    if known:
        ax.plot(
            [at for at, _ in known],
            [value for _, value in known],
            linestyle="none",
            marker="o",
            markersize=6,
            markerfacecolor="none",
            markeredgecolor=curve.colour,
            markeredgewidth=1.3,
            label=style.plain(f"{curve.name}, published"),
        )


def _legend(ax: Axes, curves: Sequence[Curve]) -> None:
    handles = [
        Line2D([], [], color=c.colour, linestyle=c.line, linewidth=1.8, label=c.name)
        for c in curves
    ]
    if any(math.isfinite(value) for c in curves for value in c.published):
        handles.append(style.published_handle())
    style.legend_below(ax, handles, style.columns_of(curve.name for curve in curves))


def short(value: float) -> str:
    """A number as an axis names it: 0.5, 20, 150k, 2.4M, 16,384."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            named = f"{value / size:g}"
            return f"{named}{letter}" if len(named) <= _DIGITS else f"{value:,.0f}"
    return f"{value:g}"
