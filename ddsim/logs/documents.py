"""One JSON document, read piece by piece: the rows in it, with the lines at which they begin."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from ddsim.logs.model import TraceError
from ddsim.logs.opened import LogFile
from ddsim.naming import shown

LARGEST_ROW = 64_000_000
"""Characters of one row."""
_BLANKS = re.compile(r"[ \t\r\n]*").match

OWN = ("value", "position")
"""Fields that a row has from here: itself if it is no mapping, and its place in its list."""

Chain = Sequence[Mapping[str, Any]]
"""A row and what it stands in, from the inside out."""


def rows_of(
    file: LogFile, path: Sequence[str], *, beside: bool = False, most: int | None = None
) -> Iterator[tuple[int, Chain]]:
    """The rows of a document, each with its line.

    `path` names lists inside each other: the first in the document (where that is a list itself,
    it may be called `[]`), the next in each row of it, and so on. Rows that are no mappings are
    `{"value": row}`. Each row has its `position` in its list, and, `beside` the list, what the
    document says of all. `most`: how many rows of the first list are looked at. Raises TraceError.
    """
    own, deeper = _split(file, path)
    around = _around(file, own) if beside and own is not None else {}
    for position, (line, row) in enumerate(islice(_outer(file, own), most)):
        yield from _inner(file, line, row, deeper, [{"position": position}, around])


def _split(file: LogFile, path: Sequence[str]) -> tuple[str | None, Sequence[str]]:
    first = next((piece.lstrip()[:1] for piece in file.pieces(4096)), "")
    if first == "[":
        return None, path[1:] if path and path[0] == "[]" else path
    if first == "{" and path:
        return path[0], path[1:]
    found = "a document that does not begin with [ or {" if first != "{" else "one JSON object"
    raise file.problem(1, found, "a list of records is needed")


def _inner(
    file: LogFile, line: int, row: Any, path: Sequence[str], outer: list[dict[str, Any]]
) -> Iterator[tuple[int, Chain]]:
    record = row if isinstance(row, dict) else {"value": row}
    chain = [record, *outer]
    if not path:
        yield line, chain
        return
    rows = record.get(path[0])
    if rows is None:
        return
    if not isinstance(rows, list):
        raise file.problem(line, f"{path[0]} is {shown(rows)}", "a list is needed")
    for position, inner in enumerate(rows):
        yield from _inner(file, line, inner, path[1:], [{"position": position}, *chain])


def _around(file: LogFile, own: str) -> dict[str, Any]:
    """What the document says beside its rows."""
    text = _Text(file)
    fields: dict[str, Any] = {}
    for name in text.fields():
        if name == own or text.at_list():
            for _ in text.items():
                pass
        else:
            fields[name] = text.value()
    return fields


def _outer(file: LogFile, own: str | None) -> Iterator[tuple[int, Any]]:
    text = _Text(file)
    if own is None:
        yield from text.items()
        return
    for name in text.fields():
        if name == own:
            yield from text.items()
            return
        if text.at_list():
            for _ in text.items():
                pass
        else:
            text.value()
    raise file.problem(1, f"no {own!r} in the document", f"a list {own!r} is needed")


class _Text:
    """A document's text as it is read; `line` is where what comes next begins."""

    def __init__(self, file: LogFile) -> None:
        self._file = file
        self._pieces = file.pieces()
        self._decode = json.JSONDecoder().raw_decode
        self._buffer, self._at = "", 0
        self.line = 1

    def fields(self) -> Iterator[str]:
        """The names in a mapping; whoever takes one reads its value before the next."""
        self._expect("{")
        while self._peek() != "}":
            name = self.value()
            self._expect(":")
            yield str(name)
            self._separate("}")

    def at_list(self) -> bool:
        """Whether a list comes next."""
        return self._peek() == "["

    def items(self) -> Iterator[tuple[int, Any]]:
        """The items of a list, each with its line."""
        self._expect("[")
        while self._peek() != "]":
            yield self.line, self.value()
            self._separate("]")
        self._expect("]")

    def value(self) -> Any:
        """The next value."""
        self._peek()
        while True:
            try:
                value, end = self._decode(self._buffer, self._at)
            except (ValueError, RecursionError):
                if len(self._buffer) - self._at > LARGEST_ROW or not self._more():
                    raise self.wrong("whole JSON is needed") from None
                continue
            # a number may go on in the next piece
            if end < len(self._buffer) or not self._more():
                self._step(end)
                return value

    def _peek(self) -> str:
        """The next character that is no blank."""
        while True:
            found = _BLANKS(self._buffer, self._at)
            assert found is not None
            if found.end() != self._at:
                self._step(found.end())
            if self._at < len(self._buffer):
                return self._buffer[self._at]
            if not self._more():
                raise self.wrong("the document ends before it is whole")

    def _expect(self, sign: str) -> None:
        """Go past a sign; TraceError where it does not come next."""
        if self._peek() != sign:
            raise self.wrong(f"{sign} is needed")
        self._at += 1

    def _separate(self, end: str) -> None:
        sign = self._peek()
        if sign == ",":
            self._at += 1
        elif sign != end:
            raise self.wrong(f"a comma or {end} is needed")

    def wrong(self, allowed: str) -> TraceError:
        """The error that something else is needed here."""
        found = self._buffer[self._at : self._at + 40]
        return self._file.problem(self.line, shown(found) if found else "the end", allowed)

    def _step(self, at: int) -> None:
        self.line += self._buffer.count("\n", self._at, at)
        self._at = at

    def _more(self) -> bool:
        piece = next(self._pieces, "")
        if piece:
            self._buffer, self._at = self._buffer[self._at :] + piece, 0
        return bool(piece)
