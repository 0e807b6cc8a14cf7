"""Results on disk: one folder, every file whole or not there."""

import csv
import gzip
import io
import json
import math
import os
from collections.abc import Sequence
from dataclasses import astuple, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ddsim.results import document, tapes
from ddsim.results.record import Merge, MethodResult, Span
from ddsim.results.trace_events import trace_events

if TYPE_CHECKING:
    from ddsim.results.comparison import Results

_RESULTS = "results.json"
_SCENARIO = "scenario.yaml"
_ACCOUNTS = "accounts.csv"
_TIMELINE = "timeline.csv"
_MERGES = "merges.csv.gz"  # tens of MB for a day as it is, one or two packed
_TRACE = "trace.json.gz"  # Perfetto opens it packed
TAPE = "tape.jsonl.gz"
_BETWEEN = "|"  # within a list in one cell


def save(results: "Results", folder: Path) -> list[Path]:
    """Write `results` into `folder`, which is made if need be; return the files written."""
    folder.mkdir(parents=True, exist_ok=True)
    packed_tapes = tapes.to_bytes(results.results)  # may stand in this very folder
    texts = {  # the results last: with them the folder is complete
        _SCENARIO: results.resolved,
        _ACCOUNTS: _accounts_csv(results.results),
        _TIMELINE: _timeline_csv(results.results),
        _MERGES: _merges_csv(results.results),
        _TRACE: _trace(results.results),
        _RESULTS: document.to_json(results.to_dict(beside=True)) + "\n",
    }
    files = {TAPE: packed_tapes} | {
        name: gzip.compress(text.encode(), mtime=0)
        if name.endswith(".gz") and text
        else text.encode()
        for name, text in texts.items()
    }
    (folder / _RESULTS).unlink(missing_ok=True)
    for name, content in files.items():
        if content:
            write_whole(folder / name, content)
        else:  # left by an earlier run, it would be read as this one's
            (folder / name).unlink(missing_ok=True)
    return [folder / name for name, content in files.items() if content]


def _trace(results: Sequence[MethodResult]) -> str:
    return json.dumps(trace_events(results)) if any(r.timeline or r.merges for r in results) else ""


def write_whole(path: Path, content: bytes) -> None:
    """Write `content` so that `path` never holds half of it, whatever interrupts."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        draft.write_bytes(content)
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)


def load(folder: Path) -> "Results":
    """Read a saved result; `folder` may also be the path of its results.json."""
    from ddsim.results.comparison import Results

    if folder.name == _RESULTS:
        folder = folder.parent
    path = folder / _RESULTS
    if not path.is_file():
        raise FileNotFoundError(f"{folder}: no {_RESULTS} there; `ddsim run ... --out` writes one")
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        records = [document.record_from(item) for item in content["results"]]
        head = {
            name: content[name]
            for name in ("scenario", "seed", "replications", "duration_s", "version")
        }
        if head["duration_s"] is None:
            head["duration_s"] = math.inf
        timelines = _read_timeline(folder / _TIMELINE)
        merges = _read_merges(folder / _MERGES)
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise ValueError(f"{path}: not a saved result ({error})") from error
    tape = folder / TAPE
    scenario = folder / _SCENARIO
    resolved = scenario.read_text(encoding="utf-8") if scenario.is_file() else ""
    whole = [
        replace(
            item,
            timeline=tuple(timelines.get(item.method, ())),
            merges=tuple(merges.get(item.method, ())),
            tapes=tapes.SavedTapes(tape, item.method) if tape.is_file() else (),
        )
        for item in records
    ]
    return Results(**head, results=whole, resolved=resolved)


def _table(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue()


def _accounts_csv(results: Sequence[MethodResult]) -> str:
    names = list(dict.fromkeys(name for item in results for name in item.accounts))
    rows = [[item.method, *(item.accounts.get(name, 0.0) for name in names)] for item in results]
    return _table(["method", *names], rows)


def _timeline_csv(results: Sequence[MethodResult]) -> str:
    rows = [(item.method, *astuple(span)) for item in results for span in item.timeline]
    return _table(["method", *(item.name for item in fields(Span))], rows) if rows else ""


def _merges_csv(results: Sequence[MethodResult]) -> str:
    rows = [(item.method, *_merge_row(merge)) for item in results for merge in item.merges]
    return _table(["method", *(item.name for item in fields(Merge))], rows) if rows else ""


def _merge_row(merge: Merge) -> tuple[Any, ...]:
    lists = (merge.fragments, merge.learners, merge.weights)
    fragments, learners, weights = (_BETWEEN.join(map(str, items)) for items in lists)
    return (merge.slot, fragments, merge.start, merge.arrival, learners, weights)


def _read_rows(path: Path) -> list[list[str]]:
    if not path.is_file():
        return []
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", newline="", encoding="utf-8") as file:
        return list(csv.reader(file))[1:]


def _read_timeline(path: Path) -> dict[str, list[Span]]:
    spans: dict[str, list[Span]] = {}
    for method, unit, start, end, state, chips in _read_rows(path):
        span = Span(unit, float(start), float(end), state, int(chips))
        spans.setdefault(method, []).append(span)
    return spans


def _read_merges(path: Path) -> dict[str, list[Merge]]:
    merges: dict[str, list[Merge]] = {}
    for method, slot, fragments, start, arrival, learners, weights in _read_rows(path):
        merge = Merge(
            slot=int(slot),
            fragments=tuple(map(int, _items(fragments))),
            start=float(start),
            arrival=float(arrival),
            learners=tuple(_items(learners)),
            weights=tuple(map(float, _items(weights))),
        )
        merges.setdefault(method, []).append(merge)
    return merges


def _items(text: str) -> list[str]:
    return text.split(_BETWEEN) if text else []
