"""From a file to a trace: which kind it is, and the reader for it."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ddsim.logs import lifetimes, node_counts, node_events
from ddsim.logs.model import Problem, Trace, TraceError
from ddsim.logs.source import Row, Source, load
from ddsim.registry import Registry


@dataclass(frozen=True)
class Kind:
    """A kind of trace: what its rows look like, whether a file's do, and how they are read.

    `parse` takes the source and the column that was asked for.
    """

    form: str
    fits: Callable[[Source], bool]
    parse: Callable[[Source, str | None], Trace]


KINDS: Registry[Kind] = Registry("kind of trace")
"""The kinds of trace, in the order in which a file is tried."""

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
    if chosen not in KINDS:
        found, allowed = f"no kind {chosen!r} of trace", KINDS.there_are(chosen)
        raise TraceError([Problem(source.file, None, found, allowed)])
    return KINDS.get(chosen).parse(source, column)


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
    for name, kind in KINDS.items():
        if kind.fits(source):
            return name
    first = source.rows[0]
    allowed = "; ".join(f"{name}: {kind.form}" for name, kind in KINDS.items())
    found = f"unknown kind of trace, first row {','.join(first.fields)[:60]!r}"
    raise TraceError([Problem(source.file, first.line, found, f"known are {allowed}")])


def _mostly(resembles: Callable[[Row], bool]) -> Callable[[Source], bool]:
    """Whether most of a file's first rows look like those of a kind."""

    def fits(source: Source) -> bool:
        rows = source.rows[:_LOOKED_AT]
        return 2 * sum(map(resembles, rows)) > len(rows)

    return fits


KINDS.add(
    "lifetimes",
    Kind(lifetimes.FORM, lambda source: lifetimes.resembles(source.rows[0]), lifetimes.parse),
)
KINDS.add(
    "node_events",
    Kind(
        f"rows {node_events.FORM}",
        _mostly(node_events.resembles),
        lambda source, _: node_events.parse(source),
    ),
)
KINDS.add(
    "node_counts",
    Kind(
        f"rows {node_counts.FORM_MS} or {node_counts.FORM_DATE}",
        _mostly(node_counts.resembles),
        lambda source, _: node_counts.parse(source),
    ),
)
