"""Records of ml-goodput-measurement: when a job and its steps started, and what held it up.

Each record says one thing, by its keys. A job that starts again has failed since its last step;
what has a start and no end, or the other way round, is left out with a remark.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ddsim.logs.model import Notice
from ddsim.logs.run_log import Event, Reading, Rows

JOB = "job"
_INTERVALS = {
    "tpu_init": "restart",
    "training_prep": "load",
    "data_loading": "wait",
    "badput": "stall",
}
"""What a record's start and end measure: the start of the machines, the preparation of training,
in which the last checkpoint is loaded, data, and what the user named."""


def goodput_events(lines: Rows, reading: Reading) -> Iterator[Event]:
    """The events of a job; a step lasts until the next begins, unless something lies between."""
    rows = sorted(((_time(row), line, row) for line, row in lines), key=lambda item: item[:2])
    open_since: dict[str, tuple[float, int]] = {}
    step: tuple[float, int, int] | None = None
    started, broken = False, list[int]()
    for time, line, row in rows:
        if row["step_start"] is not None and row["step"] is not None:
            number = int(row["step"])
            if step is not None and number == step[1] + 1:
                yield Event(time, "step", JOB, time - step[0], step[1], line=step[2])
            step = time, number, line
            continue
        if row["job_start"] is not None:
            if started:
                seen = time if step is None else step[0]
                yield Event(seen, "failure", JOB, cause="restart of the job", line=line)
                yield Event(time, "down", JOB, time - seen, line=line)
                step = None
            started = True
            broken += [at for _, at in open_since.values()]
            open_since.clear()
        for name, kind in _INTERVALS.items():
            if row[f"{name}_start"] is not None:
                if name in open_since:
                    broken.append(open_since[name][1])
                open_since[name] = time, line
            elif row[f"{name}_end"] is not None:
                begun = open_since.pop(name, None)
                if begun is None:
                    broken.append(line)
                else:
                    cause = str(row["badput"] or name)
                    yield Event(time, kind, JOB, time - begun[0], cause=cause, line=line)
        if row["job_end"] is not None:
            if step is not None:
                yield Event(time, "step", JOB, time - step[0], step[1], line=step[2])
                step = None
            yield Event(time, "end", line=line)
    broken += [line for _, line in open_since.values()]
    if broken:
        found = "an interval without its start or end"
        reading.notices.append(Notice(found, "left out", tuple(sorted(broken))))


def _time(row: Mapping[str, Any]) -> float:
    """When what a record says happened: the latest of its instants."""
    return max((v for k, v in row.items() if k.endswith(("_start", "_end")) and v), default=0.0)
