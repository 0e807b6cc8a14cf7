"""Logs of availability, preemption, failures and jobs: read, summed up, and fitted.

`read` gives a trace with what had to be mended in its `notices`, and what was taken for what in its
`remarks`; `presets` the formats that it knows; `summarize` its numbers; `pattern` how often each
cause strikes; `fit` the distributions that its lives may follow, ranked; `scenario_snippet` YAML
for a scenario.
"""

from ddsim.logs.fitting import Fit, FitReport, fit, fit_spells, ks_distance
from ddsim.logs.formats import presets
from ddsim.logs.model import (
    Jobs,
    Lifetimes,
    NodeCounts,
    NodeEvents,
    Notice,
    Points,
    Problem,
    Spells,
    Trace,
    TraceError,
)
from ddsim.logs.rates import Pattern, Rate, pattern
from ddsim.logs.reading import KINDS, read
from ddsim.logs.report import LogReport, read_log
from ddsim.logs.snippet import scenario_snippet
from ddsim.logs.summary import Summary, summarize

__all__ = [
    "KINDS",
    "Fit",
    "FitReport",
    "Jobs",
    "Lifetimes",
    "LogReport",
    "NodeCounts",
    "NodeEvents",
    "Notice",
    "Pattern",
    "Points",
    "Problem",
    "Rate",
    "Spells",
    "Summary",
    "Trace",
    "TraceError",
    "fit",
    "fit_spells",
    "ks_distance",
    "pattern",
    "presets",
    "read",
    "read_log",
    "scenario_snippet",
    "summarize",
]
