"""The tables of a study: its replications, cells, differences and losses."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

from ddsim.results.metrics import RANKING, RATIO
from ddsim.results.record import BASELINE
from ddsim.study.grid import BASE, SPECIAL, CellName, Label
from ddsim.study.measures import has, mean, parts, shared
from ddsim.study.statistics import Difference, bootstraps, paired
from ddsim.study.vary import in_base_unit
from ddsim.study.work import ACCOUNT, METRICS, SAMPLED
from ddsim.world.streams import stream

if TYPE_CHECKING:
    from ddsim.study.gathered import Gathered

_RATE = "merged_tokens_per_hour"
_DIFFERENCE = ("difference", "low", "high", "boot_low", "boot_high")
_VARIANCE = ("variance", "variance_apart", "variance_cut")


@dataclass(frozen=True)
class Table:
    """A table: its columns, and its rows with None for what there is not."""

    columns: list[str]
    rows: list[list[Any]]

    def resampled(self) -> Table:
        """The table, without the columns of the bootstrap where no row has one."""
        kept = [
            place
            for place, name in enumerate(self.columns)
            if not name.endswith(("boot_low", "boot_high"))
            or any(row[place] is not None for row in self.rows)
        ]
        if len(kept) == len(self.columns):
            return self
        rows = [[row[place] for place in kept] for row in self.rows]
        return Table([self.columns[place] for place in kept], rows)


def interval_columns(metric: str) -> list[str]:
    """The columns of a metric's mean and its intervals."""
    return [metric, *(f"{metric}_{end}" for end in ("low", "high", "boot_low", "boot_high"))]


def lead_of(study: Gathered) -> list[str]:
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


def settings_of(study: Gathered, cell: CellName, columns: Sequence[str]) -> list[Any]:
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
    lead, metrics = lead_of(study), _metrics(study)
    rows = [
        [cell.index, *settings_of(study, cell, lead), number, *(row.get(name) for name in metrics)]
        for cell in study.done
        for number, row in enumerate(study.rows[cell.index])
    ]
    return Table(["cell", *lead, "replication", *metrics], rows)


def cells(study: Gathered) -> Table:
    """A row a cell: what cells are ranked by first, then all else that was counted.

    Where some histories lack a metric, a column says how many have it.
    """
    lead, metrics = lead_of(study), [n for n in _metrics(study) if not n.startswith(SAMPLED)]
    compared = ratios(study)
    first = [name for name in (RANKING, RATIO, "goodput") if name in metrics or name == RATIO]
    first = [name for name in dict.fromkeys([*first, study.metric]) if name != RATIO or compared]
    rest = [name for name in metrics if name not in first]
    lacking = [name for name in metrics if _lacking(study, name)]
    table = Table(["cell", *lead, "replications"], [])
    for name in first:
        table.columns.extend([name] if name == RATIO else interval_columns(name))
    table.columns.extend([*rest, *(f"{name}_n" for name in lacking)])
    known = {name: _estimated(study, name) for name in first if name != RATIO}
    for cell in study.done:
        rows = study.rows[cell.index]
        line = [cell.index, *settings_of(study, cell, lead), len(rows)]
        for name in first:
            line += [compared.get(cell.index)] if name == RATIO else known[name][cell.index]
        line += [mean(rows, name) for name in rest]
        table.rows.append([*line, *(sum(has(row, name) for row in rows) for name in lacking)])
    return table


def _lacking(study: Gathered, name: str) -> bool:
    """Whether a cell has the metric in some of its histories, and not in others."""
    return any(0 < sum(has(row, name) for row in rows) < len(rows) for rows in study.rows.values())


def ratios(study: Gathered) -> dict[int, float]:
    """Each cell's merged tokens an hour over data_parallel's at the same settings, by index.

    Both are sums over sums of the replications. A cell of whose settings there is not exactly one
    of data_parallel, or whose merges nothing, has none.
    """
    shared = [name for name in study.columns if not _owned(study, name)]
    rates = {cell.index: mean(study.rows[cell.index], _RATE) for cell in study.done}
    bases: dict[tuple[Label, ...], list[float | None]] = {}
    for cell in study.done:
        if cell.method == BASELINE:
            bases.setdefault(_key(cell, shared), []).append(rates[cell.index])
    found = {}
    for cell in study.done:
        mine, base = rates[cell.index], bases.get(_key(cell, shared), [])
        if mine is not None and len(base) == 1 and base[0]:
            found[cell.index] = mine / base[0]
    return found


def _key(cell: CellName, names: Sequence[str]) -> tuple[Label, ...]:
    return tuple(cell.settings.get(name, BASE) for name in names)


def _estimated(study: Gathered, name: str) -> dict[int, list[float | None]]:
    """A metric of each cell: its value, its interval and the bootstrap's."""
    found = study.measured if name == study.metric else study.measured_as(name)
    samples = [parts(study.rows[index], name) if it.enough else () for index, it in found.items()]
    known = {
        index: finite([it.value, it.low, it.high, *boot])
        for (index, it), boot in zip(found.items(), boots(study, name, samples), strict=True)
    }
    return {cell.index: known.get(cell.index, [None] * 5) for cell in study.done}


def boots(
    study: Gathered, name: str, samples: Sequence[Sequence[float]]
) -> list[tuple[float, float]]:
    """The bootstrap intervals of samples of a study."""
    return bootstraps(samples, lambda n: stream(study.seed, "bootstrap", name, n))


def finite(values: Sequence[float]) -> list[float | None]:
    """Values with None for what is no number."""
    return [value if math.isfinite(value) else None for value in values]


def differences(study: Gathered) -> Table:
    """A row a pair of methods at the same settings, the later against the earlier."""
    shared = [name for name in study.columns if not _owned(study, name) and name not in SPECIAL]
    owned = [name for name in study.columns if name not in shared and name not in SPECIAL]
    columns = [*shared, "method", *owned, "against", *(f"against:{name}" for name in owned)]
    table = Table([*columns, "metric", "replications", *_DIFFERENCE, *_VARIANCE], [])
    lines: list[tuple[list[Any], Difference]] = []
    places: dict[tuple[Any, ...], list[CellName]] = {}
    for cell in study.done:
        if cell.is_base:
            places.setdefault(_key(cell, shared), []).append(cell)
    for key, together in places.items():
        for against, cell in combinations(together, 2):
            found = difference(study, cell, against) if cell.method != against.method else None
            if found is None:
                continue
            mine, theirs = (
                [item.method, *(item.settings.get(name, BASE) for name in owned)]
                for item in (cell, against)
            )
            lines.append(([*key, *mine, *theirs, study.metric], found))
    resampled = boots(study, study.metric, [found.items for _, found in lines])
    for (line, found), boot in zip(lines, resampled, strict=True):
        table.rows.append([*line, *_differing(found, boot)])
    return table


def _owned(study: Gathered, name: str) -> bool:
    """Whether an axis is one method's alone."""
    return any(name not in cell.settings for cell in study.cells)


def difference(
    study: Gathered, cell: CellName, against: CellName, metric: str | None = None
) -> Difference | None:
    """The paired difference of the metric, cell - against; None where they share no history."""
    name = metric or study.metric
    pairs = shared(study.rows[cell.index], study.rows[against.index], name)
    return paired(pairs, name, cell.chance.with_(against.chance))


def _differing(it: Difference, boot: tuple[float, float]) -> list[Any]:
    ends = [it.found.value, it.found.low, it.found.high, *boot]
    return [it.found.n, *finite([*ends, it.variance, it.variance_apart, it.cut])]


def losses(study: Gathered) -> Table:
    """A row an account that is not productive, the largest of each cell first."""
    lead = [name for name in lead_of(study) if name not in SPECIAL]
    rows = []
    for cell in study.done:
        if not cell.is_base:
            continue
        names = [name for name in study.rows[cell.index][0] if name.startswith(ACCOUNT)]
        shares = {name.removeprefix(ACCOUNT): mean(study.rows[cell.index], name) for name in names}
        ranked = sorted(
            ((share, name) for name, share in shares.items() if share and name != "productive"),
            key=lambda item: -item[0],
        )
        for rank, (share, name) in enumerate(ranked, 1):
            rows.append([cell.index, *settings_of(study, cell, lead), rank, name, share])
    return Table(["cell", *lead, "rank", "account", "share"], rows)
