"""Times of rows without a header: milliseconds, dates, or instants since 1970 in any unit."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np

from ddsim.logs.instants import EARLIEST, LATEST, UNITS, Clock, unit_of
from ddsim.logs.model import Array, Problem, TraceError
from ddsim.logs.source import Row, RowError, Source, whole_number
from ddsim.naming import shown
from ddsim.scenario.headings import time_unit
from ddsim.world.distributions import duration_text

NAME = "time_ms"
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_DECIMAL = re.compile(r"\d{9,}\.\d+")
_WORD = re.compile(r"[A-Za-z_][\w .-]*")
_LONG = {"s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}


def is_stamp(text: str) -> bool:
    """Whether a text can be meant as a time; a number below 0 is one all the same, a wrong one."""
    return bool(re.fullmatch(r"[+-]?\d+", text) or _DECIMAL.fullmatch(text) or _DATE.match(text))


def body(source: Source) -> tuple[Row, ...]:
    """The rows without their header, if they have one: words where others have a time."""
    return source.rows if _heading(source) is None else source.rows[1:]


def _heading(source: Source) -> str | None:
    """What stands above the times; None where there is no header."""
    first = source.rows[0].fields
    header = len(source.rows) > 1 and all(map(_WORD.fullmatch, first))
    return first[0] if header and not is_stamp(first[0]) else None


class Stamps:
    """Reads the times of one file; all are dates, or all are numbers in one unit."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._dated: bool | None = None
        self._naive = False

    def read(self, text: str) -> float:
        """A time as its number, or a date as seconds since 1970. Raises RowError."""
        if text.isdigit() and text.isascii():
            if self._dated:
                raise RowError(f"time is {text!r}", "a date is needed, as in the rows before it")
            self._dated = False
            return float(text)
        if self._dated is not True and _DECIMAL.fullmatch(text):
            self._dated = False
            return float(text)
        if self._dated is not False and _DATE.match(text):
            try:
                date = datetime.fromisoformat(text)
            except ValueError:
                allowed = "2026-01-31T13:30:15+00:00 is the form of a time"
                raise RowError(f"time is {text!r}", allowed) from None
            self._dated = True
            if date.tzinfo is None:
                self._naive = True
                date = date.replace(tzinfo=self._clock.zone or UTC)
            return date.timestamp()
        return float(whole_number(NAME, text))

    def seconds(self, source: Source, times: Sequence[float], lines: Sequence[int]) -> Array:
        """What was read, in seconds; what it was taken for is said by the clock.

        Raises TraceError, with its line, for a number in another unit than those before it.
        """
        numbers = np.asarray(times, dtype=np.float64)
        if self._dated:
            if self._naive:
                self._clock.say_zone()
            return numbers
        if self._clock.unit is not None:
            self._clock.say_other_unit("times", float(numbers[0]))
            return numbers * UNITS[self._clock.unit]
        units = [unit_of(time, time) for time in (float(numbers.min()), float(numbers.max()))]
        if units[0] is not None and units[0] == units[1]:
            self._clock.say_unit("times", units[0], float(numbers[0]))
            return numbers * UNITS[units[0]]
        heading = _heading(source)
        named = None if heading is None else time_unit(heading)
        if named is not None and named != "ms":
            self._clock.said.setdefault(
                f"times: in {named}, as their heading {shown(heading)} says; --unit says otherwise"
            )
            return numbers * UNITS[named]
        if numbers.max() >= EARLIEST / UNITS["ms"]:
            self._refuse(source, numbers, lines)
        if numbers.max() >= EARLIEST:
            span = duration_text(float(np.ptp(numbers)) * UNITS["ms"])
            self._clock.said.setdefault(
                f"times: read as milliseconds, over {span}, since they begin at "
                f"{numbers.min():.17g}; --unit says otherwise"
            )
        return numbers * UNITS["ms"]

    def _refuse(self, source: Source, numbers: Array, lines: Sequence[int]) -> None:
        first = unit_of(float(numbers[0]), float(numbers[0]))
        size = UNITS[first or "ms"]
        inside = (numbers * size >= EARLIEST) & (numbers * size <= LATEST)
        beyond = numbers * size > LATEST
        place = 0 if beyond[0] else int(np.flatnonzero((inside != inside[0]) | beyond)[0])
        before = _LONG[first] + " since 1970" if first else "smaller by far"
        found = "later than any date" if beyond[0] else f"where rows before it are {before}"
        raise TraceError(
            [
                Problem(
                    source.file,
                    int(lines[place]),
                    f"time is {numbers[place]:.17g}, {found}",
                    "one unit in a file",
                )
            ]
        )
