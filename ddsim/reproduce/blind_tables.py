"""The two tables of predictions that are committed before their published values enter the tree.

`blind_predictions.csv` has each prediction and the naive guess beside it; `blind_values.csv` has
the published value, once it is known, and a commit that holds the prediction and not the value.
"""

import csv
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from math import isfinite
from typing import NoReturn

from ddsim.errors import InputError
from ddsim.naming import shown, suggestion

PREDICTIONS, VALUES = "blind_predictions.csv", "blind_values.csv"
_HASH = re.compile(r"[0-9a-f]{12,40}")

Key = tuple[str, str, str]
"""Reproduction, quantity and cell of a prediction."""


class BlindError(InputError):
    """A prediction or a value is not as it has to be: file, line, field and what is allowed."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """A line of `blind_predictions.csv`.

    system: the measured one. predicted: in `unit`, as it is committed; None where nothing stands.
    guess, guessed: a naive guess in the same unit, and its rule, both chosen beforehand. assumes:
    what the scenario takes from where, sentences.
    """

    system: str
    unit: str
    predicted: float | None
    guess: float
    guessed: str
    assumes: str
    line: int


@dataclass(frozen=True, slots=True)
class Value:
    """A line of `blind_values.csv`.

    published: in the unit of the prediction. commit: the hash of a commit that holds the prediction
    and not the value. beyond: what explains an error of more than `EXPLAINED_FROM`.
    """

    published: float
    source: str
    commit: str
    beyond: str
    line: int


def predictions(text: str) -> dict[Key, Prediction]:
    """The predictions in a text of `blind_predictions.csv`; BlindError names what is wrong."""
    found: dict[Key, Prediction] = {}
    for line in _lines(PREDICTIONS, text, _PREDICTED):
        kept = line.filled("system", "guessed", "assumes")
        found[line.new_key(found)] = Prediction(
            kept["system"],
            line.cells["unit"],
            line.number("predicted") if line.cells["predicted"] else None,
            line.number("guess"),
            kept["guessed"],
            kept["assumes"],
            line.at,
        )
    return found


def values(text: str, known: Mapping[Key, Prediction]) -> dict[Key, Value]:
    """The values in a text of `blind_values.csv`, each of a known prediction; BlindError else."""
    found: dict[Key, Value] = {}
    for line in _lines(VALUES, text, _PUBLISHED):
        key, commit = line.new_key(found), line.cells["commit"]
        if key not in known:
            near = suggestion(": ".join(key), (": ".join(one) for one in known))
            line.refuse("cell", ": ".join(key), f"{near}a prediction of {PREDICTIONS}")
        if not _HASH.fullmatch(commit):
            line.refuse("commit", commit, "12 to 40 hexadecimal digits of a commit's hash")
        published = line.number("published")
        source = line.filled("source")["source"]
        found[key] = Value(published, source, commit, line.cells["beyond"], line.at)
    return found


def shipped() -> tuple[dict[Key, Prediction], dict[Key, Value]]:
    """The predictions and values that come with the package."""
    made = predictions(_text(PREDICTIONS))
    return made, values(_text(VALUES), made)


_KEY = ("name", "quantity", "cell")
_PREDICTED = (*_KEY, "system", "unit", "predicted", "guess", "guessed", "assumes")
_PUBLISHED = (*_KEY, "published", "source", "commit", "beyond")


def _text(file: str) -> str:
    return (files("ddsim.reproduce") / file).read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of one of the two files."""

    file: str
    at: int
    cells: Mapping[str, str]

    def refuse(self, field: str, found: str, allowed: str) -> NoReturn:
        raise BlindError(
            f'{self.file}, line {self.at}, "{field}": found {shown(found or None)}; {allowed}'
        )

    def filled(self, *fields: str) -> Mapping[str, str]:
        """The cells, those fields of which have something in them."""
        for field in fields:
            if not self.cells[field]:
                self.refuse(field, "", "it has to say something")
        return self.cells

    def new_key(self, known: Mapping[Key, object]) -> Key:
        kept = self.filled(*_KEY)
        key = kept["name"], kept["quantity"], kept["cell"]
        if key in known:
            self.refuse("cell", kept["cell"], "each stands once, and this one stands above")
        return key

    def number(self, field: str) -> float:
        text = self.cells[field]
        try:
            value = float(text)
        except ValueError:
            value = float("nan")
        if not isfinite(value):
            self.refuse(field, text, "a number")
        return value


def _lines(file: str, text: str, columns: tuple[str, ...]) -> Iterator[_Line]:
    reader = csv.DictReader(text.splitlines())
    if tuple(reader.fieldnames or ()) != columns:
        found = ",".join(reader.fieldnames or ())
        raise BlindError(f"{file}, line 1: found {shown(found)}; allowed: {','.join(columns)}")
    for cells in reader:
        if None in cells or None in cells.values():
            found = "more" if None in cells else "fewer"
            raise BlindError(
                f"{file}, line {reader.line_num}: found {found} cells than line 1 has; "
                f"allowed: {len(columns)}"
            )
        yield _Line(file, reader.line_num, cells)
