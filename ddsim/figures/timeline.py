"""What every learner unit did, when: a lost unit leaves and returns while the others go on."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.ticker import MaxNLocator

from ddsim.figures import style
from ddsim.figures.drawing import drawing
from ddsim.figures.registry import figure
from ddsim.figures.stretches import Stretch, stretches_of
from ddsim.figures.units import time_unit
from ddsim.results import MethodResult, Results

_ROW = 0.8  # height of a unit with all its chips
_GAP = 0.9  # between methods, in rows
_FEW = 60  # stretches of a row that are drawn one by one
Box = tuple[float, float, float, float]
"""Left, right, base and top."""


@figure("timeline", shows=lambda result: bool(result.timeline))
@drawing
def timeline(
    results: Results, methods: str | Sequence[str] | None = None, ax: Axes | None = None
) -> Axes:
    """Draw a row a unit, divided into what its healthy chips did.

    `methods` names one or several; None draws every method that kept a timeline. While a unit runs,
    its method's colour is as high as the share of its chips' time that computes; so the areas of a
    row are the unit's accounts. Of many units the dozen that ran least is drawn, and of more spans
    than a figure can show each part of the time as the mixture that it is. Raises KeyError for a
    method without result and ValueError when none of the methods kept a timeline.
    """
    records = _chosen(results, methods)
    longest = max(span.end for item in records for span in item.timeline)
    rows = {item.method: stretches_of(item, longest) for item in records}
    if ax is None:
        height = sum(0.25 + 0.17 * len(units) for units in rows.values())
        ax = style.own_axes(1.6 + height)
    scale, unit_of_time = time_unit(longest)
    top = 0.0
    ticks: list[tuple[float, str]] = []
    for method, units in rows.items():
        _heading(ax, top, method)
        for name, stretches in units.items():
            _row(ax, top, stretches, method, scale)
            ticks.append((top, name))
            top += 1
        top += _GAP
    style.name_places(ax.yaxis, [at for at, _ in ticks], [name for _, name in ticks])
    ax.set_ylim(top - _GAP - 0.4, -1.3)
    ax.set_xlim(0, longest / scale)
    ax.xaxis.set_major_locator(MaxNLocator(nbins=7, steps=[1, 2, 3, 6, 10]))
    ax.set_xlabel(f"time ({unit_of_time})")
    style.dress(ax, f"What the units did: {results.scenario}")
    drawn = [stretch for units in rows.values() for all_of in units.values() for stretch in all_of]
    states = {state for stretch in drawn for state in stretch.parts}
    style.account_legend(ax, states, own="computing")
    return ax


def _chosen(results: Results, methods: str | Sequence[str] | None) -> list[MethodResult]:
    if methods is None:
        records = [item for item in results.results if item.timeline]
    else:
        names = [methods] if isinstance(methods, str) else methods
        records = [results[name] for name in names if results[name].timeline]
    if not records:
        raise ValueError("no timeline was kept for these methods")
    return records


def _heading(ax: Axes, top: float, method: str) -> None:
    ax.text(
        0,
        top - 0.5,
        style.plain(style.words(method)),
        fontsize=style.LABEL,
        fontweight="bold",
        color=style.method_colour(method),
        va="bottom",
    )


def _row(ax: Axes, at: float, stretches: Sequence[Stretch], method: str, scale: float) -> None:
    painted: dict[str, list[Box]] = {}
    for stretch in stretches:
        left, right = stretch.start / scale, stretch.end / scale
        base = at + _ROW / 2
        for state in style.in_order(stretch.parts):
            top = base - _ROW * stretch.parts[state]
            painted.setdefault(state, []).append((left, right, base, top))
            base = top
    for state, boxes in painted.items():
        fill = style.account_fill(state, method)
        ax.add_collection(
            PolyCollection(
                [_outline([box]) for box in boxes] if len(stretches) <= _FEW else _outlines(boxes),
                facecolors=fill.colour,
                edgecolors=fill.edge,
                hatch=fill.hatch or None,
                linewidths=0,
                snap=False,  # what is narrower than a pixel would be one wide, or not there
            ),
            autolim=False,
        )


def _outlines(boxes: Sequence[Box]) -> list[list[tuple[float, float]]]:
    """One outline for boxes that touch: a pattern is slow to draw in each by itself."""
    runs: list[list[Box]] = []
    for box in boxes:
        if runs and runs[-1][-1][1] == box[0]:
            runs[-1].append(box)
        else:
            runs.append([box])
    return [_outline(run) for run in runs]


def _outline(run: Sequence[Box]) -> list[tuple[float, float]]:
    bases = [(x, base) for left, right, base, _ in run for x in (left, right)]
    tops = [(x, top) for left, right, _, top in run for x in (left, right)]
    return [*bases, *reversed(tops)]
