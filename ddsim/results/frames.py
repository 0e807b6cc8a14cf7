"""Results as pandas DataFrames and as a table in Jupyter."""

from collections.abc import Sequence
from html import escape
from typing import Any

import pandas as pd

from ddsim.results.metrics import METRICS, RANKING, values
from ddsim.results.record import MethodResult, ratio

_SPAN = ["unit", "start", "end", "state", "healthy_chips", "computing"]
_MERGE = ["slot", "fragments", "start", "arrival", "learners", "weights"]
_MONEY = ["usd", "usd_per_billion_merged_tokens", "energy_kwh"]
_LEARNING = ["wall_clock_s", "tokens", "tokens_merged", "steps", "loss"]


def summary(results: Sequence[MethodResult]) -> pd.DataFrame:
    """Return a row a method, a column a metric, in the units of the metrics."""
    rows = {item.method: _row(results, item) for item in results}
    frame = pd.DataFrame.from_dict(rows, orient="index")
    return frame.rename_axis("method")


def _row(results: Sequence[MethodResult], item: MethodResult) -> dict[str, Any]:
    known = {"ratio": ratio(results, item.method)} | values(item)
    intervals = {RANKING: item.merged_goodput_ci95, "goodput": item.goodput_ci95}
    numbers: dict[str, Any] = {}
    for name in METRICS:
        numbers[name] = known[name]
        if name in intervals:
            numbers[f"{name}_low"], numbers[f"{name}_high"] = intervals[name] or (None, None)
    return {name: float("nan") if value is None else value for name, value in numbers.items()}


def accounts(results: Sequence[MethodResult]) -> pd.DataFrame:
    """Return a row a method, a column an account; an account that a method lacks is 0."""
    rows = {item.method: dict(item.accounts) for item in results}
    frame = pd.DataFrame.from_dict(rows, orient="index").fillna(0.0)
    return frame.rename_axis("method")


def timeline(results: Sequence[MethodResult]) -> pd.DataFrame:
    """Return a row a span, methods one after another."""
    rows = [
        (item.method, *(getattr(span, name) for name in _SPAN))
        for item in results
        for span in item.timeline
    ]
    return pd.DataFrame(rows, columns=["method", *_SPAN])


def merges(results: Sequence[MethodResult]) -> pd.DataFrame:
    """Return a row a synchronization, methods one after another."""
    rows = [
        (item.method, *(getattr(merge, name) for name in _MERGE))
        for item in results
        for merge in item.merges
    ]
    return pd.DataFrame(rows, columns=["method", *_MERGE])


def learning(results: Sequence[MethodResult]) -> pd.DataFrame:
    """Return a row a point of a loss curve, methods one after another."""
    rows = []
    for item in results:
        trained = item.learning
        if trained is None:
            continue
        curve = trained["curve"]
        unknown = [float("nan")] * len(curve)
        merged, steps = trained.get("tokens_merged", unknown), trained.get("steps", unknown)
        for (time, tokens, loss), then, step in zip(curve, merged, steps, strict=True):
            rows.append((item.method, time, tokens, then, step, loss))
    return pd.DataFrame(rows, columns=["method", *_LEARNING])


def html(results: Sequence[MethodResult], title: str) -> str:
    """Return the summary and the accounts that are not empty under a title, for Jupyter."""
    chosen = [RANKING, "ratio", "goodput", "merged_share", "uptime", "compute_utilization"]
    chosen += ["merged_tokens_per_hour", "wan_mean_gbps", "wan_peak_gbps"]
    numbers = summary(results)
    chosen += [name for name in _MONEY if numbers[name].notna().any()]
    chosen = [name for name in chosen if name != "ratio" or numbers[name].notna().any()]
    shares = accounts(results)
    shares = shares.loc[:, (shares > 0).any()]
    return (
        f"<p><b>{escape(title)}</b></p>"
        + numbers[chosen].to_html(float_format=_short, na_rep="")
        + shares.to_html(float_format=_short)
    )


def _short(value: float) -> str:
    return f"{value:.4g}"
