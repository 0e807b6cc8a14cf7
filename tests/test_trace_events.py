"""The trace that viewers open holds every state and every merge at its time."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from sample_results import comparison

from ddsim.results.trace_events import trace_events


def test_every_span_is_a_complete_event_in_microseconds() -> None:
    """States of units become events of their length on the unit's own track."""
    results = comparison()
    events = [e for e in trace_events(results.results)["traceEvents"] if e["ph"] == "X"]
    spans = [span for item in results.results for span in item.timeline]
    assert [(e["name"], e["ts"], e["dur"]) for e in events] == [
        (s.state, s.start * 1e6, (s.end - s.start) * 1e6) for s in spans
    ]


def test_every_merge_begins_and_ends() -> None:
    """A merge is a pair of events with one id, so that merges may overlap."""
    results = comparison()
    events = trace_events(results.results)["traceEvents"]
    merges = sum(len(item.merges) for item in results.results)
    assert sum(e["ph"] == "b" for e in events) == sum(e["ph"] == "e" for e in events) == merges


def test_every_track_has_its_name() -> None:
    """Each thread that an event is on is named, within the process of its method."""
    events = trace_events(comparison().results)["traceEvents"]
    named = {(e["pid"], e["tid"]) for e in events if e["name"] == "thread_name"}
    assert {(e["pid"], e["tid"]) for e in events if e["ph"] in "Xbe"} <= named


def test_a_saved_result_has_its_trace(tmp_path: Path) -> None:
    """`save` leaves the trace packed, as viewers read it."""
    results = comparison()
    results.save(tmp_path)
    document = json.loads(gzip.decompress((tmp_path / "trace.json.gz").read_bytes()))
    assert document == json.loads(json.dumps(trace_events(results.results)))
