"""Results on disk: one folder, every file whole or not there."""

import csv
import gzip
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import astuple, fields
from pathlib import Path
from typing import Any

from ddsim.files import write_together
from ddsim.logs.run_log import to_bytes
from ddsim.results import document, files, tapes
from ddsim.results.record import Merge, MethodResult, Span
from ddsim.results.trace_events import trace_events


def save(
    folder: Path,
    content: Mapping[str, Any],
    results: Sequence[MethodResult],
    resolved: str,
    given: str = "",
) -> list[Path]:
    """Write results into `folder`, which is made if need be; return the files written.

    `content` is what results.json is to hold, `resolved` the scenario, `given` as it was written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    packed_tapes = tapes.to_bytes(results)  # may stand in this very folder
    texts = {  # the results last: with them the folder is complete
        files.SCENARIO: resolved,
        files.GIVEN: given,
        files.ACCOUNTS: _accounts_csv(results),
        files.TIMELINE: _timeline_csv(results),
        files.MERGES: _merges_csv(results),
        files.TRACE: _trace(results),
        files.RESULTS: document.to_json(content) + "\n",
    }
    logs = {files.run_log(r.method): to_bytes(r.run_log) for r in results if r.run_log}
    gone = [path for path in folder.glob(files.RUN_LOGS) if path.name not in logs]
    contents = (
        {files.TAPE: packed_tapes}
        | logs
        | {
            name: gzip.compress(text.encode(), mtime=0)
            if name.endswith(".gz") and text
            else text.encode()
            for name, text in texts.items()
        }
    )
    write_together(
        {folder / name: data for name, data in contents.items() if data},
        # left by an earlier run, they would be read as this one's
        without=[*gone, *(folder / name for name, data in contents.items() if not data)],
    )
    return [folder / name for name, data in contents.items() if data]


def _trace(results: Sequence[MethodResult]) -> str:
    return json.dumps(trace_events(results)) if any(r.timeline or r.merges for r in results) else ""


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
    fragments, learners, weights = (files.BETWEEN.join(map(str, items)) for items in lists)
    return (merge.slot, fragments, merge.start, merge.arrival, learners, weights)
