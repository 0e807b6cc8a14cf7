"""Closed forms of Weibull lifetimes and repairs."""

from __future__ import annotations

from collections.abc import Mapping

from oracle_estimates import Oracle, Parameters, seconds

from ddsim import theory
from ddsim.results import MethodResult


def ageing_parts(domain: str, shape: float, scale: float, repair: str) -> Mapping[str, object]:
    """Parts of a domain that are all new at the start and new again when repaired."""
    cause = {
        "name": "wear",
        "domain": domain,
        "lifetime": {"weibull": {"shape": shape, "scale": seconds(scale)}},
        "repair": repair,
        "detection": "0 s",
    }
    return {"failures.causes": [cause]}


def repair_time(p: Parameters) -> Oracle:
    """Mean time that a job stands for a repair of Weibull length."""

    def repair(result: MethodResult) -> float:
        assert result.mttr_s is not None
        return result.mttr_s

    scale = theory.weibull_scale_for_mean(p["k"], p["mean"])
    settings = {
        "failures.chip_mtbi": seconds(6 * p["mean"]),
        "failures.repair": {"weibull": {"shape": p["k"], "scale": seconds(scale)}},
    }
    return Oracle(
        "data_parallel",
        3000 * 7 * p["mean"],
        repair,
        settings,
        "`data_parallel`, stranded until repaired: mean repair with that scale",
        expected=p["mean"],
    )


def superposition(_: Parameters) -> Oracle:
    """Failures of each part in its mean life, for so long that youth is forgotten."""
    parts, shape, mean, lives = 20, 0.7, 3600.0, 500

    def rate(result: MethodResult) -> float:
        return result.failures / (parts * lives)

    scale = theory.weibull_scale_for_mean(shape, mean)
    return Oracle(
        "elastic_data_parallel",
        lives * mean,
        rate,
        {"cluster.chips": parts, **ageing_parts("slice", shape, scale, "0 s")},
        "`elastic_data_parallel`, 20 slices that age, over 500 lives",
        replications=10,
    )


def first_failure(p: Parameters) -> Oracle:
    """Mean time until a slice of N chips is down for good: its first failure."""
    slices, long = 5000, 2.5

    def up(result: MethodResult) -> float:
        return (1.0 - result.accounts["failed_hardware"]) * result.wall_clock_s

    return Oracle(
        "elastic_data_parallel",
        long,
        up,
        {
            "cluster.chips": slices * int(p["N"]),
            "cluster.chips_per_slice": int(p["N"]),
            **ageing_parts("chip", p["k"], p["scale"], "100 yr"),
        },
        "`elastic_data_parallel`, slices of N chips that age",
    )


def new_nodes(shape: float, mean: float, nodes: int, span: float, histories: int) -> Oracle:
    """Failures of nodes that are new at time 0, each its own slice and back at once."""
    scale = theory.weibull_scale_for_mean(shape, mean)
    return Oracle(
        "elastic_data_parallel",
        span,
        lambda result: result.failures,
        {
            "seed": 1,
            "cluster.chips": nodes,
            "training.step_time": "1 min",
            **ageing_parts("slice", shape, scale, "0 s"),
        },
        expected=nodes * theory.renewal_function(theory.weibull_cdf(shape, scale), span),
        replications=histories,
    )
