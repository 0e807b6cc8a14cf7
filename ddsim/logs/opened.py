"""A log that is open: its lines with their numbers, from the beginning as often as is asked."""

from __future__ import annotations

import codecs
import io
import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

from ddsim.files import TooLargeError, read_within
from ddsim.logs.model import Problem, TraceError
from ddsim.progress import Progress

LARGEST_FILE = 8_000_000_000
"""Bytes that a log may have; it is read in pieces."""
LARGEST_STREAM = 256_000_000
"""Bytes that are taken from a pipe, which cannot be read from the beginning again."""
LONGEST_LINE = 64_000_000
"""Bytes of one line."""
_TEXT = "UTF-8 text is needed"
_BLOCK = 1 << 22


class LogFile:
    """A log, open for reading; use it in a `with`.

    `name` is how messages call it, `size` its bytes. `terminated` says, once all lines have been
    read, whether the last had its end of line: without one its writer may have been interrupted.
    `progress`, if given, hears of bytes read out of all. Raises TraceError for what is no readable
    file.
    """

    def __init__(self, path: str | Path, progress: Progress | None = None) -> None:
        self.path, self.name = Path(path), str(path)
        self.terminated = True
        self._progress, self._read = progress, 0
        self._binary = self._open()
        self.size = self._binary.seek(0, os.SEEK_END)

    def __enter__(self) -> LogFile:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._binary.close()

    def problem(self, line: int | None, found: str, allowed: str) -> TraceError:
        """The error that something stands in a line, or in the file as a whole."""
        return TraceError([Problem(self.name, line, found, allowed)])

    def blocks(self) -> Iterator[tuple[int, list[str]]]:
        """All lines without their ends, block by block, each with the number of its first line.

        A byte order mark is taken off. Raises TraceError for what is no text.
        """
        self._binary.seek(0)
        number, self.terminated, self._read = 1, True, 0
        while block := self._binary.read(_BLOCK):
            rest = self._binary.readline(LONGEST_LINE)
            if len(rest) == LONGEST_LINE:
                at = number + block.count(b"\n")
                raise self.problem(at, "a line that does not end", f"at most {LONGEST_LINE} bytes")
            block += rest
            lines = self._decoded(block, number).split("\n")
            self.terminated = block.endswith((b"\n", b"\r"))
            if not lines[-1]:
                del lines[-1]
            self._tell(len(block))
            yield number, lines
            number += len(lines)

    def lines(self) -> Iterator[str]:
        """All lines without their ends. Raises TraceError for what is no text."""
        for _, lines in self.blocks():
            yield from lines

    def _decoded(self, block: bytes, number: int) -> str:
        try:
            text = block.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            line = number + block.count(b"\n", 0, error.start)
            raise self.problem(line, "bytes that are not text", _TEXT) from None
        if "\0" in text:
            line = number + text.count("\n", 0, text.index("\0"))
            raise self.problem(line, "binary data", _TEXT)
        # a carriage return is part of an end of line, or is one
        return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text

    def pieces(self, size: int = 1 << 20) -> Iterator[str]:
        """The text in pieces, for what is one document of many lines; TraceError as `lines`."""
        self._binary.seek(0)
        self._read = 0
        decoder = codecs.getincrementaldecoder("utf-8-sig")()
        while block := self._binary.read(size):
            self._tell(len(block))
            try:
                yield decoder.decode(block)
            except UnicodeDecodeError:
                raise self.problem(None, "bytes that are not text", _TEXT) from None

    def head(self, size: int = 1 << 18) -> str:
        """The first lines, of `size` bytes together, whole unless there is only one."""
        self._binary.seek(0)
        data = self._binary.read(size)
        text = data.decode("utf-8-sig", errors="replace")
        return text if len(data) < size or "\n" not in text else text[: text.rfind("\n") + 1]

    def written(self) -> float:
        """When the file was last written, in seconds since 1970; of a pipe, now."""
        found = os.stat(self.path)
        return found.st_mtime if stat.S_ISREG(found.st_mode) else time.time()

    def _open(self) -> BinaryIO:
        try:
            found = os.stat(self.path)
            if not stat.S_ISREG(found.st_mode):
                return io.BytesIO(read_within(self.path, LARGEST_STREAM))
            if found.st_size > LARGEST_FILE:
                raise TooLargeError(f"{found.st_size} bytes")
            return open(self.path, "rb")
        except TooLargeError as error:
            most = LARGEST_FILE if "more" not in error.found else LARGEST_STREAM
            raise self.problem(None, error.found, f"at most {most} bytes are read") from None
        except OSError as error:
            reason = error.strerror or str(error)
            raise self.problem(None, reason, "a readable file is needed") from error

    def _tell(self, more: int) -> None:
        self._read += more
        if self._progress is not None:
            self._progress(min(self._read, self.size), self.size, f"reading {self.path.name}")
