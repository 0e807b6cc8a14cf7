"""What `ddsim run` prints: the comparison, where the time went, what the WAN column counts."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from ddsim.cli.tables import show
from ddsim.cli.words import duration, fraction, plain_number, quantity, ratio

if TYPE_CHECKING:
    from ddsim.results import MethodResult, Results

_BASE = "data_parallel"
_COSTS = {
    "usd": "USD",
    "usd_per_billion_merged_tokens": "USD/B merged",
    "energy_kwh": "kWh",
    "energy_kwh_per_billion_merged_tokens": "kWh/B merged",
}


def show_run(results: "Results") -> None:
    """Print a run's tables to stdout."""
    click.secho(_headline(results), bold=True)
    click.echo()
    _show_methods(results)
    click.echo()
    _show_accounts(results)
    click.echo()
    _show_spells(results)
    _show_costs(results)
    if _has_ratio(results):
        click.echo(f"ratio: tokens/h over those of {_BASE}")
    for line in _conventions(results):
        click.echo(line)
    for said in dict.fromkeys(item.extra.get("rounding") for item in results.results):
        if said is not None:
            click.echo(said)
    for line in (line for item in results.results for line in item.remarks):
        click.echo(line)
    _say_diverged(results)
    for item in results.results:
        if isinstance(item.goal, Mapping):
            click.echo(f"{item.method} does not reach its goal: {item.goal['unreachable']}")


def _headline(results: "Results") -> str:
    histories = (
        "one failure history"
        if results.replications == 1
        else f"mean of {results.replications} failure histories"
    )
    return f"{results.scenario}: {duration(results.duration_s)}, seed {results.seed}, {histories}"


def _has_ratio(results: "Results") -> bool:
    return _BASE in results.methods and len(results.results) > 1


def _show_methods(results: "Results") -> None:
    header = ["method", "goodput", "uptime", "utilization", "tokens/h"]
    with_ratio = _has_ratio(results)
    header += ["ratio"] if with_ratio else []
    trained = any(item.learning is not None for item in results.results)
    header += ["merged", "WAN mean", "WAN peak"] + (["loss"] if trained else [])
    rows = []
    for item in results.results:
        row = [
            item.method,
            _goodput(item),
            fraction(item.uptime),
            fraction(item.compute_utilization),
            quantity(item.tokens_per_hour),
        ]
        row += [ratio(results.ratio(item.method))] if with_ratio else []
        row += [
            fraction(item.merged_share),
            plain_number(item.wan["mean_gbps"], 3),
            plain_number(item.wan["peak_gbps"], 3),
        ]
        row += [_loss(item)] if trained else []
        rows.append(row)
    show(header, rows)


def _goodput(item: "MethodResult") -> str:
    text = fraction(item.goodput)
    if item.goodput_ci95 is not None:
        low, high = item.goodput_ci95
        text += f" +/- {(high - low) / 2:.3f}"
    return text


def _loss(item: "MethodResult") -> str:
    """Say the final loss, with its interval where several were trained, or that it diverged."""
    learning = item.learning
    if learning is None:
        return "-"
    if learning.get("diverged"):
        return "diverged"
    text = f"{learning['final_loss']:.4f}"
    interval = learning.get("final_loss_ci95")
    return text if interval is None else f"{text} +/- {(interval[1] - interval[0]) / 2:.4f}"


def _say_diverged(results: "Results") -> None:
    for item in results.results:
        lines = item.learning.get("diverged", []) if item.learning is not None else []
        for line in lines:
            click.echo(f"{item.method} diverged, {line}")


def _show_accounts(results: "Results") -> None:
    names = dict.fromkeys(
        ["productive", *(name for item in results.results for name in item.accounts)]
    )
    used = [
        name
        for name in names
        if any(fraction(item.accounts.get(name)) not in ("0", "-") for item in results.results)
    ]
    rows = [
        [name, *(fraction(item.accounts.get(name, 0.0), 4) for item in results.results)]
        for name in used
    ]
    show(["share of all chip-time", *results.methods], rows)


def _show_spells(results: "Results") -> None:
    """Say what was merged while links were how fast, where that changed a few times."""
    rows = []
    for item in results.results:
        for spell in item.extra.get("spells", []):
            span = f"{duration(spell['start_s'])} to {duration(spell['end_s'])}"
            rate = "unlimited" if spell["gbps"] is None else plain_number(spell["gbps"], 3)
            merges, age = spell["merges"], spell["longest_fragment_age_s"]
            rows.append([item.method, span, rate, quantity(merges), duration(age)])
    if rows:
        header = ["method", "exchanges", "Gbit/s a hop", "merges", "longest fragment age"]
        show(header, rows, left=2)
        click.echo()


def _show_costs(results: "Results") -> None:
    """Print money and energy, where the scenario has prices or power."""
    spent = {item.method: item.extra.get("costs", {}) for item in results.results}
    names = [name for name in _COSTS if any(name in costs for costs in spent.values())]
    if names:
        rows = [[m, *(quantity(costs.get(name)) for name in names)] for m, costs in spent.items()]
        show(["method", *(_COSTS[name] for name in names)], rows)
        click.echo()


def _conventions(results: "Results") -> list[str]:
    """Say what the WAN columns count, once for the methods that share a convention."""
    by_words: dict[str, list[str]] = {}
    for item in results.results:
        by_words.setdefault(item.wan["convention"], []).append(item.method)
    if len(by_words) == 1:
        return [f"WAN in Gbit/s: {next(iter(by_words))}"]
    return [f"WAN in Gbit/s, {', '.join(methods)}: {words}" for words, methods in by_words.items()]
