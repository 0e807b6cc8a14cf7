"""Rows with a dot for what was simulated and a ring for what is published."""

import math
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, NullFormatter

from ddsim.figures import style
from ddsim.figures.drawing import drawing


@drawing
def dots(
    names: Sequence[str],
    values: Sequence[float],
    published: Sequence[float],
    *,
    title: str,
    x: str,
    y: str = "",
    half_width: Sequence[float] = (),
    colour: str = style.INK,
    log: bool = False,
    ax: Axes | None = None,
) -> Axes:
    """Draw a row a name, the first at the top, with its value and the published one in a colour.

    `half_width` is that of an interval around each value; nan in `published` leaves a row without
    a ring. `x` and `y` are the axes' labels, units included.
    """
    if ax is None:
        ax = style.own_axes(1.1 + 0.21 * len(names))
    places = list(range(len(names)))
    spread = list(half_width) or None
    ax.errorbar(
        values, places, xerr=spread, fmt="o", color=colour, markersize=4, linewidth=1.2, capsize=2
    )
    known = [(value, at) for at, value in enumerate(published) if math.isfinite(value)]
    ax.plot(
        [value for value, _ in known],
        [at for _, at in known],
        linestyle="none",
        marker="o",
        markersize=7,
        markerfacecolor="none",
        markeredgecolor=colour,
    )
    if log:
        ax.set_xscale("symlog", linthresh=1.0)
        ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        ax.xaxis.set_minor_formatter(NullFormatter())
        ax.set_xlim(left=0)
    style.name_places(ax.yaxis, places, names)
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    style.dress(ax, title)
    handles = [
        Line2D([], [], linestyle="none", marker="o", markersize=4, color=colour, label="simulated"),
        style.published_handle(),
    ]
    style.legend_below(ax, handles, 2)
    return ax
