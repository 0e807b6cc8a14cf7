"""A trace file as rows of fields, with what its lines look like."""

import csv
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from ddsim.files import TooLargeError, read_within
from ddsim.logs.model import Notice, Problem, TraceError

T = TypeVar("T")
LARGEST_FILE = 256_000_000
"""Bytes that a trace may have."""


@dataclass(frozen=True)
class Row:
    """One line: its number from 1 and its fields, stripped of blanks."""

    line: int
    fields: tuple[str, ...]


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


def load(path: str | Path) -> Source:
    """Reads a file of comma-separated text.

    Raises TraceError if there is no such file, or if it is empty or not text.
    """
    file = str(path)
    try:
        data = read_within(path, LARGEST_FILE)
    except TooLargeError as error:
        allowed = f"at most {LARGEST_FILE} bytes are read"
        raise TraceError([Problem(file, None, error.found, allowed)]) from None
    except OSError as error:
        reason = error.strerror or str(error)
        raise TraceError([Problem(file, None, reason, "a readable file is needed")]) from error
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        place = data[: error.start].count(b"\n") + 1
        raise TraceError(
            [Problem(file, place, "bytes that are not text", "UTF-8 text is needed")]
        ) from error
    if "\0" in text:
        raise TraceError([Problem(file, None, "binary data", "UTF-8 text is needed")])
    rows = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() and not line.lstrip().startswith("#"):
            fields = next(csv.reader([line], skipinitialspace=True))
            rows.append(Row(number, tuple(field.strip() for field in fields)))
    if not rows:
        raise TraceError([Problem(file, None, "no rows", "at least one row is needed")])
    return Source(file, tuple(rows), text.endswith(("\n", "\r")))


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
        try:
            if len(row.fields) != width:
                raise RowError(f"{len(row.fields)} fields", f"{width} are needed")
            parsed.append((row.line, parse(row.fields)))
        except RowError as error:
            if last and (not source.terminated or len(row.fields) < width):
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
