"""How a link's bandwidth changes over time: a schedule, a trace, a random process."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Annotated, Any

from pydantic_core import PydanticCustomError

from ddsim.files import TooLargeError, read_within
from ddsim.naming import listed, shown, suggestion
from ddsim.scenario.fields import (
    Fault,
    Kind,
    Number,
    Quantity,
    Range,
    faults_of,
    refuse,
    refuse_all,
)
from ddsim.scenario.files import files_of
from ddsim.scenario.headings import in_bits, time_unit
from ddsim.scenario.section import Section, described, required
from ddsim.scenario.units import BANDWIDTH, TIME

_TIME = Quantity(TIME, Range(0.0, above=True))
_MOST_ROWS = 1_000_000
_ROW = "a time in s and a rate in bit/s, such as 60,2.5e9"


class Change(Section):
    """A bandwidth from some time on."""

    at: Annotated[float, Quantity(TIME)] = required(0.0, "From when on, since the start.")
    bandwidth: Annotated[float, Quantity(BANDWIDTH, Range(0.0), "unlimited")] = required(
        math.inf, "The bandwidth from then on, in each direction; 0 bit/s is an outage."
    )


@dataclass(frozen=True)
class LinkTrace:
    """What a link carried over time: its rows (s, bit/s), times ascending, and where they stood."""

    path: str
    rates: tuple[tuple[float, float], ...] = field(repr=False)


class TraceFile(Kind):
    """The name of a CSV file with rows of a time in s and a rate in bit/s.

    Relative names start from the scenario's folder; the validation context has its `files`.
    """

    def read(self, value: Any, context: Any = None) -> LinkTrace:
        """What the file says."""
        if not isinstance(value, str) or not value.strip():
            raise refuse(shown(value), "the name of a CSV file: time_s,bit_per_s")
        files = files_of(context)
        path = files.find(value)
        if path.exists() and not path.is_file():
            raise refuse(
                f"{shown(value)}, which is no file", "a CSV file, which can be read once more"
            )
        try:
            return LinkTrace(str(path), files.read(path, "link", read_rates))
        except OSError as error:
            found = f"{shown(value)}: {error.strerror}"
            raise refuse(found, f"a CSV file that can be read; looked for {path}") from None
        except ValueError as error:
            found, allowed = error.args
            raise refuse(f"{shown(value)}, {found}", allowed) from None

    def write(self, value: Any) -> str:
        """The absolute path."""
        return str(value.path)

    def json_schema(self) -> dict[str, Any]:
        """A string."""
        return {"type": "string"}


MOST_BYTES = 64 * 1024 * 1024
"""Of a link's trace."""


def read_rates(path: Path) -> tuple[tuple[float, float], ...]:
    """Return the rows (s, bit/s) of a trace of a link, times ascending.

    A first row that is no numbers is a heading, and may name no other units; empty rows and rows
    that begin with # are left out. Raises OSError, and ValueError(what was found, what is allowed).
    """
    rows: list[tuple[float, float]] = []
    try:
        text = read_within(path, MOST_BYTES).decode("utf-8-sig")
    except TooLargeError as error:
        raise ValueError(str(error), f"at most {MOST_BYTES:,} bytes") from None
    except UnicodeDecodeError:
        raise ValueError("bytes that are not text", "UTF-8 text") from None
    for line, fields in enumerate(csv.reader(StringIO(text, newline="")), start=1):
        if not fields or fields[0].lstrip().startswith("#"):
            continue
        row = _row(fields)
        if row is None and not rows and line == 1:
            _judge_heading(fields)
            continue
        _judge(row, rows, line, fields)
        assert row is not None
        rows.append(row)
    if not rows:
        raise ValueError("no rows", f"rows of {_ROW}")
    return tuple(rows)


def _row(fields: list[str]) -> tuple[float, float] | None:
    try:
        time, rate = (float(text) for text in fields)
    except ValueError:
        return None
    return (time, rate) if math.isfinite(time) and rate >= 0.0 else None


def _judge_heading(fields: list[str]) -> None:
    if time_unit(fields[0]) not in (None, "s") or not all(map(in_bits, fields[1:])):
        raise ValueError(f"line 1: {shown(','.join(fields))}, other units", _ROW)


def _judge(
    row: tuple[float, float] | None, rows: list[tuple[float, float]], line: int, fields: list[str]
) -> None:
    if row is None:
        raise ValueError(f"line {line}: {shown(','.join(fields))}", _ROW)
    if rows and row[0] <= rows[-1][0]:
        raise ValueError(f"line {line}: time {row[0]:g} after {rows[-1][0]:g}", "times that ascend")
    if len(rows) >= _MOST_ROWS:
        raise ValueError(f"more than {_MOST_ROWS} rows", f"at most {_MOST_ROWS}")


@dataclass(frozen=True)
class RandomSpec:
    """A random process by name, its times in s."""

    kind: str
    params: dict[str, float] = field(default_factory=dict)


_PROCESSES: Mapping[str, Mapping[str, Quantity | Number]] = {
    "two_state": {
        "low": Number(Range(0.0, 1.0, below=True)),
        "high_for": _TIME,
        "low_for": _TIME,
    },
    "lognormal": {
        "sigma": Number(Range(0.0, 10.0, above=True)),
        "correlation": _TIME,
        "every": _TIME,
    },
}


class Process(Kind):
    """``{process: {parameter: value}}``: a factor on the bandwidth, drawn before the run.

    `two_state` has the bandwidth and `low`, a share of it, in turn, for exponential times of means
    `high_for` and `low_for`. `lognormal` has a factor of mean 1 whose logarithm, of standard
    deviation `sigma`, is an autoregression sampled `every` so long with the given `correlation`
    time.
    """

    def read(self, value: Any, context: Any = None) -> RandomSpec:
        """The process."""
        if not isinstance(value, dict) or len(value) != 1:
            raise refuse(shown(value), f"one process with its parameters: {_forms()}")
        ((kind, raw),) = value.items()
        if kind not in _PROCESSES:
            near = suggestion(kind, _PROCESSES)
            raise refuse_all([((kind,), f"unknown process {shown(kind)}", near + _forms())])
        return RandomSpec(kind, _parameters(kind, raw))

    def write(self, value: Any) -> Any:
        """The mapping."""
        kinds = _PROCESSES[value.kind]
        return {value.kind: {name: kinds[name].write(x) for name, x in value.params.items()}}

    def json_schema(self) -> dict[str, Any]:
        """One of the mappings."""
        properties = {
            kind: {
                "type": "object",
                "properties": {name: item.json_schema() for name, item in parameters.items()},
                "additionalProperties": False,
            }
            for kind, parameters in _PROCESSES.items()
        }
        return {
            "type": "object",
            "properties": properties,
            "minProperties": 1,
            "maxProperties": 1,
            "additionalProperties": False,
        }


def _forms() -> str:
    forms = [f"{kind} ({', '.join(names)})" for kind, names in _PROCESSES.items()]
    return listed(forms)


def _parameters(kind: str, raw: Any) -> dict[str, float]:
    kinds = _PROCESSES[kind]
    takes = f"{kind} takes {listed(list(kinds), 'and')}"
    if not isinstance(raw, dict):
        raise refuse_all([((kind,), shown(raw), takes)])
    values: dict[str, float] = {}
    faults: list[Fault] = []
    for name, value in raw.items():
        if name not in kinds:
            near = suggestion(name, kinds)
            faults.append(((kind, name), f"unknown parameter {shown(name)}", near + takes))
            continue
        try:
            values[name] = kinds[name].read(value)
        except PydanticCustomError as error:
            faults += [((kind, name), found, allowed) for _, found, allowed in faults_of(error)]
    if not faults and set(values) != set(kinds):
        faults.append(((kind,), listed(list(values), "and") or "no parameters", takes))
    if faults:
        raise refuse_all(faults)
    return values


class Varying(Section):
    """What varies in time: at known times, as in a trace, or at random."""

    schedule: tuple[Change, ...] = described(
        (), "Bandwidths from given times on: a list of {at, bandwidth}."
    )
    repeat: Annotated[float | None, _TIME] = described(
        None, "Length after which schedule or trace begins anew, such as 1 day.", otherwise="never"
    )
    trace: Annotated[LinkTrace | None, TraceFile()] = described(
        None, "A CSV file of bandwidths over time, rows time_s,bit_per_s, instead of `schedule`."
    )
    random: Annotated[RandomSpec | None, Process()] = described(
        None,
        "A random factor on the bandwidth: {two_state: {low, high_for, low_for}} or "
        "{lognormal: {sigma, correlation, every}}.",
    )

    @classmethod
    @cache
    def keys(cls) -> Mapping[str, str]:
        """Every key and its field, what varies last."""
        keys = super().keys()
        varying = {key: keys[key] for key in Varying.model_fields}
        return {key: name for key, name in keys.items() if key not in varying} | varying

    @property
    def varies(self) -> bool:
        """Whether a schedule or a trace says so."""
        return bool(self.schedule) or self.trace is not None
