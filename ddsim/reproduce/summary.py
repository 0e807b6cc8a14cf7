"""What all rows come to: by kind, against naive guesses, and against what sources conclude."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from ddsim.reproduce.basis import EXPLAINED_FROM, KINDS, Kind
from ddsim.reproduce.registry import Conclusion, Found
from ddsim.reproduce.rows import Row, beside_published, misses, without_value


@dataclass(frozen=True, slots=True)
class OfKind:
    """The rows of one kind: how many, how many are held and within, relative errors."""

    kind: Kind
    numbers: int
    held: int
    within: int
    median: float | None
    worst: float | None


@dataclass(frozen=True, slots=True)
class Predictions:
    """What the predicted rows come to.

    rows: each with the reproduction that it is of. systems: measured systems among them. beaten:
    rows that are nearer than their naive guess. median, worst: of relative errors; median_beaten:
    without the rows that are no nearer than the guess. blind: rows that were predicted before their
    values were known; median_blind: of their errors. waiting: how many have no value yet.
    """

    rows: Sequence[tuple[str, Row]]
    systems: tuple[str, ...]
    beaten: int
    median: float | None
    worst: float | None
    median_beaten: float | None
    blind: int
    median_blind: float | None
    waiting: int


def of_kind(rows: Iterable[Row], kind: Kind) -> list[Row]:
    """The published rows of one kind."""
    return [row for row in beside_published(rows) if row.basis and row.basis.kind == kind]


def by_kind(found: Mapping[str, Found]) -> list[OfKind]:
    """Every kind, in their order, with what its rows come to."""
    rows = [row for item in found.values() for row in item.rows]
    said = []
    for kind in KINDS:
        mine = of_kind(rows, kind)
        held = [row for row in mine if row.within is not None]
        errors = _errors(mine)
        middle, worst = (median(errors), max(errors)) if errors else (None, None)
        said.append(
            OfKind(kind, len(mine), len(held), len(held) - len(misses(mine)), middle, worst)
        )
    return said


def predictions(found: Mapping[str, Found]) -> Predictions:
    """The predicted rows, the measured systems among them, and how many beat a naive guess."""
    rows = [(name, row) for name, item in found.items() for row in of_kind(item.rows, "predicted")]
    beaten = [row for _, row in rows if row.beats_guess]
    blind = [row for _, row in rows if row.foretold]
    errors, nearer, before = (_errors(of) for of in ([row for _, row in rows], beaten, blind))
    systems = {system_of(row.basis.system) for _, row in rows if row.basis and row.basis.system}
    return Predictions(
        rows,
        tuple(sorted(systems)),
        len(beaten),
        median(errors) if errors else None,
        max(errors, default=None),
        median(nearer) if nearer else None,
        len(blind),
        median(before) if before else None,
        sum(len(without_value(item.rows)) for item in found.values()),
    )


def system_of(name: str) -> str:
    """The system alone, of one that is named with the conditions that it was measured under."""
    return re.split(" on | under ", name, maxsplit=1)[0]


def unexplained(rows: Iterable[Row]) -> list[Row]:
    """Predicted rows that are far off and carry no sentence."""
    return [
        row
        for row in of_kind(rows, "predicted")
        if abs(row.relative_error or 0.0) > EXPLAINED_FROM and not (row.basis and row.basis.beyond)
    ]


def contradicted(found: Mapping[str, Found]) -> list[tuple[str, Conclusion]]:
    """Conclusions of sources that the simulated numbers do not bear out."""
    return [
        (name, said) for name, item in found.items() for said in item.conclusions if not said.holds
    ]


def _errors(rows: Iterable[Row]) -> list[float]:
    return [abs(row.relative_error) for row in rows if row.relative_error is not None]
