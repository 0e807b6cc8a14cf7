"""The experiments of docs/learning.md: `python docs/learning/experiments.py NAME [options]`.

Each prints one CSV line a training, as it is done, and then what the text has of them: means over
seeds with their standard errors, ratios paired by seed. Rates are searched for each setting on half
of its steps, with seeds that nothing else uses; what was found stands in lines that begin with #.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from summaries import Base, equal_loss, explained, means

import ddsim
from ddsim.engine.tape import Tape
from ddsim.learning import (
    Curve,
    LearningConfig,
    OuterConfig,
    Schedule,
    even,
    lockstep,
    merging,
    replay,
)
from ddsim.learning.problem import Array
from ddsim.learning.replay import Replay
from ddsim.learning.search import Which, search_all, with_rate
from ddsim.learning.setup import config_of
from ddsim.learning.tape import Event
from ddsim.results import MethodResult

H = 24
BASE = LearningConfig(
    "language_model",
    **even(8, 64),
    fragments=24,
    schedule=Schedule(0.016),
    outer=OuterConfig(0.8, 0.6),
    evaluations=40,
)
RADIAL_RATE = 0.5
Row = Sequence[Any]
STEPS = 600
SEARCHED = (100, 101)
"""Seeds of the searches for rates."""
OPTIONS = {"merges": "counts", "budgets": "lengths", "mixed": "lengths"}
"""What `--only` is to an experiment."""


def tapes(steps: int, learners: int = 8) -> dict[str, Tape]:
    """Return runs without failures or links: what every method does then."""
    return {
        "data_parallel": lockstep.data_parallel(learners, steps),
        "diloco": lockstep.diloco(learners, steps, H, 24),
        "streaming_diloco": lockstep.streaming(learners, steps, H, 24, 2),
        "decoupled_diloco": lockstep.streaming(learners, steps, H, 24),
    }


def of(method: str, config: LearningConfig = BASE) -> LearningConfig:
    """Return the configuration with the method's own merge, at the rate that this merge has."""
    if method != "decoupled_diloco":
        return config
    outer = replace(config.outer, merge="radial_directional", learning_rate=RADIAL_RATE)
    return replace(config, outer=outer)


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
    """Equal tokens without failures, at rates of their own: how much worse than data-parallel?"""
    yield (
        *("method", "outer", "inner", "seed"),
        *("initial", "loss", "last_fifth", "tokens_to_dp_loss_plus_3%"),
    )
    half, targets = tapes(1800), dict[int, float]()
    for method, tape in tapes(3600).items():
        which: tuple[Which, ...] = ("inner",) if method == "data_parallel" else ("outer", "inner")
        config = searched(half[method], of(method), method, which)
        rates = config.outer.learning_rate, config.schedule.rate
        for curve in replay(tape, config, range(seeds)):
            target = targets.setdefault(curve.seed, 1.03 * curve.final_loss)
            losses = [point.loss for point in curve.points]
            gain = 1.0 - losses[40] / losses[32]
            tokens = curve.when(target, "tokens")
            yield method, *rates, curve.seed, curve.initial_loss, curve.final_loss, gain, tokens


def merges(seeds: int, counts: Sequence[float] = (8, 2, 4, 16)) -> Iterator[Row]:
    """Plain and radial-directional merges by the number of learners, each at its own rate."""
    yield "learners", "merge", "rate", "seed", "loss", "norm", "cosine"
    for count in map(int, counts):
        rules: tuple[merging.Rule, ...] = ("mean", "radial_directional")
        for rule in rules:
            config = replace(BASE, **even(count, 64), outer=replace(BASE.outer, merge=rule))
            label = f"{count} learners, {rule}"
            config = searched(_streaming(STEPS // 2, count), config, label)
            for seed in range(seeds):
                run = Replay(_streaming(STEPS, count), config, seed)
                noted: list[tuple[float, float]] = []
                kept = merging.RULES[rule]
                merging.RULES[rule] = _noting(kept, noted)
                loss = run.run().final_loss
                merging.RULES[rule] = kept
                norm, cosine = np.mean(noted, axis=0)
                yield count, rule, config.outer.learning_rate, seed, loss, norm, cosine


def _streaming(steps: int, count: int) -> Tape:
    return tapes(steps, count)["decoupled_diloco"]


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


METHODS = "elastic_data_parallel", "decoupled_diloco"
WHICH: dict[str, tuple[Which, ...]] = {
    "elastic_data_parallel": ("inner",),
    "decoupled_diloco": ("outer", "inner"),
}
"""The rates that a method has."""


SHARES = (
    ("elastic_data_parallel", 1.0),
    *(("decoupled_diloco", share) for share in (0.85, 1.0, 1.3)),
)
"""Who runs for how much of a budget."""


def recorded(method: str, changes: Mapping[str, object]) -> tuple[MethodResult, LearningConfig]:
    """Run a method of `convergence` and return its result, with its tape, and how it trains."""
    scenario = ddsim.load("convergence", dict(changes))
    config = config_of(scenario.for_method(method), method)
    quiet = ddsim.load("convergence", {**changes, "learning": {}})
    (result,) = ddsim.run(quiet, methods=[method], tape=True).results
    return result, config


def trained(
    result: MethodResult, config: LearningConfig, seeds: Sequence[int]
) -> Iterator[tuple[Curve, float]]:
    """Train along what was recorded; yield curves, and the tokens merged by their ends."""
    recording = result.tapes[0]
    for curve in replay(recording.events, config, seeds, end=recording.end):
        yield curve, curve.points[-1].merged


def world(minutes: float, seed: int) -> dict[str, object]:
    """What a run of `convergence` of this length is.

    Repairs take 5 minutes, so that the shortest run is not over before anything is repaired.
    """
    return {**ALIKE, "duration": f"{minutes:g} min", "seed": seed, "failures.repair": "5 min"}


def own_rates(method: str, minutes: float) -> LearningConfig:
    """Search for a method's rates on a run of half the length, on a history of its own."""
    result, config = recorded(method, world(minutes / 2, 99))
    recording, label = result.tapes[0], f"{method}, {minutes:g} min"
    return searched(recording.events, config, label, WHICH[method], recording.end)


def budgets(seeds: int, lengths: Sequence[float] = (35, 70)) -> Iterator[Row]:
    """Failures as at 1.2 million chips: time to elastic data-parallel's loss, by its budget.

    Each method is trained at rates of its own, and at those that the scenario had for both.
    """
    yield (
        *("setting", "minutes", "method", "outer", "inner", "seed"),
        *("loss", "goodput", "steps", "tokens", "merged"),
    )
    for length in lengths:
        found = {method: own_rates(method, length) for method in METHODS}
        for seed, (method, share) in itertools.product(range(1, seeds + 1), SHARES):
            minutes = share * length
            result, shipped = recorded(method, world(minutes, seed))
            shared = with_rate(with_rate(shipped, "outer", 0.8), "inner", 0.016)
            for setting, config in (("own", found[method]), ("shared", shared)):
                if setting == "shared" and share < 1.0:
                    continue
                ((curve, merged),) = trained(result, config, [seed])
                rates = config.outer.learning_rate, config.schedule.rate
                counts = result.goodput, result.steps, result.tokens, merged
                name = f"{setting}, {length:g} min"
                yield name, minutes, method, *rates, seed, curve.final_loss, *counts


def mixed(seeds: int, lengths: Sequence[float] = (20,)) -> Iterator[Row]:
    """Four fast and four slow learners: quorum and grace, each at rates of its own."""
    yield (
        *("minutes", "quorum", "grace", "outer", "inner", "seed"),
        *("loss", "merged_share", "participation", "tokens"),
    )
    units = [{"name": f"fast {i}", "chips": 64, "region": "a"} for i in range(4)]
    units += [{"name": f"slow {i}", "chips": 64, "region": "b", "speed": 0.82} for i in range(4)]
    for minutes, (quorum, grace) in itertools.product(lengths, ((8, 0.0), (1, 0.0), (1, 0.5))):
        changes: dict[str, object] = {
            "cluster": {"units": units, "chips_per_slice": 8, "jitter": 0.1},
            "network": {"bandwidth": "unlimited", "regions": ["a", "b"]},
            "failures.chip_mtbi": "never",
            "restart.spares": 0,
            "training.quorum": quorum,
            "training.grace": grace,
        }
        half: dict[str, object] = {"duration": f"{minutes / 2:g} min", "seed": 99}
        result, config = recorded("decoupled_diloco", changes | half)
        recording, label = result.tapes[0], f"K={quorum}, grace {grace:g}"
        config = searched(recording.events, config, label, ("outer",), recording.end)
        rates = config.outer.learning_rate, config.schedule.rate
        for seed in range(1, seeds + 1):
            whole: dict[str, object] = {"duration": f"{minutes:g} min", "seed": seed}
            result, _ = recorded("decoupled_diloco", changes | whole)
            ((curve, _),) = trained(result, config, [seed])
            counts = result.merged_share, result.participation, result.tokens
            yield minutes, quorum, grace, *rates, seed, curve.final_loss, *counts


EXPERIMENTS: dict[str, Callable[..., Iterator[Row]]] = {
    item.__name__: item
    for item in (
        inner,
        inner_small,
        outer,
        batches,
        parity,
        merges,
        budgets,
        mixed,
    )
}
BASES: dict[str, Base] = {
    "parity": lambda key, _: key[0] == "data_parallel",
    "merges": lambda key, own: key[:2] == (own[0], "mean"),
    "budgets": lambda key, own: (key[0], key[2]) == (own[0], "elastic_data_parallel"),
    "mixed": lambda key, own: key[:3] == (own[0], 8, 0.0),
}
"""Whether a setting is what another one's loss is compared with."""


def show(row: Row) -> None:
    """Print a line of CSV at once."""
    line = (f"{item:.6g}" if isinstance(item, float) else str(item) for item in row)
    sys.stdout.write(",".join(line) + "\n")
    sys.stdout.flush()


def searched(
    tape: Sequence[Event],
    config: LearningConfig,
    label: str,
    which: Sequence[Which] = ("outer",),
    end: float | None = None,
) -> LearningConfig:
    """Return a configuration with rates found on a tape, and print how they were found."""
    config, found = search_all(tape, config, which, SEARCHED, end=end)
    for one in found:
        for rate, loss in zip(one.rates, one.means, strict=True):
            show(("# " + label, one.which, rate, loss))
        show(("# " + label, one.which, "taken", one.rate))
    return config


def main() -> None:
    """Run one experiment."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=EXPERIMENTS)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--only", type=float, nargs="+", help="learners or minutes")
    given = parser.parse_args()
    if given.only is not None and given.name not in OPTIONS:
        parser.error(f"--only is for {', '.join(OPTIONS)}")
    more = {} if given.only is None else {OPTIONS[given.name]: given.only}
    rows: list[Row] = []
    for row in EXPERIMENTS[given.name](given.seeds, **more):
        show(row)
        rows.append(row)
    sys.stdout.write("\n")
    for row in means(rows[0], rows[1:], BASES.get(given.name)):
        show(row)
    if given.name == "budgets":
        sys.stdout.write("\n")
        for table in (equal_loss, explained):
            for row in table(rows[0], rows[1:]):
                show(row)


if __name__ == "__main__":
    main()
