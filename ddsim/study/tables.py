"""The tables of a study, all made from the rows of its cells."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean
from typing import TYPE_CHECKING, Any

from ddsim.study.grid import BASE, INPUT, SPECIAL, WITHOUT, CellName
from ddsim.study.statistics import Difference, estimate, paired
from ddsim.study.vary import in_base_unit
from ddsim.study.work import ACCOUNT, METRICS, SAMPLED
from ddsim.world.streams import stream

if TYPE_CHECKING:
    from ddsim.study.gathered import Gathered
    from ddsim.study.work import Row

_DIFFERENCE = ("difference", "low", "high", "boot_low", "boot_high")
_VARIANCE = ("variance", "variance_apart", "variance_cut")


@dataclass(frozen=True)
class Table:
    """A table: its columns, and its rows with None for what there is not."""

    columns: list[str]
    rows: list[list[Any]]


def all_tables(study: Gathered) -> dict[str, Table]:
    """Every table that the study has something for."""
    found = {
        "replications": replications(study),
        "cells": cells(study),
        "differences": differences(study),
        "losses": losses(study),
        "why": why(study),
        "tornado": tornado(study),
    }
    return {name: table for name, table in found.items() if table.rows}


def interval_columns(metric: str) -> list[str]:
    """The columns of a metric's mean and its intervals."""
    return [metric, *(f"{metric}_{end}" for end in ("low", "high", "boot_low", "boot_high"))]


def _lead(study: Gathered) -> list[str]:
    """The first columns: what varied, quantities once more in their base unit."""
    units = {name: unit for name, unit in _units(study).items() if unit}
    return [*study.columns, *(f"{name} [{unit}]" for name, unit in units.items()), "method"]


def _units(study: Gathered) -> dict[str, str]:
    units = {}
    for name in study.columns:
        labels = [cell.settings[name] for cell in study.cells if name in cell.settings]
        known = in_base_unit(name, labels[0]) if labels and name not in SPECIAL else None
        units[name] = known[1] if known else ""
    return units


def _settings(study: Gathered, cell: CellName, columns: Sequence[str]) -> list[Any]:
    """A cell's values of the first columns."""
    values: list[Any] = []
    for column in columns:
        name, bracket, _ = column.partition(" [")
        label = cell.settings.get(name, BASE)
        known = in_base_unit(name, label) if bracket and label != BASE else None
        values.append(cell.method if column == "method" else known[0] if known else label)
        if bracket and known is None:
            values[-1] = None
    return values


def _metrics(study: Gathered) -> list[str]:
    """The columns of numbers that at least one row has."""
    present = {name for rows in study.rows.values() for name, x in rows[0].items() if x is not None}
    for rows in study.rows.values():
        present.update(name for row in rows for name, x in row.items() if x is not None)
    known = [name for name in METRICS if name in present]
    return known + sorted(name for name in present if name not in METRICS)


def replications(study: Gathered) -> Table:
    """A row a replication."""
    lead, metrics = _lead(study), _metrics(study)
    rows = [
        [cell.index, *_settings(study, cell, lead), number, *(row.get(name) for name in metrics)]
        for cell in study.done
        for number, row in enumerate(study.rows[cell.index])
    ]
    return Table(["cell", *lead, "replication", *metrics], rows)


def cells(study: Gathered) -> Table:
    """A row a cell."""
    lead, metrics = _lead(study), [n for n in _metrics(study) if not n.startswith(SAMPLED)]
    measured = list(dict.fromkeys(["goodput", study.metric]))
    rest = [name for name in metrics if name not in measured]
    table = Table(["cell", *lead, "replications"], [])
    for name in measured:
        table.columns.extend(interval_columns(name))
    table.columns.extend(rest)
    for cell in study.done:
        rows = study.rows[cell.index]
        line = [cell.index, *_settings(study, cell, lead), len(rows)]
        for name in measured:
            line += _estimated(study, cell, name)
        table.rows.append(line + [_mean(rows, name) for name in rest])
    return table


def _estimated(study: Gathered, cell: CellName, name: str) -> list[float | None]:
    values = values_of(study.rows[cell.index], name)
    if not values:
        return [None] * 5
    found = estimate(values, stream(study.seed, "bootstrap", name, cell.words))
    return _finite([found.mean, found.low, found.high, found.boot_low, found.boot_high])


def values_of(rows: Sequence[Row], name: str) -> list[float]:
    """The values of a column, of the rows that have one."""
    return [value for row in rows if (value := row.get(name)) is not None]


def _mean(rows: Sequence[Row], name: str) -> float | None:
    values = values_of(rows, name)
    if name == "mtbi_s":  # as a rate, so that a history without an interruption counts
        rate = fmean(1 / value if value else 0.0 for value in (row.get(name) for row in rows))
        return 1 / rate if rate > 0 else None
    return fmean(values) if values else None


def _finite(values: Sequence[float]) -> list[float | None]:
    return [value if math.isfinite(value) else None for value in values]


def differences(study: Gathered) -> Table:
    """A row a pair of methods at the same settings, the later against the earlier."""
    shared = [name for name in study.columns if not _owned(study, name) and name not in SPECIAL]
    owned = [name for name in study.columns if name not in shared and name not in SPECIAL]
    columns = [*shared, "method", *owned, "against", *(f"against:{name}" for name in owned)]
    table = Table([*columns, "metric", "replications", *_DIFFERENCE, *_VARIANCE], [])
    places: dict[tuple[Any, ...], list[CellName]] = {}
    for cell in study.done:
        if cell.is_base:
            key = tuple(cell.settings.get(name, BASE) for name in shared)
            places.setdefault(key, []).append(cell)
    for key, together in places.items():
        for against, cell in combinations(together, 2):
            found = difference(study, cell, against) if cell.method != against.method else None
            if found is None:
                continue
            mine, theirs = (
                [item.method, *(item.settings.get(name, BASE) for name in owned)]
                for item in (cell, against)
            )
            table.rows.append([*key, *mine, *theirs, study.metric, *_differing(found)])
    return table


def _owned(study: Gathered, name: str) -> bool:
    """Whether an axis is one method's alone."""
    return any(name not in cell.settings for cell in study.cells)


def difference(
    study: Gathered, cell: CellName, against: CellName, metric: str | None = None
) -> Difference | None:
    """The paired difference of the metric, cell - against; None where they share no history."""
    name = metric or study.metric
    pairs = [
        (a, b)
        for one, other in zip(study.rows[cell.index], study.rows[against.index], strict=False)
        if (a := one.get(name)) is not None and (b := other.get(name)) is not None
    ]
    if not pairs:
        return None
    rng = stream(study.seed, "bootstrap", name, cell.words, against.words)
    return paired([a for a, _ in pairs], [b for _, b in pairs], rng)


def _differing(found: Difference) -> list[Any]:
    it = found.estimate
    ends = [it.mean, it.low, it.high, it.boot_low, it.boot_high]
    return [it.n, *_finite([*ends, found.variance, found.variance_apart, found.cut])]


def losses(study: Gathered) -> Table:
    """A row an account that is not productive, the largest of each cell first."""
    lead = [name for name in _lead(study) if name not in SPECIAL]
    rows = []
    for cell in study.done:
        if not cell.is_base:
            continue
        names = [name for name in study.rows[cell.index][0] if name.startswith(ACCOUNT)]
        shares = {name.removeprefix(ACCOUNT): _mean(study.rows[cell.index], name) for name in names}
        ranked = sorted(
            ((share, name) for name, share in shares.items() if share and name != "productive"),
            key=lambda item: -item[0],
        )
        for rank, (share, name) in enumerate(ranked, 1):
            rows.append([cell.index, *_settings(study, cell, lead), rank, name, share])
    return Table(["cell", *lead, "rank", "account", "share"], rows)


def reruns(study: Gathered, column: str) -> Iterator[tuple[CellName, list[CellName]]]:
    """Each base cell that is done, with the reruns of it that are."""
    done = study.done
    for base in done:
        if base.is_base:
            again = [
                cell
                for cell in done
                if cell.method == base.method
                and cell.settings.get(column, BASE) != BASE
                and cell.but(*SPECIAL) == base.but(*SPECIAL)
            ]
            if again:
                yield base, again


def why(study: Gathered) -> Table:
    """A row a cause, the one that would bring most first."""
    lead = [name for name in _lead(study) if name not in SPECIAL]
    rows: list[list[Any]] = []
    for base, again in reruns(study, WITHOUT):
        lines: list[list[Any]] = []
        for cell in again:
            gain = difference(study, cell, base, "goodput")
            means = [_mean(study.rows[item.index], "goodput") for item in (base, cell)]
            if gain is not None:
                it = gain.estimate
                numbers = _finite([it.mean, it.low, it.high, it.boot_low, it.boot_high])
                lines.append([cell.settings[WITHOUT], *means, *numbers])
        lines.sort(key=lambda line: -line[3])
        rows += [[base.index, *_settings(study, base, lead), *line] for line in lines]
    ends = ["gain", "gain_low", "gain_high", "gain_boot_low", "gain_boot_high"]
    return Table(["cell", *lead, "cause", "goodput", "goodput_without", *ends], rows)


def tornado(study: Gathered) -> Table:
    """A row an uncertain input, the widest swing first."""
    lead = [name for name in _lead(study) if name not in SPECIAL]
    rows = []
    for base, again in reruns(study, INPUT):
        ends: dict[str, dict[str, CellName]] = {}
        for cell in again:
            path, _, value = str(cell.settings[INPUT]).partition(" = ")
            ends.setdefault(path, {})[value] = cell
        lines: list[list[Any]] = []
        for path, values in ends.items():
            if len(values) == 2:
                (low, at_low), (high, at_high) = values.items()
                swing = difference(study, at_high, at_low)
                if swing is not None:
                    it = swing.estimate
                    means = [_mean(study.rows[c.index], study.metric) for c in (at_low, at_high)]
                    swings = _finite([it.mean, it.low, it.high])
                    line: list[Any] = [path, low, high, study.metric]
                    lines.append([*line, *means, *swings])
        lines.sort(key=lambda line: -abs(line[6]))
        rows += [[base.index, *_settings(study, base, lead), *line] for line in lines]
    names = ["input", "low", "high", "metric", "at_low", "at_high"]
    return Table(["cell", *lead, *names, "swing", "swing_low", "swing_high"], rows)
