"""Which method comes to the target first, and where nobody can say: intervals that overlap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from statistics import fmean
from typing import TYPE_CHECKING, Any

from ddsim.quality import Interval
from ddsim.results.interval import student_interval
from ddsim.study.grid import BASE, SPECIAL, CellName
from ddsim.study.tables import Table

if TYPE_CHECKING:
    from ddsim.study.gathered import Gathered
    from ddsim.study.work import Row

FIRST_BY = ("hours_to_target", "cost_to_target")
"""Metrics that are intervals, of which the least is first."""


def interval_of(rows: Sequence[Row], metric: str) -> Interval:
    """Return a cell's interval: the means over its histories, None where one has none.

    Its ends are moved out by what the histories leave open of their means (Student's t, 95%).
    """
    low, mid, high = (_values(rows, name) for name in (f"{metric}_best", metric, f"{metric}_worst"))
    return Interval(_mean(low, 0), _mean(mid, None), _mean(high, 1))


def _values(rows: Sequence[Row], name: str) -> list[float]:
    values = [value for row in rows if (value := row.get(name)) is not None]
    return values if len(values) == len(rows) else []


def _mean(values: Sequence[float], end: int | None) -> float | None:
    spread = student_interval(values) if end is not None else None
    if spread is not None and end is not None:
        return spread[end]
    return fmean(values) if values else None


@dataclass(frozen=True)
class Contest:
    """One setting of what all methods share: who is first, and who cannot be told from it.

    `first` is the cell whose middle is the least, None where nobody comes to the target.
    """

    settings: tuple[Any, ...]
    first: CellName | None
    interval: Interval
    rivals: tuple[CellName, ...]


def contests(study: Gathered) -> list[Contest]:
    """Return a contest for each setting of what all methods share; none for other metrics."""
    if study.metric not in FIRST_BY:
        return []
    places: dict[tuple[Any, ...], list[CellName]] = {}
    for cell in study.done:
        if cell.is_base:
            key = tuple(cell.settings.get(name, BASE) for name in shared(study))
            places.setdefault(key, []).append(cell)
    return [_contest(study, key, cells) for key, cells in places.items()]


def first(study: Gathered) -> Table:
    """A row a setting: who comes to the target first, and who cannot be told from that one."""
    ends = [study.metric, f"{study.metric}_best", f"{study.metric}_worst"]
    rows = [
        [
            *contest.settings,
            None if contest.first is None else named(study, contest.first),
            contest.interval.mid,
            contest.interval.low,
            contest.interval.high,
            "; ".join(named(study, cell) for cell in contest.rivals),
        ]
        for contest in contests(study)
    ]
    return Table([*shared(study), "first", *ends, "cannot_tell_apart_from"], rows)


def shared(study: Gathered) -> list[str]:
    """Return what varies for all methods alike."""
    return [
        name
        for name in study.columns
        if name not in SPECIAL and all(name in cell.settings for cell in study.cells)
    ]


def _contest(study: Gathered, key: tuple[Any, ...], cells: Sequence[CellName]) -> Contest:
    found = {cell.index: interval_of(study.rows[cell.index], study.metric) for cell in cells}
    reached = {index: ends.mid for index, ends in found.items() if ends.mid is not None}
    if not reached:
        return Contest(key, None, Interval(None, None, None), ())
    ranked = sorted(cells, key=lambda cell: (reached.get(cell.index, inf), cell.index))
    best = found[ranked[0].index]
    rivals = [cell for cell in ranked[1:] if found[cell.index].overlaps(best)]
    return Contest(key, ranked[0], best, tuple(rivals))


def named(study: Gathered, cell: CellName) -> str:
    """Return a cell's method, with what varies for it alone."""
    own = [f"{name}={label}" for name, label in cell.but(*SPECIAL, *shared(study)).items()]
    return f"{cell.method} with {', '.join(own)}" if own else cell.method
