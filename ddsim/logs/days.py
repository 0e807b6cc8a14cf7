"""Units seen day by day, with a mark on the day on which each failed: lives, most unended."""

from __future__ import annotations

import numpy as np

from ddsim.logs.log import Log
from ddsim.logs.model import Lifetimes

_DAY = 86_400.0
_YES, _NO = ("1", "true", "yes"), ("0", "false", "no")


def parse(log: Log) -> Lifetimes:
    """The life of each unit while it was watched. Raises TraceError."""
    begun: dict[str, float] = {}
    last: dict[str, float] = {}
    failed: set[str] = set()
    for frame in log.frames():
        flags = frame["failed"].astype(str).str.lower()
        wrong = ~flags.isin((*_YES, *_NO))
        if wrong.any():
            line = int(frame.index[wrong][0])
            raise log.file.problem(line, f"failure is {flags[line]!r}", "1 or 0 is needed")
        undated = frame["day"].isna() | frame["unit"].isna()
        log.leave_out("no day or no name", frame.index[undated].tolist())
        seen = frame[~undated].groupby("unit", sort=False)["day"].agg(["min", "max"])
        for name, first, final in seen.itertuples():
            begun[name] = min(begun.get(name, np.inf), first)
            last[name] = max(last.get(name, -np.inf), final)
        failed |= set(frame["unit"][flags.isin(_YES) & ~undated])
    if not begun:
        raise log.file.problem(None, "no unit", "at least one row is needed")
    names = list(begun)
    days = np.array([last[name] - begun[name] + _DAY for name in names])
    return Lifetimes(
        log.file.name,
        log.form.columns["day"].fields[0],
        days,
        np.array([name in failed for name in names], dtype=np.bool_),
        log.all_notices(),
        (
            *log.clock.remarks(),
            "lives are counted from the first day on which a unit was seen: what was older then "
            "tells of a constant rate, not of how it ages",
        ),
    )
