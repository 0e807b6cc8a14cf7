"""A trace in a few numbers."""

from dataclasses import asdict, dataclass

import numpy as np

from ddsim.logs.model import Jobs, Lifetimes, NodeCounts, NodeEvents, Notice, Points, Trace


@dataclass(frozen=True)
class Summary:
    """What a trace says. None stands for what a kind of trace cannot tell.

    `span` in seconds; `nodes` distinct nodes, or lives in a lifetimes table; `peak` and `mean`
    number of nodes at once, the mean over time; `availability` mean / peak; `additions` and
    `removals` the nodes that came and went after the first row (events: from it on);
    `node_mtbf` node-seconds per removal, or the mean life with unended lives counted in;
    `median_life` of the lives that ended, in seconds. Of jobs, `removals` are failures, `unended`
    those that were censored, `job_mtbf` the time that jobs ran per failure; of failures as points,
    `removals` are all that were counted and `incidents` those that are no echo of another. `mttr`
    is the mean time to repair. `remarks` say what was taken for what.
    """

    file: str
    kind: str
    rows: int
    span: float | None
    nodes: int | None
    peak: int | None
    mean: float | None
    availability: float | None
    additions: int | None
    removals: int
    unended: int | None
    node_mtbf: float | None
    median_life: float | None
    notices: tuple[Notice, ...]
    job_mtbf: float | None = None
    incidents: int | None = None
    mttr: float | None = None
    remarks: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """The same as plain types, notices as sentences."""
        return {
            **asdict(self),
            "notices": [str(notice) for notice in self.notices],
            "remarks": list(self.remarks),
        }


def summarize(trace: Trace, nodes: int | None = None) -> Summary:
    """The summary of a trace of any kind; `nodes`: how many there are, where points do not say."""
    match trace:
        case NodeEvents():
            return _of_events(trace)
        case NodeCounts():
            return _of_counts(trace)
        case Lifetimes():
            return _of_lifetimes(trace)
        case Jobs():
            return _of_jobs(trace)
        case Points():
            return _of_points(trace, nodes)


def _of_events(trace: NodeEvents) -> Summary:
    spells = trace.spells()
    removals = int((~trace.added).sum())
    span, peak, mean = _levels(trace)
    lived = float(spells.durations.sum())
    return Summary(
        file=trace.file,
        kind="node_events",
        rows=len(trace.times),
        span=span,
        nodes=len(set(trace.nodes)),
        peak=peak,
        mean=mean,
        availability=mean / peak,
        additions=int(trace.added.sum()),
        removals=removals,
        unended=int((~spells.ended).sum()),
        node_mtbf=lived / removals if removals else None,
        median_life=_median(spells.durations[spells.ended]),
        notices=trace.notices,
        remarks=trace.remarks,
    )


def _of_counts(trace: NodeCounts) -> Summary:
    changes = np.diff(trace.counts)
    removals = int(-changes[changes < 0].sum())
    span, peak, mean = _levels(trace)
    return Summary(
        file=trace.file,
        kind="node_counts",
        rows=len(trace.times),
        span=span,
        nodes=None,
        peak=peak,
        mean=mean,
        availability=mean / peak if peak else None,
        additions=int(changes[changes > 0].sum()),
        removals=removals,
        unended=None,
        node_mtbf=mean * span / removals if removals else None,
        median_life=None,
        notices=trace.notices,
        remarks=trace.remarks,
    )


def _of_lifetimes(trace: Lifetimes) -> Summary:
    ended = int(trace.ended.sum())
    return Summary(
        file=trace.file,
        kind="lifetimes",
        rows=len(trace.durations),
        span=None,
        nodes=len(trace.durations),
        peak=None,
        mean=None,
        availability=None,
        additions=None,
        removals=ended,
        unended=len(trace.durations) - ended,
        node_mtbf=float(trace.durations.sum()) / ended if ended else None,
        median_life=_median(trace.durations[trace.ended]),
        notices=trace.notices,
        remarks=trace.remarks,
    )


def _of_jobs(trace: Jobs) -> Summary:
    failures = int(trace.failed.sum())
    durations = trace.end - trace.start
    known = ~np.isnan(trace.nodes)
    node_time = float(durations[known] @ trace.nodes[known])
    on_known = int((trace.failed & known).sum())
    return Summary(
        file=trace.file,
        kind="jobs",
        rows=len(trace.start),
        span=float(trace.end.max() - trace.start.min()),
        nodes=None,
        peak=int(trace.nodes[known].max()) if known.any() else None,
        mean=None,
        availability=None,
        additions=None,
        removals=failures,
        unended=len(trace.start) - failures,
        node_mtbf=node_time / on_known if on_known else None,
        median_life=_median(durations[trace.failed]),
        notices=trace.notices,
        job_mtbf=float(durations.sum()) / failures if failures else None,
        remarks=trace.remarks,
    )


def _of_points(trace: Points, nodes: int | None) -> Summary:
    named = {node for node in trace.nodes if node is not None}
    nodes = nodes or trace.population or len(named) or None
    span, incidents = trace.end - trace.start, len(trace.incidents)
    repairs = trace.repairs[~np.isnan(trace.repairs)]
    return Summary(
        file=trace.file,
        kind="points",
        rows=len(trace.times),
        span=span,
        nodes=nodes,
        peak=None,
        mean=None,
        availability=None,
        additions=None,
        removals=len(trace.times),
        unended=None,
        node_mtbf=span * nodes / incidents if nodes and incidents and span > 0.0 else None,
        median_life=None,
        notices=trace.notices,
        incidents=incidents,
        mttr=float(repairs.mean()) if len(repairs) else None,
        remarks=trace.remarks,
    )


def _levels(trace: NodeEvents | NodeCounts) -> tuple[float, int, float]:
    """Span, peak and mean number of nodes; the peak counts levels that last no time too."""
    times, counts = trace.times, trace.counts
    span = float(times[-1] - times[0])
    held = float(np.diff(times) @ counts[:-1])
    return span, int(counts.max()), held / span if span else float(counts[-1])


def _median(values: np.ndarray) -> float | None:
    return float(np.median(values)) if len(values) else None
