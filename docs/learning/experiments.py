"""The experiments of docs/learning.md: `python docs/learning/experiments.py NAME [SEEDS]`.

Each prints one CSV line a training, as it is done; the tables of the text are made of these.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

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
                changes = {"duration": f"{minutes * share:g} min", "seed": seed}
                scenario = ddsim.load("convergence", changes)
                (result,) = ddsim.run(scenario, methods=[method]).results
                learning = result.learning
                assert learning is not None
                last = learning["tokens_merged"][-1]
                yield minutes, method, share, seed, learning["final_loss"], result.tokens, last


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
    item.__name__: item for item in (inner, outer, parity, bits, learners, failures, mixed)
}


def main() -> None:
    """Run one experiment."""
    name = sys.argv[1] if len(sys.argv) > 1 else ""
    if name not in EXPERIMENTS:
        sys.exit(f"one of: {', '.join(EXPERIMENTS)}")
    for row in EXPERIMENTS[name](int(sys.argv[2]) if len(sys.argv) > 2 else 3):
        line = (f"{item:.6g}" if isinstance(item, float) else str(item) for item in row)
        sys.stdout.write(",".join(line) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
