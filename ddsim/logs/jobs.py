"""Tables of jobs: when each began and ended, on how many nodes, and whether it failed."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from ddsim.logs.log import Log
from ddsim.logs.model import Array, Jobs
from ddsim.logs.rules import JobRules

_CENSORED, _IGNORED = -1, -2


def parse(log: Log) -> Jobs:
    """The jobs of a log. Raises TraceError.

    A job without an end has lasted as long as the log says, or until the last instant that the
    log speaks of. What ended otherwise than in a failure is censored there. Jobs that never began
    are no jobs.
    """
    rules = log.rules(JobRules)
    causes = list(dict.fromkeys([*rules.failed.values(), *filter(None, [rules.retried])]))
    codes = {word.casefold(): causes.index(cause) for word, cause in rules.failed.items()}
    codes |= {word.casefold(): _CENSORED for word in rules.censored}
    codes |= {word.casefold(): _IGNORED for word in rules.ignored}
    parts = [part for frame in log.frames() if len(part := _counted(log, rules, codes, frame))]
    if not parts:
        raise log.file.problem(None, "no job that ran", "at least one is needed")
    jobs = pd.concat(parts) if len(parts) > 1 else parts[0]
    code = jobs["code"].to_numpy()
    start, end = jobs["start"].to_numpy(), jobs["end"].to_numpy()
    if "lasted" in jobs:
        end = np.where(np.isnan(end), start + jobs["lasted"].to_numpy(), end)
    last = float(np.nanmax([start, end]))
    open_ended = np.isnan(end)
    log.leave_out("failed, but without an end", jobs.index[open_ended & (code >= 0)].tolist())
    ended = np.where(open_ended, last, end)
    never = np.isnan(start)
    log.leave_out("no start: it never ran", jobs.index[never].tolist())
    backward = ended < start
    log.leave_out("an end before the start", jobs.index[backward].tolist())
    kept = ~(never | backward | (open_ended & (code >= 0)))
    if not kept.any():
        raise log.file.problem(None, "no job that ran", "at least one is needed")
    jobs, code = jobs[kept], code[kept]
    hosts = _expanded(log, jobs, code >= 0)
    return Jobs(
        log.file.name,
        start[kept],
        ended[kept],
        _nodes(jobs, hosts),
        code,
        tuple(causes),
        tuple(hosts.get(place, ()) for place in np.flatnonzero(code >= 0).tolist()),
        log.all_notices(),
        (*log.clock.remarks(), *_open_remark(int((open_ended[kept]).sum()))),
    )


def _open_remark(count: int) -> list[str]:
    if not count:
        return []
    return [f"{count} without an end: taken as still running at the last instant of the log"]


def _counted(log: Log, rules: JobRules, codes: dict[str, int], frame: pd.DataFrame) -> pd.DataFrame:
    """The rows that are jobs, with the code of what ended each."""
    for column in rules.ignore:
        if column in frame:
            found = rules.ignores(column).search
            frame = frame[[text is None or not found(str(text)) for text in frame[column]]]
    states = frame["state"]
    known = {state: codes.get(str(state).casefold()) for state in states.unique()}
    unknown = [state for state, code in known.items() if code is None]
    if unknown:
        line = frame.index[states.isin(unknown) | states.isna()][0]
        raise log.unknown(
            int(line),
            log.form.columns["state"].fields[0],
            str(states[line] if np.isscalar(states[line]) else states[line].iloc[0]),
            [*rules.failed, *rules.censored, *rules.ignored],
        )
    code = states.map(known).to_numpy(dtype=np.int64)
    if rules.retried is not None and "attempt" in frame:
        causes = list(dict.fromkeys([*rules.failed.values(), rules.retried]))
        again = (frame["attempt"] < frame["attempts"] - 1).to_numpy()
        code = np.where(again & (code != _IGNORED), causes.index(rules.retried), code)
    wanted = [name for name in ("start", "end", "lasted", "nodes", "hosts") if name in frame]
    counted: pd.DataFrame = frame.loc[code != _IGNORED, wanted]
    return counted.assign(code=code[code != _IGNORED])


def _expanded(log: Log, jobs: pd.DataFrame, failed: Any) -> dict[int, tuple[str, ...]]:
    """The names of the nodes of jobs that failed, and of those whose number is not written."""
    if "hosts" not in jobs:
        return {}
    wanted = failed.copy()
    if "nodes" in jobs:
        wanted |= jobs["nodes"].isna().to_numpy()
    else:
        wanted[:] = True
    texts = jobs["hosts"].to_numpy()
    found = {}
    for place in np.flatnonzero(wanted).tolist():
        if texts[place] is not None:
            try:
                found[place] = expand(texts[place])
            except ValueError as error:
                line = int(jobs.index[place])
                said = f"nodes are {texts[place]!r}: {error}"
                raise log.file.problem(line, said, "a list such as n[001-004,007]") from None
    return found


@cache
def expand(text: str) -> tuple[str, ...]:
    """The nodes that a list such as ``n[001-004,007]`` names; ValueError where it is none."""
    from hostlist import BadHostlist, expand_hostlist

    try:
        return tuple(expand_hostlist(text))
    except BadHostlist as error:
        raise ValueError(str(error)) from None


def _nodes(jobs: pd.DataFrame, hosts: dict[int, tuple[str, ...]]) -> Array:
    nodes = (
        jobs["nodes"].to_numpy(dtype=np.float64, copy=True)
        if "nodes" in jobs
        else np.full(len(jobs), np.nan)
    )
    for place, names in hosts.items():
        if np.isnan(nodes[place]):
            nodes[place] = len(names)
    return nodes
