"""A map of who comes to the target first, and where nobody can say."""

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.patches import Patch, Rectangle

from ddsim.figures import style
from ddsim.figures.units import metric_label
from ddsim.study.first import Contest, contests, shared
from ddsim.study.results import Study

_ACROSS = "network.bandwidth"
_GAP = 0.04  # of a place, around what is drawn in it
_LETTER = 0.08  # inches, of the name of the axis along it
_NOBODY = "#eeeeee"


def first(study: Study, ax: Axes | None = None) -> Axes:
    """Draw a place for each setting, in the colour of the method that comes to the target first.

    Where intervals overlap it has a band for each of the methods that cannot be told apart, the
    one whose middle is the least first. The numbers are that one's, from its better end to its
    worse. Raises ValueError for a study of a metric that has no target.
    """
    found = contests(study)
    if not found:
        raise ValueError(f"{study.metric} has no target: measure hours_to_target, cost_to_target")
    names = shared(study)
    at = names.index(_ACROSS) if _ACROSS in names else len(names) - 1
    across = list(dict.fromkeys(str(one.settings[at]) for one in found)) if names else [""]
    down = list(dict.fromkeys(_others(one.settings, at) for one in found))
    if ax is None:
        ax = style.own_axes(max(1.5 + 0.45 * len(down), 1.4 + _LETTER * len(_others(names, at))))
    seen: set[str] = set()
    for one in found:
        column = across.index(str(one.settings[at])) if names else 0
        _place(ax, column, down.index(_others(one.settings, at)), one, seen)
    style.name_places(ax.xaxis, range(len(across)), across)
    style.name_places(ax.yaxis, range(len(down)), down)
    ax.set_xlim(-0.5, len(across) - 0.5)
    ax.set_ylim(len(down) - 0.5, -0.5)
    ax.set_xlabel(style.plain(names[at]) if names else "")
    ax.set_ylabel(style.plain(_others(names, at)))
    style.dress(ax, f"First by {metric_label(study.metric)}: {study.scenario}")
    ax.grid(visible=False)
    ax.tick_params(axis="x", length=0)
    ax.spines["bottom"].set_visible(False)
    handles = [
        Patch(facecolor=style.method_colour(method), label=style.words(method))
        for method in dict.fromkeys(cell.method for cell in study.done)
        if method in seen
    ]
    style.legend_below(ax, handles, 2, title="several colours: they cannot be told apart")
    return ax


def _others(settings: Sequence[Any], at: int) -> str:
    return ", ".join(str(label) for place, label in enumerate(settings) if place != at)


def _place(ax: Axes, column: int, row: int, one: Contest, seen: set[str]) -> None:
    left, bottom, side = column - 0.5 + _GAP, row - 0.5 + _GAP, 1 - 2 * _GAP
    if one.first is None:
        ax.add_patch(Rectangle((left, bottom), side, side, facecolor=_NOBODY))
        ax.text(column, row, "out of reach", ha="center", va="center", fontsize=style.SMALL)
        return
    methods = list(dict.fromkeys(cell.method for cell in (one.first, *one.rivals)))
    seen.update(methods)
    width = side / len(methods)
    for band, method in enumerate(methods):
        corner = (left + band * width, bottom)
        ax.add_patch(Rectangle(corner, width, side, facecolor=style.method_colour(method)))
    low, mid, high = one.interval
    ends = "" if low == mid == high else f"\n{_short(low)} to {_short(high)}"
    ax.text(
        column,
        row,
        f"{_short(mid)}{ends}",
        ha="center",
        va="center",
        fontsize=style.SMALL,
        color=style.INK,
        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 1.0},
    )


def _short(value: float | None) -> str:
    if value is None:
        return "never"
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.3g}{letter}"
    return f"{value:.3g}"
