"""From a file to a trace: which kind it is, and the reader for it."""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from ddsim.logs import days, jobs, lifetimes, node_counts, node_events, points, samples
from ddsim.logs.formats import form_of, preset, recognise
from ddsim.logs.forms import Preset, Unit
from ddsim.logs.instants import Clock, zone_named
from ddsim.logs.log import Log
from ddsim.logs.model import Problem, Trace, TraceError
from ddsim.logs.opened import LogFile
from ddsim.logs.source import Row, Source, load
from ddsim.progress import Progress
from ddsim.registry import Registry


@dataclass(frozen=True)
class Kind:
    """A kind of trace: what its rows look like, whether a file's do, and how they are read.

    `parse` takes the source, the column that was asked for, and how times are read.
    """

    form: str
    fits: Callable[[Source], bool]
    parse: Callable[[Source, str | None, Clock], Trace]


KINDS: Registry[Kind] = Registry("kind of trace")
"""The kinds of trace, in the order in which a file is tried."""

READERS: Registry[Callable[[Log], Trace]] = Registry("contents of a log")
"""What is made of the rows of a preset, by what it says that it holds."""
READERS.add("jobs", jobs.parse)
READERS.add("points", points.parse)
READERS.add("days", days.parse)
READERS.add("samples", samples.parse)

_LOOKED_AT = 20
_LARGEST_DOCUMENT = 1 << 26
"""Bytes of a document that are read once more to say where it is broken."""


def read(
    path: str | Path,
    kind: str | None = None,
    *,
    column: str | None = None,
    zone: str | None = None,
    unit: Unit | None = None,
    progress: Progress | None = None,
) -> Trace:
    """Reads an availability, preemption or failure log, or a table of jobs.

    `kind` is one of `KINDS`, the name of a preset or the YAML file of one; None: found from the
    first rows, which is said in the trace's `remarks`. `column` names the column of a lifetimes
    table. `zone` is whose clock shows times that name no zone, by its name; `unit` that of numbers
    that are times. What had to be mended stands in the trace's `notices`. Raises TraceError, with
    file and line, for a file that is of no known format or has rows that do not fit it.
    """
    clock = Clock(zone_named(zone) if zone is not None else None, unit=unit)
    with LogFile(path, progress) as file:
        if kind in KINDS or column is not None:
            return _of_kind(file, kind, column, clock)
        found = preset(kind, KINDS.names()) if kind is not None else recognise(file)
        if found is not None:
            return _of_preset(file, found, clock, guessed=kind is None)
        return _of_kind(file, None, None, clock)


def _of_preset(file: LogFile, found: Preset, clock: Clock, *, guessed: bool) -> Trace:
    if found.holds not in READERS:
        allowed = f"the format {found.name} holds {found.holds}, which `ddsim calibrate` reads"
        raise file.problem(None, "no log of availability, jobs or failures", allowed)
    clock.written = file.written()
    log = Log(file, found, form_of(file, found), clock)
    trace = READERS.get(found.holds)(log)
    return _guess(trace, f"{found.name} ({found.about})") if guessed else trace


def _guess(trace: Trace, what: str) -> Trace:
    said = f"{Path(trace.file).name} is read as {what}; --format says otherwise"
    return replace(trace, remarks=(said, *trace.remarks))


def _of_kind(file: LogFile, kind: str | None, column: str | None, clock: Clock) -> Trace:
    source = load(file)
    chosen = kind or _detect_or_named(source, column)
    if column is not None and chosen != "lifetimes":
        raise TraceError([Problem(source.file, None, f"{chosen}", "only lifetimes have columns")])
    if chosen not in KINDS:
        found, allowed = f"no kind {chosen!r} of trace", KINDS.there_are(chosen)
        raise TraceError([Problem(source.file, None, found, allowed)])
    trace = KINDS.get(chosen).parse(source, column, clock)
    return _guess(trace, f"{chosen} ({KINDS.get(chosen).form})") if kind is None else trace


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
    if first.fields[0].lstrip()[:1] in ("{", "["):
        _refuse_broken(source)
    found = f"unknown kind of trace, first row {','.join(first.fields)[:60]!r}"
    more = (
        "`ddsim list formats` names others, such as failures (a header with time, node and cause), "
        "and a YAML file may say which column is what"
    )
    raise TraceError([Problem(source.file, first.line, found, f"known are {allowed}; {more}")])


def _refuse_broken(source: Source) -> None:
    """Raise TraceError for JSON that is cut or otherwise broken, with the line where it is."""
    path = Path(source.file)
    if not path.is_file() or path.stat().st_size > _LARGEST_DOCUMENT:
        return
    text = path.read_text(encoding="utf-8", errors="replace")
    if text.lstrip()[:1] not in ("{", "["):  # it is packed
        return
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        try:
            json.loads(text.lstrip().splitlines()[0])  # an object a line is no broken document
        except json.JSONDecodeError:
            found = f"broken JSON: {error.msg} at column {error.colno}"
            allowed = "a whole document is needed, or an object a line"
            raise TraceError([Problem(source.file, error.lineno, found, allowed)]) from None


def _mostly(resembles: Callable[[Row], bool]) -> Callable[[Source], bool]:
    """Whether most of a file's first rows look like those of a kind."""

    def fits(source: Source) -> bool:
        rows = source.rows[:_LOOKED_AT]
        return 2 * sum(map(resembles, rows)) > len(rows)

    return fits


KINDS.add(
    "lifetimes",
    Kind(
        lifetimes.FORM,
        lambda source: lifetimes.resembles(source.rows[0]),
        lambda source, column, _: lifetimes.parse(source, column),
    ),
)
KINDS.add(
    "node_events",
    Kind(
        f"rows {node_events.FORM}",
        _mostly(node_events.resembles),
        lambda source, _, clock: node_events.parse(source, clock),
    ),
)
KINDS.add(
    "node_counts",
    Kind(
        f"rows {node_counts.FORM_MS} or {node_counts.FORM_DATE}",
        _mostly(node_counts.resembles),
        lambda source, _, clock: node_counts.parse(source, clock),
    ),
)
