"""Predictions that are committed before their values are known, as rows of the validation."""

from collections.abc import Callable, Mapping
from math import fabs

from ddsim.naming import listed, shown
from ddsim.reproduce.basis import EXPLAINED_FROM, predicted
from ddsim.reproduce.blind_tables import (
    PREDICTIONS,
    VALUES,
    BlindError,
    Key,
    Prediction,
    Value,
    shipped,
)
from ddsim.reproduce.foretold import Foretold
from ddsim.reproduce.registry import Found, Pace, reproduction
from ddsim.reproduce.rows import Row

Engine = Mapping[tuple[str, str], float]
"""What the engine gives, by quantity and cell, in the unit of the prediction."""


def blind(name: str, title: str) -> Callable[[Callable[[], Engine]], Callable[[], Engine]]:
    """Register what the engine gives as the reproduction `name` of predictions of that name."""

    def register(engine: Callable[[], Engine]) -> Callable[[], Engine]:
        def make(pace: Pace) -> Found:
            return found(name, engine(), *shipped())

        make.__module__ = engine.__module__  # which says where its section stands
        reproduction(name, title)(make)
        return engine

    return register


def found(
    name: str,
    engine: Engine,
    known: Mapping[Key, Prediction],
    published: Mapping[Key, Value],
) -> Found:
    """The rows of the predictions of that name, as they were committed, and what they assume."""
    mine = {key[1:]: item for key, item in known.items() if key[0] == name}
    for where, missing in (
        (f"{PREDICTIONS} has none for what the engine gives", engine.keys() - mine.keys()),
        (f"the engine gives none for what {PREDICTIONS} has", mine.keys() - engine.keys()),
    ):
        if missing:
            cells = listed([shown(", ".join(key)) for key in sorted(missing)], "and")
            raise BlindError(f"predictions of {shown(name)}: {where}: {cells}")
    rows = [
        _row(name, key, item, engine[key], published.get((name, *key)))
        for key, item in mine.items()
    ]
    return Found(rows, note=" ".join(dict.fromkeys(item.assumes for item in mine.values())))


def _row(name: str, key: tuple[str, str], made: Prediction, now: float, value: Value | None) -> Row:
    quantity, cell = key
    if made.predicted is None:
        raise BlindError(
            f'{PREDICTIONS}, line {made.line}, "predicted": found nothing; the engine gives '
            f"{now:.6g}, which is what to commit"
        )
    foretold = Foretold(made.predicted, now, value.commit if value else "")
    row = Row(
        quantity,
        cell,
        made.predicted,
        made.unit,
        value.published if value else None,
        source=value.source if value else "",
        settled=True,
        basis=predicted(
            made.guess,
            made.guessed,
            system=made.system,
            beyond=value.beyond if value else "",
            foretold=foretold,
        ),
    )
    error = fabs(row.relative_error or 0.0)
    if value and error > EXPLAINED_FROM and not value.beyond:
        raise BlindError(
            f'{VALUES}, line {value.line}, "beyond": found nothing; the prediction of {name}, '
            f"{quantity}, {cell}, is {100 * error:.3g}% off, and a sentence has to say why"
        )
    return row
