"""Tapes of runs on disk: what happened to every learner's parameters, event by event.

The file is JSON lines, packed: one for each recording (its method, replication, end and number of
events), followed by its events, each the name of its kind and its fields.
"""

import gzip
import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from math import inf, isfinite
from pathlib import Path
from typing import Any, get_args, overload

from ddsim.engine.tape import Event
from ddsim.results.record import MethodResult, Recording

_KINDS: dict[str, Any] = {kind.__name__: kind for kind in get_args(Event)}


def to_bytes(results: Sequence[MethodResult]) -> bytes:
    """Return the file of all recordings of some results, nothing where there are none."""
    lines = [line for item in results for line in _lines(item)]
    return gzip.compress("".join(lines).encode(), compresslevel=6, mtime=0) if lines else b""


def _lines(item: MethodResult) -> Iterator[str]:
    for recording in item.tapes:
        head = {
            "method": item.method,
            "replication": recording.replication,
            "end": recording.end,
            "events": len(recording.events),
        }
        yield json.dumps(head) + "\n"
        for event in recording.events:
            yield json.dumps([type(event).__name__, *event], separators=(",", ":")) + "\n"


def read(path: Path) -> dict[str, list[Recording]]:
    """Read the recordings of a file, by method; ValueError where it is not such a file, or cut."""
    found: dict[str, list[Recording]] = {}
    try:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            for line in file:
                head = json.loads(line)
                end = float(head["end"])
                if not 0.0 <= end < inf:
                    raise ValueError(f"it ends at {end} s")
                events = list(_events(file, head["events"]))
                recording = Recording(int(head["replication"]), end, events)
                found.setdefault(str(head["method"]), []).append(recording)
        if not found:
            raise ValueError("an empty file")
    except (
        EOFError,
        OSError,
        zlib.error,
        ValueError,
        KeyError,
        TypeError,
        RecursionError,
    ) as error:
        said = str(error) or type(error).__name__
        raise ValueError(f"{path}: not the tape of a run, or only a part of it ({said})") from error
    return found


def _events(lines: Iterable[str], count: int) -> Iterator[Event]:
    lines = iter(lines)
    for place in range(count):
        line = next(lines, None)
        if line is None:
            raise ValueError(f"it ends at event {place} of {count}")
        name, *values = json.loads(line)
        event = _KINDS[name](*(tuple(v) if isinstance(v, list) else v for v in values))
        if not all(map(_is_sound, event)):
            raise ValueError(f"event {place} is no {name} of a run")
        yield event


def _is_sound(value: Any) -> bool:
    """Whether something can stand in an event: a time, a count, several, or none."""
    if isinstance(value, tuple):
        return all(map(_is_sound, value))
    if isinstance(value, float):
        return isfinite(value)
    return value is None or (isinstance(value, int) and not isinstance(value, bool))


class SavedTapes(Sequence[Recording]):
    """The recordings of one method in a file, read when they are first asked for."""

    def __init__(self, path: Path, method: str) -> None:
        self._path = path
        self._method = method

    @cached_property
    def _recordings(self) -> list[Recording]:
        return read(self._path).get(self._method, [])

    def __len__(self) -> int:
        return len(self._recordings)

    @overload
    def __getitem__(self, index: int) -> Recording: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Recording]: ...
    def __getitem__(self, index: int | slice) -> Recording | Sequence[Recording]:
        """Return a recording, or several."""
        return self._recordings[index]
