"""The formats of logs: presets by name, a user's own by its file, and which one a file has."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ddsim.logs.documents import OWN, rows_of
from ddsim.logs.forms import Form, Preset
from ddsim.logs.model import Problem, TraceError
from ddsim.logs.opened import LogFile
from ddsim.logs.tables import delimiter_of, speaks, split
from ddsim.naming import listed, shown, suggestion
from ddsim.scenario.reading import UnreadableError, decode, read_tree
from ddsim.scenario.tree import Entry, plain

_LOOKED_AT = 200
"""Lines at the beginning of a file in which a header or a record is looked for."""


@cache
def presets() -> Mapping[str, Preset]:
    """The presets that come with ddsim, by name."""
    folder = files("ddsim.logs").joinpath("presets")
    found = sorted((item for item in folder.iterdir() if item.name.endswith(".yaml")), key=str)
    return {
        item.name.removesuffix(".yaml"): _preset(item.read_bytes(), item.name) for item in found
    }


def preset(name: str, besides: Sequence[str] = ()) -> Preset:
    """The preset of that name, or of the YAML file of that path.

    Raises TraceError, which names what there is, `besides` included.
    """
    if name in presets():
        return presets()[name]
    path = Path(name)
    if path.suffix in (".yaml", ".yml") or path.is_file():
        try:
            return _preset(path.read_bytes(), str(path))
        except OSError as error:
            found = error.strerror or str(error)
            raise TraceError([Problem(name, None, found, "a file with a format")]) from None
    known = [*presets(), *besides]
    found = f"no format {shown(name)}"
    allowed = f"{suggestion(name, known)}there are {listed(known, 'and')}, or a YAML file of one"
    raise TraceError([Problem("--format", None, found, allowed)])


def form_of(file: LogFile, chosen: Preset) -> Form:
    """The form of a preset that a file has; TraceError with its line where it has none."""
    fitting = [form for form in chosen.forms if fit_of(file, form)]
    if fitting:
        return max(fitting, key=lambda form: fit_of(file, form))
    if len(chosen.forms) == 1 and not chosen.forms[0].needs and chosen.forms[0].shape != "text":
        return chosen.forms[0]
    line, first = _first(file)
    raise file.problem(
        line,
        f"not the format {chosen.name}: the first line is {shown(first)}",
        f"{' or '.join(_described(form) for form in chosen.forms)} is needed",
    )


def recognise(file: LogFile) -> Preset | None:
    """The preset whose needs a file meets; None if there is none.

    Raises TraceError where two of them may be meant, or where the file says too little.
    """
    fits = {name: max(fit_of(file, form) for form in one.forms) for name, one in presets().items()}
    best = max(fits.values(), default=0)
    names = [name for name, fit in fits.items() if fit == best and best > 0]
    if not names:
        _refuse_instead(file)
    if len(names) > 1:
        found = f"may be {listed(names)}"
        raise file.problem(_first(file)[0], found, "`--format` says which is meant")
    return presets()[names[0]] if names else None


def _refuse_instead(file: LogFile) -> None:
    line, text = _first(file)
    for one in presets().values():
        for pattern, ask in one.instead.items():
            if re.search(pattern, text):
                raise file.problem(line, f"the format {one.name}, but {shown(text)}", ask)


def fit_of(file: LogFile, form: Form) -> int:
    """How many of its needs show that a file has this form; 0 if it has not."""
    if form.shape == "text":
        return _text_fit(file, form)
    if form.begins is not None and re.search(form.begins, _first(file)[1]) is None:
        return 0
    if form.shape == "table":
        fields = _first_row(file, form)
        if form.names:
            return _shown(form, fields)
        folded = {name.casefold() for name in fields}
        met = [any(one.casefold() in folded for one in need.split("|")) for need in form.needs]
    else:
        chain = _first_record(file, form)
        met = [
            any(_has(record, one) for record in chain for one in need.split("|"))
            for need in form.needs
        ]
    return len(met) if all(met) else 0


def _shown(form: Form, fields: list[str]) -> int:
    """How many fields of a row without a header look as they should; 0 if one does not."""
    if len(fields) != len(form.names):
        return 0
    row = dict(zip(form.names, fields, strict=True))
    met = [re.search(pattern, row[name]) is not None for name, pattern in form.shows.items()]
    return len(met) if all(met) else 0


def _text_fit(file: LogFile, form: Form) -> int:
    head = file.head(1 << 20).splitlines()
    patterns = [re.compile(pattern) for pattern in form.patterns.values()]
    return int(any(pattern.search(line) for line in head for pattern in patterns))


def _first_row(file: LogFile, form: Form) -> list[str]:
    for line in file.head().splitlines()[:_LOOKED_AT]:
        if speaks(line):
            return split(line, delimiter_of(line, form))
    return []


def _first_record(file: LogFile, form: Form) -> list[Mapping[str, Any]]:
    lead = file.head(4096).lstrip()[:1]
    if lead not in ("{", "["):
        return []
    if form.shape == "records":
        for line in file.head().splitlines()[:_LOOKED_AT]:
            if line.strip():
                try:
                    record = json.loads(line)
                except ValueError:
                    return []
                return [record] if isinstance(record, dict) else []
        return []
    if not _named(file.head(), form):
        return []
    try:
        return list(next(rows_of(file, form.rows, beside=form.beside, most=_LOOKED_AT))[1])
    except (TraceError, StopIteration):
        return []


def _named(head: str, form: Form) -> bool:
    """Whether all fields that a document needs are named at its beginning."""
    return all(
        any(f'"{one.rpartition(".")[2]}"' in head for one in need.split("|"))
        for need in form.needs
        if need not in OWN
    )


def _has(record: Mapping[str, Any], need: str) -> bool:
    value: Any = record
    for key in need.split("."):
        if not isinstance(value, dict) or key not in value:
            return False
        value = value[key]
    return True


def _first(file: LogFile) -> tuple[int, str]:
    for number, line in enumerate(file.head().splitlines(), 1):
        if speaks(line):
            return number, line.strip()
    return 1, ""


def _described(form: Form) -> str:
    what = {
        "table": "a table with the columns",
        "records": "JSON objects, one a line, with",
        "nested": "a JSON document whose rows have",
        "text": "lines such as",
    }[form.shape]
    needs = [need.replace("|", " or ") for need in form.needs or form.names or form.patterns]
    return f"{what} {', '.join(needs)}"


def _preset(data: bytes, file: str) -> Preset:
    """A preset from YAML text; TraceError with the line of what is wrong."""
    try:
        tree, problems = read_tree(decode(data, file), file)
    except UnreadableError as error:
        problems = error.problems
    if problems:
        raise TraceError([Problem(file, one.line, one.found, one.allowed) for one in problems])
    try:
        made = Preset.model_validate(plain(tree))
    except ValidationError as error:
        wrong = []
        for one in error.errors():
            place = ".".join(str(key) for key in one["loc"])
            found = shown(one["input"]) if one["type"] != "missing" else "nothing"
            line = _line(tree, one["loc"])
            wrong.append(Problem(file, line, f"{place} is {found}", _lower(one["msg"])))
        raise TraceError(wrong) from None
    return made if made.name else made.model_copy(update={"name": Path(file).stem})


def _lower(message: str) -> str:
    return message[:1].lower() + message[1:]


def _line(tree: Entry, place: tuple[str | int, ...]) -> int:
    entry = tree
    for key in place:
        inner: Any = entry.value
        if isinstance(inner, tuple):
            inner = dict(enumerate(inner))
        if not isinstance(inner, dict) or key not in inner:
            break
        entry = inner[key]
    return entry.label.line or 1
