"""The simulated cells of a study: choices among them, maps whose tiles open them, their numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from statistics import fmean
from typing import Any

from matplotlib import colormaps
from matplotlib.colors import to_hex

from ddsim.figures.style import words
from ddsim.figures.units import is_share
from ddsim.report.charts import in_page
from ddsim.report.parts import Choice, Map, Tile, number, percent
from ddsim.results.metrics import METRICS, RANKING
from ddsim.study.grid import SPECIAL, CellName, Label
from ddsim.study.measures import Measured, sign_of, values_of
from ddsim.study.results import Study

METHOD = "method"
_MOST_MAPS = 48  # of a page
_COLOURS = colormaps["cividis"]
_BESIDE = (  # what stands beside the metric in a cell, where there is any of it
    RANKING,
    "goodput",
    "hours_to_target",
    "cost_to_target",
    "merged_tokens_per_hour",
    "usd_per_billion_merged_tokens",
    "compute_utilization",
    "failures",
)


def varied(study: Study) -> list[str]:
    """The paths that vary."""
    return [name for name in study.columns if name not in SPECIAL]


def base_cells(study: Study) -> list[CellName]:
    """The cells that are done and no rerun of another."""
    return [cell for cell in study.done if cell.is_base]


def labels_of(cells: Sequence[CellName], name: str) -> list[Label]:
    """The values of a path, each once."""
    return list(dict.fromkeys(cell.settings[name] for cell in cells if name in cell.settings))


def choices_of(study: Study) -> list[Choice]:
    """A control for each varied path, and one for the method where there are maps of several."""
    cells = base_cells(study)
    found = [Choice(name, [str(v) for v in labels_of(cells, name)]) for name in varied(study)]
    methods = list(dict.fromkeys(words(cell.method) for cell in cells))
    if len(varied(study)) > 1 and len(methods) > 1:
        found.append(Choice(METHOD, methods))
    return found


def anchor(cell: CellName) -> str:
    """The id of a cell's row."""
    return f"cell-{cell.index}"


def cells_as_data(study: Study) -> str:
    """Every cell that is done with what stands in its row, for the script of the page."""
    names = [study.metric, *(name for name in _BESIDE if name != study.metric)]
    cells = base_cells(study)
    means = {
        name: {cell.index: _mean(study, cell, name) for cell in cells}
        for name in names
        if name != study.metric
    }
    shown = [name for name, of in means.items() if any(x is not None for x in of.values())]
    columns = [METHOD, _heading(study.metric), *(_heading(name) for name in shown), "histories"]
    rows = [
        {
            "id": anchor(cell),
            "at": {
                name: str(label) for name, label in cell.settings.items() if name in varied(study)
            },
            "method": words(cell.method),
            "row": [
                words(cell.method),
                with_interval(study.metric, study.measured.get(cell.index)),
                *(amount(name, means[name][cell.index]) for name in shown),
                str(len(study.rows[cell.index])),
            ],
        }
        for cell in cells
    ]
    known = [cell for cell in cells if cell.index in study.measured]
    sign = sign_of(study.metric)
    best = max(known, key=lambda cell: sign * study.measured[cell.index].value, default=None)
    return in_page({"columns": columns, "cells": rows, "best": best and anchor(best)})


def _mean(study: Study, cell: CellName, name: str) -> float | None:
    values = values_of(study.rows[cell.index], name)
    return fmean(values) if values else None


def _heading(name: str) -> str:
    if is_share(name):
        return f"{METRICS[name].words} (%)"
    return METRICS[name].label if name in METRICS else words(name)


def amount(name: str, value: float | None) -> str:
    """A metric's value: shares in per cent, all else in four digits."""
    return percent(value) if is_share(name) else number(value)


def with_interval(name: str, it: Measured | None) -> str:
    """A metric's value with its interval, where it has one."""
    if it is None:
        return amount(name, None)
    text = amount(name, it.value)
    return f"{text} ({amount(name, it.low)} to {amount(name, it.high)})" if it.enough else text


def maps_of(study: Study) -> list[Map]:
    """A map over the first two paths for each method and each value of all others.

    Of more maps than a page has room for the first.
    """
    names = varied(study)
    if len(names) < 2:
        return []
    across, up, *others = names
    cells = base_cells(study)
    methods = list(dict.fromkeys(cell.method for cell in cells))
    known = [it.value for it in study.measured.values() if math.isfinite(it.value)]
    span = (min(known), max(known)) if known else (0.0, 1.0)
    found = []
    for method, *labels in product(methods, *(labels_of(cells, name) for name in others)):
        at = dict(zip(others, labels, strict=True))
        here = [
            cell
            for cell in cells
            if cell.method == method
            and {across, up} <= cell.settings.keys()
            and all(cell.settings.get(name, label) == label for name, label in at.items())
        ]
        if here:
            chosen = {name: str(label) for name, label in at.items()}
            chosen |= {METHOD: words(str(method))} if len(methods) > 1 else {}
            found.append(_map(study, here, (across, up), chosen, span))
    return found[:_MOST_MAPS]


def _map(
    study: Study,
    cells: Sequence[CellName],
    axes: tuple[str, str],
    chosen: dict[str, str],
    span: tuple[float, float],
) -> Map:
    across, up = axes
    columns = labels_of(cells, across)
    placed = {(cell.settings[across], cell.settings[up]): cell for cell in cells}
    rows = [
        (str(label), [_tile(study, placed.get((column, label)), span) for column in columns])
        for label in labels_of(cells, up)
    ]
    where = "".join(f", {name} = {label}" for name, label in chosen.items() if name != METHOD)
    method = words(cells[0].method)
    caption = f"{_heading(study.metric)}: {method}{where}; a tile opens its cell"
    return Map(caption, across, up, [str(label) for label in columns], rows, chosen)


def _tile(study: Study, cell: CellName | None, span: tuple[float, float]) -> Tile:
    it = None if cell is None else study.measured.get(cell.index)
    if cell is None or it is None:
        return Tile(text="\N{EN DASH}")
    low, high = span
    place = (it.value - low) / (high - low) if high > low else 0.5
    ground = to_hex(_COLOURS(place))
    return Tile(anchor(cell), amount(study.metric, it.value), ground, _ink_on(ground))


def _ink_on(ground: str) -> str:
    """Black or white, whichever has the higher contrast by WCAG's luminance."""
    light = _luminance(ground)
    return "#000000" if (light + 0.05) / 0.05 > 1.05 / (light + 0.05) else "#ffffff"


def _luminance(colour: str) -> float:
    parts = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def place_of(study: Study, name: str) -> dict[str, Any]:
    """Where each label of a path stands on an axis: a number where all are, else nothing."""
    from ddsim.study.vary import in_base_unit

    found: dict[str, Any] = {}
    for label in labels_of(base_cells(study), name):
        known = in_base_unit(name, label)
        if known is not None:
            found[str(label)] = known[0]
        elif isinstance(label, int | float) and not isinstance(label, bool):
            found[str(label)] = float(label)
        else:
            return {}
    return found if all(map(math.isfinite, found.values())) else {}
