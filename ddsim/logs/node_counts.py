"""Traces of how many nodes there are: `time_ms,count`, `date,count` or `date, time, count`."""

import re
from datetime import UTC, datetime

import numpy as np

from ddsim.logs.instants import Clock
from ddsim.logs.model import NodeCounts, Notice
from ddsim.logs.source import Row, RowError, Source, in_order, parse_rows, whole_number
from ddsim.logs.stamps import Stamps, body, is_stamp

FORM_MS = "time_ms,count"
_WHOLE = re.compile(r"[+-]?\d+")
FORM_DATE = "date, time, count"


def resembles(row: Row) -> bool:
    """True for a row that can only be meant as a node count in either form."""
    return _resembles_ms(row) or _resembles_date(row)


def _resembles_ms(row: Row) -> bool:
    # A number below zero is a count all the same, a wrong one, and is named as such.
    fields = row.fields
    return len(fields) == 2 and is_stamp(fields[0]) and bool(_WHOLE.fullmatch(fields[1]))


def _resembles_date(row: Row) -> bool:
    return len(row.fields) == 3 and _instant(row.fields[0], row.fields[1]) is not None


def parse(source: Source, clock: Clock) -> NodeCounts:
    """The counts in order of time, in the form of most of the rows; TraceError."""
    stamps = Stamps(clock)
    dated = sum(map(_resembles_date, source.rows)) > sum(map(_resembles_ms, source.rows))
    rows, notices = (
        parse_rows(source, body(source), lambda row: _dated(row, clock), 3)
        if dated
        else parse_rows(source, body(source), lambda row: _stamped(row, stamps), 2)
    )
    lines = [line for line, _ in rows]
    seconds = np.array([time for _, (time, _) in rows])
    if not dated:
        seconds = stamps.seconds(source, seconds.tolist(), lines)
    counted = zip(lines, seconds.tolist(), rows, strict=True)
    records, sorting = in_order([(line, time, count) for line, time, (_, (_, count)) in counted])
    kept: list[tuple[int, float, int]] = []
    repeated: list[int] = []
    for record in records:
        if kept and record[1:] == kept[-1][1:]:
            repeated.append(record[0])
        else:
            kept.append(record)
    if repeated:
        notices.append(Notice("the same row again", "left out", tuple(repeated)))
    times = np.array([time for _, time, _ in kept])
    start = None
    if dated:
        first = datetime.fromtimestamp(times[0], clock.zone or UTC)
        start = first.strftime("%Y-%m-%d %H:%M:%S")
    counts = np.array([count for _, _, count in kept], dtype=np.int64)
    return NodeCounts(
        source.file,
        times - times[0],
        counts,
        start,
        (*notices, *sorting),
        tuple(clock.remarks()),
    )


def _stamped(fields: tuple[str, ...], stamps: Stamps) -> tuple[float, int]:
    return stamps.read(fields[0]), whole_number("count", fields[1])


def _dated(fields: tuple[str, ...], clock: Clock) -> tuple[float, int]:
    instant = _instant(fields[0], fields[1])
    if instant is None:
        raise RowError(
            f"date and time are {fields[0]!r} and {fields[1]!r}",
            "they are needed as 2021-12-11, 11:11:30",
        )
    if clock.zone is not None:
        instant = instant.replace(tzinfo=clock.zone)
    return instant.timestamp(), whole_number("count", fields[2])


def _instant(date: str, time: str) -> datetime | None:
    try:
        # a clock without daylight saving: only differences count
        return datetime.strptime(f"{date} {time}", "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC)
    except ValueError:
        return None
