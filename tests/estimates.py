"""What is said of runs beforehand beside what came: `tests/estimates.py --cases 100 --seed 1`.

Each case is a shipped scenario with a few of its settings drawn anew, so long that from `SHORTEST`
to `LONGEST` seconds are expected of it, and run in a process of its own. Times are processor time.
Strikes and merges are compared from `FEW` on: fewer come as chance has it.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import random
import resource
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from math import exp, inf, isnan, log, nan
from threading import Thread
from time import process_time, sleep
from typing import Any, TextIO
from unittest import mock

import ddsim
from ddsim.errors import InputError
from ddsim.forecast import forecast
from ddsim.learning import LearningError
from ddsim.methods.local import compiling
from ddsim.scenario import Scenario

FACTOR, FEW = 3.0, 20.0
SHORTEST, LONGEST = 0.2, 10.0
BEYOND = 4.0 * LONGEST
"""Seconds that no run is given more of."""
TOO_LONG = 3
"""The exit code of one that would take more."""
QUANTITIES = ("strikes", "merges", "memory", "seconds")
YEAR = 365.25 * 86400.0
LEAST, MOST = 60.0, 10.0 * YEAR
"""Seconds that a run may last."""
SHIPPED = ["adaptive_link", "chaos_drill", "convergence", "covenant72b", "four_regions_12b"]
SHIPPED += ["goodput_vs_chips", "heterogeneous_hardware", "intellect1", "llama3_16k"]
SHIPPED += ["measured_grid", "scavenging", "spot_trace", "which_method_first"]
TAPED = ["data_parallel", "elastic_data_parallel", "diloco", "streaming_diloco"]
TAPED += ["decoupled_diloco"]
"""Methods whose models can be trained."""
METHODS = [*TAPED, "async_local_sgd"]
Overrides = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """A scenario with what is changed in it, and how often it is run."""

    scenario: str
    overrides: Overrides
    methods: list[str]
    runs: int
    seconds: float
    """How long it is to take."""

    def __str__(self) -> str:
        changes = " ".join(f"--set '{path}={value}'" for path, value in self.overrides.items())
        methods = " ".join(f"--method {name}" for name in self.methods)
        return f"{self.scenario} {methods} --replications {self.runs} {changes}"


@dataclass(frozen=True)
class Figures:
    """What a case comes to, said beforehand or counted."""

    strikes: float
    merges: float
    memory: float
    seconds: float


@dataclass(frozen=True)
class Compared:
    """What was said of a case, and what came."""

    said: Figures
    came: Figures

    def off(self, quantity: str) -> float | None:
        """By which factor too much was said; None where that is left to chance."""
        said, came = getattr(self.said, quantity), getattr(self.came, quantity)
        if isnan(came) or (quantity in ("strikes", "merges") and max(said, came) < FEW):
            return None
        return float(said / came) if came else inf


def case(seed: int, number: int) -> Case:
    """The case of this number, which `seed` and it decide alone."""
    rng = random.Random(f"{seed}/{number}")
    draws = _draws(rng)
    chosen = rng.sample(sorted(draws), rng.randint(1, 6))
    overrides: Overrides = {"duration": "1 day", "seed": rng.randrange(1000)}
    for name in chosen:
        overrides |= draws[name]
    scenario = rng.choice(SHIPPED)
    there = TAPED if "learning" in chosen or scenario == "convergence" else METHODS
    methods = rng.sample(there, min(rng.choice([1, 1, 1, 2, 3, 6]), len(there)))
    runs = rng.choice([1, 1, 1, 2, 5, 20])
    return Case(scenario, overrides, methods, runs, _even(rng, SHORTEST, LONGEST))


def _draws(rng: random.Random) -> dict[str, Overrides]:
    """What may be changed, by name: settings that belong together."""
    learners, per_slice = rng.choice([1, 2, 4, 8, 16, 64]), rng.choice([1, 8, 64])
    inner = round(_even(rng, 1, 500))
    repair: object = _time(rng, 60.0, 86400.0)
    weibull = {"shape": rng.choice([0.7, 1.0, 1.5]), "mean": _time(rng, 30 * 86400.0, 10 * YEAR)}
    causes = [
        {"name": "nodes", "domain": "slice", "mtbi": _time(rng, 3 * 86400.0, YEAR)},
        {"name": "old", "domain": "chip", "lifetime": {"weibull": weibull}},
        {"name": "job", "domain": "job", "count": rng.randint(1, 30), "per": "1 day"},
        {
            "name": "racks",
            "domain": "rack",
            "mtbi": _time(rng, 30 * 86400.0, YEAR),
            "burst": {"size": rng.choice([1, 2]), "spread": "1 min"},
        },
    ]
    walk = {"sigma": 0.5, "correlation": "1 h", "every": _time(rng, 60.0, 3600.0)}
    problem = rng.choice(["noisy_quadratic", "quadratic", "mlp", "language_model"])
    policy = rng.choice(["in_memory", "fixed", "none"])
    return {
        "cluster": {
            "cluster.chips": learners * per_slice * round(_even(rng, 1, 2000)),
            "cluster.chips_per_slice": per_slice,
            "cluster.learners": learners,
        },
        "chip_mtbi": {"failures.chip_mtbi": _time(rng, 10 * 86400.0, 10 * YEAR)},
        "repair": {"failures.repair": rng.choice([repair, {"exponential": {"mean": repair}}])},
        "causes": {"failures.causes": rng.sample(causes, rng.randint(1, 3))},
        "ages": {"failures.age_while_down": "stops"},
        "inner": {"training.inner_steps": inner},
        "fragments": {"training.fragments": round(_even(rng, 1, 48))},
        "overlap": {"training.overlap_steps": rng.choice([0, 1, 5])},
        "step": {"training.step_time": _time(rng, 0.3, 60.0)},
        "quorum": {"training.quorum": rng.choice([1, 2, 4]), "training.grace": 0.5},
        "syncer": {"training.syncer": rng.choice(["partitioned", "central"])},
        "on_failure": {"training.on_failure": rng.choice(["drop", "rollback", "leave"])},
        "spares": {"restart.spares": rng.choice([0, 1, 4, 16])},
        "jitter": {"cluster.jitter": rng.choice([0.0, 0.02, 0.2])},
        "bandwidth": {"network.bandwidth": f"{_even(rng, 0.05, 100):.3g} Gbit/s"},
        "timeout": {"network.ring_timeout": _time(rng, 1.0, 600.0)},
        "walk": {"network.random": {"lognormal": walk}},
        "downscale": {"elastic.downscale": _time(rng, 1.0, 600.0)},
        "checkpoint": {"checkpoint.policy": policy, "checkpoint.interval": "30 min"},
        "learning": {"learning.problem": problem, "learning.batch_size": rng.choice([8, 32])},
    }


def _even(rng: random.Random, least: float, most: float) -> float:
    """A number between the two, each power of ten as likely as any other."""
    return exp(rng.uniform(log(least), log(most)))


def _time(rng: random.Random, least: float, most: float) -> str:
    return f"{_even(rng, least, most):.3g} s"


def of_length(what: Case) -> Case:
    """The same with the duration at which it is expected to take its time, in two rounds."""
    for _ in range(2):
        world = ddsim.load(what.scenario, what.overrides).choose(what.methods)
        longer = what.seconds / forecast(world).times(what.runs).seconds
        duration = min(max(world.duration * longer, LEAST), MOST)
        what = replace(what, overrides=what.overrides | {"duration": f"{duration:.4g} s"})
    return what


def said_of(world: Scenario, runs: int) -> Figures:
    """What is said beforehand."""
    said = forecast(world, tries=True).times(runs)
    return Figures(said.strikes, said.merges, said.memory, said.seconds)


def come_of(world: Scenario, runs: int) -> Figures:
    """What comes, the memory that of the whole process."""
    began = process_time()
    found = ddsim.run(world, replications=runs).results
    seconds = process_time() - began
    merges = sum(item.extra.get("merge_count", 0) for item in found) * runs
    strikes = max(item.failures for item in found) * runs
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return Figures(strikes, merges, memory, seconds)


def _beside(what: Case) -> Iterator[Figures | Case]:
    try:
        what = of_length(what)
        world = ddsim.load(what.scenario, what.overrides).choose(what.methods)
        said = said_of(world, what.runs)
    except (InputError, LearningError):
        return
    if not SHORTEST <= said.seconds <= LONGEST:
        return
    yield what
    yield said
    yield come_of(world, what.runs)


def apart(what: Case) -> tuple[Case, Compared] | None:
    """What is said of a case and what comes, in a process of its own; None for one that is refused.

    What takes more than `BEYOND` seconds took forever.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        with open(writing, "w", encoding="utf-8") as out:
            Thread(target=_end_when_long, daemon=True).start()
            logging.disable()
            for item in _beside(what):
                out.write(json.dumps(asdict(item)) + "\n")
                out.flush()
        os._exit(0)
    os.close(writing)
    with open(reading, encoding="utf-8") as text:
        lines = [json.loads(line) for line in text]
    _, status = os.waitpid(child, 0)
    if status and os.waitstatus_to_exitcode(status) != TOO_LONG:
        raise RuntimeError(f"ended with {status}: {what}")
    if not lines:
        return None
    came = Figures(**lines[2]) if len(lines) == 3 else Figures(nan, nan, nan, inf)
    return Case(**lines[0]), Compared(Figures(**lines[1]), came)


def _end_when_long() -> None:
    """End the process once it has run for `BEYOND`: a limit of the system coarsens its clock."""
    while process_time() < BEYOND:
        sleep(0.5)
    os._exit(TOO_LONG)


def cases(count: int, seed: int) -> Iterator[tuple[Case, Compared]]:
    """As many cases as asked for."""
    with mock.patch.object(compiling, "at_hand", compiling.compiled):
        ddsim.run("adaptive_link")  # what is imported late, and the machine code, are there now
    found = number = 0
    while found < count:
        one = apart(case(seed, number))
        number += 1
        if one is not None:
            found += 1
            yield one


def main(count: int, seed: int, out: TextIO, kept: TextIO | None = None) -> int:
    """Say how far off each quantity was, and return how often one was by more than `FACTOR`."""
    factors: dict[str, list[float]] = {quantity: [] for quantity in QUANTITIES}
    for what, one in cases(count, seed):
        if kept is not None:
            kept.write(json.dumps([str(what), asdict(one)]) + "\n")
            kept.flush()
        for quantity in QUANTITIES:
            off = one.off(quantity)
            if off is None:
                continue
            factors[quantity].append(off)
            if not 1 / FACTOR <= off <= FACTOR:
                said, came = getattr(one.said, quantity), getattr(one.came, quantity)
                out.write(f"{quantity}: said {said:.3g}, came {came:.3g}\n   {what}\n")
                out.flush()
    wrong = 0
    for quantity, offs in factors.items():
        offs.sort()
        within = sum(1 / FACTOR <= off <= FACTOR for off in offs)
        spread = f"{offs[0]:.2g} to {offs[-1]:.2g} times what came" if offs else "none compared"
        wrong += len(offs) - within
        out.write(f"{quantity}: {within} of {len(offs)} within {FACTOR:g}; {spread}\n")
    return wrong


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=argparse.FileType("w"), help="all figures, as lines of JSON")
    given = parser.parse_args()
    sys.exit(bool(main(given.cases, given.seed, sys.stdout, given.keep)))
