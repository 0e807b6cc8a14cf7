"""Traces of nodes that come and go: `time_ms,add|remove,node`; a date may stand for the time."""

from sys import intern

import numpy as np

from ddsim.logs.instants import Clock
from ddsim.logs.model import NodeEvents, Notice, Problem, TraceError
from ddsim.logs.source import Row, RowError, Source, in_order, parse_rows
from ddsim.logs.stamps import Stamps, body

FORM = "time_ms,add|remove,node"
_WIDTH = 3


def resembles(row: Row) -> bool:
    """True for a row that can only be meant as a node event."""
    return len(row.fields) == _WIDTH and row.fields[1] in ("add", "remove")


def parse(source: Source, clock: Clock) -> NodeEvents:
    """The events in order of time, without those that cannot have happened; TraceError."""
    stamps = Stamps(clock)
    rows, notices = parse_rows(source, body(source), lambda row: _event(row, stamps), _WIDTH)
    lines = [line for line, _ in rows]
    seconds = stamps.seconds(source, [time for _, (time, _) in rows], lines)
    events = zip(lines, seconds.tolist(), rows, strict=True)
    records, sorting = in_order([(line, time, what) for line, time, (_, (_, what)) in events])
    kept, dropped = _possible(records)
    if not kept:
        problem = Problem(source.file, None, "no node ever comes", "add events are needed")
        raise TraceError([problem])
    times = np.array([time for _, time, _ in kept])
    return NodeEvents(
        source.file,
        times - times[0],
        np.array([action == "add" for _, _, (action, _) in kept], dtype=np.bool_),
        tuple(node for _, _, (_, node) in kept),
        (*notices, *sorting, *dropped),
        tuple(clock.remarks()),
    )


def _event(fields: tuple[str, ...], stamps: Stamps) -> tuple[float, tuple[str, str]]:
    time, action, node = fields
    if action not in ("add", "remove"):
        raise RowError(f"event is {action!r}", "add or remove is needed")
    if not node:
        raise RowError("node is empty", "a node's name is needed")
    return stamps.read(time), (intern(action), intern(node))


_Record = tuple[int, float, tuple[str, str]]


def _possible(records: list[_Record]) -> tuple[list[_Record], list[Notice]]:
    """The events that change something, and what was left out."""
    present: set[str] = set()
    seen: set[str] = set()
    rows: set[tuple[float, str, str]] = set()
    lines: dict[str, list[int]] = {}
    kept = []
    for record in records:
        line, time, (action, node) = record
        fault = None
        if action == "add" and node in present:
            fault = "an add of a node that is there already"
        elif action == "remove" and node not in seen:
            fault = "a removal of a node that never came"
        elif action == "remove" and node not in present:
            fault = "a removal of a node that has gone already"
        if fault is not None:
            if (time, action, node) in rows:
                fault = "the same event again"
            lines.setdefault(fault, []).append(line)
            continue
        rows.add((time, action, node))
        seen.add(node)
        (present.add if action == "add" else present.remove)(node)
        kept.append(record)
    return kept, [Notice(fault, "left out", tuple(found)) for fault, found in lines.items()]
