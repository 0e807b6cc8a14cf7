"""Random scenarios, run, their logs written, read and calibrated: how often intervals hold.

``python tests/calibrate_round_trip.py --cases 200`` prints, by kind of value, how many of the 95%
intervals hold what the scenario says. A value is left out where its log has none to tell.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import ddsim
from ddsim.calibration.estimates import Estimates, estimate
from ddsim.logs.run_log import to_bytes
from ddsim.logs.runs import read_run
from ddsim.simulation import simulate

KINDS = (
    "rate",
    "step",
    "sync_fixed",
    "sync_per_byte",
    "save",
    "load",
    "restart",
    "detection",
)
"""What is compared. Steps and synchronizations are those of learners on their own clocks; stalls
those of a job that stops as a whole."""
BITS = 8.0


@dataclass(frozen=True)
class Case:
    """A scenario, and the true value of each kind."""

    overrides: dict[str, Any]
    truth: dict[str, float]


@dataclass(frozen=True)
class Check:
    """One interval, and whether it holds the truth."""

    kind: str
    truth: float
    low: float
    high: float

    @property
    def holds(self) -> bool:
        """Whether it does."""
        return self.low <= self.truth <= self.high


def random_case(seed: int) -> Case:
    """A scenario in which everything scatters, with five to some thirty failures to be expected."""
    rng = np.random.default_rng([7, seed])
    step = float(np.exp(rng.uniform(np.log(0.5), np.log(5.0))))
    steps = int(rng.integers(1200, 2400))
    span = steps * step
    learners = int(rng.integers(2, 4))
    failures = float(rng.uniform(6.0, 30.0))
    mtbi = learners * span / failures
    gbps, sigma = float(rng.uniform(2.0, 40.0)), float(rng.uniform(0.05, 0.3))
    gap = 4 * step
    parameters = gbps * 1e9 * gap * float(rng.uniform(0.1, 0.3)) / 16.0
    sync_cost = gap * float(rng.uniform(0.01, 0.05))
    stall = mtbi / learners
    save, load, restart, detection = (
        float(stall * share)
        for share in rng.uniform((0.01, 0.02, 0.02, 0.01), (0.03, 0.1, 0.1, 0.05))
    )
    families = (
        {"exponential": {"mean": f"{restart} s"}},
        {"lognormal": {"mean": f"{restart} s", "sigma": float(rng.uniform(0.2, 0.8))}},
        {"gamma": {"shape": float(rng.uniform(0.8, 6.0)), "mean": f"{restart} s"}},
    )
    every = f"{gap} s"
    overrides = {
        "seed": int(rng.integers(1 << 31)),
        "duration": f"{span} s",
        "methods": ["data_parallel", "decoupled_diloco"],
        "model": {
            "parameters": parameters,
            "layers": 8,
            "tensors": {"a": 1, "b": 2, "c": 4, "d": 6},
        },
        "training.step_time": f"{step} s",
        "training.tokens_per_step": 1,
        "training.payload_bits": 16,
        "training.gradient_bits": 16 / 1000.0,
        "training.inner_steps": 16,
        "training.fragments": 4,
        "training.overlap_steps": 3,
        "cluster": {
            "chips": 8 * learners,
            "chips_per_slice": 8,
            "learners": learners,
            "jitter": float(rng.uniform(0.01, 0.15)),
        },
        "network.bandwidth": "unlimited",
        "network.sync_cost": f"{sync_cost} s",
        "network.regions": {
            f"region {m}": {"latency": "0 s", "bandwidth": "unlimited"} for m in range(learners)
        },
        "failures": {
            "causes": [{"name": "crash", "domain": "unit", "mtbi": f"{mtbi} s"}],
            "repair": f"{0.05 * stall} s",
            "detection": {
                "drawn": {
                    "lognormal": {"mean": f"{detection} s", "sigma": float(rng.uniform(0.1, 0.8))}
                }
            },
        },
        "restart": {
            "time": {"drawn": families[int(rng.integers(3))]},
            "stall_rule": "absorb",
            "moment_bits": 0,
        },
        "checkpoint": {
            "policy": "fixed",
            "interval": f"{int(steps / rng.integers(8, 25))} steps",
            "save": f"{save} s",
            "restore": f"{load} s",
            "spread": float(rng.uniform(0.1, 0.8)),
        },
    }
    pair = [f"region {m}" for m in range(learners)]
    overrides["network.links"] = [
        {
            "between": [pair[0], pair[1]],
            "bandwidth": f"{gbps} Gbit/s",
            "random": {
                "lognormal": {"sigma": sigma, "every": every, "correlation": f"{gap / 6} s"}
            },
        }
    ]
    truth = {
        "rate": 1.0 / mtbi,
        "step": step,
        "sync_fixed": sync_cost,
        "sync_per_byte": BITS / (gbps * 1e9) * math.exp(sigma * sigma),
        "save": save,
        "load": load,
        "restart": restart,
        "detection": detection,
    }
    return Case(overrides, truth)


def checks_of(case: Case, folder: Path) -> list[Check]:
    """Run a case, write its logs, read them, calibrate, and compare."""
    base = folder / "case.yaml"
    base.write_text("model: {parameters: 1, layers: 1}\n", encoding="utf-8")
    scenario = ddsim.load(base, case.overrides)
    found: dict[str, Estimates] = {}
    for method in ("data_parallel", "decoupled_diloco"):
        result = simulate(scenario.for_method(method), method, log=True)
        path = folder / f"{method}.jsonl"
        path.write_bytes(to_bytes(result.run_log))
        found[method] = estimate(read_run(path))
    checks = []
    for kind in KINDS:
        of_learners = kind.startswith("s") and kind != "save"
        made = found["decoupled_diloco" if of_learners else "data_parallel"].get(kind)
        if made is not None and made.spread:
            checks.append(Check(kind, case.truth[kind], made.low, made.high))
    return checks


def all_checks(cases: int, first: int = 0) -> list[Check]:
    """The checks of so many random cases."""
    checks = []
    with TemporaryDirectory() as folder:
        for seed in range(first, first + cases):
            checks += checks_of(random_case(seed), Path(folder))
    return checks


def table(checks: list[Check]) -> list[tuple[str, int, float]]:
    """By kind, and pooled: how many intervals there were, and the share of them that held."""
    kinds: dict[str, list[bool]] = defaultdict(list)
    for check in checks:
        kinds[check.kind].append(check.holds)
        kinds["all"].append(check.holds)
    return [
        (kind, len(kinds[kind]), float(np.mean(kinds[kind])))
        for kind in (*KINDS, "all")
        if kinds[kind]
    ]


def main() -> None:
    """Print the coverage by kind."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--first", type=int, default=0)
    given = parser.parse_args()
    for kind, count, share in table(all_checks(given.cases, given.first)):
        sys.stdout.write(f"{kind:14} {count:5} intervals, {100 * share:5.1f}% hold the truth\n")


if __name__ == "__main__":
    main()
