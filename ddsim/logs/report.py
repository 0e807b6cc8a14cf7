"""All that a log says, in one place: for the command line, scripts and notebooks."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ddsim.logs.fitting import FitReport, fit
from ddsim.logs.forms import Unit
from ddsim.logs.model import Jobs, Points, Problem, Trace, TraceError
from ddsim.logs.rates import Pattern, pattern
from ddsim.logs.reading import read
from ddsim.logs.snippet import scenario_snippet
from ddsim.logs.summary import Summary, summarize
from ddsim.progress import Progress
from ddsim.scenario import shipped
from ddsim.world.distributions import duration_text

if TYPE_CHECKING:
    import pandas as pd

EXAMPLES = {"slurm_month": "slurm_month.txt", "k8s_month": "k8s_month.json"}
"""Small synthetic logs that ship beside the scenarios, by the names by which they are found."""


class LogReport:
    """What a log says: a `trace`, its `summary`, and how often its `causes` strike.

    `failures` is None for a log that names no causes; `fit` are the distributions of its lives.
    """

    def __init__(self, trace: Trace, nodes: int | None = None) -> None:
        self.trace = trace
        self._nodes = nodes

    @cached_property
    def summary(self) -> Summary:
        """The log in a few numbers."""
        return summarize(self.trace, self._nodes)

    @cached_property
    def failures(self) -> Pattern | None:
        """How often each cause strikes, on which nodes, whether constantly, in bursts."""
        if isinstance(self.trace, Jobs | Points):
            return pattern(self.trace, self._nodes)
        return None

    @cached_property
    def fit(self) -> FitReport:
        """The distributions that the lives in the log may follow, best first."""
        return fit(self.trace)

    @cached_property
    def snippet(self) -> str:
        """YAML that puts the failures into a scenario."""
        return scenario_snippet(self.trace, self.fit, self.failures)

    @property
    def causes(self) -> list[dict[str, Any]]:
        """What the snippet gives `failures.causes`, to load a scenario with."""
        from ruamel.yaml import YAML

        document = YAML(typ="safe").load(self.snippet) or {}
        return list(document.get("failures", {}).get("causes", []))

    @property
    def uncertain_causes(self) -> list[dict[str, Any]]:
        """As `causes`, each mean time as the range of its 95% interval: a study draws from it."""
        causes = self.causes
        if self.failures is not None:
            bounds = {rate.cause: rate for rate in self.failures.rates}
            for cause in causes:
                rate = bounds[cause["name"]]
                low, high = (duration_text(bound, 6) for bound in (rate.low, rate.high))
                cause["per" if "per" in cause else "mtbi"] = {"low": low, "high": high}
        return causes

    def rates(self) -> pd.DataFrame:
        """One row a cause, times in hours: `mtbf` with its 95% interval, of what `of` says.

        Of a log that names no causes, none.
        """
        import pandas as pd

        rates = self.failures.rates if self.failures is not None else ()
        return pd.DataFrame(
            [
                (
                    rate.cause,
                    rate.of,
                    rate.failures,
                    rate.mtbf / 3_600.0,
                    rate.low / 3_600.0,
                    rate.high / 3_600.0,
                )
                for rate in rates
            ],
            columns=["cause", "of", "failures", "mtbf_h", "mtbf_low_h", "mtbf_high_h"],
        ).set_index("cause")

    def to_dict(self) -> dict[str, object]:
        """The document that `ddsim trace --json` prints."""
        document: dict[str, object] = {
            "summary": self.summary.to_dict(),
            "fit": self.fit.to_dict(),
            "snippet": self.snippet,
        }
        if self.failures is not None:
            document["failures"] = self.failures.to_dict()
        return document


def read_log(
    path: str | Path,
    format: str | None = None,
    *,
    column: str | None = None,
    timezone: str | None = None,
    unit: Unit | None = None,
    nodes: int | None = None,
    progress: Progress | None = None,
) -> LogReport:
    """Read a log of availability, preemptions, failures or jobs, and report on it.

    `path` may be the name of an example (`EXAMPLES`) where there is no such file. `format` is one
    that `ddsim list formats` names, or a YAML file of one; None: found from the file, which the
    summary's `remarks` say. `timezone` is whose clock shows times that name no zone, `unit` that
    of times that are numbers where their size does not tell, `nodes` how many nodes there are.
    Raises TraceError, with file and line.
    """
    found = Path(path)
    if str(path) in EXAMPLES and not found.exists():
        found = Path(str(shipped.folder())) / EXAMPLES[str(path)]
    trace = read(found, format, column=column, zone=timezone, unit=unit, progress=progress)
    if nodes is not None and isinstance(trace, Points):
        named = len({node for node in trace.nodes if node is not None})
        if nodes < named:
            said = f"failures of {named} nodes, though there are to be {nodes}"
            raise TraceError([Problem(str(path), None, said, f"at least {named} nodes")])
    return LogReport(trace, nodes)
