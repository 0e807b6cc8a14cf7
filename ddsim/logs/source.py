"""A trace file as rows of fields, with what its lines look like."""

import csv
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from ddsim.logs.model import Notice, Problem, TraceError
from ddsim.logs.opened import LogFile

T = TypeVar("T")
_DELIMITERS = (",", ";", "|", "\t")


@dataclass(frozen=True, slots=True)
class Row:
    """One line: its number from 1, its text and what stands between its fields."""

    line: int
    text: str
    delimiter: str

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields, stripped of blanks; split anew each time, since a million take room."""
        if '"' in self.text:
            rows = csv.reader([self.text], delimiter=self.delimiter, skipinitialspace=True)
            return tuple(field.strip() for field in next(rows))
        return tuple(map(str.strip, self.text.split(self.delimiter)))


@dataclass(frozen=True)
class Source:
    """The rows of a file; empty lines and lines that begin with # are not among them.

    `terminated` is False if the last line has no end of line, as if its writer was interrupted.
    """

    file: str
    rows: tuple[Row, ...]
    terminated: bool


class RowError(ValueError):
    """A row that is not of its kind: what was found and what is allowed."""

    def __init__(self, found: str, allowed: str) -> None:
        super().__init__(found)
        self.found = found
        self.allowed = allowed


def load(file: LogFile) -> Source:
    """Reads a table of delimited text.

    Raises TraceError if it is empty or not text.
    """
    rows: list[Row] = []
    delimiter: str | None = None
    for number, lines in file.blocks():
        for line_number, line in enumerate(lines, number):
            text = line.strip()
            if not text or text.startswith("#"):
                continue
            if delimiter is None:
                delimiter = max(_DELIMITERS, key=line.count)
            rows.append(Row(line_number, line, delimiter))
    if not rows:
        raise file.problem(None, "no rows", "at least one row is needed")
    return Source(file.name, tuple(rows), file.terminated)


def parse_rows(
    source: Source, rows: tuple[Row, ...], parse: Callable[[tuple[str, ...]], T], width: int
) -> tuple[list[tuple[int, T]], list[Notice]]:
    """Every row parsed, with its line number, and what had to be said about the last line.

    A last line that does not parse counts as half-written, and is left out, if it lacks its end of
    line or some of its `width` fields. Raises TraceError with all other rows that do not parse.
    """
    parsed: list[tuple[int, T]] = []
    notices: list[Notice] = []
    problems: list[Problem] = []
    for row in rows:
        last = row is source.rows[-1]
        fields = row.fields
        try:
            if len(fields) != width:
                raise RowError(f"{len(fields)} fields", f"{width} are needed")
            parsed.append((row.line, parse(fields)))
        except RowError as error:
            if last and (not source.terminated or len(fields) < width):
                notices.append(Notice(f"half-written ({error.found})", "left out", (row.line,)))
            else:
                problems.append(Problem(source.file, row.line, error.found, error.allowed))
        else:
            if last and not source.terminated:
                found = "the last line has no end of line and may be cut short"
                notices.append(Notice(found, "kept as it stands", (row.line,)))
    if not problems and not parsed:
        problems = [Problem(source.file, None, "no complete row", "at least one is needed")]
    if problems:
        raise TraceError(problems)
    return parsed, notices


def whole_number(name: str, text: str) -> int:
    """The text as a whole number of at least 0; RowError that names the field otherwise."""
    if not (text.isascii() and text.isdigit()):
        raise RowError(f"{name} is {text!r}", "a whole number >= 0 is needed")
    return int(text)


def in_order(
    records: list[tuple[int, float, T]],
) -> tuple[list[tuple[int, float, T]], list[Notice]]:
    """Records (line, time, what) in the order of time, rows of one instant as in the file."""
    late, latest = [], -1.0
    for line, time, _ in records:
        if time < latest:
            late.append(line)
        latest = max(latest, time)
    if not late:
        return records, []
    notice = Notice("earlier than a row before it", "rows sorted by time", tuple(late))
    return sorted(records, key=lambda record: record[1]), [notice]
