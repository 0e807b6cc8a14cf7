"""Traces of lengths of life: a table with a header, one life a row."""

import math
import re

import numpy as np

from ddsim.logs.model import Lifetimes, Notice, Problem, TraceError
from ddsim.logs.source import Row, RowError, Source, parse_rows

FORM = "a header with a column lifetime_s (or _ms, _min, _h, _d)"
_SECONDS = {"ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3_600.0, "d": 86_400.0, "days": 86_400.0}
_COLUMN = re.compile(
    r"(?:lifetime|life|duration|uptime|time_to_failure|ttf|tbf)_(ms|s|min|h|d|days)", re.IGNORECASE
)
_INSTANT = re.compile(
    r"(?:time|timestamp|start|started|begin|date)(?:_(?:ms|s|utc))?", re.IGNORECASE
)
"""A column beside which a `duration` may be that of an outage or a job as well as a life."""
_YES, _NO = ("1", "true", "yes"), ("0", "false", "no")


def resembles(row: Row) -> bool:
    """True for a header: words only, one of which speaks of a life and of nothing else."""
    words = [field for field in row.fields if re.fullmatch(r"[A-Za-z_][\w .-]*", field)]
    dated = any(map(_INSTANT.fullmatch, words))
    lives = r"life|uptime|time_to_failure|ttf|tbf" + ("" if dated else "|duration")
    return len(words) == len(row.fields) and any(
        re.match(lives, word, re.IGNORECASE) for word in words
    )


def parse(source: Source, column: str | None = None) -> Lifetimes:
    """The lives in seconds, from `column` or the one whose name is known.

    A column `censored` (or its opposite, `ended`) says which lives had not ended; without one all
    have. Lives that are not above 0 are left out and said so. Raises TraceError.
    """
    header = source.rows[0]
    name, scale = _choose(source, header, column)
    place = header.fields.index(name)
    flags = {word.lower(): index for index, word in enumerate(header.fields)}
    censored, ended_at = flags.get("censored"), flags.get("ended")

    def life(fields: tuple[str, ...]) -> tuple[float, bool]:
        duration = _duration(name, fields[place]) * scale
        if censored is not None:
            return duration, not _flag("censored", fields[censored])
        return duration, ended_at is None or _flag("ended", fields[ended_at])

    rows, notices = parse_rows(source, source.rows[1:], life, len(header.fields))
    nothing = tuple(line for line, (duration, _) in rows if duration <= 0.0)
    if nothing:
        notices.append(Notice("a life that is not longer than 0", "left out", nothing))
    lives = [record for _, record in rows if record[0] > 0.0]
    if not lives:
        raise TraceError([Problem(source.file, None, "no life above 0", "at least one is needed")])
    return Lifetimes(
        source.file,
        name,
        np.array([duration for duration, _ in lives]),
        np.array([ended for _, ended in lives], dtype=np.bool_),
        tuple(notices),
    )


def _choose(source: Source, header: Row, column: str | None) -> tuple[str, float]:
    known = [word for word in header.fields if _COLUMN.fullmatch(word)]
    if column is not None:
        if column not in header.fields:
            found, allowed = f"no column {column!r}", f"there are {', '.join(header.fields)}"
            raise TraceError([Problem(source.file, header.line, found, allowed)])
        known = [column]
    if len(known) == 1:
        unit = re.search(r"_([a-z]+)$", known[0].lower())
        if unit is not None and unit.group(1) in _SECONDS:
            return known[0], _SECONDS[unit.group(1)]
        known = []
    found = f"columns {', '.join(header.fields)}"
    if known:
        allowed = f"more than one holds lives: {', '.join(known)}; name the one that is meant"
    else:
        allowed = f"{FORM} is needed, so that the unit is known"
    raise TraceError([Problem(source.file, header.line, found, allowed)])


def _duration(name: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise RowError(f"{name} is {text!r}", "a number is needed")
    return value


def _flag(name: str, text: str) -> bool:
    if text.lower() not in _YES + _NO:
        raise RowError(f"{name} is {text!r}", "1 or 0 (true or false, yes or no) is needed")
    return text.lower() in _YES
