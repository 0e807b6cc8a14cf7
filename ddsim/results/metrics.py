"""The metrics: one name, heading, unit and direction each, wherever a number of a run is shown.

`METRICS` has them in the order of tables: first what methods are ranked by.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ddsim.naming import suggestion
from ddsim.results.worth import COLUMNS, quality_numbers

if TYPE_CHECKING:
    from ddsim.results.record import MethodResult

Value = float | None
Row = Mapping[str, Value]
"""The metrics of one replication by name; None for what it does not have."""
SHARE = "share"
RANKING = "merged_goodput"
"""What methods and settings are ranked by unless something else is asked for."""
LOSS = "predicted_loss"
"""What tokens are worth by the scenario's law: the middle of its interval."""
RATIO = "ratio"
"""What compares a method with `record.BASELINE`."""


@dataclass(frozen=True, slots=True)
class Metric:
    """A number that a run has.

    `heading` is its column's in a narrow table, `words` what it is called elsewhere, `unit` empty
    for a count; `direction` says which is better. `of` takes it from a method's result; None for
    what only several methods have together.
    """

    name: str
    heading: str
    words: str
    unit: str
    direction: Literal["higher", "lower"]
    of: Callable[[MethodResult], Value] | None

    @property
    def sign(self) -> float:
        """1 where more of it is better, -1 where less is: times this, the largest is the best."""
        return 1.0 if self.direction == "higher" else -1.0

    @property
    def label(self) -> str:
        """In words, with its unit where it has one."""
        return f"{self.words} ({self.unit})" if self.unit else self.words


def _field(name: str) -> Callable[[MethodResult], Value]:
    def of(result: MethodResult) -> Value:
        value: Value = getattr(result, name)
        return None if value is None else float(value)

    return of


def _spent(name: str) -> Callable[[MethodResult], Value]:
    def of(result: MethodResult) -> Value:
        value: Value = result.extra.get("costs", {}).get(name)
        return value

    return of


def _crossed(name: Literal["mean_gbps", "peak_gbps", "total_bytes"]) -> Callable[..., float]:
    return lambda result: result.wan[name]


def _loss(result: MethodResult) -> Value:
    return result.learning["final_loss"] if result.learning else None


def _share(name: str, heading: str = "") -> Metric:
    words = name.replace("_", " ")
    return Metric(name, heading or words, words, SHARE, "higher", _field(name))


def _worth() -> tuple[Metric, ...]:
    """What tokens are worth by a law: the middle of each number, and its two ends."""

    def of(name: str) -> Callable[[MethodResult], Value]:
        return lambda result: quality_numbers(result)[name]

    units = {"predicted_loss": "nats", "hours_to_target": "h", "cost_to_target": "US$"}
    return tuple(
        Metric(name, name.replace("_", " "), name.replace("_", " "), unit, "lower", of(name))
        for name in COLUMNS
        for unit in [next(of for base, of in units.items() if name.startswith(base))]
    )


_ALL = (
    _share(RANKING),
    Metric(RATIO, RATIO, "ratio to data-parallel", "x", "higher", None),
    _share("goodput"),
    _share("merged_share"),
    Metric("pending_share", "pending", "pending share", SHARE, "lower", _field("pending_share")),
    _share("time_goodput"),
    _share("uptime"),
    _share("merge_uptime"),
    _share("participation"),
    _share("compute_utilization", "utilization"),
    Metric("ettr", "ETTR", "ettr", SHARE, "higher", _field("ettr")),
    Metric("steps", "steps", "steps", "", "higher", _field("steps")),
    Metric("tokens", "tokens", "tokens", "", "higher", _field("tokens")),
    Metric("tokens_merged", "merged", "tokens merged", "", "higher", _field("tokens_merged")),
    Metric(
        "tokens_per_hour",
        "tokens/h",
        "tokens",
        "1/h",
        "higher",
        _field("tokens_per_hour"),
    ),
    Metric(
        "merged_tokens_per_hour",
        "merged/h",
        "merged tokens",
        "1/h",
        "higher",
        _field("merged_tokens_per_hour"),
    ),
    Metric("wall_clock_s", "wall-clock", "wall-clock", "s", "lower", _field("wall_clock_s")),
    Metric("failures", "failures", "failures", "", "lower", _field("failures")),
    Metric("mtbi_s", "MTBI", "MTBI", "s", "higher", _field("mtbi_s")),
    Metric("mttr_s", "MTTR", "MTTR", "s", "lower", _field("mttr_s")),
    Metric("wan_mean_gbps", "WAN mean", "WAN, mean", "Gbit/s", "lower", _crossed("mean_gbps")),
    Metric("wan_peak_gbps", "WAN peak", "WAN, peak", "Gbit/s", "lower", _crossed("peak_gbps")),
    Metric("wan_total_bytes", "WAN total", "WAN, total", "bytes", "lower", _crossed("total_bytes")),
    Metric("usd", "USD", "cost", "US$", "lower", _spent("usd")),
    Metric(
        "usd_per_billion_merged_tokens",
        "USD/B merged",
        "cost",
        "US$ per billion merged tokens",
        "lower",
        _spent("usd_per_billion_merged_tokens"),
    ),
    Metric("energy_kwh", "kWh", "energy", "kWh", "lower", _spent("energy_kwh")),
    Metric(
        "energy_kwh_per_billion_merged_tokens",
        "kWh/B merged",
        "energy",
        "kWh per billion merged tokens",
        "lower",
        _spent("energy_kwh_per_billion_merged_tokens"),
    ),
    *_worth(),
    Metric("final_loss", "loss", "final loss", "", "lower", _loss),
    Metric("events", "events", "events", "", "lower", _field("events")),
)
METRICS: Mapping[str, Metric] = {metric.name: metric for metric in _ALL}
"""All metrics by name, in the order of tables."""
OWN = tuple(metric.name for metric in _ALL if metric.of is not None)
"""The names of those that a method's result has by itself."""


def values(result: MethodResult) -> dict[str, Value]:
    """Return the metrics that a method's result has by itself."""
    return {name: of(result) for name, metric in METRICS.items() if (of := metric.of) is not None}


def refusal(name: str, what: str = "metric", short: Iterable[str] = ()) -> str:
    """Say what is wrong with a name that no metric of a single method has, and what is allowed.

    `what` it is a name of, and which `short` names it may also be.
    """
    if name in METRICS and name not in OWN:
        return (
            f'"{name}" compares with data_parallel and no method has it by itself; '
            "merged_tokens_per_hour is what it compares"
        )
    there = [*short, *OWN]
    return f'no {what} "{name}"; {suggestion(name, there)}there are {", ".join(there)}'
