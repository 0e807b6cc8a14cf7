"""Figures of a study: a metric over what varies, and what matters most among uncertain inputs."""

import math
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from ddsim.figures import style
from ddsim.figures.first import first
from ddsim.figures.gallery import write_figure
from ddsim.figures.heatmap import heatmap
from ddsim.figures.units import is_share, metric_label
from ddsim.scenario.units import span_in_words
from ddsim.study.grid import SPECIAL, CellName, Label
from ddsim.study.results import Study
from ddsim.study.vary import in_base_unit

_LINES = 12  # more than a legend can tell apart
_LOOKS = tuple(
    {"marker": marker, "linestyle": line}
    for marker, line in (("o", "-"), ("s", "--"), ("^", ":"), ("D", "-."), ("v", "-"), ("P", "--"))
)  # of the lines of one method, which share its colour
_NEAR = 0.12  # of the axis: values nearer than this ask for a logarithmic one
_LETTER = 0.019  # of the axis: the name of a value may take so much for each of its letters
_MARGIN = 0.02  # beyond 0 and 1


def sweep(study: Study, ax: Axes | None = None) -> Axes:
    """Draw the metric over the first thing that varies: a line a method, with 95% intervals.

    What else varies makes lines of its own; where that would be too many, only the first value of
    each is drawn, and the title says so.
    """
    if ax is None:
        ax = style.own_axes(3.5)
    cells = [cell for cell in study.done if cell.is_base]
    varied = [name for name in study.columns if name not in SPECIAL]
    x = varied[0] if varied else ""
    others = varied[1:]
    lines = _lines(cells, x)
    title = f"{study.metric}: {study.scenario}"
    if len(lines) > _LINES and others:
        first = {name: _labels(cells, name)[0] for name in others}
        cells = [
            cell for cell in cells if all(cell.settings.get(n, v) == v for n, v in first.items())
        ]
        lines = _lines(cells, x)
        title += f" at {', '.join(f'{name} = {label}' for name, label in first.items())}"
    labels = _labels(cells, x) if x else ["as it is"]
    places = _places(x, labels)
    drawn: dict[str, int] = {}
    for name, line in lines.items():
        number = drawn.setdefault(line[0].method, 0)
        drawn[line[0].method] += 1
        look: dict[str, Any] = {"label": name, **_LOOKS[number % len(_LOOKS)]}
        _line(ax, study, line, x, dict(zip(labels, places, strict=True)), look)
    _name_places(ax, places, [str(label) for label in labels])
    ax.set_xlabel(style.plain(x))
    ax.set_ylabel(metric_label(study.metric))
    style.dress(ax, title)
    ax.grid(axis="y", color=style.GRID, linewidth=0.8)
    if is_share(study.metric):  # an interval may reach beyond what a share can be
        low, high = ax.get_ylim()
        ax.set_ylim(max(low, -_MARGIN), min(high, 1 + _MARGIN))
    handles, names = ax.get_legend_handles_labels()
    style.legend_below(ax, handles, style.columns_of(names))
    return ax


def _name_places(ax: Axes, places: Sequence[float], names: Sequence[str]) -> None:
    """Name the places on the first axis, which is logarithmic where that sets them apart."""
    gap = _gap(places)
    if min(places) > 0 and gap < _NEAR and _gap(np.log(places).tolist()) > gap:
        ax.set_xscale("log")
        gap = _gap(np.log(places).tolist())
    style.name_places(ax.xaxis, places, names)
    ax.minorticks_off()
    if _LETTER * max(map(len, names)) > gap:
        ax.tick_params(axis="x", rotation=35)
        for name in ax.get_xticklabels():
            name.set(ha="right", rotation_mode="anchor")


def _gap(places: Sequence[float]) -> float:
    """The smallest distance of two neighbours, as a share of the distance of the outermost."""
    ordered = sorted(places)
    whole = ordered[-1] - ordered[0]
    return min((b - a for a, b in pairwise(ordered)), default=1.0) / whole if whole > 0 else 1.0


def _lines(cells: Sequence[CellName], x: str) -> dict[str, list[CellName]]:
    lines: dict[str, list[CellName]] = {}
    for cell in cells:
        others = [f"{name} = {label}" for name, label in cell.but(x, *SPECIAL).items()]
        lines.setdefault(", ".join([style.words(cell.method), *others]), []).append(cell)
    return lines


def _labels(cells: Sequence[CellName], name: str) -> list[Label]:
    return list(dict.fromkeys(cell.settings[name] for cell in cells if name in cell.settings))


def _places(name: str, labels: Sequence[Label]) -> list[float]:
    """Where labels stand: at their numbers where they are such, else one after another."""
    places: list[float] = []
    for label in labels:
        known = in_base_unit(name, label)
        if known is not None:
            places.append(known[0])
        elif isinstance(label, int | float) and not isinstance(label, bool):
            places.append(float(label))
    if len(places) < len(labels) or not all(map(math.isfinite, places)):
        return [float(index + 1) for index in range(len(labels))]
    return places


def _line(
    ax: Axes,
    study: Study,
    cells: Sequence[CellName],
    x: str,
    places: dict[Label, float],
    look: dict[str, Any],
) -> None:
    points = []
    for cell in cells:
        found = study.measured.get(cell.index)
        if found is not None:
            ends = (found.value - found.low, found.high - found.value) if found.enough else (0, 0)
            # a method for which nothing varies stands at every place
            spots = [places[cell.settings[x]]] if x in cell.settings else list(places.values())
            points += [(spot, found.value, *ends) for spot in spots]
    points.sort()
    if points:
        at, means, *ends_of = zip(*points, strict=True)
        colour = style.method_colour(cells[0].method)
        ax.errorbar(at, means, yerr=ends_of, color=colour, capsize=3, **look)


def tornado(study: Study, ax: Axes | None = None) -> Axes:
    """Draw how far each uncertain input swings the metric, of the first method that has any.

    Raises ValueError where the study has no tornado.
    """
    table = study.tables().get("tornado")
    if table is None:
        raise ValueError("no input was varied alone: the study has no tornado")
    rows = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    rows = [row for row in rows if row["cell"] == rows[0]["cell"]]
    if ax is None:
        ax = style.own_axes(1.2 + 0.45 * len(rows))
    method = rows[0]["method"]
    colour = style.method_colour(method)
    ax.use_sticky_edges = False  # no end of a bar is an end of the scale
    for place, row in enumerate(rows):
        low, high = sorted((row["at_low"], row["at_high"]))
        ax.barh(place, high - low, 0.6, left=low, color=colour, edgecolor=colour)
    spans = [span_in_words(str(row["low"]), str(row["high"])) for row in rows]
    words = [f"{row['input']}\n{span}" for row, span in zip(rows, spans, strict=True)]
    style.name_places(ax.yaxis, range(len(rows)), words)
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.set_xlabel(metric_label(study.metric))
    style.dress(ax, f"What matters most: {study.scenario}, {style.words(method)}")
    return ax


def save_study_figures(study: Study, folder: str | Path, suffix: str = "png") -> list[Path]:
    """Write the figures that a study has into `folder`; return the paths.

    They are `sweep`; `first` where hours or money to a loss are measured; `tornado` where inputs
    are uncertain; and where two things vary a map of the first two for each method,
    `heatmap-METHOD`.

    `suffix` is png, svg or pdf. Raises OSError.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    axes = {"sweep": sweep(study)}
    if "first" in study.tables():
        axes["first"] = first(study)
    if "tornado" in study.tables():
        axes["tornado"] = tornado(study)
    if len([name for name in study.columns if name not in SPECIAL]) > 1:
        methods = dict.fromkeys(cell.method for cell in study.done if cell.is_base)
        axes |= {f"heatmap-{method}": heatmap(study, method=method) for method in methods}
    return [write_figure(ax, folder / f"{name}.{suffix}") for name, ax in axes.items()]
