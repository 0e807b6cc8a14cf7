"""Closed forms of one job: saves and restarts, outages, repairs."""

from __future__ import annotations

from dataclasses import replace

from oracle_estimates import Oracle, Parameters, capacity_up, goodput, seconds, uptime

from ddsim.results import MethodResult


def checkpointed(p: Parameters, tau: float, failures: float = 500.0) -> Oracle:
    """A job of one part that saves every tau, back at its last save R after each strike."""
    work = {
        "failures.chip_mtbi": seconds(p["M"]),
        "training.step_time": seconds(tau / 30),
        "checkpoint.policy": "fixed",
        "checkpoint.interval": seconds(tau),
        "checkpoint.save": seconds(p.get("delta", 0.0)),
        "restart.time": seconds(p.get("R", 0.0)),
        "restart.stall_rule": "extend",
    }
    how = "`data_parallel`, `fixed` saves, a restart that `extend`s"
    return Oracle("data_parallel", failures * p["M"], goodput, work, how)


def saved_goodput(p: Parameters) -> Oracle:
    """Goodput of the job that saves."""
    return checkpointed(p, p["tau"])


def segment_time(p: Parameters) -> Oracle:
    """Wall-clock per segment: 30 steps and a save, with all that befalls them."""
    return replace(
        checkpointed(p, p["tau"]), measure=lambda result: 30 * result.wall_clock_s / result.steps
    )


def lost_time(p: Parameters) -> Oracle:
    """Compute that a strike takes back."""

    def lost(result: MethodResult) -> float:
        return result.accounts["wasted_progress"] * result.wall_clock_s / result.failures

    return replace(checkpointed(p, p["s"], 1000.0), measure=lost)


def slowest_delay(p: Parameters) -> Oracle:
    """How much longer than its compute a step takes that waits for the most delayed of n parts."""

    def excess(result: MethodResult) -> float:
        return result.wall_clock_s / result.steps - 1.0

    n = int(p["n"])
    settings = {
        "cluster.chips": n,
        "cluster.learners": n,
        "cluster.delay": {"exponential": {"mean": seconds(p["mean_excess"])}},
        "training.step_time": "1 s",
        "training.tokens_per_step": 1,
        "training.tokens": 120,
    }
    how = "`data_parallel` over n units, `cluster.delay` exponential"
    return Oracle("data_parallel", 1e5, excess, settings, how)


def ettr(p: Parameters) -> Oracle:
    """The exact process behind ETTR: no save time, restarts at risk."""
    mtbf = 1.0 / (p["N"] * p["rf"])
    return checkpointed({"M": mtbf, "R": p["u0"]}, p["dt"])


def _stalled(p: Parameters, rule: str, age: str) -> Oracle:
    return Oracle(
        "data_parallel",
        (400 if p["M"] > 100.0 else 1400) * p["M"],
        uptime,
        {
            "failures.chip_mtbi": seconds(p["M"]),
            "failures.age_while_down": age,
            "restart.time": seconds(p["D"]),
            "restart.stall_rule": rule,
        },
        f"`data_parallel`, a restart that `{rule}`s, age `{age}`",
    )


def nonparalyzable(p: Parameters) -> Oracle:
    """Outages that strikes do not prolong."""
    # the assumption's two ways: strikes are ignored, or the clock stops
    if p["M"] > 100.0:
        return _stalled(p, "absorb", "runs")
    return _stalled(p, "extend", "stops")


def paralyzable(p: Parameters) -> Oracle:
    """Outages that begin again with every strike."""
    return _stalled(p, "extend", "runs")


def _all_up(p: Parameters, age: str, failures: float = 2600.0) -> Oracle:
    return Oracle(
        "data_parallel",
        failures * p["mtbf"] / p["n"],
        uptime,
        {
            "cluster.chips": int(p["n"]),
            "failures.chip_mtbi": seconds(p["mtbf"]),
            "failures.repair": {"exponential": {"mean": seconds(p["mttr"])}},
            "failures.age_while_down": age,
            "restart.stall_rule": "absorb",
        },
        f"`data_parallel`, stranded until all is repaired, age `{age}`",
    )


def all_up_independent(p: Parameters) -> Oracle:
    """A job that needs all of its parts, which fail on while it stands."""
    return _all_up(p, "runs")


def all_up_clock_stops(p: Parameters) -> Oracle:
    """A job that needs all of its parts, none of which fails while it stands."""
    return _all_up(p, "stops")


def few_crews(p: Parameters) -> Oracle:
    """A job that needs all of its parts, with few crews to repair them."""
    crews = int(p["crews"])
    oracle = _all_up(p, "runs", 14_500.0 if crews == 1 else 3000.0)
    return replace(
        oracle,
        settings={**oracle.settings, "failures.crews": crews},
        how=f"{oracle.how}, `crews`",
    )


def few_crews_capacity(p: Parameters) -> Oracle:
    """Share of the parts that is up, with few crews to repair them."""
    return replace(few_crews(p), measure=capacity_up)
