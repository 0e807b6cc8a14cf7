"""The closed forms beside the engine: `python tests/theory_table.py --write`.

Tests hold the document line by line: whoever simulates a row compares its line with the kept one.
"""

from __future__ import annotations

import math
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from engine_oracles import DAY, YEAR, oracle_of, parameters
from oracle_estimates import Estimate, Oracle, estimate, results, simulated
from oracle_jobs import checkpointed, ettr
from oracle_weibull import new_nodes

from ddsim.reference import Row, rows

DOCUMENT = Path(__file__).parent.parent / "docs" / "validation-theory.md"
APART = 2

SPANS = {"week": 7 * DAY, "year": YEAR}
# on how many histories: some 40,000 failures of each kind
HISTORIES = {
    (0.5, "week"): 50,
    (0.5, "year"): 15,
    (0.7, "week"): 180,
    (0.7, "year"): 10,
    (1.5, "week"): 4800,
    (1.5, "year"): 12,
}
NODES, MEAN_LIFE = 4096, YEAR

FORMULAS = {
    "segment_expected_time": "exp(R/M) (M + D) (exp((tau + delta)/M) - 1)",
    "goodput_ckpt_restart": "tau / segment_expected_time",
    "tau_opt_young": "sqrt(2 delta M)",
    "tau_opt_daly_ho": "sqrt(2 delta M) (1 + sqrt(delta/2M)/3 + delta/18M) - delta",
    "tau_opt_exact_lambertW": "M (1 + W0(-exp(-delta/M - 1)))",
    "ETTR_meta": "(1 - N rf (u0 + dt/2)) / (1 + w/dt)",
    "google_runtime_goodput": "(I - t_ch) / (I + t_re + t_rm)",
    "sync_availability_nonparalyzable": "M / (M + D)",
    "sync_availability_paralyzable": "exp(-D/M)",
    "all_n_up_indep_repair": "a^n, a = m/(m + r)",
    "all_n_up_clock_stops": "1 / (1 + n r/m)",
    "k_of_n_availability": "sum over j >= k of C(n,j) a^j (1 - a)^(n-j), a = m/(m + r)",
    "mean_capacity_fraction": "m / (m + r)",
    "machine_repairman_mean_up_frac": "1 - E[down]/n, birth and death, c crews",
    "machine_repairman_P_all_up": "P(0 down), birth and death, c crews",
    "M_learner_goodput": "1 / (1 + N D / (M mtbi))",
    "merge_uptime_K_of_M": "sum over j >= K of C(M,j) a^j (1 - a)^(M-j)",
    "weibull_scale_for_mean": "mean / Gamma(1 + 1/k)",
    "weibull_superposition": "rate = N / mean",
    "weibull_first_failure_of_N": "scale N^(-1/k) Gamma(1 + 1/k)",
    "expected_lost_time_per_failed_segment": "M - s / (exp(s/M) - 1)",
    "sync_step_max_exponential_tail": "1 + 1/2 + ... + 1/n",
    "sync_diloco_round_goodput": "W / (W + D E[max of M Poisson(lambda W)])",
    "decoupled_learner_goodput": "1 / (1 + lambda D)",
    "sync_dp_goodput": "1 / (1 + M lambda D)",
    "elastic_dp_goodput": "a f, f = 1/(1 + S a l (Dd + Du)), a = 1/(1 + l f R)",
    "sync_every_step_goodput": "W / (W + D E[max of M Poisson(lambda W)]), W one step",
}

# rows whose mechanism ddsim does not have, and what that is
LACKING: dict[str, str] = {}


@dataclass(frozen=True)
class Bracket:
    """How much better the exact optimum is than an interval `APART` times shorter or longer."""

    best: float
    shorter: Estimate
    longer: Estimate

    @property
    def low(self) -> float:
        """The shorter interval in seconds."""
        return self.best / APART

    @property
    def high(self) -> float:
        """The longer interval in seconds."""
        return self.best * APART


def is_exact(row: Row) -> bool:
    """Whether the row holds exactly, and is asserted rather than reported beside."""
    return row["exact"] == "yes"


def is_optimum(row: Row) -> bool:
    """Whether the row is the exact optimum of an interval, which can only be bracketed."""
    return row["name"] == "tau_opt_exact_lambertW"


def expected(row: Row) -> float:
    """What the engine's quantity is to be."""
    oracle = oracle_of(row)
    if oracle is not None and oracle.expected is not None:
        return oracle.expected
    return float(row["formula_value"])


def bracket(row: Row) -> Bracket:
    """Goodput at the exact optimum and on both sides of it, on common histories."""
    p = parameters(row["parameters"])
    best = float(row["formula_value"])
    found = [
        [result.goodput for result in results(checkpointed(p, tau))]
        for tau in (best / APART, best, best * APART)
    ]
    shorter, at, longer = found
    return Bracket(
        best,
        estimate([a - b for a, b in zip(at, shorter, strict=True)]),
        estimate([a - b for a, b in zip(at, longer, strict=True)]),
    )


def document() -> str:
    """All rows as Markdown."""
    exact = [row for row in rows("theory_oracles") if is_exact(row)]
    shown = [row for row in exact if row["name"] not in LACKING]
    lines = [
        "# Closed forms, simulated by the engine",
        "",
        "Every row is a scenario (`tests/oracles.yaml` with the row's values on top) that the",
        "engine runs on histories drawn apart; the mean stands with its standard error, and `off`",
        "is how many of them lie between it and the formula. Tests assert 5. Where a quantity",
        "hardly varies, its error is taken as 0.001%. Written by",
        "`python tests/theory_table.py --write`; a test simulates it afresh.",
        "",
        "## Exact",
        "",
        "| row | parameters | formula | value | simulated | off | assumes | by |",
        "| --- | --- | --- | ---: | ---: | ---: | --- | --- |",
        *(exact_line(row) for row in shown if not is_optimum(row)),
        "",
        "## Exact optimum of the checkpoint interval",
        "",
        "By how many points of goodput the optimum beats half and double the interval, on common",
        "histories.",
        "",
        "| row | parameters | formula | value | over half | over double | assumes |",
        "| --- | --- | --- | ---: | ---: | ---: | --- |",
        *(bracket_line(row) for row in shown if is_optimum(row)),
        "",
        "## Failures of nodes that age",
        "",
        f"Weibull lives of a year in the mean, {NODES:,} nodes new at the start, each new again",
        "when it has failed: failures against the renewal function, computed numerically. A",
        f"constant hazard would give {NODES * 7 * DAY / MEAN_LIFE:.1f} in a week.",
        "",
        "| shape | span | renewal function | simulated | off |",
        "| ---: | --- | ---: | ---: | ---: |",
        *(renewal_line(shape, span) for shape, span in HISTORIES),
        "",
        *_lacking([row for row in exact if row["name"] in LACKING]),
        "## Reported beside: first order, or a convention",
        "",
        "ETTR's exact process is simulated; the intervals of Young and Daly stand beside the exact",
        "optimum above; the last is one failure in one interval, not a process.",
        "",
        "| row | parameters | formula | value | simulated |",
        "| --- | --- | --- | ---: | ---: |",
        *(beside_line(row) for row in rows("theory_oracles") if not is_exact(row)),
    ]
    return "\n".join(lines) + "\n"


def words(text: str) -> str:
    """A text without its numbers."""
    return re.sub(r"-?\d[\d.e+-]*", "#", text)


def figures(text: str) -> list[tuple[float, float]]:
    """The figures with errors that a text has."""
    return [(float(a), float(b)) for a, b in re.findall(r"(-?[\d.e+-]+) ± ([\d.e+-]+)", text)]


def is_kept(line: str) -> bool:
    """Whether the document has a line, its figures within 5 standard errors."""
    row = line.split(" ± ")[0].rpartition("|")[0]  # what stands before the first figure
    for kept in DOCUMENT.read_text(encoding="utf-8").splitlines():
        if kept.startswith(row) and words(kept) == words(line):
            return all(
                abs(value - new) <= 5.0 * math.hypot(error, new_error) + 1e-4 * abs(new)
                for (value, error), (new, new_error) in zip(
                    figures(kept), figures(line), strict=True
                )
            )
    return False


def _lacking(missing: list[Row]) -> list[str]:
    if not missing:
        return []
    return [
        "## Lacking",
        "",
        "| row | parameters | formula | value | ddsim has no |",
        "| --- | --- | --- | ---: | --- |",
        *(f"| {_row(row)} | {row['formula_value']} | {LACKING[row['name']]} |" for row in missing),
        "",
    ]


def _row(row: Row) -> str:
    return f"`{row['name']}` | {row['parameters']} | {FORMULAS[row['name']]}"


def _figure(found: Estimate) -> str:
    return f"{found.mean:.6g} ± {found.error:.2g}"


def exact_line(row: Row) -> str:
    """A row that is simulated."""
    oracle = oracle_of(row)
    assert oracle is not None
    found = simulated(oracle)
    value = f"{expected(row):g}" if oracle.expected is not None else row["formula_value"]
    return (
        f"| {_row(row)} | {value} | {_figure(found)} | {found.off(expected(row)):.1f} "
        f"| {row['assumptions']} | {oracle.how} |"
    )


def bracket_line(row: Row) -> str:
    """A row that is an optimum."""
    found = bracket(row)
    shorter, longer = (
        f"{100 * side.mean:.3f} ± {100 * side.error:.2g}" for side in (found.shorter, found.longer)
    )
    return f"| {_row(row)} | {row['formula_value']} | {shorter} | {longer} | {row['assumptions']} |"


def renewal_oracle(shape: float, span: str) -> Oracle:
    """Failures of the new nodes in a span."""
    return new_nodes(shape, MEAN_LIFE, NODES, SPANS[span], HISTORIES[shape, span])


def renewal_line(shape: float, span: str) -> str:
    """Nodes that age, in a span."""
    oracle = renewal_oracle(shape, span)
    assert oracle.expected is not None
    found = simulated(oracle)
    return (
        f"| {shape} | {span} | {oracle.expected:.6g} | {_figure(found)} "
        f"| {found.off(oracle.expected):.1f} |"
    )


def beside_line(row: Row) -> str:
    """A row that is only reported."""
    shown = ""
    if row["name"] == "ETTR_meta":
        shown = _figure(simulated(ettr(parameters(row["parameters"]))))
    return f"| {_row(row)} | {row['formula_value']} | {shown} |"


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        raise SystemExit(__doc__)
    DOCUMENT.parent.mkdir(exist_ok=True)
    DOCUMENT.write_text(document(), encoding="utf-8")
