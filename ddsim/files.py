"""Files that users name: read within a limit, written whole or not at all.

What a name stands for is asked before anything is opened. Links are followed: what they name is
read and written, and they stay links. Pipes and devices of characters are streams.
"""

from __future__ import annotations

import os
import select
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from errno import EINVAL, EISDIR, ENXIO, ETIMEDOUT
from pathlib import Path

PATIENCE = 5.0
"""Seconds that a named pipe is given until somebody writes into it."""
_PIECE = 1 << 20
_STREAMS = (stat.S_IFIFO, stat.S_IFCHR)
_drafts: set[Path] = set()


class TooLargeError(Exception):
    """A file has more bytes than may be read; `found` says how many."""

    def __init__(self, found: str) -> None:
        super().__init__(found)
        self.found = found


def read_within(path: str | Path, most: int) -> bytes:
    """The bytes of a file or stream; raises TooLargeError beyond `most`, and OSError.

    A named pipe that nobody writes into within `PATIENCE` seconds, and what is neither file nor
    stream, is an OSError.
    """
    with _naming(path):
        found = os.stat(path)
        kind = stat.S_IFMT(found.st_mode)
        if kind == stat.S_IFREG and found.st_size > most:
            raise TooLargeError(f"{found.st_size} bytes")
        _refuse_others(kind)
        # a pipe without a writer would hold up whoever opens it otherwise
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        with open(descriptor, "rb", buffering=0) as file:
            if kind in _STREAMS:
                if stat.S_ISFIFO(kind) and os.path.exists(os.path.realpath(path)):
                    _await_writer(descriptor)
                os.set_blocking(descriptor, True)
            pieces, left = [], most + 1  # a file of /proc has no size
            while left and (piece := file.read(min(_PIECE, left))):
                pieces.append(piece)
                left -= len(piece)
    if not left:
        raise TooLargeError(f"more than {most} bytes")
    return b"".join(pieces)


def _await_writer(descriptor: int) -> None:
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    if not poll.poll(PATIENCE * 1000):
        raise OSError(ETIMEDOUT, f"a pipe that nobody writes into, for {PATIENCE:g} s")


def write_whole(path: Path, content: bytes) -> None:
    """Write `content` so that `path` never holds half of it, whatever interrupts.

    Raises OSError, which names the path; a file that is there is then as it was.
    """
    write_together({path: content})


def write_together(contents: Mapping[Path, bytes], without: Iterable[Path] = ()) -> None:
    """Write several files, and remove those that do not go with them.

    Nothing is touched before all have found room on the disk. The last file says that the others
    are whole: it is away while they are replaced. Raises OSError, which names the path.
    """
    drafts: dict[Path, tuple[Path, Path]] = {}
    try:
        for path, content in contents.items():
            with _naming(path):
                kind = _kind(path)
                _refuse_others(kind)
                if kind in _STREAMS:
                    _pour(path, content)
                else:
                    drafts[path] = _draft(Path(os.path.realpath(path)), content)
        if len(drafts) > 1:
            without = [list(drafts.values())[-1][1], *without]
        for path in without:
            with _naming(path):
                path.unlink(missing_ok=True)
        for path, (draft, target) in drafts.items():
            with _naming(path):
                os.replace(draft, target)
    finally:
        for draft, _ in drafts.values():
            _discard(draft)


def discard_drafts() -> None:
    """Remove what is half written: for a process that must end at once."""
    for draft in tuple(_drafts):
        _discard(draft)


def _draft(target: Path, content: bytes) -> tuple[Path, Path]:
    draft = target.with_name(f".{target.name}.{os.getpid()}")
    _drafts.add(draft)
    try:
        draft.write_bytes(content)
        if target.exists():  # a replacement is as secret as what it replaces
            draft.chmod(stat.S_IMODE(target.stat().st_mode))
    except BaseException:
        _discard(draft)
        raise
    return draft, target


def _discard(draft: Path) -> None:
    draft.unlink(missing_ok=True)
    _drafts.discard(draft)


def _pour(path: Path, content: bytes) -> None:
    """Write into a pipe or a device, which stays what it is."""
    try:
        descriptor = os.open(path, os.O_WRONLY | getattr(os, "O_NONBLOCK", 0))
    except OSError as error:
        if error.errno == ENXIO:
            raise OSError(ENXIO, "a pipe that nobody reads from") from None
        raise
    os.set_blocking(descriptor, True)
    with open(descriptor, "wb", buffering=0) as file:
        left = memoryview(content)
        try:
            while left:
                left = left[file.write(left) :]
        except BrokenPipeError:  # which elsewhere is said of stdout, and in silence
            raise OSError(ENXIO, "a pipe whose reader left") from None


def _kind(path: Path) -> int:
    """What is at a path, links followed; a regular file where nothing is."""
    try:
        return stat.S_IFMT(os.stat(path).st_mode)
    except FileNotFoundError:
        return stat.S_IFREG


def _refuse_others(kind: int) -> None:
    if kind == stat.S_IFDIR:
        raise OSError(EISDIR, "a folder, not a file")
    if kind != stat.S_IFREG and kind not in _STREAMS:
        raise OSError(EINVAL, "a socket or a disk, neither a file nor a stream")


@contextmanager
def _naming(path: str | Path) -> Iterator[None]:
    """Let every OSError name the file that the user named."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error
