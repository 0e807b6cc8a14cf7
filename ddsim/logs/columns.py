"""Columns with the types that a form says: text, numbers, instants and durations, never guessed."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ddsim.logs.forms import Column, Form
from ddsim.logs.instants import UNITS, Clock, InstantError
from ddsim.logs.model import Problem, TraceError
from ddsim.logs.opened import LogFile
from ddsim.naming import shown

_DURATION = re.compile(r"(?:(?:(\d+)-)?(\d+):)?(\d+):(\d+(?:\.\d+)?)").fullmatch


def typed(
    file: LogFile,
    form: Form,
    clock: Clock,
    index: pd.Index[Any],
    columns: Mapping[str, Sequence[Any]],
) -> pd.DataFrame:
    """A frame of columns as the form types them. Raises TraceError with the lines at fault."""
    text = Column.of("")
    return pd.DataFrame(
        {
            name: _column(file, name, form.columns.get(name, text), clock, index, values)
            for name, values in columns.items()
        },
        index=index,
    )


def _column(
    file: LogFile,
    name: str,
    said: Column,
    clock: Clock,
    index: pd.Index[Any],
    values: Sequence[Any],
) -> pd.Series[Any]:
    series = pd.Series(_cleaned(values, said), index=index, dtype=object)
    if said.kind == "text":
        return series
    called = said.fields[0] if len(said.fields) == 1 else name
    try:
        if said.kind == "instant":
            found = clock.read(series, called, said.times, said.unit)
        elif said.kind == "duration":
            found = _durations(series, called, said.unit)
        else:
            found = _numbers(series, called)
    except InstantError as error:
        problems = [
            Problem(file.name, int(line), error.found, error.allowed)
            for line in index[series.notna().to_numpy()][error.places]
        ]
        raise TraceError(problems) from None
    return pd.Series(found, index=index)


def _cleaned(values: Sequence[Any], said: Column) -> np.ndarray[Any, Any]:
    """Values with nothing as None: empty text, and the words that stand for it."""
    nothing = {"", None, *said.empty}
    if said.take is not None:
        take = re.compile(said.take).search
        taken = {
            value: found[1] if (found := take(str(value))) else value
            for value in set(values) - {None}
        }
        values = [taken.get(value) for value in values]
    cleaned = np.empty(len(values), dtype=object)
    if not said.empty and set(map(type, values)) <= {int, float, type(None)}:
        cleaned[:] = values
        return cleaned
    try:
        stripped = map(str.strip, values)
        cleaned[:] = [None if value in nothing else value for value in stripped]
    except TypeError:  # not all of it is text
        cleaned[:] = [_given(value, nothing) for value in values]
    return cleaned


def _given(value: Any, nothing: set[Any]) -> Any:
    """A value of JSON, None if it stands for nothing; what is no scalar is told as text."""
    if isinstance(value, dict | list):
        return json.dumps(value)
    text = value.strip() if isinstance(value, str) else value
    return None if text is None or text in nothing or str(text) in nothing else text


def _numbers(series: pd.Series[Any], name: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    numbers = pd.to_numeric(series, errors="coerce").to_numpy(dtype=np.float64)
    given = series.notna().to_numpy()
    wrong = np.flatnonzero(~np.isfinite(numbers[given]))
    if len(wrong):
        found = f"{name} is {shown(str(series[given].iloc[wrong[0]]))}"
        raise InstantError(wrong, found, "a number is needed")
    return numbers


def _durations(
    series: pd.Series[Any], name: str, unit: str | None
) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Numbers in a unit, or days-hours:minutes:seconds."""
    if unit is not None:
        return _numbers(series, name) * UNITS[unit]
    texts = series.to_numpy(dtype=object)
    each = {text: _length(str(text)) for text in {*texts} - {None}}
    seconds = np.array([each.get(text, np.nan) for text in texts], dtype=np.float64)
    given = series.notna().to_numpy()
    wrong = np.flatnonzero(np.isnan(seconds[given]))
    if len(wrong):
        found = f"{name} is {shown(str(series[given].iloc[wrong[0]]))}"
        raise InstantError(wrong, found, "days-hours:minutes:seconds is needed")
    return seconds


def _length(text: str) -> float:
    """Seconds of days-hours:minutes:seconds, hours and days perhaps not written; or NaN."""
    found = _DURATION(text)
    if found is None:
        return np.nan
    days, hours, minutes, seconds = (float(part or 0.0) for part in found.groups())
    return 86_400.0 * days + 3_600.0 * hours + 60.0 * minutes + seconds
