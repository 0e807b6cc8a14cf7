"""The mean of replications, with its confidence interval."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from statistics import fmean
from typing import Any

from ddsim.results.goals import mean_goal
from ddsim.results.interval import SHARE, mean_interval, student_interval, warranted
from ddsim.results.learning import mean_learning
from ddsim.results.rates import RATES, rate, sides
from ddsim.results.record import MethodResult, Wan
from ddsim.results.verdict import EXPECTED, FAILURES, HISTORIES
from ddsim.world.chance import UNKNOWN, Chance

__all__ = ["mean_of", "student_interval"]

_MEANS = (
    "merged_goodput",
    "goodput",
    "time_goodput",
    "uptime",
    "merge_uptime",
    "participation",
    "merged_share",
    "pending_share",
    "compute_utilization",
    "ettr",
    "steps",
    "tokens",
    "tokens_merged",
    "wall_clock_s",
    "failures",
    "events",
    "elapsed_s",
)


def mean_of(replications: Sequence[MethodResult], chance: Chance = UNKNOWN) -> MethodResult:
    """Return the mean of one method's replications.

    A quantity that some replications do not have (None) is averaged over those that do; one that
    is a sum over a sum (`ddsim.results.rates`) is that of all, so that a history without an
    interruption counts, and one that merged nothing with what it cost.
    The logs, the convention and the quality are the first replication's, tapes are those of all.
    `chance` is what is expected to befall each, from which it follows whether shares have
    intervals (`ddsim.results.interval.warranted`), as in a study.
    Raises ValueError without replications or when they are not all of one method.
    """
    if not replications:
        raise ValueError("the mean of no replications")
    if len({item.method for item in replications}) > 1:
        raise ValueError("replications of different methods have no mean")
    first = replications[0]
    if len(replications) == 1:
        return first
    means: dict[str, Any] = {
        name: _mean(getattr(item, name) for item in replications) for name in _MEANS
    }
    return replace(
        first,
        **means,
        merged_goodput_ci95=_of_share("merged_goodput", replications, chance),
        goodput_ci95=_of_share("goodput", replications, chance),
        goodput_by_chip_type=_mean_by_key(
            [item.goodput_by_chip_type for item in replications], missing=None
        ),
        accounts=_mean_by_key([item.accounts for item in replications], missing=0.0),
        mtbi_s=_rate("mtbi_s", replications),
        mttr_s=_rate("mttr_s", replications),
        wan=_mean_wan([item.wan for item in replications]),
        learning=mean_learning([item.learning for item in replications]),
        goal=mean_goal([item.goal for item in replications]),
        extra=_mean_extra([item.extra for item in replications])
        | _mean_costs(replications)
        | {
            HISTORIES: [item.merged_goodput for item in replications],
            FAILURES: [item.failures for item in replications],
        }
        | ({} if chance == UNKNOWN else {EXPECTED: asdict(chance)}),
        tapes=[recording for item in replications for recording in item.tapes],
    )


def _of_share(
    name: str, replications: Sequence[MethodResult], chance: Chance
) -> tuple[float, float] | None:
    """Return the interval of a share's mean; None where too few differ, or met a failure."""
    values = [getattr(item, name) for item in replications]
    struck = sum(item.failures > 0 for item in replications)
    return mean_interval(values, within=SHARE) if warranted(values, struck, chance) else None


def _mean(values: Iterable[float | None]) -> float | None:
    present = [value for value in values if value is not None]
    return fmean(present) if present else None


def _mean_by_key(parts: Sequence[Mapping[str, float]], missing: float | None) -> dict[str, float]:
    keys = dict.fromkeys(key for part in parts for key in part)
    means = {key: _mean(part.get(key, missing) for part in parts) for key in keys}
    return {key: value for key, value in means.items() if value is not None}


def _rate(name: str, replications: Sequence[MethodResult]) -> float | None:
    """Return a metric that is a sum over a sum."""
    rows = [
        {"wall_clock_s": item.wall_clock_s, "mtbi_s": item.mtbi_s, "mttr_s": item.mttr_s}
        | {"tokens_merged": item.tokens_merged, **item.extra.get("costs", {})}
        for item in replications
    ]
    return rate([pair for row in rows if (pair := sides(name, row)) is not None])


def _mean_costs(replications: Sequence[MethodResult]) -> dict[str, Any]:
    spent = [item.extra.get("costs", {}) for item in replications]
    names = dict.fromkeys(name for costs in spent for name in costs)
    means = {
        name: _rate(name, replications) if name in RATES else _mean(c.get(name) for c in spent)
        for name in names
    }
    return {"costs": {name: x for name, x in means.items() if x is not None}} if names else {}


def _mean_wan(parts: Sequence[Wan]) -> Wan:
    return {
        "mean_gbps": fmean(part["mean_gbps"] for part in parts),
        "peak_gbps": fmean(part["peak_gbps"] for part in parts),
        "total_bytes": fmean(part["total_bytes"] for part in parts),
        "convention": parts[0]["convention"],
    }


def _mean_extra(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    keys = dict.fromkeys(key for part in parts for key in part)
    means = {key: _mean_or_first([part[key] for part in parts if key in part]) for key in keys}
    if "blast_radius" in means:
        radii = [part.get("blast_radius", {}) for part in parts]
        for by in ("by_cause", "by_domain"):
            means["blast_radius"][by] = _mean_losses([radius.get(by, {}) for radius in radii])
    return means


def _mean_losses(parts: Sequence[Mapping[str, Mapping[str, float]]]) -> dict[str, dict[str, float]]:
    """Return the mean of what failures cost; a history in which nothing struck counts as 0."""
    losses: dict[str, dict[str, float]] = {}
    for name in sorted({name for part in parts for name in part}):
        failures, lost = (
            fmean(part.get(name, {}).get(key, 0.0) for part in parts)
            for key in ("failures", "chip_seconds")
        )
        each = lost / failures if failures else 0.0
        losses[name] = {"failures": failures, "chip_seconds": lost, "per_failure": each}
    return losses


def _mean_or_first(values: Sequence[Any]) -> Any:
    if all(isinstance(value, Mapping) for value in values):
        return _mean_extra(values)
    if all(isinstance(value, list) for value in values) and _alike(values):
        return [_mean_or_first(items) for items in zip(*values, strict=True)]
    numbers = all(isinstance(value, int | float) and value is not True for value in values)
    return fmean(values) if numbers and not isinstance(values[0], bool) else values[0]


def _alike(tables: Sequence[list[Any]]) -> bool:
    """Whether tables have rows of the same names in the same order, so that rows have means."""
    names = [
        [[text for text in row.values() if isinstance(text, str)] for row in table]
        for table in tables
        if all(isinstance(row, Mapping) for row in table)
    ]
    return len(names) == len(tables) and all(rows == names[0] for rows in names)
