"""One JSON document, read piece by piece: the rows in it, with the lines at which they begin."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ddsim.logs.opened import LogFile
from ddsim.naming import shown

LARGEST_ROW = 64_000_000
"""Characters of one row."""
_BLANK = " \t\r\n"

Chain = Sequence[Mapping[str, Any]]
"""A row and what it stands in, from the inside out."""


def rows_of(file: LogFile, path: Sequence[str]) -> Iterator[tuple[int, Chain]]:
    """The rows of a document, each with its line.

    `path` names lists inside each other: the first in the document (none of that name: the
    document is a list itself), the next in each row of it, and so on. Rows that are no mappings
    are `{"value": row}`. Each row has its `position` in its list. Raises TraceError.
    """
    own, deeper = _split(file, path)
    around = _around(file, own)
    for position, (line, row) in enumerate(_outer(file, own)):
        outer = [{"position": position}, around]
        yield from _inner(file, line, row, deeper, outer)


def _split(file: LogFile, path: Sequence[str]) -> tuple[str | None, Sequence[str]]:
    first = next((piece.lstrip(_BLANK)[:1] for piece in file.pieces(4096)), "")
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


def _around(file: LogFile, own: str | None) -> dict[str, Any]:
    """What the document says beside its rows."""
    if own is None:
        return {}
    text = _Text(file)
    text.expect("{")
    fields: dict[str, Any] = {}
    while text.peek() != "}":
        name = text.value()
        text.expect(":")
        if name == own:
            for _ in _items(text):
                pass
        else:
            fields[str(name)] = text.value()
        if text.peek() == ",":
            text.expect(",")
    return fields


def _outer(file: LogFile, own: str | None) -> Iterator[tuple[int, Any]]:
    text = _Text(file)
    if own is not None:
        text.expect("{")
        while text.peek() != "}":
            name = text.value()
            text.expect(":")
            if name == own:
                break
            text.value()
            if text.peek() == ",":
                text.expect(",")
        else:
            raise file.problem(
                text.line, f"no {own!r} in the document", f"a list {own!r} is needed"
            )
    yield from _items(text)


def _items(text: _Text) -> Iterator[tuple[int, Any]]:
    text.expect("[")
    while text.peek() != "]":
        line = text.line
        yield line, text.value()
        if text.peek() == ",":
            text.expect(",")
        elif text.peek() != "]":
            raise text.wrong("a comma or ] is needed")
    text.expect("]")


class _Text:
    """A document's text as it is read; `line` is where what comes next begins."""

    def __init__(self, file: LogFile) -> None:
        self._file = file
        self._pieces = file.pieces()
        self._decoder = json.JSONDecoder()
        self._buffer, self._at = "", 0
        self.line = 1

    def peek(self) -> str:
        """The next character that is no blank."""
        while True:
            at, end = self._at, len(self._buffer)
            while at < end and self._buffer[at] in _BLANK:
                at += 1
            self._step(at)
            if at < end:
                return self._buffer[at]
            if not self._more():
                raise self.wrong("the document ends before it is whole")

    def expect(self, sign: str) -> None:
        """Go past a sign; TraceError where it does not come next."""
        if self.peek() != sign:
            raise self.wrong(f"{sign} is needed")
        self._step(self._at + 1)

    def value(self) -> Any:
        """The next value."""
        self.peek()
        while True:
            try:
                value, end = self._decoder.raw_decode(self._buffer, self._at)
            except (ValueError, RecursionError):
                end = len(self._buffer)
                value = None
                failed = True
            else:
                failed = False
            # a number may go on in the next piece
            if end < len(self._buffer) or (not failed and not self._more()):
                self._step(end)
                return value
            if failed and (len(self._buffer) - self._at > LARGEST_ROW or not self._more()):
                raise self.wrong("whole JSON is needed")

    def wrong(self, allowed: str) -> Exception:
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
