"""Availability, preemption and failure traces: read, summed up, and fitted.

`read` gives a trace with what had to be mended in its `notices`; `summarize` its numbers; `fit` the
distributions that its lives may follow, ranked; `scenario_snippet` YAML for a scenario.
"""

from ddsim.logs.fitting import Fit, FitReport, fit, fit_spells, ks_distance
from ddsim.logs.model import (
    Lifetimes,
    NodeCounts,
    NodeEvents,
    Notice,
    Problem,
    Spells,
    Trace,
    TraceError,
)
from ddsim.logs.reading import KINDS, read
from ddsim.logs.snippet import scenario_snippet
from ddsim.logs.summary import Summary, summarize

__all__ = [
    "KINDS",
    "Fit",
    "FitReport",
    "Lifetimes",
    "NodeCounts",
    "NodeEvents",
    "Notice",
    "Problem",
    "Spells",
    "Summary",
    "Trace",
    "TraceError",
    "fit",
    "fit_spells",
    "ks_distance",
    "read",
    "scenario_snippet",
    "summarize",
]
