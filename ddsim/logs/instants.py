"""Instants as logs write them, as seconds since 1970.

ISO 8601 with zones or without, other forms as said, or a number of seconds, milliseconds, micro- or
nanoseconds since 1970, told apart by size. What was taken for what is kept in words.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from datetime import UTC, datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ddsim.errors import InputError
from ddsim.naming import nearest, shown

Array = NDArray[np.float64]
UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3_600.0, "d": 86_400.0}
"""Seconds in a unit."""
_WORDS = {"ns": "nanoseconds", "us": "microseconds", "ms": "milliseconds", "s": "seconds"}
_DATES = "dates"
_LONGEST_UP = 1e8
"""Seconds that a machine may have been up, as dmesg counts them: three years."""
EARLIEST, LATEST = 946_684_800.0, 4_102_444_800.0
"""The years 2000 and 2100: a number is an instant in the unit that puts it between them."""


class InstantError(ValueError):
    """Some values are no instants that can be told: which (places in the array), and why."""

    def __init__(self, places: NDArray[np.int64], found: str, allowed: str) -> None:
        super().__init__(found)
        self.places, self.found, self.allowed = places, found, allowed


class ZoneError(InputError, ValueError):
    """There is no such time zone."""


def zone_named(name: str) -> ZoneInfo:
    """The time zone of that name (as Europe/Berlin); raises ZoneError."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        from zoneinfo import available_timezones

        near = nearest(name, available_timezones())
        meant = f'did you mean "{near}"? ' if near else ""
        raise ZoneError(
            f"--timezone: {shown(name)} is no time zone; {meant}"
            "a name such as Europe/Berlin, America/Los_Angeles or UTC is needed"
        ) from None


def unit_of(low: float, high: float) -> str | None:
    """The unit in which both numbers are instants between 2000 and 2100; None if there is none."""
    for unit in _WORDS:
        if low * UNITS[unit] >= EARLIEST and high * UNITS[unit] <= LATEST:
            return unit
    return None


@dataclass
class Clock:
    """How the times of one file are read.

    `zone` is the place whose clock shows times that name no zone; None: UTC, which is said.
    `written` is when the file was, for forms without a year; `unit` that of numbers, if known. What
    a column turned out to be holds for all of its rows, in all chunks; `said` has it in words.
    """

    zone: ZoneInfo | None = None
    written: float = math.inf
    unit: str | None = None
    said: dict[str, None] = field(default_factory=dict)
    _units: dict[str, str] = field(default_factory=dict)

    def remarks(self) -> list[str]:
        """What was taken for what, in the order of the columns."""
        return list(self.said)

    def say_zone(self) -> None:
        """Say whose times without a zone are taken to be."""
        taken = self.zone.key if self.zone is not None else "UTC"
        hint = (
            "; --timezone says whose they are (without it lengths of time are an hour wrong where "
            "clocks change in between)"
        )
        self.said.setdefault(
            f"times without a zone: taken as {taken}{hint if self.zone is None else ''}"
        )

    def say_unit(self, column: str, unit: str, first: float) -> None:
        """Say which unit numbers are taken to have, with the first of them as a date."""
        date = datetime.fromtimestamp(first * UNITS[unit], UTC).strftime("%Y-%m-%d %H:%M:%S")
        self.said.setdefault(
            f"{column}: read as {_WORDS[unit]} since 1970 by its size ({first:.17g} is {date} UTC)"
        )

    def say_other_unit(self, column: str, first: float) -> None:
        """Say where a unit that was given puts numbers elsewhere than their size does."""
        told = unit_of(first, first)
        if self.unit is not None and told not in (None, self.unit):
            date = datetime.fromtimestamp(first * UNITS[told], UTC).strftime("%Y-%m-%d %H:%M:%S")
            self.said.setdefault(
                f"{column}: read as {_WORDS[self.unit]} since --unit says so; by its size "
                f"{first:.17g} is {date} UTC in {_WORDS[told]}, and then lengths of time are wrong"
            )

    def read(
        self,
        values: pd.Series[str],
        column: str,
        forms: tuple[str, ...] = (),
        unit: str | None = None,
    ) -> Array:
        """Texts or numbers as seconds since 1970, NaN for None. Raises InstantError."""
        given = values.notna().to_numpy()
        seconds = np.full(len(values), math.nan)
        texts = values[given]
        if not len(texts):
            return seconds
        seconds[given] = (
            self._numbers(texts, column, self.unit or unit)
            if _is_number(texts.iloc[0])
            else self._dates(texts, column, forms)
        )
        return seconds

    def _numbers(self, texts: pd.Series[str], column: str, unit: str | None) -> Array:
        numbers = pd.to_numeric(texts, errors="coerce").to_numpy(dtype=np.float64)
        numeric = np.isfinite(numbers)
        if not numeric.all() or self._units.get(column) == _DATES:
            places = np.flatnonzero(~numeric if numeric.any() else numeric)
            raise _two_ways(places if len(places) else np.zeros(1, np.int64), column)
        chosen = unit or self._units.get(column) or self._told(numbers, column)
        self._units[column] = chosen
        self.say_other_unit(column, float(numbers[0]))
        seconds = numbers * UNITS[chosen]
        wrong = np.flatnonzero((seconds < EARLIEST) | (seconds > LATEST))
        if unit is None and len(wrong):
            raise _mixed(wrong, numbers, column, chosen)
        return seconds

    def _told(self, numbers: Array, column: str) -> str:
        first = float(numbers[0])
        unit = unit_of(first, first)
        if unit is None:
            found = f"{column} is {first:.17g}, an instant in no unit between 2000 and 2100"
            allowed = "`--unit s`, `ms`, `us` or `ns` says which unit it has"
            if 0.0 <= first < _LONGEST_UP:
                allowed += ", as `--unit s` of seconds since a machine was started"
            raise InstantError(np.zeros(1, dtype=np.int64), found, allowed)
        self.say_unit(column, unit, first)
        return unit

    def _dates(self, texts: pd.Series[str], column: str, forms: tuple[str, ...]) -> Array:
        if self._units.setdefault(column, _DATES) != _DATES:
            raise _two_ways(np.zeros(1, np.int64), column)
        seconds = self._iso(texts)
        for form in forms:
            left = np.isnan(seconds)
            if not left.any():
                break
            seconds[left] = self._formed(texts[left], form, column)
        wrong = np.flatnonzero(~((seconds >= 0.0) & (seconds <= LATEST)))
        if len(wrong):
            if any(_is_number(text) for text in texts.iloc[wrong]):
                raise _two_ways(wrong, column)
            like = f" or as {datetime(2026, 1, 31, 13, 30, 15):{forms[0]}}" if forms else ""
            raise InstantError(
                wrong,
                f"{column} is {shown(str(texts.iloc[wrong[0]]))}",
                f"a time is needed: ISO 8601 (2026-01-31T13:30:15+00:00){like}, or a number",
            )
        return seconds

    def _iso(self, texts: pd.Series[str]) -> Array:
        texts = texts.astype(object)
        if isinstance(texts.iloc[0], str) and "," in texts.iloc[0]:
            texts = texts.str.replace(",", ".", regex=False)
        try:
            dates = pd.to_datetime(texts, format="ISO8601", errors="coerce")
            plain = dates.dtype.kind == "M"
        except ValueError:  # some have zones and some have none, or not the same
            plain = False
        if not plain:
            return self._mixed_zones(texts)
        if getattr(dates.dt, "tz", None) is None:
            return self._local(dates)
        return _seconds(dates)

    def _mixed_zones(self, texts: pd.Series[str]) -> Array:
        zoned = texts.str.contains(r"(?:Z|[+-]\d\d(?::?\d\d)?)\s*$", case=False).to_numpy(bool)
        seconds = np.full(len(texts), math.nan)
        seconds[zoned] = _seconds(
            pd.to_datetime(texts[zoned], utc=True, format="ISO8601", errors="coerce")
        )
        if not zoned.all():
            local = pd.to_datetime(texts[~zoned], format="ISO8601", errors="coerce")
            seconds[~zoned] = self._local(local)
        return seconds

    def _formed(self, texts: pd.Series[str], form: str, column: str) -> Array:
        if "%Y" in form or "%y" in form:
            dates = pd.to_datetime(texts, format=form, errors="coerce")
            return _seconds(dates) if "%z" in form else self._local(dates)
        # a year is not written: the one that puts the time before the file's own
        year = datetime.fromtimestamp(min(self.written, LATEST), UTC).year
        seconds = np.full(len(texts), math.nan)
        for back in (0, 1):
            dated = f"{year - back} " + texts.astype(object)
            dates = pd.to_datetime(dated, format=f"%Y {form}", errors="coerce")
            found = self._local(dates)
            fits = found <= self.written + 86_400.0
            seconds = np.where(np.isnan(seconds) & fits, found, seconds)
        self.said.setdefault(
            f"{column}: no year is written; the one that puts a time before the file was last "
            f"written ({datetime.fromtimestamp(min(self.written, LATEST), UTC):%Y-%m-%d}) is taken"
        )
        return seconds

    def _local(self, dates: pd.Series[pd.Timestamp]) -> Array:
        """Times of a clock on a wall; what it shows twice in autumn is taken as the earlier."""
        if self.zone is None:
            if dates.notna().any():
                self.say_zone()
            return _seconds(dates)
        first = np.ones(len(dates), dtype=np.bool_)
        there = dates.dt.tz_localize(self.zone, ambiguous=first, nonexistent="shift_forward")
        self.say_zone()
        return _seconds(there)


def _seconds(dates: pd.Series[pd.Timestamp]) -> Array:
    """Seconds since 1970, NaN where there is no date."""
    if getattr(dates.dt, "tz", None) is not None:
        dates = dates.dt.tz_convert("UTC").dt.tz_localize(None)
    ticks = dates.to_numpy(dtype="datetime64[us]")
    seconds = ticks.astype(np.int64) / 1e6
    seconds[np.isnat(ticks)] = math.nan
    return seconds


def _is_number(text: object) -> bool:
    try:
        return math.isfinite(float(str(text)))
    except ValueError:
        return False


def _two_ways(places: NDArray[np.int64], column: str) -> InstantError:
    return InstantError(places, f"{column} mixes numbers and dates", "one way to write times")


def _mixed(places: NDArray[np.int64], numbers: Array, column: str, unit: str) -> InstantError:
    other = unit_of(float(numbers[places[0]]), float(numbers[places[0]]))
    like = f"{_WORDS[other]}" if other else "no instant between 2000 and 2100"
    return InstantError(
        places,
        f"{column} is {numbers[places[0]]:.17g}, {like}, where rows before it are {_WORDS[unit]}",
        "one unit in a file",
    )
