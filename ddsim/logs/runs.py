"""Run logs from files: the reader for what each preset of run logs holds."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from ddsim.logs.drill import drill_events
from ddsim.logs.formats import form_of, preset, recognise
from ddsim.logs.goodput_records import goodput_events
from ddsim.logs.instants import Clock, zone_named
from ddsim.logs.iterations import iteration_events
from ddsim.logs.model import Notice, Problem, TraceError
from ddsim.logs.opened import LogFile
from ddsim.logs.run_log import EVENTS, Event, Rows, RunLog, log_of
from ddsim.logs.shapes import frames
from ddsim.naming import listed, shown, suggestion

if TYPE_CHECKING:
    from ddsim.logs.forms import Preset
    from ddsim.progress import Progress


@dataclass(frozen=True)
class _Reading:
    """A file being read: for the errors, and for what had to be mended."""

    file: LogFile
    notices: list[Notice]


def run_events(rows: Rows, reading: _Reading) -> Iterator[Event]:
    """The events of a canonical run log."""
    for line, row in rows:
        kind = row["event"]
        if kind not in EVENTS:
            near = suggestion(str(kind), EVENTS)
            found, allowed = f"event {shown(kind)}", f"{near}one of {listed(list(EVENTS))}"
            raise reading.file.problem(line, found, allowed)
        participants, duration = _parsed(row["participants"]) or (), row["duration"]
        units, given = _parsed(row["units"]), _parsed(row["given"])
        if not isinstance(participants, list | tuple):
            found = f"participants {shown(participants)}"
            raise reading.file.problem(line, found, "a list of units")
        if duration is not None and duration < 0.0:
            raise reading.file.problem(line, f"duration {duration:g}", "at least 0")
        for name, value in (("units", units), ("given", given)):
            if value is not None and not isinstance(value, dict):
                raise reading.file.problem(line, f"{name} {shown(value)}", "a mapping")
        yield Event(
            row["time"],
            str(kind),
            str(row["unit"] or ""),
            duration,
            None if row["step"] is None else int(row["step"]),
            int(row["steps"] or 1),
            row["bytes"],
            tuple(str(name) for name in participants),
            str(row["cause"] or ""),
            line,
            units,
            given,
        )


def _parsed(value: Any) -> Any:
    """A list or mapping, which frames have as JSON."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


_READERS: Mapping[str, Callable[[Rows, Any], Iterator[Event]]] = {
    "run": run_events,
    "drill": drill_events,
    "iterations": iteration_events,
    "goodput": goodput_events,
}
"""By what a preset holds."""


def holds_run(chosen: Preset | None) -> bool:
    """Whether files of a format are run logs."""
    return chosen is not None and chosen.holds in _READERS


def form_shown(path: str | Path) -> Preset | None:
    """The format that a file shows, if it does. Raises TraceError for what is no text."""
    with LogFile(path) as file:
        return recognise(file)


def read_run(
    path: str | Path,
    form: str | None = None,
    zone: str | None = None,
    progress: Progress | None = None,
) -> RunLog:
    """Read a run log of the format of that name, or of the one that the file shows.

    Raises TraceError, with the lines.
    """
    with LogFile(path, progress) as file:
        chosen = recognise(file) if form is None else preset(form)
        if chosen is None or not holds_run(chosen):
            known = "steps, storm, megatron and goodput are, or a preset that holds one of "
            found = "no run log that is known" if chosen is None else f"{chosen.name}, no run log"
            raise file.problem(None, found, known + listed(list(_READERS)))
        reading = _Reading(file, [])
        clock = Clock(None if zone is None else zone_named(zone), file.written())
        chunks = frames(file, form_of(file, chosen), clock, reading.notices)
        events = list(_READERS[chosen.holds](_rows(chunks), reading))
    if not any(event.event not in ("run", "end") for event in events):
        raise TraceError([Problem(str(path), None, "no event", "at least one is needed")])
    return log_of(str(path), chosen.name or chosen.holds, events, reading.notices)


def _rows(chunks: Iterator[pd.DataFrame]) -> Rows:
    for frame in chunks:
        columns = {str(name): _plain(frame[name]) for name in frame}
        names = list(columns)
        for line, *values in zip(frame.index.tolist(), *columns.values(), strict=True):
            yield line, dict(zip(names, values, strict=True))


def _plain(column: pd.Series[Any]) -> list[Any]:
    if column.dtype == object:
        return column.tolist()
    return [None if value != value else value for value in column.tolist()]
