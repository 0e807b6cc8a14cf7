"""The experiments of docs/learning.md: `python docs/learning/experiments.py NAME [SEEDS]`.

Each prints one CSV line a training, as it is done, and then what the text has of them: means over
seeds with the half-widths of their 95% intervals, ratios paired by seed. SEEDS is 5 unless given.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from summaries import Key, equal_loss, means

import ddsim
from ddsim.engine.tape import Tape
from ddsim.learning import LearningConfig, OuterConfig, Schedule, even, lockstep, merging, replay
from ddsim.learning.problem import Array
from ddsim.learning.replay import Replay

H = 24
BASE = LearningConfig(
    "language_model",
    **even(8, 64),
    fragments=24,
    schedule=Schedule(0.016),
    outer=OuterConfig(0.8, 0.6),
    evaluations=40,
)
Row = Sequence[Any]


def tapes(steps: int, learners: int = 8) -> dict[str, Tape]:
    """Return runs without failures or links: what every method does then."""
    return {
        "data_parallel": lockstep.data_parallel(learners, steps),
        "diloco": lockstep.diloco(learners, steps, H, 24),
        "streaming_diloco": lockstep.streaming(learners, steps, H, 24, 2),
        "decoupled_diloco": lockstep.streaming(learners, steps, H, 24),
    }


def of(method: str, config: LearningConfig = BASE) -> LearningConfig:
    """Return the configuration with the method's own merge."""
    rule: merging.Rule = "radial_directional" if method == "decoupled_diloco" else "mean"
    return replace(config, outer=replace(config.outer, merge=rule))


def inner(seeds: int) -> Iterator[Row]:
    """The inner learning rate, on data-parallel."""
    yield "rate", "seed", "loss"
    for rate in (0.004, 0.008, 0.012, 0.016, 0.024):
        config = replace(BASE, schedule=Schedule(rate))
        for curve in replay(tapes(2400)["data_parallel"], config, range(seeds)):
            yield rate, curve.seed, curve.final_loss


def outer(seeds: int) -> Iterator[Row]:
    """The outer rate and momentum, on DiLoCo."""
    yield "rate", "momentum", "seed", "loss"
    for rate, momentum in (
        (0.7, 0.9),
        (1.0, 0.3),
        (1.0, 0.5),
        (1.0, 0.7),
        (0.8, 0.4),
        (0.8, 0.6),
        (0.8, 0.7),
        (0.6, 0.6),
        (0.6, 0.7),
    ):
        config = replace(BASE, outer=OuterConfig(rate, momentum))
        for curve in replay(tapes(2400)["diloco"], config, range(seeds)):
            yield rate, momentum, curve.seed, curve.final_loss


def outer_decoupled(seeds: int) -> Iterator[Row]:
    """The same on Decoupled and on DiLoCo, shorter: afterwards, nothing was chosen by it."""
    yield "method", "rate", "momentum", "seed", "loss"
    for rate, momentum in (
        (0.7, 0.9),
        (1.0, 0.5),
        (0.8, 0.4),
        (0.8, 0.6),
        (0.6, 0.6),
        (0.4, 0.6),
        (0.8, 0.0),
        (0.5, 0.8),
    ):
        for method in ("diloco", "decoupled_diloco"):
            config = of(method, replace(BASE, outer=OuterConfig(rate, momentum)))
            for curve in replay(tapes(1200)[method], config, range(seeds)):
                yield method, rate, momentum, curve.seed, curve.final_loss


def inner_small(seeds: int) -> Iterator[Row]:
    """The inner learning rate with 8 examples a learner, on data-parallel."""
    yield "rate", "steps", "seed", "loss"
    for steps in (2400, 4800, 9600):
        for rate in (0.004, 0.008, 0.012, 0.016):
            config = replace(BASE, **even(8, 8), schedule=Schedule(rate))
            for curve in replay(tapes(steps)["data_parallel"], config, range(seeds)):
                yield rate, steps, curve.seed, curve.final_loss


def batches(seeds: int) -> Iterator[Row]:
    """Decoupled beside data-parallel without failures, with other batches and inner rates."""
    yield "batch", "rate", "steps", "method", "seed", "loss"
    for batch, rates, lengths in (
        (2, (0.002, 0.004, 0.008), (9600,)),
        (8, (0.004, 0.008), (2400, 4800, 9600)),
        (16, (0.008, 0.012, 0.016, 0.024), (4800,)),
        (64, (0.008, 0.016), (1200, 2400, 3600)),
        (512, (0.008, 0.016, 0.032), (150, 300, 600)),
    ):
        for steps, rate in itertools.product(lengths, rates):
            config = replace(BASE, **even(8, batch), schedule=Schedule(rate))
            for method in ("data_parallel", "decoupled_diloco"):
                for curve in replay(tapes(steps)[method], of(method, config), range(seeds)):
                    yield batch, rate, steps, method, curve.seed, curve.final_loss


def parity(seeds: int) -> Iterator[Row]:
    """Equal tokens without failures: how much worse than data-parallel?"""
    yield "method", "seed", "initial", "loss", "last_fifth", "tokens_to_dp_loss_plus_3%"
    for seed in range(seeds):
        target = 0.0
        for method, tape in tapes(3600).items():
            (curve,) = replay(tape, of(method), [seed])
            target = target or 1.03 * curve.final_loss
            losses = [point.loss for point in curve.points]
            gain = 1.0 - losses[40] / losses[32]
            tokens = curve.when(target, "tokens")
            yield method, seed, curve.initial_loss, curve.final_loss, gain, tokens


def bits(seeds: int) -> Iterator[Row]:
    """Outer gradients in few bits, with and without error feedback."""
    yield "bits", "error_feedback", "seed", "loss"
    tape = tapes(1200)["decoupled_diloco"]
    for width in (16, 8, 4, 2, 1):
        for feedback in (False, True):
            base = of("decoupled_diloco")
            config = replace(base, outer=replace(base.outer, bits=width, error_feedback=feedback))
            for curve in replay(tape, config, range(seeds)):
                yield width, feedback, curve.seed, curve.final_loss


def learners(seeds: int) -> Iterator[Row]:
    """Plain and radial-directional merges against the number of learners."""
    yield "learners", "merge", "seed", "loss", "norm", "cosine"
    for count in (2, 4, 8, 16):
        tape = tapes(960, count)["decoupled_diloco"]
        for rule in ("mean", "radial_directional"):
            config = replace(BASE, **even(count, 64), outer=replace(BASE.outer, merge=rule))
            for seed in range(seeds):
                run = Replay(tape, config, seed)
                noted: list[tuple[float, float]] = []
                kept = merging.RULES[rule]
                merging.RULES[rule] = _noting(kept, noted)
                loss = run.run().final_loss
                merging.RULES[rule] = kept
                norm, cosine = np.mean(noted, axis=0)
                yield count, rule, seed, loss, norm, cosine


def _noting(rule: merging.Merging, noted: list[tuple[float, float]]) -> merging.Merging:
    """Note a merged update's norm over the updates' own, and their mean cosine."""

    def merge(updates: Sequence[Array], weights: Sequence[float]) -> Array:
        merged = rule(updates, weights)
        norms = [float(np.linalg.norm(update)) for update in updates]
        if min(norms) > 0.0:
            units = [update / norm for update, norm in zip(updates, norms, strict=True)]
            count = len(units)
            square = float(np.sum(np.sum(units, axis=0) ** 2))
            cosine = (square - count) / (count * (count - 1))
            noted.append((float(np.linalg.norm(merged)) / float(np.mean(norms)), cosine))
        return merged

    return merge


ALIKE: dict[str, object] = {"cluster.jitter": 0, "training.grace": 0.5}
"""Learners of `convergence` that step alike, as those of the other experiments do."""


def failures(seeds: int) -> Iterator[Row]:
    """Failures as at 1.2 million chips: the loss by the share of elastic data-parallel's time."""
    yield "minutes", "method", "share", "seed", "loss", "tokens", "merged"
    for minutes in (120,):
        for seed in range(1, seeds + 1):
            for method, share in (
                ("elastic_data_parallel", 1.0),
                ("decoupled_diloco", 0.7),
                ("decoupled_diloco", 0.85),
                ("decoupled_diloco", 1.0),
            ):
                changes = {**ALIKE, "duration": f"{minutes * share:g} min", "seed": seed}
                scenario = ddsim.load("convergence", changes)
                (result,) = ddsim.run(scenario, methods=[method]).results
                learning = result.learning
                assert learning is not None
                last = learning["tokens_merged"][-1]
                yield minutes, method, share, seed, learning["final_loss"], result.tokens, last


BUDGETS: dict[str, tuple[dict[str, object], Sequence[float], Sequence[float]]] = {
    "as shipped": ({}, (35, 70, 140, 210), (20, 300)),
    "8 examples": (
        {"learning.batch_size": 8, "learning.inner.learning_rate": 0.008},
        [steps / 17.1 for steps in (2400, 4800, 9600)],
        (),
    ),
    "8 examples, long": (
        {"learning.batch_size": 8, "learning.inner.learning_rate": 0.008},
        [19200 / 17.1],
        (),
    ),
    "inner rate 0.008": ({"learning.inner.learning_rate": 0.008}, (70, 140, 210), ()),
    "outer rate 0.6": ({"learning.outer.learning_rate": 0.6}, (70, 140), ()),
}
"""Changes to the shipped scenario, how long elastic data-parallel runs (minutes; 17.1 are its steps
a minute in the long run), and how long Decoupled does besides 0.85 of that and all of it."""


def budgets(seeds: int) -> Iterator[Row]:
    """Failures as at 1.2 million chips: time to elastic data-parallel's loss, by its budget.

    Repairs take 5 minutes, so that the shortest run is not over before anything is repaired.
    """
    yield "setting", "minutes", "method", "seed", "loss", "goodput", "steps", "tokens", "merged"
    for setting, (changes, lengths, more) in BUDGETS.items():
        times = sorted({*lengths, *more, *(0.85 * minutes for minutes in lengths)})
        runs = [("elastic_data_parallel", minutes) for minutes in lengths]
        runs += [("decoupled_diloco", minutes) for minutes in times]
        for seed in range(1, seeds + 1):
            for method, minutes in runs:
                world = {"duration": f"{minutes:g} min", "seed": seed, "failures.repair": "5 min"}
                scenario = ddsim.load("convergence", ALIKE | world | changes)
                (result,) = ddsim.run(scenario, methods=[method]).results
                learning = result.learning
                assert learning is not None
                counts = result.steps, result.tokens, learning["tokens_merged"][-1]
                loss = learning["final_loss"]
                yield setting, minutes, method, seed, loss, result.goodput, *counts


def mixed(seeds: int) -> Iterator[Row]:
    """Four fast and four slow learners: quorum and grace, the loss and the merged share."""
    yield "quorum", "grace", "seed", "loss", "merged_share", "participation", "tokens"
    units = [{"name": f"fast {i}", "chips": 64, "region": "a"} for i in range(4)]
    units += [{"name": f"slow {i}", "chips": 64, "region": "b", "speed": 0.82} for i in range(4)]
    for quorum, grace in ((8, 0.0), (1, 0.0), (1, 0.5)):
        for seed in range(1, seeds + 1):
            changes: dict[str, object] = {
                "duration": "80 min",
                "seed": seed,
                "cluster": {"units": units, "chips_per_slice": 8, "jitter": 0.1},
                "network": {"bandwidth": "unlimited", "regions": ["a", "b"]},
                "failures.chip_mtbi": "never",
                "restart.spares": 0,
                "training.quorum": quorum,
                "training.grace": grace,
            }
            scenario = ddsim.load("convergence", changes)
            (result,) = ddsim.run(scenario, methods=["decoupled_diloco"]).results
            assert result.learning is not None
            loss = result.learning["final_loss"]
            share, part = result.merged_share, result.participation
            yield quorum, grace, seed, loss, share, part, result.tokens


EXPERIMENTS: dict[str, Callable[[int], Iterator[Row]]] = {
    item.__name__: item
    for item in (
        inner,
        inner_small,
        outer,
        outer_decoupled,
        batches,
        parity,
        bits,
        learners,
        failures,
        budgets,
        mixed,
    )
}
BASES: dict[str, Callable[[Key], Key]] = {
    "parity": lambda _: ("data_parallel",),
    "bits": lambda _: (16, False),
    "learners": lambda key: (key[0], "mean"),
    "failures": lambda key: (key[0], "elastic_data_parallel", 1.0),
    "mixed": lambda _: (8, 0.0),
}
"""The setting that a setting's loss is compared with."""


def show(row: Row) -> None:
    """Print a line of CSV at once."""
    line = (f"{item:.6g}" if isinstance(item, float) else str(item) for item in row)
    sys.stdout.write(",".join(line) + "\n")
    sys.stdout.flush()


def main() -> None:
    """Run one experiment."""
    name = sys.argv[1] if len(sys.argv) > 1 else ""
    if name not in EXPERIMENTS:
        sys.exit(f"one of: {', '.join(EXPERIMENTS)}")
    rows: list[Row] = []
    for row in EXPERIMENTS[name](int(sys.argv[2]) if len(sys.argv) > 2 else 5):
        show(row)
        rows.append(row)
    sys.stdout.write("\n")
    for row in means(rows[0], rows[1:], BASES.get(name)):
        show(row)
    if name == "budgets":
        sys.stdout.write("\n")
        for row in equal_loss(rows[0], rows[1:]):
            show(row)


if __name__ == "__main__":
    main()
