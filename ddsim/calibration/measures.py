"""What a run came to, by its log: the same count for measured and for simulated ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from ddsim.calibration.busy import JOB

if TYPE_CHECKING:
    from ddsim.logs.run_log import Event, RunLog

MEASURES: Mapping[str, str] = {
    "goodput": "steps that were kept, times what one takes undisturbed, over the units' time",
    "failures": "failures",
    "steps": "steps of all units together",
    "commits": "synchronizations, one for each participant",
    "alone": "share of these that a unit made on its own",
}
"""What is predicted, in words."""


def measure(log: RunLog, step_time: float) -> dict[str, float | None]:
    """Every measure of a log whose steps take so long undisturbed; None where it knows none."""
    steps = [event for event in log.of("step") if event.duration is not None]
    syncs = [len(event.participants) for event in log.of("sync")]
    commits = sum(syncs)
    several = len(log.units) > 1 and commits > 0
    return {
        "goodput": _goodput(log, steps, step_time) if steps else None,
        "failures": float(sum(1 for _ in log.of("failure"))),
        "steps": float(sum(event.steps for event in steps)) if steps else None,
        "commits": float(commits) if syncs else None,
        "alone": syncs.count(1) / commits if several else None,
    }


def _goodput(log: RunLog, steps: list[Event], step_time: float) -> float:
    done = sum(event.steps for event in _kept(steps))
    return min(1.0, done * step_time / (max(1, len(log.units)) * log.span))


def _kept(rows: list[Event]) -> Iterable[Event]:
    """The steps that were not done again: of a job's, the last of each number."""
    if any(event.unit != JOB or event.step is None for event in rows):
        return rows
    last: dict[int, Event] = {}
    for event in rows:
        number = event.step or 0
        for later in [at for at in last if at >= number] if last and number in last else ():
            del last[later]
        last[number] = event
    return last.values()


def in_rows(log: RunLog, each: int) -> RunLog:
    """A log of single steps as one that notes them `each` at a time.

    What a failure breaks off is not noted.
    """
    if each == 1:
        return log
    events: list[Event] = []
    open_rows: dict[str, list[Event]] = {}
    for event in log.events:
        if event.event == "failure":
            open_rows.pop(event.unit, None)
        if event.event != "step":
            events.append(event)
            continue
        row = open_rows.setdefault(event.unit, [])
        row.append(event)
        steps = sum(one.steps for one in row)
        if steps >= each:
            length = sum(one.steps * (one.duration or 0.0) for one in row) / steps
            events.append(event._replace(duration=length, steps=steps))
            row.clear()
    return replace(log, events=events)
