"""Closed forms against the reference table of oracles."""

import re
from collections.abc import Callable

import pytest

from ddsim import theory
from ddsim.reference import Row, rows

DAY = 86_400.0
YEAR = 365.25 * DAY

Parameters = dict[str, float]

FORMULAS: dict[str, Callable[[Parameters], float]] = {
    "segment_expected_time": lambda p: theory.expected_segment_time(
        p["M"], p["tau"], p["delta"], p["R"], p["D"]
    ),
    "goodput_ckpt_restart": lambda p: theory.checkpoint_goodput(
        p["M"], p["tau"], p["delta"], p["R"], p["D"]
    ),
    "tau_opt_young": lambda p: theory.young_interval(p["M"], p["delta"]),
    "tau_opt_daly_ho": lambda p: theory.daly_interval(p["M"], p["delta"]),
    "tau_opt_exact_lambertW": lambda p: theory.optimal_interval(p["M"], p["delta"]),
    "ETTR_meta": lambda p: theory.ettr_meta(p["N"], p["rf"], p["u0"], p["dt"], p["w"]),
    "google_runtime_goodput": lambda p: theory.google_runtime_goodput(
        p["I"], p["t_ch"], p["t_re"], p["t_rm"]
    ),
    "sync_availability_nonparalyzable": lambda p: theory.nonparalyzable_availability(
        p["M"], p["D"]
    ),
    "sync_availability_paralyzable": lambda p: theory.paralyzable_availability(p["M"], p["D"]),
    "all_n_up_indep_repair": lambda p: theory.all_up_independent(int(p["n"]), p["mtbf"], p["mttr"]),
    "all_n_up_clock_stops": lambda p: theory.all_up_clock_stops(int(p["n"]), p["mtbf"], p["mttr"]),
    "k_of_n_availability": lambda p: theory.k_of_n_availability(
        int(p["n"]), int(p["k"]), p["mtbf"], p["mttr"]
    ),
    "mean_capacity_fraction": lambda p: theory.mean_capacity_fraction(p["mtbf"], p["mttr"]),
    "machine_repairman_mean_up_frac": lambda p: _repairman(p).mean_up_fraction(),
    "machine_repairman_P_all_up": lambda p: _repairman(p).all_up(),
    "M_learner_goodput": lambda p: theory.learners_goodput(
        int(p["M"]), p["N"], p["mtbi_chip"], p["D"]
    ),
    "merge_uptime_K_of_M": lambda p: theory.merge_uptime(
        int(p["M"]), int(p["K"]), p["N"], p.get("mtbi_chip", YEAR), p["D"]
    ),
    "weibull_scale_for_mean": lambda p: theory.weibull_scale_for_mean(p["k"], p["mean"]),
    "weibull_superposition": lambda p: theory.superposed_rate(3600.0, 3600.0),
    "weibull_first_failure_of_N": lambda p: theory.weibull_first_failure_mean(
        p["k"], p["scale"], p["N"]
    ),
    "expected_lost_time_per_failed_segment": lambda p: theory.expected_lost_time(p["M"], p["s"]),
    "sync_step_max_exponential_tail": lambda p: theory.slowest_of_exponential(
        int(p["n"]), p["mean_excess"]
    ),
    "sync_diloco_round_goodput": lambda p: theory.sync_diloco_round_goodput(
        int(p["M"]), p["lambda_learner"], p["H*t_step"], p["D"]
    ),
    "decoupled_learner_goodput": lambda p: theory.decoupled_learner_goodput(
        p["lambda_learner"], p["D"]
    ),
    "sync_dp_goodput": lambda p: theory.sync_dp_goodput(int(p["M"]), p["lambda_learner"], p["D"]),
    "elastic_dp_goodput": lambda p: theory.elastic_dp_goodput(
        int(p["S"]), p["slice_rate"], p["R"], p["Ddown"], p["Dup"]
    ),
    "sync_every_step_goodput": lambda p: theory.sync_every_step_goodput(
        int(p["M"]), p["lambda_learner"], p["step"], p["D"]
    ),
}


def _repairman(p: Parameters) -> theory.MachineRepairman:
    return theory.MachineRepairman(int(p["n"]), int(p["crews"]), p["mtbf"], p["mttr"])


def _parameters(text: str) -> Parameters:
    """ "M=8;rf=0.0065/node-day;mtbi_chip=1yr;D=19 const" in seconds; words are left out."""
    found = {}
    for part in text.split(";"):
        name, _, value = part.partition("=")
        if match := re.match(r"([\d.e+-]*\d)(/node-day|/s|yr)?", value):
            scale = {"/node-day": 1 / DAY, "yr": YEAR}.get(match[2] or "", 1.0)
            found[name] = float(match[1]) * scale
    return found


def _title(row: Row) -> str:
    return f"{row['name']}({row['parameters']})"


@pytest.mark.parametrize("row", rows("theory_oracles"), ids=_title)
def test_closed_form_gives_the_reference_value(row: Row) -> None:
    """Every row's formula value, to the digits that it is printed with."""
    value = FORMULAS[row["name"]](_parameters(row["parameters"]))
    assert value == pytest.approx(float(row["formula_value"]), rel=1e-5)


EXACT = [row for row in rows("theory_oracles") if row["exact"] == "yes" and row["simulated_stderr"]]


@pytest.mark.parametrize("row", EXACT, ids=_title)
def test_exact_closed_form_agrees_with_an_independent_simulation(row: Row) -> None:
    """Rows that are exact lie within 5 standard errors of the simulated value."""
    value = FORMULAS[row["name"]](_parameters(row["parameters"]))
    apart = abs(value - float(row["simulated_value"]))
    assert apart <= 5 * float(row["simulated_stderr"])
