"""The package's training beside the naive trainer's, on random settings.

`python tests/training_cases.py --cases N [--first F]` prints each case and how far the two are
apart, and says how many there were of each kind.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from naive_trainer import NaiveTrainer
from scenario_text import scenario

from ddsim.engine import tape as t
from ddsim.engine.run import Run
from ddsim.learning import LearningConfig
from ddsim.learning.replay import Replay
from ddsim.learning.setup import config_of
from ddsim.methods import get
from ddsim.world.histories import Histories

METHODS = (
    "decoupled_diloco",
    "streaming_diloco",
    "decoupled_diloco",
    "diloco",
    "data_parallel",
    "elastic_data_parallel",
)
JOBS = METHODS[-2:]
WIDTHS = {"uniform": (1, 2, 4), "float": (2, 3, 4), "gaussian": (1, 2, 4), "sign": (1,)}
PROBLEMS: dict[str, dict[str, int]] = {
    "language_model": {"width": 6, "hidden": 8, "blocks": 1, "evaluated": 64},
    "mlp": {"features": 6, "classes": 4, "width": 8, "examples": 512},
    "noisy_quadratic": {"dimensions": 12, "tensors": 9},  # some of one element
}
SAME = 1e-6


class Case(NamedTuple):
    """A tape, how it is trained, and in words what is in it."""

    tape: t.Tape
    config: LearningConfig
    seed: int
    kinds: tuple[str, ...]


def world(draw: random.Random, method: str) -> dict[str, Any]:
    """A run of half a minute in which units fail, are slow, are lost and come back."""
    learners = draw.choice([2, 3, 4])
    units = [
        {"chips": draw.choice([8, 16]), "speed": draw.choice([1.0, 1.0, 0.8, 0.6])}
        for _ in range(learners)
    ]
    steps, tau = draw.choice([(4, 1), (6, 2), (6, 1)])
    lost = draw.randrange(learners)
    return {
        "duration": "30 s",
        "cluster": {"units": units, "chips_per_slice": 4, "jitter": draw.choice([0.0, 0.1])},
        "model.parameters": 1e8,
        "training.step_time": "0.5 s",
        "training.inner_steps": steps,
        "training.fragments": draw.choice([1, 2, 3]),
        "training.overlap_steps": tau,
        "training.quorum": draw.choice([1, learners]),
        "training.grace": draw.choice([0.0, 0.5]),
        "training.mixing": draw.choice([0.0, 0.3, 0.7]),
        "training.on_failure": draw.choice(["wait", "drop", "rollback"]),
        "training.payload_block": draw.choice([None, 3, 8]),
        "network": {"bandwidth": draw.choice(["1 Gbit/s", "100 Gbit/s"]), "latency": "5 ms"},
        "failures": {"chip_mtbi": draw.choice(["never", "10 min"]), "repair": "4 s"},
        "elastic": {"downscale": "0.5 s", "upscale": "0.5 s"},
        "restart": {"time": "1 s"},
        "chaos": draw.choice(
            [[], [{"at": "11 s", "fault": "kill", "target": f"unit {lost}", "for": "5 s"}]]
        ),
        "checkpoint": draw.choice(
            [
                {"policy": "none"},
                {"policy": "in_memory"},
                {"policy": "fixed", "interval": "5 s", "save": "0.5 s", "restore": "1 s"},
            ]
        )
        if method in JOBS
        else {"policy": "none"},
    }


def training(draw: random.Random) -> dict[str, Any]:
    """How a model is trained on it."""
    problem = draw.choice(list(PROBLEMS))
    quantizer = draw.choice(list(WIDTHS))
    return {
        "problem": problem,
        "options": PROBLEMS[problem],
        "shards": draw.choice(["iid", "skewed"]),
        "batch_size": 4,
        "inner": {
            "optimizer": draw.choice(["sgd", "momentum", "adamw", "muon"]),
            "learning_rate": 0.02,
            "schedule": draw.choice(["constant", "linear", "cosine"]),
            "weight_decay": draw.choice([0.0, 0.1]),
        },
        "outer": {
            "learning_rate": 0.7,
            "momentum": draw.choice([0.0, 0.6]),
            "schedule": draw.choice(["constant", "linear", "cosine"]),
            "warmup": draw.choice([0.0, 0.2]),
        },
        "merge": draw.choice(["mean", "radial_directional"]),
        "quantization": {
            "quantizer": quantizer,
            "bits": draw.choice([32, *WIDTHS[quantizer] * 2]),
            "rounding": draw.choice(["nearest", "stochastic"]),
            "error_feedback": draw.choice([False, True]),
        },
    }


def recorded(settled: Any, method: str) -> t.Tape:
    """Run a method and return its tape."""
    cluster, history = Histories(0).of(settled)
    run = Run(settled, cluster, history, 0)
    run.tape = []
    instance = get(method)(run)
    instance.start()
    run.clock.run(run.horizon)
    instance.close(run.horizon)
    return run.tape


def case(number: int) -> Case:
    """The case of a number."""
    draw = random.Random(number)
    method = METHODS[number % len(METHODS)]
    changes = world(draw, method)
    learning = training(draw)
    settled = scenario(overrides={**changes, "learning": learning, "seed": number}).for_method(
        method
    )
    tape = recorded(settled, method)
    config = replace(config_of(settled, method), precision="float64")
    return Case(tape, config, number, tuple(kinds(method, config, tape)))


def kinds(method: str, config: LearningConfig, tape: t.Tape) -> Iterator[str]:
    """What is in a case, by which cases are counted."""
    yield method
    yield config.inner.optimizer
    if any(isinstance(event, t.Rollback) for event in tape):
        yield "rolled back"
    if not any(isinstance(event, t.Merge | t.JobSteps) for event in tape):
        yield "nothing happens"
    if method in JOBS:
        return
    outer = config.outer
    yield outer.merge
    yield "whole numbers" if outer.bits >= 32 else f"{outer.quantizer} {outer.bits}"
    if outer.bits < 32:
        yield outer.rounding
    if config.mixing:
        yield "mixed"
    returns = [event for event in tape if isinstance(event, t.Rejoin)]
    if any(event.peer == event.learner for event in returns):
        yield "discarded"
    if any(event.peer != event.learner for event in returns):
        yield "lost and returned"
    if outer.error_feedback:
        yield "error feedback"
        if dropped(tape):
            yield "dropped late with error feedback"


def dropped(tape: t.Tape) -> int:
    """How many answers are in no merge though the slot has one."""
    merged = {event.slot: event.learners for event in tape if isinstance(event, t.Merge)}
    answers = (event for event in tape if isinstance(event, t.Answer))
    return sum(event.learner not in merged.get(event.slot, (event.learner,)) for event in answers)


def apart(case: Case) -> float:
    """The largest difference of any parameter, merged or a learner's, beside the largest one."""
    theirs = NaiveTrainer(case.config, case.seed, case.tape)
    ours = Replay(case.tape, case.config, case.seed)
    if ours.run().diverged is not None:
        raise AssertionError("the training diverged")
    ours.crew.settle()
    pairs = [(theirs.x, ours.keeper.parameters)]
    if ours.plan.is_job:
        pairs = [(theirs.job.x, ours.job.parameters)]
    else:
        pairs += zip((one.x for one in theirs.learners), ours.crew.parameters, strict=True)
    differences = [
        np.abs(ours.layout.views(flat)[name] - value).max() / max(1.0, np.abs(value).max())
        for named, flat in pairs
        for name, value in named.items()
    ]
    return float(max(differences))


def main() -> None:
    """Compare so many cases."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=48)
    parser.add_argument("--first", type=int, default=0)
    given = parser.parse_args()
    counted: Counter[str] = Counter()
    worst, wrong = 0.0, []
    for number in range(given.first, given.first + given.cases):
        one = case(number)
        difference = apart(one)
        worst = max(worst, difference)
        if not difference < SAME:
            wrong.append(number)
        counted.update(one.kinds)
        sys.stdout.write(f"{number}: {difference:.1e}  {', '.join(one.kinds)}\n")
        sys.stdout.flush()
    for kind, count in sorted(counted.items()):
        sys.stdout.write(f"{count:6}  {kind}\n")
    agree = given.cases - len(wrong)
    sys.stdout.write(f"{agree} of {given.cases} agree to {SAME:g}, the worst to {worst:.1e}\n")
    if wrong:
        sys.exit(f"not: {wrong}")


if __name__ == "__main__":
    main()
