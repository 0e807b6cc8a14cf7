"""Several logs as one calibration: the first run log leads, the others add what it lacks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ddsim import logs
from ddsim.calibration.estimates import Estimate, Estimates, estimate
from ddsim.calibration.intervals import poisson
from ddsim.calibration.writing import scenario_text
from ddsim.logs.formats import preset
from ddsim.logs.model import Jobs, NodeCounts, Points, Problem, TraceError
from ddsim.logs.run_log import RunLog
from ddsim.logs.runs import form_shown, holds_run, read_run

if TYPE_CHECKING:
    from ddsim.progress import Progress

DAY = 86_400.0
CROWDED = 0.9
"""Share of a log's time in exchanges from which on its links are taken to set the pace."""


@dataclass(frozen=True)
class Calibration:
    """What logs say: the leading run log, the estimates, and failures that others told of."""

    log: RunLog
    estimates: Estimates
    more: tuple[Estimate, ...] = ()

    @property
    def text(self) -> str:
        """The scenario."""
        return scenario_text(self.log, self.estimates, more=self.more)

    @property
    def values(self) -> list[Estimate]:
        """All estimates, failures by cause last."""
        kinds = [it for kind, it in self.estimates.by_kind.items() if kind != "rate"]
        causes = [replace(it, kind=name) for name, it in self.estimates.causes.items()]
        return [*kinds, *causes, *self.more]

    def to_dict(self) -> dict[str, Any]:
        """Plain data: each value with its interval and its rows, and the scenario."""
        values = [
            {
                "kind": it.kind,
                "value": it.interval.value,
                "low": it.interval.low,
                "high": it.interval.high,
                "count": it.interval.count,
                "how": it.interval.how,
                "source": it.source,
                "note": it.note,
            }
            for it in self.values
        ]
        notices = [str(notice) for notice in self.log.notices]
        return {
            "log": self.log.file,
            "form": self.log.form,
            "notices": notices,
            "values": values,
            "scenario": self.text,
        }


def calibrate(
    paths: Sequence[str | Path],
    form: str | None = None,
    zone: str | None = None,
    progress: Progress | None = None,
) -> Calibration:
    """Read logs and estimate what they say.

    `form` is the format of the files that do not show theirs, `zone` the name of the place whose
    clock shows times without one. Raises TraceError.
    """
    if form is not None:
        preset(form, logs.KINDS.names())
    runs: list[RunLog] = []
    more: list[Estimate] = []
    for path in paths:
        shown = form_shown(path)
        if holds_run(shown if shown is not None or form is None else preset(form)):
            named = None if shown is not None else form
            runs.append(read_run(path, named, zone, progress))
        else:
            more += _failure_rates(path, form if shown is None else None, zone, progress)
    if not runs:
        bare = RunLog(str(paths[0]), "failures", (), {"job": 0}, 0.0, DAY)
        return Calibration(bare, Estimates(), tuple(more))
    first, found = runs[0], estimate(runs[0])
    for other in runs[1:]:
        for kind, value in estimate(other).by_kind.items():
            found.by_kind.setdefault(kind, value)
    return Calibration(first, found, tuple(more))


def crowded(log: RunLog) -> bool:
    """Whether exchanges fill a log's time or lie one upon another, so that links set the pace."""
    exchanged = sum(event.duration or 0.0 for event in log.of("sync"))
    return log.span > 0.0 and exchanged > CROWDED * log.span


def _failure_rates(
    path: str | Path, form: str | None, zone: str | None, progress: Progress | None
) -> list[Estimate]:
    """The rates of failures of one part by cause, or of what was counted as one."""
    trace = logs.read(path, form, zone=zone, progress=progress)
    if isinstance(trace, NodeCounts):
        found = "counts of nodes, which do not say which were lost"
        raise TraceError([Problem(str(path), None, found, "nodes that come and go, or lives")])
    if isinstance(trace, Jobs | Points):
        seen = [rate for rate in logs.pattern(trace).rates if rate.failures]
        return [
            Estimate(
                rate.cause,
                poisson(rate.failures, rate.exposure),
                str(path),
                (0, 0),
                f"of {rate.of}",
                rate.domain,
            )
            for rate in seen
        ]
    spells = trace.spells()
    rate = poisson(int(spells.ended.sum()), float(spells.durations.sum()))
    return [Estimate(f"failures of {Path(path).stem}", rate, str(path), (0, 0), "", "slice")]
