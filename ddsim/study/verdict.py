"""Which method is first in a study, in one sentence that says where nobody can tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ddsim.naming import listed
from ddsim.results.metrics import METRICS
from ddsim.results.saying import with_ends
from ddsim.results.telling import NEGLIGIBLE, Told
from ddsim.study.caveats import in_short
from ddsim.study.first import FIRST_BY, Field, contests, shared
from ddsim.study.grid import BASE, CellName
from ddsim.study.measures import chosen, sign_of

if TYPE_CHECKING:
    from ddsim.study.results import Study


@dataclass(frozen=True, slots=True)
class Standing:
    """One setting of what all methods share: the best cell, and those that tie with it.

    `sure` says whether histories are enough to speak of chance for all others, `why` what makes
    ties of those that tie.
    """

    best: CellName
    ties: tuple[CellName, ...]
    sure: bool
    why: Told

    @property
    def names(self) -> tuple[str, ...]:
        """The methods that nobody can tell apart at the top, in order."""
        return tuple(sorted({cell.method for cell in (self.best, *self.ties)}))


def standings(study: Study) -> list[Standing]:
    """Who is first at each setting of what all methods share, where several methods are."""
    if study.metric in FIRST_BY:
        return [
            Standing(it.first, it.rivals, it.sure, it.why) for it in contests(study) if it.first
        ]
    places: dict[tuple[Any, ...], list[CellName]] = {}
    for cell in study.done:
        if cell.is_base and cell.index in study.measured:
            key = tuple(cell.settings.get(name, BASE) for name in shared(study))
            places.setdefault(key, []).append(cell)
    return [_standing(study, cells) for cells in places.values()]


def _standing(study: Study, cells: Sequence[CellName]) -> Standing:
    sign, found = sign_of(study.metric), study.measured
    best, *rest = sorted(cells, key=lambda cell: -sign * found[cell.index].value)
    field = Field.of(study, best, [cell for cell in rest if cell.method != best.method])
    return Standing(best, field.ties, field.sure, field.why)


def verdict(study: Study) -> str:
    """Who is first by the study's metric, in a sentence or two."""
    found = standings(study)
    if not found:
        return "No cell is done, so that nothing can be said yet."
    said = METRICS[study.metric].words if study.metric in METRICS else study.metric
    best = max(found, key=lambda it: sign_of(study.metric) * study.measured[it.best.index].value)
    best_of_all = _best(study, best.best, said)
    if len({cell.method for cell in study.done}) == 1:  # and first wherever it stands
        return best_of_all
    return f"{_who(found, said)} {best_of_all}".strip()


def _who(found: Sequence[Standing], metric: str) -> str:
    outcomes: dict[tuple[tuple[str, ...], bool], list[Standing]] = {}
    for it in found:
        names = it.names if it.sure or it.ties else ()
        outcomes.setdefault((names, it.why is Told.SMALL), []).append(it)
    ranked = sorted(outcomes.items(), key=lambda item: (bool(item[0][0]), -len(item[1])))
    parts = [_outcome(names, alike, len(found)) for (names, _), alike in ranked]
    return f"By {metric}: {'; '.join(parts)}."


def _outcome(names: tuple[str, ...], alike: Sequence[Standing], settings: int) -> str:
    where = f" at {len(alike)} of {settings} settings" if settings > 1 else ""
    if not names:
        return f"nobody can be told to be first{where}, since too few histories differ"
    if len(names) == 1:
        return f"{_words(names[0])} is first{where}"
    said = f"tie{where}: {listed([_words(name) for name in names], 'and')}"
    if alike[0].why is Told.SMALL:
        return f"{said} differ by less than {NEGLIGIBLE:.1%}, too little to matter"
    by_law = sum(it.why is Told.LAW for it in alike)
    if not by_law:
        return f"{said} cannot be told apart"
    at = f", at {by_law} of them" if by_law < len(alike) else ""
    return f"{said} cannot be told apart{at} by the law, whose ends disagree"


def _best(study: Study, cell: CellName, metric: str) -> str:
    among = sum(1 for index in study.measured if study.cells[index].is_base)
    it = chosen(study.rows[cell.index], study.metric, cell.chance, among)
    assert it is not None
    where = in_short(study.columns, cell.settings)
    ends = (it.low, it.high) if it.enough else None
    more = f", though chosen among {among}" if among > 1 else ""
    at = f", with {where}" if where else ""
    value = with_ends(study.metric, it.value, ends, more)
    return f"The best {metric} is {value}: {_words(cell.method)}{at}."


def _words(method: str) -> str:
    return method.replace("_", " ")
