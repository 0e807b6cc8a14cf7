"""What every learner unit did, when: a lost unit leaves and returns while the others go on."""

from collections.abc import Sequence
from dataclasses import replace

from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.ticker import MaxNLocator

from ddsim.figures import style
from ddsim.figures.registry import figure
from ddsim.figures.units import time_unit
from ddsim.results import MethodResult, Results, Span

_ROW = 0.8  # height of a unit with all its chips
_LEAST = 0.15  # and of one with hardly any
_GAP = 0.9  # between methods, in rows
_MOST_UNITS = 12
_COLUMNS = 2000  # more than a figure has pixels across
_RUNNING = "running, with those waits\nwithin its steps that are too short to be drawn"


@figure("timeline", shows=lambda result: bool(result.timeline))
def timeline(
    results: Results, methods: str | Sequence[str] | None = None, ax: Axes | None = None
) -> Axes:
    """Draw a row a unit, coloured by its state, as high as the share of its chips that is healthy.

    `methods` names one or several; None draws every method that kept a timeline. A unit that runs
    has its method's colour, whatever each step loses to the network. Of many units the dozen that
    ran least is drawn, and of more states than there are pixels those that last longest. Raises
    KeyError for a method without result and ValueError when none of the methods kept a timeline.
    """
    records = _chosen(results, methods)
    longest = max(span.end for item in records for span in item.timeline)
    rows = {
        item.method: {
            unit: _coarse(spans, longest / _COLUMNS)
            for unit, spans in _most_eventful(_units(item.timeline)).items()
        }
        for item in records
    }
    if ax is None:
        height = sum(0.25 + 0.17 * len(units) for units in rows.values())
        ax = style.own_axes(1.6 + height)
    scale, unit_of_time = time_unit(longest)
    top = 0.0
    ticks: list[tuple[float, str]] = []
    for method, units in rows.items():
        _heading(ax, top, method)
        for name, spans in units.items():
            _row(ax, top, spans, method, scale)
            ticks.append((top, name))
            top += 1
        top += _GAP
    style.name_places(ax.yaxis, [at for at, _ in ticks], [name for _, name in ticks])
    ax.set_ylim(top - _GAP - 0.4, -1.3)
    ax.set_xlim(0, longest / scale)
    ax.xaxis.set_major_locator(MaxNLocator(nbins=7, steps=[1, 2, 3, 6, 10]))
    ax.set_xlabel(f"time ({unit_of_time})")
    style.dress(ax, f"What the units did: {results.scenario}")
    states = {span.state for units in rows.values() for spans in units.values() for span in spans}
    style.account_legend(ax, states, own=_RUNNING)
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


def _units(timeline: Sequence[Span]) -> dict[str, list[Span]]:
    units: dict[str, list[Span]] = {}
    for span in timeline:
        units.setdefault(span.unit, []).append(span)
    return units


def _most_eventful(units: dict[str, list[Span]]) -> dict[str, list[Span]]:
    if len(units) <= _MOST_UNITS:
        return units
    ran = {
        name: sum(span.end - span.start for span in spans if span.state in style.PROGRESS)
        for name, spans in units.items()
    }
    least = sorted(units, key=ran.__getitem__)[:_MOST_UNITS]
    return {name: spans for name, spans in units.items() if name in least}


def _coarse(spans: Sequence[Span], width: float) -> Sequence[Span]:
    """Return at most one span for every `width` seconds: the state that lasts longest in them."""
    if len(spans) <= 2 * _COLUMNS:
        return spans
    columns: list[dict[tuple[str, int], float]] = [{} for _ in range(_COLUMNS)]
    for span in spans:
        kind = span.state, span.healthy_chips
        first, last = int(span.start / width), min(_COLUMNS - 1, int(span.end / width))
        for column in range(first, last + 1):
            lasts = min(span.end, (column + 1) * width) - max(span.start, column * width)
            columns[column][kind] = columns[column].get(kind, 0.0) + lasts
    coarse: list[Span] = []
    for column, kinds in enumerate(columns):
        if not kinds:
            continue
        state, chips = max(kinds, key=kinds.__getitem__)
        start, end = column * width, (column + 1) * width
        before = coarse[-1] if coarse else spans[0]
        if (before.state, before.healthy_chips, before.end) == (state, chips, start):
            coarse[-1:] = [replace(before, end=end)]
        else:
            coarse.append(replace(spans[0], start=start, end=end, state=state, healthy_chips=chips))
    return coarse


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


def _row(ax: Axes, at: float, spans: Sequence[Span], method: str, scale: float) -> None:
    whole = max(span.healthy_chips for span in spans)
    base = at + _ROW / 2
    painted: dict[str, list[list[tuple[float, float]]]] = {}
    for span in spans:
        left, right = span.start / scale, span.end / scale
        top = base - _height(span, whole)
        box = [(left, base), (left, top), (right, top), (right, base)]
        painted.setdefault(span.state, []).append(box)
    for state, boxes in painted.items():
        fill = style.account_fill(state, method)
        ax.add_collection(
            PolyCollection(
                boxes,
                facecolors=fill.colour,
                edgecolors=fill.edge,
                hatch=fill.hatch or None,
                linewidths=0,
            ),
            autolim=False,
        )


def _height(span: Span, whole: int) -> float:
    if span.healthy_chips <= 0 or whole <= 0:
        return _ROW
    return _ROW * max(_LEAST, span.healthy_chips / whole)
