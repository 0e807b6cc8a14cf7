"""Which method comes to the target first, and where nobody can say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from statistics import fmean
from typing import TYPE_CHECKING, Any

from ddsim.quality import Interval
from ddsim.results.interval import student_interval
from ddsim.results.telling import Told
from ddsim.study.grid import BASE, SPECIAL, CellName
from ddsim.study.tables import Table
from ddsim.study.telling import tell

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

    `first` is the cell whose middle is the least, None where nobody comes to the target. `sure`
    says whether histories are enough to speak of chance; where not, rivals are those of the law.
    `why` is what makes rivals of them, the same for all or Told.TIE.
    """

    settings: tuple[Any, ...]
    first: CellName | None
    interval: Interval
    rivals: tuple[CellName, ...]
    sure: bool = True
    why: Told = Told.TIE


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
    field = Field.of(study, ranked[0], ranked[1:])
    return Contest(key, ranked[0], best, field.ties, field.sure, field.why)


@dataclass(frozen=True, slots=True)
class Field:
    """Those whom nobody can tell from who is first.

    `sure` says whether histories are enough to speak of chance for all; `why` is what makes ties
    of them, the same for all or Told.TIE.
    """

    ties: tuple[CellName, ...]
    sure: bool
    why: Told

    @classmethod
    def of(cls, study: Gathered, best: CellName, others: Sequence[CellName]) -> Field:
        """The others beside the best, by the study's metric."""
        rows = study.rows
        found = [
            (cell, tell(rows[best.index], rows[cell.index], study.metric, chance))
            for cell in others
            for chance in [best.chance.with_(cell.chance)]
        ]
        ties = tuple(cell for cell, it in found if it.tie)
        why = {it for _, it in found if it.tie}
        sure = all(it is not Told.UNKNOWN for _, it in found)
        return cls(ties, sure, why.pop() if len(why) == 1 else Told.TIE)


def named(study: Gathered, cell: CellName) -> str:
    """Return a cell's method, with what varies for it alone."""
    own = [f"{name}={label}" for name, label in cell.but(*SPECIAL, *shared(study)).items()]
    return f"{cell.method} with {', '.join(own)}" if own else cell.method
