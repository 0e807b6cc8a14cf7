"""Delimited text as columns: which field is what, and at which line each row begins."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from ddsim.logs.forms import Form
from ddsim.logs.model import Notice, TraceError
from ddsim.logs.opened import LogFile
from ddsim.naming import listed, suggestion

BLANKS = "blanks"
"""The delimiter of columns that are two blanks or more apart."""
_ASIDE = ("#", "sep=")
"""What a comment begins with, and what spreadsheets are told of the delimiter."""
_QUOTING = (",", ";")
_BLANKS = re.compile(r"\s{2,}")
_CHUNK = 50_000

Lines = Sequence[int]
Columns = dict[str, Sequence[Any]]


def delimiter_of(line: str, form: Form) -> str:
    """The delimiter that gives a line most fields, of those that a table of this form may have."""
    return max(form.delimiters, key=lambda one: len(split(line, one)))


def split(line: str, delimiter: str) -> list[str]:
    """The fields of one line of a table, stripped of blanks."""
    fields = next(_rows([line], delimiter), [])
    return [field.strip() for field in fields]


def chunks(file: LogFile, form: Form, notices: list[Notice]) -> Iterator[tuple[Lines, Columns]]:
    """The columns of a table in chunks, with the line of each row. Raises TraceError.

    A header that comes again is passed over: it is there where files are put one after the other.
    """
    first = next((line for line in file.lines() if speaks(line)), None)
    if first is None:
        raise file.problem(None, "no rows", "at least one row is needed")
    table = _Table(file, form, first)
    for number, lines in file.blocks():
        if (found := table.even(number, lines)) is not None:
            yield found
            continue
        rows = _split_all(lines, table.delimiter)
        if rows is None:  # a field goes over more than one line
            for numbers, more in _over_lines(file, table.delimiter, number):
                yield from table.taken(numbers, more)
            break
        yield from table.taken(range(number, number + len(rows)), rows)
    table.end(notices)


class _Table:
    """A table that is being read; `delimiter` stands between its fields."""

    def __init__(self, file: LogFile, form: Form, first: str) -> None:
        self.delimiter = delimiter_of(first, form)
        self._file, self._form = file, form
        self._header = None if form.names else split(first, self.delimiter)
        self._names = self._header or list(form.names)
        self._places: Mapping[str, tuple[int, ...]] | None = None
        if self._header is None:
            self._places = _places(file, form, self._names, 1)
        self._held: tuple[int, list[str]] | None = None  # half-written, if it is the last
        self._last: int | None = None

    def even(self, number: int, lines: list[str]) -> tuple[Lines, Columns] | None:
        """Lines that all have as many fields as there are names, split at one go; or None."""
        sign, width = self.delimiter, len(self._names)
        if self._places is None or self._held is not None or sign == BLANKS:
            return None
        if {line.count(sign) for line in lines} != {width - 1} or not all(lines):
            return None
        if any(line.startswith((*_ASIDE, self._names[0])) for line in lines):
            return None
        text = sign.join(lines)
        if sign in _QUOTING and '"' in text:
            return None
        fields = text.split(sign)
        numbers = range(number, number + len(lines))
        self._last = numbers[-1]
        wanted = {place for found in self._places.values() for place in found}
        columns = {place: fields[place::width] for place in wanted}
        return numbers, self._picked(columns, len(lines))

    def taken(self, lines: Lines, rows: list[list[str]]) -> Iterator[tuple[Lines, Columns]]:
        """Rows that may be empty, comments, headers or of a wrong width."""
        numbers: list[int] = []
        kept: list[list[str]] = []
        for number, row in zip(lines, rows, strict=True):
            if not "".join(row).strip() or row[0].startswith(_ASIDE):
                continue
            if self._held is not None:
                raise _odd_row(self._file, *self._held, len(self._names))
            if len(row) == len(self._names) + 1 and not row[-1].strip():
                row = row[:-1]  # a delimiter ends each line
            if [field.strip() for field in row] == self._header:
                if self._places is None:
                    self._places = _places(self._file, self._form, self._names, number)
            elif len(row) != len(self._names):
                self._held = number, row
            else:
                numbers.append(number)
                kept.append(row)
        if kept:
            self._last = numbers[-1]
            columns = {place: [row[place] for row in kept] for place in range(len(self._names))}
            yield numbers, self._picked(columns, len(kept))

    def end(self, notices: list[Notice]) -> None:
        """Say what became of the last line. Raises TraceError if it is not of the table."""
        if self._held is not None:
            number, row = self._held
            if len(row) > len(self._names):
                raise _odd_row(self._file, number, row, len(self._names))
            notices.append(Notice(f"half-written ({len(row)} fields)", "left out", (number,)))
        elif self._last is not None and not self._file.terminated:
            found = "the last line has no end of line and may be cut short"
            notices.append(Notice(found, "kept as it stands", (self._last,)))

    def _picked(self, columns: Mapping[int, Sequence[str]], count: int) -> Columns:
        assert self._places is not None
        return {
            name: _first([columns[place] for place in found]) if found else [None] * count
            for name, found in self._places.items()
        }


def _rows(lines: Iterable[str], delimiter: str, *, strict: bool = False) -> Iterator[list[str]]:
    if delimiter == BLANKS:
        return (_BLANKS.split(line.strip()) if line.strip() else [] for line in lines)
    if delimiter not in _QUOTING:
        return (line.split(delimiter) if line.strip() else [] for line in lines)
    return csv.reader(lines, delimiter=delimiter, skipinitialspace=True, strict=strict)


def _split_all(lines: list[str], delimiter: str) -> list[list[str]] | None:
    """The fields of each line; None where a field in quotes goes over the end of a line."""
    try:
        rows = list(_rows(lines, delimiter, strict=True))
    except csv.Error:
        return None
    return rows if len(rows) == len(lines) else None


def _over_lines(
    file: LogFile, delimiter: str, start: int
) -> Iterator[tuple[Lines, list[list[str]]]]:
    """The rows from a line on, where fields in quotes have ends of lines in them."""
    text = islice(file.lines(), start - 1, None)
    reader = csv.reader((f"{line}\n" for line in text), delimiter=delimiter, skipinitialspace=True)
    begins, lines, rows = start, [], []
    try:
        for row in reader:
            lines.append(begins)
            rows.append(row)
            begins = start + reader.line_num
            if len(rows) == _CHUNK:
                yield lines, rows
                lines, rows = [], []
    except csv.Error as error:
        raise file.problem(begins, f"a row that cannot be split ({error})", "a table") from None
    if rows:
        yield lines, rows


def speaks(line: str) -> bool:
    """Whether a line is neither empty nor an aside."""
    return bool(line.strip()) and not line.lstrip().startswith(_ASIDE)


def _odd_row(file: LogFile, number: int, row: list[str], width: int) -> TraceError:
    return file.problem(number, f"{len(row)} fields", f"{width} are needed")


def _places(
    file: LogFile, form: Form, names: Sequence[str], line: int
) -> dict[str, tuple[int, ...]]:
    """Which fields hold each column, by name whatever its case."""
    folded = {name.casefold(): place for place, name in reversed(list(enumerate(names)))}
    places: dict[str, tuple[int, ...]] = {}
    taken = set()
    for column, said in form.columns.items():
        found = tuple(folded[name.casefold()] for name in said.fields if name.casefold() in folded)
        if not found and not said.optional:
            near = suggestion(said.fields[0], names)
            raise file.problem(
                line,
                f"no column {listed(said.fields)} for {column}; the columns are "
                f"{', '.join(names[:20])}",
                f"{near}{listed(said.fields)} is needed",
            )
        places[column] = found
        taken |= set(found)
    if form.others:
        for place, name in enumerate(names):
            if place not in taken:
                places[name] = (place,)
    return places


def _first(columns: Sequence[Sequence[str]]) -> Sequence[Any]:
    """Of several columns the first that has something, row by row."""
    if len(columns) == 1:
        return columns[0]
    return [next((text for text in row if text.strip()), "") for row in zip(*columns, strict=True)]
