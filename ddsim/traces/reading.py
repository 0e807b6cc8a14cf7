"""From a file to a trace: which kind it is, and the reader for it."""

from pathlib import Path

from ddsim.traces import lifetimes, node_counts, node_events
from ddsim.traces.model import Problem, Trace, TraceError
from ddsim.traces.source import Source, load

KINDS = {
    "node_events": f"rows {node_events.FORM}",
    "node_counts": f"rows {node_counts.FORM_MS} or {node_counts.FORM_DATE}",
    "lifetimes": lifetimes.FORM,
}
"""The kinds of trace, and what each looks like."""

_LOOKED_AT = 20


def read(path: str | Path, kind: str | None = None, *, column: str | None = None) -> Trace:
    """Reads an availability, preemption or failure trace.

    `kind` is one of `KINDS`; None: found from the first rows. `column` names the column of a
    lifetimes table. What had to be mended stands in the trace's `notices`. Raises TraceError, with
    file and line, for a file that is of no known kind or has rows that do not fit its kind.
    """
    source = load(path)
    chosen = kind or _detect_or_named(source, column)
    if column is not None and chosen != "lifetimes":
        raise TraceError([Problem(source.file, None, f"{chosen}", "only lifetimes have columns")])
    match chosen:
        case "node_events":
            return node_events.parse(source)
        case "node_counts":
            return node_counts.parse(source)
        case "lifetimes":
            return lifetimes.parse(source, column)
    raise TraceError(
        [
            Problem(
                source.file, None, f"no kind {chosen!r} of trace", f"there are {', '.join(KINDS)}"
            )
        ]
    )


def _detect_or_named(source: Source, column: str | None) -> str:
    """The kind that the rows have; a named column says lifetimes where they say nothing."""
    try:
        return detect(source)
    except TraceError:
        if column is None:
            raise
        return "lifetimes"


def detect(source: Source) -> str:
    """The kind of most of the first rows; TraceError if it is none."""
    if lifetimes.resembles(source.rows[0]):
        return "lifetimes"
    rows = source.rows[:_LOOKED_AT]
    if 2 * sum(map(node_events.resembles, rows)) > len(rows):
        return "node_events"
    if 2 * sum(map(node_counts.resembles, rows)) > len(rows):
        return "node_counts"
    first = source.rows[0]
    allowed = "; ".join(f"{kind}: {form}" for kind, form in KINDS.items())
    found = f"unknown kind of trace, first row {','.join(first.fields)[:60]!r}"
    raise TraceError([Problem(source.file, first.line, found, f"known are {allowed}")])
