"""JSON and text as columns: records a line, rows of a document, lines that match a pattern."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ddsim.logs.documents import rows_of
from ddsim.logs.forms import Column, Form
from ddsim.logs.model import Notice, TraceError
from ddsim.logs.opened import LogFile
from ddsim.naming import shown

CHUNK = 50_000
"""Records of a frame."""
PATTERN = "pattern"
"""The column of a frame of text that names which pattern a line matched."""

Chunks = Iterator[tuple[Sequence[int], dict[str, Sequence[Any]]]]
Record = tuple[int, Sequence[Mapping[str, Any]]]
"""The line of a row, and the row with what it stands in, from the inside out."""


def _getter(said: Column) -> Callable[[Sequence[Mapping[str, Any]]], Any]:
    """How a column is found in a record, and in what it stands in, from the inside out."""
    paths = [tuple(name.split(".")) for name in said.fields]

    def plain(chain: Sequence[Mapping[str, Any]]) -> Any:
        for key in said.fields:
            for record in chain:
                value = record.get(key)
                if value is not None and value != "":
                    return value
        return None

    def dotted(chain: Sequence[Mapping[str, Any]]) -> Any:
        for path in paths:
            for record in chain:
                value: Any = record
                for key in path:
                    value = value.get(key) if isinstance(value, dict) else _item(value, key)
                    if value is None:
                        break
                if value is not None and value != "":
                    return value
        return None

    return plain if all(len(path) == 1 for path in paths) else dotted


def _item(value: Any, key: str) -> Any:
    """An item of a list by its number, or how many it has; None of what is no list."""
    if not isinstance(value, list):
        return None
    if key == "length":
        return len(value)
    return value[int(key)] if key.isdigit() and int(key) < len(value) else None


def _collected(records: Iterator[Record], form: Form) -> Chunks:
    getters = {name: _getter(said) for name, said in form.columns.items()}
    lines: list[int] = []
    columns: dict[str, list[Any]] = {name: [] for name in getters}
    each = [(columns[name].append, get) for name, get in getters.items()]
    for line, chain in records:  # none is kept: a million of them take room
        lines.append(line)
        for add, get in each:
            add(get(chain))
        if len(lines) == CHUNK:
            yield list(lines), {name: list(values) for name, values in columns.items()}
            lines.clear()
            for values in columns.values():
                values.clear()
    if lines:
        yield lines, dict(columns)


def record_chunks(file: LogFile, form: Form, notices: list[Notice]) -> Chunks:
    """The columns of a file of JSON, one object a line. Raises TraceError."""
    yield from _collected(_json_lines(file, notices), form)


def _json_lines(file: LogFile, notices: list[Notice]) -> Iterator[Record]:
    decode = json.JSONDecoder().raw_decode
    broken: tuple[int, TraceError] | None = None
    for first, lines in file.blocks():
        for number, line in enumerate(lines, first):
            if not line or line.isspace():
                continue
            if broken is not None:
                raise broken[1]
            text = line.strip()
            try:
                record, end = decode(text)
                if end != len(text):
                    raise ValueError("more than one")
            except (ValueError, RecursionError):
                found = f"{shown(text)}, which is no JSON"
                broken = number, file.problem(number, found, "a JSON object a line is needed")
                continue
            if not isinstance(record, dict):
                raise file.problem(number, shown(record), "a JSON object a line is needed")
            yield number, (record,)
    if broken is not None:
        if file.terminated:
            raise broken[1]
        notices.append(Notice("half-written", "left out", (broken[0],)))


def nested_chunks(file: LogFile, form: Form, notices: list[Notice]) -> Chunks:
    """The columns of the rows of one JSON document. Raises TraceError."""
    yield from _collected(rows_of(file, form.rows, beside=form.beside), form)


def text_chunks(file: LogFile, form: Form, notices: list[Notice]) -> Chunks:
    """The lines that match a pattern; other lines are not spoken of."""
    columns = {PATTERN: Column.of(PATTERN), **form.columns}
    yield from _collected(_matches(file, form), form.model_copy(update={"columns": columns}))


def _matches(file: LogFile, form: Form) -> Iterator[Record]:
    patterns = [(name, re.compile(pattern).search) for name, pattern in form.patterns.items()]
    for first, lines in file.blocks():
        for number, line in enumerate(lines, first):
            for name, search in patterns:
                found = search(line)
                if found is not None:
                    yield number, ({PATTERN: name, **found.groupdict()},)
                    break
