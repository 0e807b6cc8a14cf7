"""A run as trace events, for Perfetto or chrome://tracing: learners and syncer as tracks.

The format is the Trace Event Format of the Chromium project: complete events with times in
microseconds, a process for every method and a thread for every track.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ddsim.results.record import Merge, MethodResult

MICRO = 1e6
SYNCER = "syncer"
Event = dict[str, Any]


def trace_events(results: Sequence[MethodResult]) -> dict[str, Any]:
    """Return the document that trace viewers open: states of units and merges of every method."""
    events: list[Event] = []
    for process, result in enumerate(results, start=1):
        events += _events(process, result)
    return {"displayTimeUnit": "ms", "traceEvents": events}


def _events(process: int, result: MethodResult) -> Iterator[Event]:
    units = list(dict.fromkeys(span.unit for span in result.timeline))
    threads = {unit: thread for thread, unit in enumerate(units, start=1)}
    yield _name("process_name", process, 0, result.method)
    for unit, thread in threads.items():
        yield _name("thread_name", process, thread, unit)
    for span in result.timeline:
        yield {
            "name": span.state,
            "cat": "unit",
            "ph": "X",
            "ts": span.start * MICRO,
            "dur": (span.end - span.start) * MICRO,
            "pid": process,
            "tid": threads[span.unit],
            "args": {"healthy_chips": span.healthy_chips, "computing": span.computing},
        }
    if result.merges:
        every = result.merges_every
        name = SYNCER if every == 1 else f"{SYNCER}, 1 merge in {every}"
        yield _name("thread_name", process, len(threads) + 1, name)
    for merge in result.merges:
        yield from _merge(process, len(threads) + 1, merge)


def _merge(process: int, thread: int, merge: Merge) -> Iterator[Event]:
    """Return the begin and end of a merge; several may be under way at once."""
    common = {
        "name": f"slot {merge.slot}",
        "cat": "merge",
        "id": merge.slot,
        "pid": process,
        "tid": thread,
    }
    args = {"fragments": list(merge.fragments), "learners": list(merge.learners)}
    yield {**common, "ph": "b", "ts": merge.start * MICRO, "args": args}
    yield {**common, "ph": "e", "ts": merge.arrival * MICRO}


def _name(kind: str, process: int, thread: int, name: str) -> Event:
    return {"name": kind, "ph": "M", "pid": process, "tid": thread, "args": {"name": name}}
