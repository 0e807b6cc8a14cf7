"""Logs of failures: points in time, each of a node and with a cause."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ddsim.logs.log import Log
from ddsim.logs.model import Array, Counts, Flags, Points
from ddsim.logs.rules import Cause, PointRules

_NONE = -1


def parse(log: Log) -> Points:
    """The failures of a log. Raises TraceError.

    The log is watched from the first to the last instant that it speaks of, be it of a failure or
    not. What a row counts several times is spread evenly from its first time to its last; without
    a first time only the last is known.
    """
    rules = log.rules(PointRules)
    kinds = list(dict.fromkeys(rules.failed.values()))
    known = {word: kinds.index(cause) for word, cause in rules.failed.items()}
    known |= dict.fromkeys(rules.ignored, _NONE)
    parts, seen = [], []
    sizes: dict[Any, float] = {}
    ignored: dict[str, int] = {}
    for frame in log.frames():
        frame = _dated(log, frame)
        if not len(frame):
            continue
        begins = frame[["time", "first"]].min(axis=1) if "first" in frame else frame["time"]
        seen.append((float(begins.min()), float(_ends(frame).max())))
        if "size" in frame:
            by = frame["group"] if "group" in frame else pd.Series("", index=frame.index)
            sizes |= frame["size"].groupby(by).max().dropna().to_dict()
        words = _words(rules, frame)
        codes = _codes(log, rules, known, kinds, words, ignored)
        parts.append(_spread(frame, codes))
    if not parts:
        raise log.file.problem(None, "no row with a time", "at least one is needed")
    times, dated, nodes, cause, repairs = map(np.concatenate, zip(*parts, strict=True))
    order = np.argsort(times, kind="stable")
    return Points(
        file=log.file.name,
        start=min(first for first, _ in seen),
        end=max(last for _, last in seen),
        times=times[order],
        dated=dated[order],
        nodes=tuple(nodes[order].tolist()),
        codes=cause[order],
        causes=tuple(kinds),
        repairs=repairs[order],
        population=int(sum(sizes.values())) if sizes else None,
        together=rules.together,
        notices=log.all_notices(),
        remarks=(*log.clock.remarks(), *_left(ignored)),
    )


def _left(ignored: dict[str, int]) -> list[str]:
    if not ignored:
        return []
    most = sorted(ignored, key=lambda word: (-ignored[word], word))
    words = ", ".join(f"{word} ({ignored[word]})" for word in most[:8])
    more = f" and {len(most) - 8} more words" if len(most) > 8 else ""
    return [f"rows that are no failures: {words}{more}"]


def _dated(log: Log, frame: pd.DataFrame) -> pd.DataFrame:
    undated = frame["time"].isna()
    log.leave_out("no time", frame.index[undated].tolist())
    return frame[~undated]


def _ends(frame: pd.DataFrame) -> pd.Series[float]:
    return frame[["time", "end"]].max(axis=1) if "end" in frame else frame["time"]


def _words(rules: PointRules, frame: pd.DataFrame) -> pd.Series[Any]:
    """The word that says the cause, row by row."""
    if not rules.filled:
        return frame["cause"].astype(object)
    words = pd.Series(None, index=frame.index, dtype=object)
    for column in reversed(rules.filled):
        if column in frame:
            words[frame[column].notna()] = column
    return words


def _codes(
    log: Log,
    rules: PointRules,
    known: dict[str, int],
    kinds: list[Cause],
    words: pd.Series[Any],
    ignored: dict[str, int],
) -> Counts:
    """What each word means, as a place in `kinds`; below 0 for what is no failure."""
    places, each = pd.factorize(words, use_na_sentinel=False)
    counts = np.bincount(places, minlength=len(each))
    codes = np.empty(len(each), dtype=np.int64)
    for place, word in enumerate(each):
        text = "" if pd.isna(word) else str(word)
        if text not in known:
            if rules.others == "error" or (not text and rules.others == "failed"):
                line = words.index[int(np.argmax(places == place))]
                column = log.form.columns.get("cause")
                name = column.fields[0] if column else "the cause"
                raise log.unknown(int(line), name, text, list(known))
            known[text] = _NONE
            if rules.others == "failed":
                known[text] = len(kinds)
                kinds.append(Cause(cause=text))
        codes[place] = known[text]
        if known[text] == _NONE:
            ignored[text] = ignored.get(text, 0) + int(counts[place])
    found: Counts = codes[places]
    return found


_Part = tuple[Array, Flags, np.ndarray[Any, Any], Counts, Array]


def _spread(frame: pd.DataFrame, codes: Counts) -> _Part:
    """Failure by failure: its time, whether that is known, its node, its cause, its repair."""
    frame, codes = frame[codes != _NONE], codes[codes != _NONE]
    count = (
        frame["count"].fillna(1.0).clip(lower=1.0).to_numpy().astype(np.int64)
        if "count" in frame
        else np.ones(len(frame), dtype=np.int64)
    )
    last = frame["time"].to_numpy()
    first = frame["first"].to_numpy() if "first" in frame else np.full(len(frame), np.nan)
    first = np.where(first > last, last, first)
    row = np.repeat(np.arange(len(frame)), count)
    place = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
    share = place / np.maximum(count[row] - 1, 1)
    start = np.where(np.isnan(first), last, first)
    times: Array = np.where(count[row] > 1, start[row] + share * (last - start)[row], last[row])
    # of repeats without a first time, the last alone is known
    dated = ~np.isnan(first)[row] | (place == count[row] - 1)
    repair = frame["end"].to_numpy() - last if "end" in frame else np.full(len(frame), np.nan)
    repairs: Array = np.where(repair > 0.0, repair, np.nan)[row]
    return times, dated, _names(frame)[row], codes[row], repairs


def _names(frame: pd.DataFrame) -> np.ndarray[Any, Any]:
    """The nodes' names, with their group's before them."""
    names = np.empty(len(frame), dtype=object)
    nodes = frame["node"] if "node" in frame else [None] * len(frame)
    groups = frame["group"] if "group" in frame else [None] * len(frame)
    names[:] = [
        None if node is None else str(node) if group is None else f"{group}/{node}"
        for node, group in zip(nodes, groups, strict=True)
    ]
    return names
