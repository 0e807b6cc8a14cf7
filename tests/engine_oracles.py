"""The rows of `theory_oracles` and the engine's mechanisms that show them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from zlib import crc32

import oracle_jobs
import oracle_units
import oracle_weibull
from oracle_estimates import Oracle, Parameters

from ddsim.reference import Row

DAY = 86_400.0
YEAR = 365.25 * DAY

ORACLES: dict[str, Callable[[Parameters], Oracle]] = {
    "segment_expected_time": oracle_jobs.segment_time,
    "goodput_ckpt_restart": oracle_jobs.saved_goodput,
    "expected_lost_time_per_failed_segment": oracle_jobs.lost_time,
    "sync_availability_nonparalyzable": oracle_jobs.nonparalyzable,
    "sync_availability_paralyzable": oracle_jobs.paralyzable,
    "all_n_up_indep_repair": oracle_jobs.all_up_independent,
    "all_n_up_clock_stops": oracle_jobs.all_up_clock_stops,
    "machine_repairman_mean_up_frac": oracle_jobs.few_crews_capacity,
    "machine_repairman_P_all_up": oracle_jobs.few_crews,
    "k_of_n_availability": oracle_units.k_of_n,
    "mean_capacity_fraction": oracle_units.mean_capacity,
    "merge_uptime_K_of_M": oracle_units.merging_units,
    "M_learner_goodput": oracle_units.independent_learners,
    "decoupled_learner_goodput": oracle_units.decoupled_learner,
    "sync_step_max_exponential_tail": oracle_jobs.slowest_delay,
    "sync_dp_goodput": oracle_units.elastic_without_repair,
    "sync_diloco_round_goodput": oracle_units.synchronous_round,
    "sync_every_step_goodput": oracle_units.every_step,
    "elastic_dp_goodput": oracle_units.elastic_with_repair,
    "weibull_scale_for_mean": oracle_weibull.repair_time,
    "weibull_superposition": oracle_weibull.superposition,
    "weibull_first_failure_of_N": oracle_weibull.first_failure,
}


def oracle_of(row: Row) -> Oracle | None:
    """The row's oracle in a world of its own; None where ddsim lacks the mechanism."""
    make = ORACLES.get(row["name"])
    if make is None:
        return None
    oracle = make(parameters(row["parameters"]))
    # rows of one world share its runs; others have nothing in common
    return replace(oracle, settings={"seed": crc32(row["parameters"].encode()), **oracle.settings})


def parameters(text: str) -> Parameters:
    """ "M=8;rf=0.0065/node-day;mtbi_chip=1yr;D=19 const" in seconds; words are left out."""
    scales = {"/node-day": 1 / DAY, "yr": YEAR}
    found = {}
    for part in text.split(";"):
        name, _, value = part.partition("=")
        if match := re.match(r"([\d.]+(?:e[+-]?\d+)?)(/node-day|yr)?", value):
            found[name] = float(match[1]) * scales.get(match[2] or "", 1.0)
    return found
