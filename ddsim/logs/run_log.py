"""The run log: what a training run did and what befell it, one event a line.

A file is JSON lines. Every event has a `time` in seconds and an
`event`, one of `EVENTS`; the rest is there where it means something. An event is noted when it is
over: `time` is its end and `duration` how long it took.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ddsim.logs.model import Notice

if TYPE_CHECKING:
    from pandas import DataFrame

EVENTS: Mapping[str, str] = {
    "run": "the first line: how many chips each of the `units` has, and what is `given` of the "
    "scenario, by path; `cause` is the method",
    "step": "`unit` took `steps` steps, each of `duration`, the last of which is its `step`",
    "sync": "`participants` exchanged `bytes` each, in `duration`",
    "save": "`unit` saved its state, and stood for `duration`",
    "load": "`unit` loaded a save",
    "failure": "`unit` failed, of `cause`; it has no duration",
    "detection": "the failure of `unit` was known, `duration` after it",
    "restart": "`unit` has started again",
    "down": "`unit` has its hardware back, which it lacked for `duration`",
    "wait": "`unit` waited, for `cause`",
    "stall": "`unit` stood for another reason, its `cause`",
    "evaluation": "`unit` evaluated its model",
    "fault": "what was done to `unit` on purpose: `cause`",
    "end": "the last line: when the log ends",
}
"""The kinds of event, in words."""


class Event(NamedTuple):
    """One line. `line` is where it stands in its file, 0 where it comes from none."""

    time: float
    event: str
    unit: str = ""
    duration: float | None = None
    step: int | None = None
    steps: int = 1
    bytes: float | None = None
    participants: tuple[str, ...] = ()
    cause: str = ""
    line: int = 0
    units: Mapping[str, int] | None = None
    given: Mapping[str, Any] | None = None


class Reading(Protocol):
    """Who reads a log: told of what had to be mended or decided."""

    notices: list[Notice]


Rows = Iterable[tuple[int, Mapping[str, Any]]]
"""The lines of a file with the columns of its form; None for what a row does not say."""

_UNSAID: Mapping[str, Any] = {
    name: default for name, default in Event._field_defaults.items() if name != "line"
}
COLUMNS = ("time", "event", "unit", "duration", "step", "steps", "bytes", "participants", "cause")
"""Of the frame of a run log, besides `line`; `participants` is how many there were."""


@dataclass(frozen=True)
class RunLog:
    """The events of a file in the order of time, `start` to `end` in seconds.

    `units` are the chips of each unit, 0 where the log does not say. `given` are facts of the
    scenario that the log brings with it, by scenario path; `method` is the way of training that it
    names, if it does.
    """

    file: str
    form: str
    events: Sequence[Event]
    units: Mapping[str, int]
    start: float
    end: float
    notices: tuple[Notice, ...] = ()
    given: Mapping[str, Any] = field(default_factory=dict)
    method: str = ""

    @property
    def span(self) -> float:
        """How long the log is, in seconds."""
        return self.end - self.start

    def of(self, *kinds: str) -> Iterator[Event]:
        """The events of these kinds."""
        return (event for event in self.events if event.event in kinds)

    def frame(self) -> DataFrame:
        """A row an event."""
        import pandas as pd

        rows = [
            (*(getattr(event, name) for name in COLUMNS[:-2]), len(event.participants), event.cause)
            for event in self.events
        ]
        frame = pd.DataFrame(rows, columns=list(COLUMNS))
        return frame.assign(line=[event.line for event in self.events])

    def between(self, start: float, end: float) -> RunLog:
        """What happened in [start, end)."""
        events = [event for event in self.events if start <= event.time < end]
        return replace(self, events=events, start=start, end=end)


def to_lines(events: Iterable[Event]) -> Iterator[str]:
    """The lines of a file; what an event does not say is left out."""
    for event in events:
        said = {
            name: value
            for name, value in zip(Event._fields, event, strict=True)
            if name != "line" and (name not in _UNSAID or value != _UNSAID[name])
        }
        yield json.dumps(said, separators=(",", ":"), ensure_ascii=False) + "\n"


def to_bytes(events: Iterable[Event]) -> bytes:
    """The file: the same bytes for the same events."""
    return "".join(to_lines(events)).encode()


def log_of(file: str, form: str, events: Iterable[Event], notices: Sequence[Notice] = ()) -> RunLog:
    """A run log of events, which need not be in order; units and span as they say.

    Without a first line the log begins with its first event, or with what that measured.
    """
    ordered = sorted(events, key=lambda event: event.time)
    heads = [event for event in ordered if event.event == "run"]
    rest = [event for event in ordered if event.event not in ("run", "end")]
    units: dict[str, int] = {}
    given: dict[str, Any] = {}
    for head in heads:
        units.update({name: int(chips) for name, chips in (head.units or {}).items()})
        given.update(head.given or {})
    if not units:
        named = {name: 0 for event in rest for name in (event.unit, *event.participants) if name}
        units = dict.fromkeys(sorted(named), 0)
    first = rest[0]
    start = heads[0].time if heads else first.time - (first.duration or 0.0) * first.steps
    end = ordered[-1].time
    method = heads[0].cause if heads else ""
    return RunLog(file, form, rest, units, start, end, tuple(notices), given, method)
