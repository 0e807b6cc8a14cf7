"""What a log says of its failures: how often by cause, which nodes, whether constant, in bursts."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import asdict, dataclass

import numpy as np

from ddsim.logs.model import Array, Jobs, Points
from ddsim.world.distributions import duration_text

CONFIDENCE = 0.95
_RARE = 0.01
"""How unlikely chance has to be for a remark."""
_TRIALS = 2_000
_BURST = 600.0
"""Seconds within which failures that follow each other are a burst, unless they are frequent."""


@dataclass(frozen=True)
class Rate:
    """How often one cause strikes.

    `mtbf` is the mean time between failures in seconds of what `of` says, `low` and `high` its
    exact Poisson interval; inf where there is no failure, or no bound. `exposure` is the time that
    was watched, in seconds times parts.
    """

    cause: str
    domain: str
    unallocated: bool
    of: str
    failures: int
    exposure: float
    mtbf: float
    low: float
    high: float


@dataclass(frozen=True)
class NodeTest:
    """Whether failures are spread over nodes as chance would have it.

    `p` is how often chance alone spreads them as unevenly; `lemons` are nodes with more failures
    than chance gives any of them, with their number.
    """

    nodes: int
    assumed: bool
    failures: int
    p: float
    lemons: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Trend:
    """Whether the rate is constant.

    `laplace` is standard normal if it is, below 0 where failures become rarer, `p` its two-sided
    probability; `shape` that of a power law (Crow-AMSAA), 1 if constant, with its interval.
    """

    failures: int
    laplace: float
    p: float
    shape: float
    low: float
    high: float


@dataclass(frozen=True)
class Bursts:
    """Failures that follow another within `window` seconds, and how many chance would give."""

    window: float
    close: int
    expected: float
    p: float
    largest: int


@dataclass(frozen=True)
class Pattern:
    """All of it. `failures` as the log counts them, `incidents` without echoes of one failure."""

    failures: int
    incidents: int
    rates: tuple[Rate, ...]
    total: Rate
    nodes: NodeTest | None
    trend: Trend | None
    bursts: Bursts | None
    remarks: tuple[str, ...]

    def to_dict(self) -> dict[str, object]:
        """The same as plain types."""
        return asdict(self)


def interval(failures: int, exposure: float) -> tuple[float, float]:
    """The exact Poisson interval of a mean time between failures, in the unit of `exposure`."""
    from scipy.stats import chi2

    tail = (1.0 - CONFIDENCE) / 2.0
    most = float(chi2.ppf(1.0 - tail, 2 * failures + 2)) / 2.0
    least = float(chi2.ppf(tail, 2 * failures)) / 2.0 if failures else 0.0
    return exposure / most, exposure / least if least > 0.0 else math.inf


def pattern(trace: Jobs | Points, nodes: int | None = None) -> Pattern:
    """What there is to say of a log's failures; `nodes` is how many nodes there are, if known."""
    return _of_jobs(trace) if isinstance(trace, Jobs) else _of_points(trace, nodes)


def _rate(
    cause: str, domain: str, failures: int, exposure: float, of: str, unallocated: bool = False
) -> Rate:
    low, high = interval(failures, exposure)
    mtbf = exposure / failures if failures else math.inf
    return Rate(cause, domain, unallocated, of, failures, exposure, mtbf, low, high)


def _of_jobs(jobs: Jobs) -> Pattern:
    """Causes of slices by node and time; those of the job by the time that jobs ran."""
    durations = jobs.end - jobs.start
    of_jobs = float(durations.sum())
    known = ~np.isnan(jobs.nodes)
    of_nodes = float(durations[known] @ jobs.nodes[known])
    remarks = []
    if known.any() and not known.all():
        remarks.append(f"{int((~known).sum())} jobs do not say on how many nodes they ran")
    rates = []
    for code, cause in enumerate(jobs.causes):
        count = int((jobs.codes == code).sum())
        by_node = cause.domain != "job" and of_nodes > 0.0
        if count:
            rates.append(
                _rate(
                    cause.cause,
                    cause.domain if by_node else "job",
                    count if not by_node else int((known & (jobs.codes == code)).sum()),
                    of_nodes if by_node else of_jobs,
                    "a node that runs a job" if by_node else "a job",
                    cause.unallocated,
                )
            )
    failures = int(jobs.failed.sum())
    total = _rate("all", "job", failures, of_jobs, "a job")
    return Pattern(failures, failures, tuple(rates), total, None, None, None, tuple(remarks))


def _of_points(points: Points, nodes: int | None) -> Pattern:
    span = points.end - points.start
    first = points.incidents
    codes = points.codes[first]
    named = {node for node in points.nodes if node is not None}
    population = nodes or points.population or max(1, len(named))
    remarks = _watched(points, len(first), population, assumed=not (nodes or points.population))
    if span <= 0.0:
        remarks.append("all of it is at one instant: no rate can be told")
    rates = []
    counts = Counter(codes.tolist())
    for code, count in sorted(counts.items(), key=lambda item: -item[1]):
        cause = points.causes[code]
        parts = 1 if cause.domain == "job" else population
        of = "the whole" if cause.domain == "job" else "a node"
        rates.append(_rate(cause.cause, cause.domain, count, span * parts, of, cause.unallocated))
    total = _rate("all", "job", len(first), span, "the whole")
    dated = np.sort(points.times[first[points.dated[first]]])
    test = _node_test(points, first, population, assumed=not (nodes or points.population))
    trend, bursts = _trend(dated, points.start, points.end), _bursts(dated, span)
    remarks += [*_about_nodes(test), *_about_trend(trend), *_about_bursts(bursts)]
    return Pattern(
        len(points.times), len(first), tuple(rates), total, test, trend, bursts, tuple(remarks)
    )


def _watched(points: Points, incidents: int, population: int, *, assumed: bool) -> list[str]:
    remarks = [
        "watched from the first row to the last; a longer time without failures before or after "
        "would make them rarer"
    ]
    if assumed:
        remarks.append(
            f"{population} nodes have failures, and no others are counted: --nodes says how many "
            "there are"
        )
    if incidents < len(points.times):
        remarks.append(
            f"{len(points.times)} failures are {incidents} incidents: those of one node within "
            f"{duration_text(points.together)} are taken as one"
        )
    undated = int((~points.dated).sum())
    if undated:
        remarks.append(f"of {undated} that are repeats the log gives no time")
    return remarks


def _node_test(
    points: Points, first: np.ndarray, population: int, *, assumed: bool
) -> NodeTest | None:
    """The index of dispersion of failures by node, against throws of a die."""
    from scipy.stats import binom

    counts = Counter(node for place in first.tolist() if (node := points.nodes[place]) is not None)
    total = sum(counts.values())
    population = max(population, len(counts))
    if total < 5 or population < 2:
        return None
    seen = np.zeros(population)
    seen[: len(counts)] = list(counts.values())
    even = np.full(population, 1.0 / population)
    rng = np.random.default_rng(0)
    index = float((seen**2).sum())
    if total * population <= 5e6:
        trials = 200 if total * population > 5e5 else _TRIALS
        chance = (rng.multinomial(total, even, size=trials) ** 2.0).sum(axis=1)
        p = float((1 + (chance >= index).sum()) / (1 + trials))
    else:
        from scipy.stats import chi2

        p = float(chi2.sf(index * population / total - total, population - 1))
    # the count that fewer than one node in a hundred logs reaches by chance
    usual = int(binom.isf(_RARE / population, total, 1.0 / population))
    lemons = [(node, count) for node, count in counts.most_common() if count > usual]
    return NodeTest(population, assumed, total, p, tuple(lemons))


def _trend(times: Array, start: float, end: float) -> Trend | None:
    """Laplace's test, and the shape of a power law; a failure that ends the log is its end."""
    from scipy.stats import chi2, norm

    within = times[(times > start) & (times < end)] - start
    span, count = end - start, len(within)
    if count < 5:
        return None
    laplace = float((within.mean() / span - 0.5) * math.sqrt(12.0 * count))
    shape = count / float(np.log(span / within).sum())
    tail = (1.0 - CONFIDENCE) / 2.0
    low, high = (shape * float(chi2.ppf(q, 2 * count)) / (2 * count) for q in (tail, 1.0 - tail))
    return Trend(count, laplace, float(2.0 * norm.sf(abs(laplace))), shape, low, high)


def _bursts(times: Array, span: float) -> Bursts | None:
    from scipy.stats import binom

    gaps = np.diff(times)
    if len(gaps) < 5 or span <= 0.0:
        return None
    mean = span / len(times)
    window = min(_BURST, 0.1 * mean)
    near = gaps <= window
    chance = -math.expm1(-window / mean)
    p = float(binom.sf(int(near.sum()) - 1, len(gaps), chance))
    edges = np.flatnonzero(np.concatenate([[True], ~near, [True]]))
    return Bursts(window, int(near.sum()), len(gaps) * chance, p, int(np.diff(edges).max()))


def _about_nodes(test: NodeTest | None) -> list[str]:
    if test is None:
        return []
    if test.p >= _RARE:
        return [f"failures are spread over nodes as chance would have it (p = {test.p:.2g})"]
    named = ", ".join(f"{node} ({count})" for node, count in test.lemons[:8])
    stand = f"; {named} stand out" if named else ""
    return [
        f"failures are not spread evenly over nodes (p = {test.p:.2g}): {test.failures} on "
        f"{test.nodes} nodes{stand}"
    ]


def _about_trend(trend: Trend | None) -> list[str]:
    if trend is None:
        return ["too few failures to say whether their rate is constant"]
    said = f"Laplace {trend.laplace:+.2f}, p = {trend.p:.2g}"
    if trend.p >= _RARE:
        return [f"the rate may be constant ({said})"]
    shape = f"shape {trend.shape:.2f}, 95% {trend.low:.2f} to {trend.high:.2f}"
    way = "fall, as after a burn-in" if trend.laplace < 0.0 else "grow"
    return [f"failures {way} with time ({said}; {shape}): a constant rate is an average of it"]


def _about_bursts(bursts: Bursts | None) -> list[str]:
    if bursts is None or bursts.p >= _RARE:
        return []
    return [
        f"failures come in bursts: {bursts.close} follow another within "
        f"{duration_text(bursts.window)} where {bursts.expected:.1f} would by chance, up to "
        f"{bursts.largest} together; `burst` of a cause brings others"
    ]
