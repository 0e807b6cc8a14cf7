"""From a file to frames: one adapter for each shape that logs have.

`frames` gives pandas frames in chunks. Their columns are those of the form, their types are said
there and never guessed, and their index, `line`, is the line of the file at which a row begins.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd

from ddsim.logs.documents import rows_of
from ddsim.logs.forms import Column, Form
from ddsim.logs.instants import UNITS, Clock, InstantError
from ddsim.logs.model import Notice, Problem, TraceError
from ddsim.logs.opened import LogFile
from ddsim.naming import listed, shown, suggestion

CHUNK = 50_000
"""Records of a frame."""
PATTERN = "pattern"
"""The column of a frame of text that names which pattern a line matched."""
BLANKS = "blanks"
"""The delimiter of columns that are two blanks or more apart."""
_ASIDE = ("#", "sep=")
"""What a comment begins with, and what spreadsheets are told of the delimiter."""
_QUOTING = (",", ";")
_DURATION = r"(?:(?:(\d+)-)?(\d+):)?(\d+):(\d+(?:\.\d+)?)"
_DURATION_PARTS = np.array([86_400.0, 3_600.0, 60.0, 1.0])
_BLANKS = re.compile(r"\s{2,}")

Frames = Iterator[pd.DataFrame]
Lines = Sequence[int]
Chunks = Iterator[tuple[Lines, dict[str, Sequence[Any]]]]
Record = tuple[int, Sequence[Mapping[str, Any]]]
"""The line of a row, and the row with what it stands in, from the inside out."""


def frames(file: LogFile, form: Form, clock: Clock, notices: list[Notice]) -> Frames:
    """The rows of a file in typed frames of some ten thousand rows.

    Text is None, numbers, instants and durations are NaN where a row has nothing; durations and
    instants are seconds. What had to be mended goes to `notices`. Raises TraceError, with file and
    line, for what does not have the form.
    """
    for lines, columns in _ADAPTERS[form.shape](file, form, notices):
        index = pd.Index(np.asarray(lines, dtype=np.int64), name="line")
        yield _typed(file, form, clock, index, columns)


def delimiter_of(line: str, form: Form) -> str:
    """The delimiter that gives a line most fields, of those that a table of this form may have."""
    return max(form.delimiters, key=lambda one: len(split(line, one)))


def split(line: str, delimiter: str) -> list[str]:
    """The fields of one line of a table, stripped of blanks."""
    fields = next(_rows([line], delimiter), [])
    return [field.strip() for field in fields]


def _rows(lines: Iterable[str], delimiter: str, *, strict: bool = False) -> Iterator[list[str]]:
    if delimiter == BLANKS:
        return (_BLANKS.split(line.strip()) if line.strip() else [] for line in lines)
    if delimiter not in _QUOTING:
        return (line.split(delimiter) if line.strip() else [] for line in lines)
    return csv.reader(lines, delimiter=delimiter, skipinitialspace=True, strict=strict)


def _numbered(file: LogFile, delimiter: str) -> Iterator[tuple[Lines, list[list[str]]]]:
    """The rows of a table in blocks, with the line at which each begins; some may be empty."""
    for number, lines in file.blocks():
        try:
            plain = delimiter not in _QUOTING or '"' not in "".join(lines)
            rows = (
                [line.split(delimiter) if line else [] for line in lines]
                if plain and delimiter != BLANKS
                else list(_rows(lines, delimiter, strict=True))
            )
        except csv.Error:
            rows = []
        if len(rows) != len(lines):  # a field goes over more than one line
            yield from _over_lines(file, delimiter, number)
            return
        yield range(number, number + len(rows)), rows


def _over_lines(
    file: LogFile, delimiter: str, start: int
) -> Iterator[tuple[Lines, list[list[str]]]]:
    """As `_numbered`, from a line on, where fields in quotes have ends of lines in them."""
    text = islice(file.lines(), start - 1, None)
    reader = csv.reader((f"{line}\n" for line in text), delimiter=delimiter, skipinitialspace=True)
    begins, lines, rows = start, [], []
    try:
        for row in reader:
            lines.append(begins)
            rows.append(row)
            begins = start + reader.line_num
            if len(rows) == CHUNK:
                yield lines, rows
                lines, rows = [], []
    except csv.Error as error:
        raise file.problem(begins, f"a row that cannot be split ({error})", "a table") from None
    if rows:
        yield lines, rows


def _table(file: LogFile, form: Form, notices: list[Notice]) -> Chunks:
    first = next((line for line in file.lines() if _speaks(line)), None)
    if first is None:
        raise file.problem(None, "no rows", "at least one row is needed")
    delimiter = delimiter_of(first, form)
    names = list(form.names) or split(first, delimiter)
    header = None if form.names else names
    places: dict[str, tuple[int, ...]] | None = None
    held: tuple[int, list[str]] | None = None  # half-written, if it is the last
    last = None
    for lines, rows in _numbered(file, delimiter):
        kept = rows
        if places is None or held is not None or not _even(rows, names):
            numbers: list[int] = []
            kept = []
            for number, row in zip(lines, rows, strict=True):
                if not "".join(row).strip() or row[0].startswith(_ASIDE):
                    continue
                if held is not None:
                    raise _odd_row(file, *held, len(names))
                if len(row) == len(names) + 1 and not row[-1].strip():
                    row = row[:-1]  # a delimiter ends each line
                if [field.strip() for field in row] == header:
                    if places is None:
                        places = _places(file, form, names, number)
                    continue  # again where files are put one after the other
                if len(row) != len(names):
                    held = number, row
                    continue
                numbers.append(number)
                kept.append(row)
            lines = numbers
        if places is None:
            places = _places(file, form, names, 1)
        if kept:
            last = lines[-1]
            yield lines, _picked(kept, places)
    if held is not None:
        if len(held[1]) > len(names):
            raise _odd_row(file, *held, len(names))
        found = f"half-written ({len(held[1])} fields)"
        notices.append(Notice(found, "left out", (held[0],)))
    elif last is not None and not file.terminated:
        found = "the last line has no end of line and may be cut short"
        notices.append(Notice(found, "kept as it stands", (last,)))


def _even(rows: list[list[str]], names: Sequence[str]) -> bool:
    """Whether all rows have a field for each name, and none is a header or a comment."""
    if {len(row) for row in rows} != {len(names)}:
        return False
    begins = {row[0] for row in rows if row[0][:1] in ("#", "s", names[0][:1])}
    return not any(text.startswith(_ASIDE) or text.strip() == names[0] for text in begins)


def _speaks(line: str) -> bool:
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


def _picked(
    rows: list[list[str]], places: Mapping[str, tuple[int, ...]]
) -> dict[str, Sequence[Any]]:
    return {
        name: _first([[row[place] for row in rows] for place in found])
        if found
        else [None] * len(rows)
        for name, found in places.items()
    }


def _first(columns: Sequence[Sequence[str]]) -> Sequence[Any]:
    """Of several columns the first that has something, row by row."""
    if len(columns) == 1:
        return columns[0]
    return [next((text for text in row if text.strip()), "") for row in zip(*columns, strict=True)]


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
    while chunk := list(islice(records, CHUNK)):
        columns: dict[str, Sequence[Any]] = {
            name: [get(chain) for _, chain in chunk] for name, get in getters.items()
        }
        yield [line for line, _ in chunk], columns


def _records(file: LogFile, form: Form, notices: list[Notice]) -> Chunks:
    yield from _collected(_json_lines(file, notices), form)


def _json_lines(file: LogFile, notices: list[Notice]) -> Iterator[Record]:
    broken: tuple[int, TraceError] | None = None
    for first, lines in file.blocks():
        for number, line in enumerate(lines, first):
            if not line or line.isspace():
                continue
            if broken is not None:
                raise broken[1]
            try:
                record = json.loads(line)
            except (ValueError, RecursionError):
                found = f"{shown(line.strip())}, which is no JSON"
                broken = number, file.problem(number, found, "a JSON object a line is needed")
                continue
            if not isinstance(record, dict):
                raise file.problem(number, shown(record), "a JSON object a line is needed")
            yield number, (record,)
    if broken is not None:
        if file.terminated:
            raise broken[1]
        notices.append(Notice("half-written", "left out", (broken[0],)))


def _nested(file: LogFile, form: Form, notices: list[Notice]) -> Chunks:
    yield from _collected(rows_of(file, form.rows, beside=form.beside), form)


def _text(file: LogFile, form: Form, notices: list[Notice]) -> Chunks:
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


_ADAPTERS: dict[str, Callable[[LogFile, Form, list[Notice]], Chunks]] = {
    "table": _table,
    "records": _records,
    "nested": _nested,
    "text": _text,
}


def _typed(
    file: LogFile,
    form: Form,
    clock: Clock,
    index: pd.Index[Any],
    columns: Mapping[str, Sequence[Any]],
) -> pd.DataFrame:
    text = Column.of("")
    return pd.DataFrame(
        {
            name: _column(file, name, form.columns.get(name, text), clock, index, values)
            for name, values in columns.items()
        },
        index=index,
    )


def _column(
    file: LogFile,
    name: str,
    said: Column,
    clock: Clock,
    index: pd.Index[Any],
    values: Sequence[Any],
) -> pd.Series[Any]:
    series = pd.Series(_cleaned(values, said), index=index, dtype=object)
    if said.kind == "text":
        return series
    called = said.fields[0] if len(said.fields) == 1 else name
    try:
        if said.kind == "instant":
            found = clock.read(series, called, said.times, said.unit)
        elif said.kind == "duration":
            found = _durations(series, called, said.unit)
        else:
            found = _numbers(series, called)
    except InstantError as error:
        problems = [
            Problem(file.name, int(line), error.found, error.allowed)
            for line in index[series.notna().to_numpy()][error.places]
        ]
        raise TraceError(problems) from None
    return pd.Series(found, index=index)


def _cleaned(values: Sequence[Any], said: Column) -> np.ndarray[Any, Any]:
    """Values with nothing as None: empty text, and the words that stand for it."""
    nothing = {"", None, *said.empty}
    if said.take is not None:
        take = re.compile(said.take).search
        taken = {
            value: found[1] if (found := take(str(value))) else value
            for value in set(values) - {None}
        }
        values = [taken.get(value) for value in values]
    cleaned = np.empty(len(values), dtype=object)
    try:
        stripped = map(str.strip, values)
        cleaned[:] = [None if value in nothing else value for value in stripped]
    except TypeError:  # not all of it is text
        cleaned[:] = [_given(value, nothing) for value in values]
    return cleaned


def _given(value: Any, nothing: set[Any]) -> Any:
    """A value of JSON, None if it stands for nothing; what is no scalar is told as text."""
    if isinstance(value, dict | list):
        return json.dumps(value)
    text = value.strip() if isinstance(value, str) else value
    return None if text is None or text in nothing or str(text) in nothing else text


def _numbers(series: pd.Series[Any], name: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    numbers = pd.to_numeric(series, errors="coerce").to_numpy(dtype=np.float64)
    given = series.notna().to_numpy()
    wrong = np.flatnonzero(~np.isfinite(numbers[given]))
    if len(wrong):
        found = f"{name} is {shown(str(series[given].iloc[wrong[0]]))}"
        raise InstantError(wrong, found, "a number is needed")
    return numbers


def _durations(
    series: pd.Series[Any], name: str, unit: str | None
) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Numbers in a unit, or days-hours:minutes:seconds."""
    if unit is not None:
        return _numbers(series, name) * UNITS[unit]
    parts = series.astype(str).str.extract(f"^{_DURATION}$").astype(float).fillna(0.0)
    seconds: np.ndarray[Any, np.dtype[np.float64]] = parts.to_numpy() @ _DURATION_PARTS
    given = series.notna().to_numpy()
    matched = series[given].astype(str).str.fullmatch(_DURATION).to_numpy(bool)
    wrong = np.flatnonzero(~matched)
    if len(wrong):
        found = f"{name} is {shown(str(series[given].iloc[wrong[0]]))}"
        raise InstantError(wrong, found, "days-hours:minutes:seconds is needed")
    seconds[~given] = np.nan
    return seconds
