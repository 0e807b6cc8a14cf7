"""Training scripts' text logs: iterations with their times, and what saving and loading took."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from ddsim.logs.run_log import Event, Reading, Rows

JOB = "job"
MILLI = 1e-3
RESTARTED = "restart of the job"


def iteration_events(lines: Rows, reading: Reading) -> Iterator[Event]:
    """The events of a job, its time that of its lines, or without dates the sum of its steps.

    A line of an iteration is the mean of those since the one before. A job that starts anew has
    failed where its last line stands; until its first new step it was down and restarted.
    """
    rows = list(lines)
    numbers = [int(row["step"]) for _, row in rows if row["step"] is not None]
    apart = [after - before for before, after in pairwise(numbers) if after > before]
    usual = min(apart, default=1)
    now = next((row["time"] for _, row in rows if row["time"] is not None), 0.0)
    last: int | None = None
    begun: float | None = None
    for line, row in rows:
        kind, at = row["pattern"], row["time"]
        if at is not None:
            now = at
        if kind == "start":
            if row["chips"]:
                yield Event(now, "run", units={JOB: int(row["chips"])}, line=line)
            if last is not None:
                yield Event(now, "failure", JOB, cause=RESTARTED, line=line)
                begun, last = now, None
        elif kind == "begin":
            if begun is not None and now > begun:
                yield Event(now, "restart", JOB, now - begun, line=line)
                begun = None
        elif kind in ("save", "load") and row["duration"] is not None:
            yield Event(now, kind, JOB, row["duration"] * MILLI, line=line)
        elif kind == "step" and row["duration"] is not None:
            length = row["duration"] * (MILLI if row["per"] == "ms" else 1.0)
            step = int(row["step"])
            if last is not None and step <= last:  # gone back without a word of its start
                yield Event(now, "failure", JOB, cause=RESTARTED, line=line)
                last = None
            count = usual if last is None else step - last
            if at is None:
                now += length * count
            yield Event(now, "step", JOB, length, step, count, line=line)
            last = step
        elif kind == "finish":
            yield Event(now, "end", line=line)
