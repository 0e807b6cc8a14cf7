"""Closed forms of learner units, and of jobs that shrink and grow."""

from __future__ import annotations

from dataclasses import replace

from oracle_estimates import Oracle, Parameters, capacity_up, goodput, merge_uptime, seconds

YEAR = 365.25 * 86_400.0


def units_that_fail_whole(
    count: int, mtbf: float, repair: object, needed: int, failures: float
) -> Oracle:
    """Learner units of one slice each, every one lost and back on its own."""
    return Oracle(
        "decoupled_diloco",
        failures * mtbf / count,
        merge_uptime,
        {
            "training.step_time": seconds(100 * mtbf),
            "training.quorum": needed,
            "cluster.chips": count,
            "cluster.learners": count,
            "failures.chip_mtbi": seconds(mtbf),
            "failures.repair": repair,
        },
        "`decoupled_diloco`, units of one slice",
    )


def k_of_n(p: Parameters) -> Oracle:
    """At least k of n units live."""
    repair = {"exponential": {"mean": seconds(p["mttr"])}}
    needed = int(p.get("k", 1))
    return units_that_fail_whole(
        int(p["n"]), p["mtbf"], repair, needed, 2500.0 if needed > 1 else 1000.0
    )


def mean_capacity(p: Parameters) -> Oracle:
    """Share of the units' hardware that is up."""
    return replace(k_of_n(p), measure=capacity_up)


def merging_units(p: Parameters) -> Oracle:
    """At least K of M units live, each away for D after a failure."""
    learners, needed = int(p["M"]), int(p["K"])
    mtbf = YEAR * learners / p["N"]
    failures = 4000.0 if needed > 1 else 1000.0
    return units_that_fail_whole(learners, mtbf, seconds(p["D"]), needed, failures)


def stalling_units(
    method: str, learners: int, rate: float, stall: float, failures: float, **more: object
) -> Oracle:
    """Learner units of two slices: a strike stalls the unit, and the slice is back at once."""
    settings = {
        "cluster.chips": 2 * learners,
        "cluster.learners": learners,
        "failures.chip_mtbi": seconds(2 / rate),
        "failures.age_while_down": "stops",
        "elastic.downscale": seconds(stall),
        **{path.replace("__", "."): value for path, value in more.items()},
    }
    duration = failures / (learners * rate)
    return Oracle(method, duration, goodput, settings, f"`{method}`, age `stops`")


def independent_learners(p: Parameters) -> Oracle:
    """Learners of N/M chips, none of which waits."""
    learners = int(p["M"])
    rate = p["N"] / learners / YEAR
    step = seconds(10 / rate)
    return stalling_units(
        "decoupled_diloco", learners, rate, p["D"], 500.0, training__step_time=step
    )


def decoupled_learner(p: Parameters) -> Oracle:
    """Learners that never block, their clocks stopped in a stall."""
    step = seconds(1 / p["lambda_learner"])
    return stalling_units(
        "decoupled_diloco",
        int(p["M"]),
        p["lambda_learner"],
        p["D"],
        500.0,
        training__step_time=step,
    )


def elastic_without_repair(p: Parameters) -> Oracle:
    """One job that every strike on any of M units stalls."""
    learners, rate = int(p["M"]), p["lambda_learner"]
    often = learners * rate * p["D"] > 0.5
    return stalling_units(
        "elastic_data_parallel", learners, rate, p["D"], 1000.0 if often else 300.0
    )


def synchronous_round(p: Parameters) -> Oracle:
    """A barrier of M units after H steps of their own."""
    return stalling_units(
        "diloco",
        int(p["M"]),
        p["lambda_learner"],
        p["D"],
        50.0,
        training__step_time=seconds(p["H*t_step"] / 24),
    )


def every_step(p: Parameters) -> Oracle:
    """A barrier after each step."""
    oracle = stalling_units(
        "diloco",
        int(p["M"]),
        p["lambda_learner"],
        p["D"],
        100.0,
        training__step_time=seconds(p["step"]),
        training__inner_steps=1,
        training__fragments=1,
    )
    how = "`diloco`, H = 1, age `stops`"
    return replace(oracle, how=how, replications=10, controlled=True)


def elastic_with_repair(p: Parameters) -> Oracle:
    """One job that shrinks, goes on without the slice, and grows again."""
    slices = int(p["S"])
    return Oracle(
        "elastic_data_parallel",
        500 / (slices * p["slice_rate"]),
        goodput,
        {
            "cluster.chips": slices,
            "failures.chip_mtbi": seconds(1 / p["slice_rate"]),
            "failures.age_while_down": "stops",
            "failures.repair": seconds(p["R"]),
            "elastic.downscale": seconds(p["Ddown"]),
            "elastic.upscale": seconds(p["Dup"]),
        },
        "`elastic_data_parallel`, age `stops`",
    )
