"""Logs of a fault drill: a row an event of each replica, with what was done to it and what it did.

`step10` is the mean of the last ten steps in ms, `commit` a synchronization of which `value` is the
number of participants, `fault_*` what was done on purpose. A kill took effect where nothing of the
replica follows before its process starts anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ddsim.logs.model import Notice
from ddsim.logs.run_log import Event, Reading, Rows

AT_ONCE = 1.0
"""Seconds after a kill in which a replica that it ended may still write."""
STEPS = 10
MILLI = 1e-3
_BEGINS = {"fault_stop": "fault_cont", "fault_partition": "fault_heal"}
_OWN = ("step10", "commit", "eval", "checkpoint_saved", "checkpoint_loaded")
_KILLS = ("fault_kill", "fault_kill_safe")


@dataclass(frozen=True)
class _Row:
    line: int
    time: float
    unit: str
    event: str
    step: int | None
    outer: int | None
    value: float | None


@dataclass
class _Replica:
    """What is known of a replica so far."""

    seen: float | None = None
    started: float | None = None
    loaded: float | None = None
    open_faults: dict[str, list[float]] = field(default_factory=dict)


def drill_events(lines: Rows, reading: Reading) -> Iterator[Event]:
    """The events of a fault drill's log."""
    rows = sorted((_row(line, columns) for line, columns in lines), key=lambda row: row.time)
    kills = _effective_kills(rows)
    replicas: dict[str, _Replica] = {}
    commits: dict[int, list[_Row]] = {}
    for row in rows:
        if row.event == "commit" and row.outer is not None:
            commits.setdefault(row.outer, []).append(row)
        replica = replicas.setdefault(row.unit, _Replica())
        yield from _events(row, replica, kills)
    yield from (_sync(of_one) for of_one in commits.values())
    for unit, replica in replicas.items():
        for kind, begun in replica.open_faults.items():
            yield from (Event(time, "fault", unit, cause=_cause(kind)) for time in begun)
    reading.notices.extend(_notices(rows, kills))


def _row(line: int, columns: Mapping[str, Any]) -> _Row:
    replica, step, outer = (columns[name] for name in ("replica", "step", "outer"))
    return _Row(
        line,
        columns["time"],
        f"replica {replica}" if replica else "",
        columns["event"] or "",
        None if step is None else int(step),
        None if outer is None else int(outer),
        columns["value"],
    )


def _effective_kills(rows: list[_Row]) -> dict[int, float]:
    """The line of each start after a kill, and when that was: the first after its last own row."""
    found: dict[int, float] = {}
    since: dict[str, list[float]] = {}
    for row in rows:
        kills = since.setdefault(row.unit, [])
        if row.event in _KILLS:
            kills.append(row.time)
        elif row.event == "process_start":
            if kills:
                found[row.line] = kills[0]
            kills.clear()
        elif row.event in _OWN:  # what it still writes within a second may be late
            since[row.unit] = [time for time in kills if row.time - time < AT_ONCE]
    return found


def _events(row: _Row, replica: _Replica, kills: dict[int, float]) -> Iterator[Event]:
    unit, time = row.unit, row.time
    if row.event == "step10" and row.value is not None:
        yield Event(time, "step", unit, row.value * MILLI, row.step, STEPS, line=row.line)
        replica.seen = time
    elif row.event == "process_start":
        replica.started, replica.loaded, replica.seen = time, None, None
        killed = kills.get(row.line)
        if killed is not None:
            yield Event(killed, "failure", unit, cause="kill", line=row.line)
            yield Event(time, "down", unit, time - killed, line=row.line)
    elif row.event == "checkpoint_loaded":
        if replica.started is not None:
            yield Event(time, "load", unit, time - replica.started, line=row.line)
        replica.loaded = time
    elif row.event == "eval":
        if replica.started is not None:  # it evaluates once before it steps
            since = replica.started if replica.loaded is None else replica.loaded
            yield Event(time, "restart", unit, time - since, line=row.line)
            replica.started = None
        elif replica.seen is not None:
            yield Event(time, "evaluation", unit, time - replica.seen, line=row.line)
        replica.seen = time
    elif row.event == "checkpoint_saved":
        if replica.seen is not None:
            yield Event(time, "save", unit, time - replica.seen, line=row.line)
        replica.seen = time
    elif row.event == "commit":
        replica.seen = time
    elif row.event in _KILLS or row.event in _BEGINS:
        if row.event in _KILLS:
            yield Event(time, "fault", unit, cause="kill", line=row.line)
        else:
            replica.open_faults.setdefault(row.event, []).append(time)
    elif row.event in _BEGINS.values():
        kind = next(name for name, end in _BEGINS.items() if end == row.event)
        begun = replica.open_faults.get(kind, [])
        if begun:
            length = time - begun.pop(0)
            yield Event(time, "fault", unit, length, cause=_cause(kind), line=row.line)


def _cause(kind: str) -> str:
    return kind.removeprefix("fault_")


def _sync(rows: list[_Row]) -> Event:
    """The synchronization that the participants of one outer step noted, when the last did."""
    first = rows[0]
    who = tuple(sorted({row.unit for row in rows}))
    return Event(
        max(row.time for row in rows), "sync", step=first.step, participants=who, line=first.line
    )


def _notices(rows: list[_Row], kills: dict[int, float]) -> list[Notice]:
    notices = []
    vain = [row.line for row in rows if row.event in _KILLS and row.time not in kills.values()]
    if vain:
        found = "a kill after which the process did not start anew"
        notices.append(Notice(found, "taken for one without effect", tuple(vain)))
    failed = [row.line for row in rows if row.event == "commit_failed"]
    if failed:
        notices.append(Notice("a synchronization that failed", "left out", tuple(failed)))
    return notices
