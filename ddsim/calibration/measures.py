"""What a run came to, by its log: the same count for measured and for simulated ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from statistics import median
from typing import TYPE_CHECKING

from ddsim.calibration.busy import JOB

if TYPE_CHECKING:
    from ddsim.logs.run_log import Event, RunLog

MEASURES: Mapping[str, str] = {
    "goodput": "share of the units' time in which they computed steps that were kept",
    "failures": "failures",
    "steps": "steps of all units together",
    "commits": "synchronizations, one for each participant",
    "alone": "share of these that a unit made on its own",
}
"""What is predicted, in words."""
LONGER = 1.5
"""Times the middle of all: what a row's steps take beyond it is no compute."""


def measure(log: RunLog) -> dict[str, float | None]:
    """Every measure of a log; None where it knows no such thing."""
    steps = [event for event in log.of("step") if event.duration is not None]
    syncs = [len(event.participants) for event in log.of("sync")]
    commits = sum(syncs)
    several = len(log.units) > 1 and commits > 0
    return {
        "goodput": _goodput(log, steps) if steps else None,
        "failures": float(sum(1 for _ in log.of("failure"))),
        "steps": float(sum(event.steps for event in steps)) if steps else None,
        "commits": float(commits) if syncs else None,
        "alone": syncs.count(1) / commits if several else None,
    }


def _goodput(log: RunLog, steps: Iterable[Event]) -> float:
    rows = list(steps)
    most = LONGER * median(event.duration or 0.0 for event in rows)
    usual = median(event.duration or 0.0 for event in rows)
    spent = 0.0
    for event in _kept(rows):
        length = event.duration or 0.0
        spent += event.steps * (length if length <= most else usual)
    return min(1.0, spent / (max(1, len(log.units)) * log.span))


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
