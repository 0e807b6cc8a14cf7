"""What `ddsim run` prints: the comparison, where the time went, what the WAN column counts."""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from ddsim.cli.quality_report import show_quality
from ddsim.cli.tables import show, tell
from ddsim.cli.words import duration, fraction, interval, plain_number, quantity, ratio
from ddsim.results.metrics import METRICS, RANKING, RATIO
from ddsim.results.record import BASELINE
from ddsim.scenario.units import span_in_words

if TYPE_CHECKING:
    from ddsim.results import MethodResult, Results

_COSTS = (
    "usd",
    "usd_per_billion_merged_tokens",
    "energy_kwh",
    "energy_kwh_per_billion_merged_tokens",
)
_UNALLOCATED = (
    "unallocated: chips outside the job, such as idle spares and slices that are away. Goodput "
    "leaves them out: it is productive / (1 - unallocated)."
)
_OVERWRITTEN = (
    "merged share: of the steps that were kept, those that a merge took in. The others an update "
    "overwrote before one did: those of a learner that came too late, and those that each takes "
    "from its answer until the update is in (tau of every H with training.apply: at_tau, and in "
    "streaming_diloco)."
)
_EXCHANGES = (
    "exchanges: what was merged while the links were this fast; the age of a fragment is the time "
    "since it was last merged."
)
_ARE_EXPECTED = ("are to be expected in each history", "are to be expected")
_SOME = 0.05
"""Failures to be expected from which on it is said that there was none."""
_ALL_MERGED = 0.9995
"""A merged share that is written as 1.000."""


def show_run(results: "Results", expected: float = 0.0) -> None:
    """Print a run's tables to stdout; `expected` are the failures that a history may bring."""
    tell(_headline(results), bold=True)
    click.echo()
    _show_methods(results)
    click.echo()
    _show_accounts(results)
    click.echo()
    _show_spells(results)
    _show_costs(results)
    show_quality(results)
    if without := _without_interval(results):
        tell(f"no interval for {without}: too few of the histories differ, or met a failure")
    if expected >= _SOME and not any(item.failures for item in results.results):
        tell(
            f"no failure struck, where {expected:.2g} {_ARE_EXPECTED[results.replications == 1]}: "
            "more histories (--replications) or a longer one say what failures cost"
        )
    if _has_ratio(results):
        tell(f"ratio: merged/h, merged tokens an hour, over that of {BASELINE}")
    if any((item.merged_share or 1.0) < _ALL_MERGED for item in results.results):
        tell(_OVERWRITTEN)
    for line in _saves(results):
        tell(line)
    for line in _conventions(results):
        tell(line)
    for said in dict.fromkeys(item.extra.get("rounding") for item in results.results):
        if said is not None:
            tell(said)
    for line in (line for item in results.results for line in item.remarks):
        tell(line)
    _say_diverged(results)
    _say_rates(results)
    for item in results.results:
        if isinstance(item.goal, Mapping):
            tell(f"{item.method} does not reach its goal: {item.goal['unreachable']}")


def _headline(results: "Results") -> str:
    histories = (
        "one failure history"
        if results.replications == 1
        else f"mean of {results.replications} failure histories"
    )
    return f"{results.scenario}: {_how_long(results)}, seed {results.seed}, {histories}"


def _how_long(results: "Results") -> str:
    """The duration; of a run that ends at a goal, when its methods came to that, too."""
    ends = [item.wall_clock_s for item in results.results if item.goal == "reached"]
    if not ends:
        return duration(results.duration_s)
    first, last = (f"{end / 3600:.3g} h" for end in (min(ends), max(ends)))
    over = f"to its goal in {first if first == last else f'{first} to {last}'}"
    endless = not math.isfinite(results.duration_s)
    return over if endless else f"{over}, {duration(results.duration_s)} at most"


def _without_interval(results: "Results") -> str:
    """The methods whose merged goodput has no interval although several histories were run."""
    lacking = [it.method for it in results.results if it.merged_goodput_ci95 is None]
    if results.replications == 1 or not lacking:
        return ""
    return "all methods" if len(lacking) == len(results.results) > 1 else ", ".join(lacking)


def _has_ratio(results: "Results") -> bool:
    return BASELINE in results.methods and len(results.results) > 1


def _show_methods(results: "Results") -> None:
    """Print a row a method: what methods are ranked by first."""
    names = [RANKING, RATIO] if _has_ratio(results) else [RANKING]
    names += ["goodput", "merged_share", "uptime", "compute_utilization"]
    names += ["merged_tokens_per_hour", "wan_mean_gbps", "wan_peak_gbps"]
    if any(item.learning is not None for item in results.results):
        names.append("final_loss")
    rows = [
        [
            item.method,
            interval(item.merged_goodput, item.merged_goodput_ci95, fraction),
            *([ratio(results.ratio(item.method))] if RATIO in names else []),
            interval(item.goodput, item.goodput_ci95, fraction),
            fraction(item.merged_share),
            fraction(item.uptime),
            fraction(item.compute_utilization),
            quantity(item.merged_tokens_per_hour),
            plain_number(item.wan["mean_gbps"], 3),
            plain_number(item.wan["peak_gbps"], 3),
            *([_loss(item)] if "final_loss" in names else []),
        ]
        for item in results.results
    ]
    show(["method", *(METRICS[name].heading for name in names)], rows)


def _loss(item: "MethodResult") -> str:
    """Say the final loss, with its interval where several were trained, or that it diverged."""
    learning = item.learning
    if learning is None:
        return "-"
    if learning.get("diverged"):
        return "diverged"
    return interval(learning["final_loss"], learning.get("final_loss_ci95"), _four_digits)


def _four_digits(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"


def _say_diverged(results: "Results") -> None:
    for item in results.results:
        lines = item.learning.get("diverged", []) if item.learning is not None else []
        for line in lines:
            tell(f"{item.method} diverged, {line}")


def _say_rates(results: "Results") -> None:
    """Say at which learning rates each loss came out, and how far above the floor it is."""
    for item in results.results:
        learning = item.learning
        if learning is None or "rates" not in learning or learning.get("diverged"):
            continue
        rates = " and ".join(f"{which} rate {rate:g}" for which, rate in learning["rates"].items())
        text = f"{item.method}: loss {learning['final_loss']:.4f} at {rates}"
        if "floor" in learning:
            above = learning["final_loss"] - learning["floor"]
            text += f", {above:.4f} above the floor of {learning['floor']:.4f}"
        click.echo(text)


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
    if "unallocated" in used:
        tell(_UNALLOCATED)


def _show_spells(results: "Results") -> None:
    """Say what was merged while links were how fast, where that changed a few times."""
    rows = []
    for item in results.results:
        for spell in item.extra.get("spells", []):
            span = span_in_words(duration(spell["start_s"]), duration(spell["end_s"]))
            rate = "unlimited" if spell["gbps"] is None else plain_number(spell["gbps"], 3)
            merges, age = spell["merges"], spell["longest_fragment_age_s"]
            rows.append([item.method, span, rate, quantity(merges), duration(age)])
    if rows:
        header = ["method", "exchanges", "Gbit/s a hop", "merges", "longest fragment age"]
        show(header, rows, left=2)
        tell(_EXCHANGES)
        click.echo()


def _show_costs(results: "Results") -> None:
    """Print money and energy, where the scenario has prices or power."""
    spent = {item.method: item.extra.get("costs", {}) for item in results.results}
    names = [name for name in _COSTS if any(name in costs for costs in spent.values())]
    if names:
        rows = [[m, *(quantity(costs.get(name)) for name in names)] for m, costs in spent.items()]
        show(["method", *(METRICS[name].heading for name in names)], rows)
        click.echo()


def _saves(results: "Results") -> list[str]:
    """Say when a policy saves, once for the methods that save alike."""
    by_words: dict[str, list[str]] = {}
    for item in results.results:
        found = item.extra.get("checkpoint")
        if found is not None:
            words = f"{found['saves']} (checkpoint.policy {found['policy']})"
            by_words.setdefault(words, []).append(item.method)
    return [f"saves, {', '.join(methods)}: {words}" for words, methods in by_words.items()]


def _conventions(results: "Results") -> list[str]:
    """Say what the WAN columns count, once for the methods that share a convention."""
    by_words: dict[str, list[str]] = {}
    for item in results.results:
        by_words.setdefault(item.wan["convention"], []).append(item.method)
    if len(by_words) == 1:
        return [f"WAN in Gbit/s: {next(iter(by_words))}"]
    return [f"WAN in Gbit/s, {', '.join(methods)}: {words}" for words, methods in by_words.items()]
