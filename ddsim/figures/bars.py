"""Groups of bars with published values as rings."""

import math
from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from ddsim.figures import style
from ddsim.figures.drawing import drawing
from ddsim.figures.inside import write_inside

_GROUP = 0.8  # width of a group
_MANY = 9  # bars beside which three digits have no room
_TALL = 0.1  # share of the highest bar from which a number fits into a bar


@drawing
def bars(
    groups: Sequence[str],
    series: Mapping[str, Sequence[float]],
    colours: Mapping[str, str],
    *,
    title: str,
    y: str,
    x: str = "",
    published: Mapping[str, Sequence[float]] | None = None,
    half_width: Mapping[str, Sequence[float]] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw a bar a series in each group, with its value, and the published one as a ring.

    `series` and `published` have one value a group, nan where there is none; `half_width` is that
    of an interval around a bar's value. `x` and `y` are the axes' labels, units included.
    """
    published, half_width = published or {}, half_width or {}
    if ax is None:
        ax = style.own_axes(3.3)
    width = _GROUP / len(series)
    digits = 3 if len(groups) * len(series) <= _MANY else 2
    highest = max(v for values in series.values() for v in values if math.isfinite(v))
    for index, (name, values) in enumerate(series.items()):
        spots = [n - _GROUP / 2 + (index + 0.5) * width for n in range(len(groups))]
        shown = [(at, v) for at, v in zip(spots, values, strict=True) if math.isfinite(v)]
        heights = [v for _, v in shown]
        places = [at for at, _ in shown]
        drawn = ax.bar(places, heights, 0.9 * width, color=colours[name], label=name)
        spread = list(half_width.get(name, ()))
        if spread:
            ax.errorbar(spots, values, spread, fmt="none", ecolor=style.INK, capsize=2, linewidth=1)
        rings = dict(zip(spots, published.get(name, ()), strict=False))
        for bar, (at, value) in zip(drawn, shown, strict=True):
            number = f"{value:.{digits}g}"
            if value > _TALL * highest:
                write_inside(ax, bar, number, (at, 0.0), points=3, up="baseline")
            else:
                ax.annotate(
                    number,
                    (at, value),
                    xytext=(0, 3),
                    textcoords="offset points",
                    ha="center",
                    fontsize=style.SMALL,
                    color=style.INK,
                )
        known = [(at, v) for at, v in rings.items() if math.isfinite(v)]
        ax.plot(
            [at for at, _ in known],
            [v for _, v in known],
            linestyle="none",
            marker="o",
            markersize=6,
            markerfacecolor="white",
            markeredgecolor=colours[name],
            markeredgewidth=1.5,
            label=f"{name}, published",
        )
    style.name_places(ax.xaxis, range(len(groups)), groups)
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    style.dress(ax, title)
    ax.grid(visible=False, axis="x")
    ax.grid(axis="y", color=style.GRID, linewidth=0.8)
    ax.margins(y=0.12)
    handles: list[Patch | Line2D] = [Patch(color=colours[name], label=name) for name in series]
    if any(math.isfinite(v) for values in published.values() for v in values):
        handles.append(style.published_handle())
    style.legend_below(ax, handles, 2 if len(handles) > 3 else len(handles))
    return ax
