"""Who computed when: which steps nothing else fell into, and what the other units did meanwhile."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ddsim.logs.run_log import Event, RunLog

JOB = "job"
STILL = 0.02
"""Share of a row's time in which others may compute, or rest, without being counted."""
MOSTLY = 0.3
"""Share of a row's time for which others may step in one that tells of a step alone."""
TOUCHING = 1e-6
LONG = 1.5
"""Times the middle of all, from which on a row of steps has a wait in it."""
_PASSES_BY = ("step", "detection", "fault")


class Spans:
    """Stretches of time of one unit, joined where they overlap."""

    def __init__(self, spans: Iterable[tuple[float, float]]) -> None:
        joined: list[list[float]] = []
        for start, end in sorted(spans):
            if joined and start <= joined[-1][1]:
                joined[-1][1] = max(joined[-1][1], end)
            else:
                joined.append([start, end])
        self._starts = [start for start, _ in joined]
        self._ends = [end for _, end in joined]

    def within(self, start: float, end: float) -> float:
        """How much of [start, end] they cover, in seconds."""
        first, last = bisect_right(self._ends, start), bisect_left(self._starts, end)
        return sum(
            min(end, self._ends[at]) - max(start, self._starts[at]) for at in range(first, last)
        )

    def touch(self, start: float, end: float) -> bool:
        """Whether one of them reaches into (start, end), or stands at one instant of it."""
        first = bisect_right(self._ends, start + TOUCHING)
        return first < len(self._starts) and self._starts[first] < end - TOUCHING


@dataclass
class Company:
    """The steps of a log into which nothing else fell (`clean`), and the other units meanwhile.

    `stepping` is when a unit stepped for sure, `perhaps` when it may have; `rows` are its steps.
    """

    clean: list[Event]
    stepping: dict[str, Spans]
    perhaps: dict[str, Spans]
    rows: dict[str, tuple[list[float], list[Event]]]
    disturbed: dict[str, Spans]

    def together(self, step: Event) -> bool:
        """Whether all others stepped all the while."""
        return self._least(step, self.stepping) > 1.0 - STILL

    def alone(self, step: Event) -> bool:
        """Whether another did not step for most of the time; less of it says little."""
        return self._least(step, self.perhaps) < MOSTLY

    def shared(self, step: Event) -> float:
        """For how much of its time all others stepped, as a share."""
        return self._least(step, self.perhaps)

    def _least(self, step: Event, spans: dict[str, Spans]) -> float:
        start, end = _window(step)
        length = max(end - start, 1e-12)
        shares = [of.within(start, end) / length for unit, of in spans.items() if unit != step.unit]
        return min(shares, default=1.0)

    def around(self, unit: str, event: Event) -> Event | None:
        """The row of a unit's steps within which an event is, if nothing but that fell into it."""
        ends, rows = self.rows.get(unit, ([], []))
        at = bisect_left(ends, event.time)
        if at == len(rows):
            return None
        start, end = _window(rows[at])
        if not start < event.time <= end or self.disturbed[unit].touch(start, end):
            return None
        return rows[at]


def _window(step: Event) -> tuple[float, float]:
    return step.time - step.steps * (step.duration or 0.0), step.time


def _stepped(
    rows: Sequence[Event], syncs: Sequence[tuple[float, float]], usual: float
) -> Iterator[tuple[float, float]]:
    """When a unit stepped: all the time of its rows, but for waits before a synchronization."""
    at = sorted(time for time, _ in syncs)
    for row in rows:
        start, end = _window(row)
        waited = end - start - row.steps * usual
        place = bisect_right(at, start)
        if waited > (LONG - 1.0) * row.steps * usual and place < len(at) and at[place] <= end:
            yield start, max(start, at[place] - waited)
            yield at[place], end
        else:
            yield start, end


def _span(event: Event) -> tuple[float, float]:
    return event.time - (event.duration or 0.0), event.time


def company_of(log: RunLog) -> Company:
    """Look who did what when."""
    units = list(log.units)
    steps: dict[str, list[Event]] = {unit: [] for unit in units}
    other: dict[str, list[tuple[float, float]]] = {unit: [] for unit in units}
    syncs: dict[str, list[tuple[float, float]]] = {unit: [] for unit in units}
    lost: dict[str, list[tuple[float, float]]] = {unit: [] for unit in units}
    seen: dict[str, float] = {}
    for event in log.events:
        if event.event == "step":
            steps.setdefault(event.unit, []).append(event)
            seen[event.unit] = event.time
        elif event.event == "sync":
            if event.duration is None:  # one that is timed is a wait where it holds anybody up
                for unit in event.participants:
                    syncs[unit].append((event.time, event.time))
        elif event.event not in _PASSES_BY:
            other.setdefault(event.unit, []).append(_span(event))
            since = seen.get(event.unit, event.time)
            if event.event == "failure" and since < event.time:
                lost[event.unit].append((since, event.time))  # steps that it had not noted yet
            elif event.event == "evaluation":  # which is spread over the steps
                lost[event.unit].append(_span(event))
    disturbed = {unit: Spans(spans) for unit, spans in other.items()}
    blocked = {unit: Spans([*other[unit], *syncs.get(unit, [])]) for unit in other}
    whole = Spans([_span(e) for e in log.events if e.event not in (*_PASSES_BY, "wait", "sync")])
    clean = [
        step
        for rows in steps.values()
        for step in rows
        if step.duration is not None and not _in_way(step, blocked, whole, units)
    ]
    lengths = sorted(step.duration or 0.0 for step in clean)
    usual = lengths[len(lengths) // 2] if lengths else 0.0
    return Company(
        clean,
        {
            unit: Spans(_window(row) for row in rows if (row.duration or 0.0) < LONG * usual)
            for unit, rows in steps.items()
        },
        {
            unit: Spans([*lost.get(unit, []), *_stepped(rows, syncs.get(unit, []), usual)])
            for unit, rows in steps.items()
        },
        {unit: ([row.time for row in rows], rows) for unit, rows in steps.items()},
        disturbed,
    )


def _in_way(step: Event, blocked: dict[str, Spans], whole: Spans, units: Sequence[str]) -> bool:
    """Whether anything fell into a row of steps; into a job's, whatever befell any unit of it."""
    start, end = _window(step)
    if step.unit == JOB and len(units) > 1:
        return whole.touch(start, end)
    return step.unit in blocked and blocked[step.unit].touch(start, end)
