"""A piece of scenario that puts a trace's failures into a simulation."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from ddsim.logs.fitting import FitReport
from ddsim.logs.model import Jobs, Lifetimes, NodeCounts, Points, Trace
from ddsim.logs.rates import Pattern, Rate
from ddsim.logs.summary import summarize
from ddsim.world.distributions import duration_text, family

_DIGITS = 6


def scenario_snippet(trace: Trace, report: FitReport, found: Pattern | None = None) -> str:
    """YAML text: the best fit as the lifetime of a slice, or the replay where one is possible.

    Where there are both the replay stands in comments.
    From node counts comes the mean time between failures of a node, exponential.
    From jobs and from failures as points come the causes that `found` has, each with its interval.
    """
    if isinstance(trace, Jobs | Points):
        return _causes(trace, found)
    lines = [f"# from {Path(trace.file).name}"]
    mtbf = summarize(trace).node_mtbf
    spec: tuple[str, Mapping[str, object]] | None = None
    if isinstance(trace, NodeCounts):
        if mtbf is not None:
            lines.append("# counts tell a node's mean time between failures, and no more")
            spec = "exponential", {"mean": mtbf}
    elif report.best is not None:
        best = report.best
        lines.append(f"# {report.quantity}: best by AIC of {len(report.fits)} families")
        lines.append(f"# Kolmogorov-Smirnov distance {best.ks:.3f}, {report.ended} ended")
        spec = best.distribution.specification()
    elif mtbf is not None:
        lines.append(f"# {report.quantity}: {report.ended} ended, too few to fit a family")
        spec = "exponential", {"mean": mtbf}
    if spec is None:
        lines.append("# too few nodes were lost to say how long one lives")
    else:
        lines += ["failures:", "  causes:", "    - name: node loss", "      domain: slice"]
        lines += ["      lifetime:", *_block(spec[0], spec[1], 8)]
    if not isinstance(trace, Lifetimes):
        either = "# " if spec is not None else ""  # both would count every loss twice
        lines += [f"# {'or ' if either else ''}the trace itself, scaled to the cluster"]
        lines += [f"{either}trace:", f"{either}  file: {_text(Path(trace.file).name)}"]
    return "\n".join(lines) + "\n"


def _causes(trace: Jobs | Points, found: Pattern | None) -> str:
    lines = [f"# from {Path(trace.file).name}"]
    rates = [rate for rate in found.rates if rate.exposure > 0.0] if found else []
    if not rates:
        return "\n".join([*lines, "# no failure, or no time in which to count them"]) + "\n"
    lines += ["failures:", "  causes:"]
    for rate in rates:
        lines += _cause(rate)
    if isinstance(trace, Points) and (repair := _repair(trace)) is not None:
        lines.insert(2, repair)
    return "\n".join(lines) + "\n"


def _cause(rate: Rate) -> list[str]:
    mean = duration_text(rate.mtbf, _DIGITS)
    high = duration_text(rate.high, 3)
    lines = [
        f"    # failures: {rate.failures} in {duration_text(rate.exposure)} of {rate.of}; "
        f"95% {duration_text(rate.low, 3)} to {high}",
        f"    - name: {_text(rate.cause)}",
        f"      domain: {rate.domain}",
    ]
    if rate.domain == "job":
        lines += ["      count: 1", f"      per: {mean}", "      replace: false"]
    else:
        lines.append(f"      mtbi: {mean}")
    return [*lines, "      unallocated: true"] if rate.unallocated else lines


def _repair(trace: Points) -> str | None:
    """The repairs that the log tells, as a lognormal of the same median and spread."""
    repairs = trace.repairs[~np.isnan(trace.repairs)]
    if len(repairs) < 2 or np.ptp(repairs) == 0.0:
        return None
    logs = np.log(repairs)
    median = duration_text(float(np.exp(logs.mean())), _DIGITS)
    return (
        f"  repair: {{lognormal: {{median: {median}, sigma: {logs.std(ddof=1):.{_DIGITS}g}}}}}"
        f"  # {len(repairs)} repairs"
    )


def _block(kind: str, params: Mapping[str, object], indent: int) -> list[str]:
    """A distribution as indented YAML lines, times with their units."""
    pad = " " * indent
    lines = [f"{pad}{kind}:"]
    dimensions = {parameter.name: parameter.dimension for parameter in family(kind).parameters}
    for name, value in params.items():
        if dimensions.get(name) == "distributions" and isinstance(value, Sequence):
            lines.append(f"{pad}  {name}:")
            for component in value:
                ((inner, inner_params),) = component.items()
                block = _block(inner, inner_params, indent + 6)
                lines.append(f"{pad}    - {block[0].strip()}")
                lines += block[1:]
        else:
            lines.append(f"{pad}  {name}: {_value(value, dimensions.get(name, 'number'))}")
    return lines


def _value(value: object, dimension: str) -> str:
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "[" + ", ".join(_value(item, dimension.removesuffix("s")) for item in value) + "]"
    number = float(str(value))
    return duration_text(number, _DIGITS) if dimension == "time" else f"{number:.{_DIGITS}g}"


def _text(name: str) -> str:
    plain = name.replace("-", "").replace("_", "").replace(".", "")
    return name if plain.isalnum() and plain.isascii() else '"' + name.replace('"', '\\"') + '"'
