"""Samples of what is there: numbers of nodes, or each node up or down, at some instants."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd

from ddsim.logs.log import Log
from ddsim.logs.model import NodeCounts, NodeEvents
from ddsim.logs.rules import SampleRules
from ddsim.naming import shown

_LABEL = re.compile(r'(?:instance|node|nodename|host|hostname|exported_instance)="*([^",}]+)"*')


def parse(log: Log) -> NodeCounts | NodeEvents:
    """Node counts from one series, nodes up and down from several of 0 and 1. Raises TraceError."""
    rules = log.rules(SampleRules)
    frame = pd.concat(list(log.frames()))
    if not len(frame):
        raise log.file.problem(None, "no rows", "at least one is needed")
    if "position" in frame:
        frame["time"] = frame["position"] * frame["gap"]
    series = _series(log, frame)
    if len(series.columns) > 1 and np.isin(series.to_numpy(), (0.0, 1.0)).all():
        return _events(log, series)
    remarks = list(log.clock.remarks())
    counts = series.sum(axis=1)
    if len(series.columns) > 1:
        remarks.append(f"{len(series.columns)} series added up to one number of nodes")
    if rules.preempted is not None and counts.isin((0.0, 1.0)).all():
        there = 1 - rules.preempted
        counts = counts if there else 1.0 - counts
        remarks.append(f"{there} is read as a node that is there, {rules.preempted} as preempted")
    odd = counts[(counts < 0) | (counts != counts.round())]
    if len(odd):
        found = f"a number of nodes of {odd.iloc[0]:g}"
        raise log.file.problem(None, found, "whole numbers >= 0 are needed")
    times = counts.index.to_numpy(dtype=np.float64)
    return NodeCounts(
        log.file.name,
        times - times[0],
        counts.to_numpy().astype(np.int64),
        None,
        log.all_notices(),
        tuple(remarks),
    )


def _series(log: Log, frame: pd.DataFrame) -> pd.DataFrame:
    """One column a series, by time; a value that is missing is the one before it."""
    undated = frame["time"].isna()
    log.leave_out("no time", frame.index[undated].tolist())
    frame = frame[~undated]
    if "count" in frame:
        names = frame["series"] if "series" in frame else pd.Series("", index=frame.index)
        wide = frame.assign(series=names).pivot_table(
            index="time", columns="series", values="count", aggfunc="last"
        )
    else:
        texts = frame.drop(columns="time")
        if not len(texts.columns):
            raise log.file.problem(1, "no series beside the time", "at least one is needed")
        numbers = texts.apply(pd.to_numeric, errors="coerce")
        nothing = texts.isna() | texts.isin(("null", "NaN", "undefined"))
        wrong = (numbers.isna() & ~nothing).any(axis=1)
        if wrong.any():
            line = int(frame.index[wrong][0])
            row = texts.loc[line].dropna()
            text = next(str(item) for item in row if not _is_number(str(item)))
            raise log.file.problem(line, f"a value is {shown(text)}", "numbers are needed")
        wide = numbers.set_axis(pd.Index(frame["time"].to_numpy(), name="time"), axis=0)
        wide = wide.sort_index(kind="stable")
    return wide.ffill().fillna(0.0)


def _is_number(text: str) -> bool:
    return not np.isnan(pd.to_numeric(pd.Series([text]), errors="coerce").iloc[0])


def _events(log: Log, series: pd.DataFrame) -> NodeEvents:
    """The instants at which each node came up or went down."""
    names = [found[1] if (found := _LABEL.search(str(name))) else str(name) for name in series]
    if len(set(names)) < len(names):
        names = [str(name) for name in series]
    up = series.to_numpy() > 0.5
    before = np.vstack([np.zeros(up.shape[1], dtype=np.bool_), up[:-1]])
    rows, nodes = np.nonzero(up != before)
    if not len(rows):
        raise log.file.problem(None, "no node ever comes", "a node that is up is needed")
    times = series.index.to_numpy(dtype=np.float64)
    # the last sample is watched too
    return NodeEvents(
        log.file.name,
        times[rows] - times[0],
        up[rows, nodes],
        tuple(names[node] for node in nodes.tolist()),
        log.all_notices(),
        (log.clock.remarks() and tuple(log.clock.remarks())) or (),
        float(times[-1] - times[0]),
    )
