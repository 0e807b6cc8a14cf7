"""Outer gradients in few bits, each setting at its own outer rate, and Muon's beside AdamW's.

`python docs/learning/few_bits.py bits|feedback|muon [SEEDS]` prints a CSV line for each training as
it is done, the parabola of each search, and then the table of docs/learning.md. SEEDS is 5 unless
given.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from experiments import BASE, of, show, tapes

from ddsim.learning import LearningConfig, OuterConfig, replay

STEPS = 600
TAPE = tapes(STEPS)["decoupled_diloco"]
FIRST = 0.5
RATIO = 2**0.5
"""The outer rate in the middle of a search, and how far the next ones are from it."""
SEARCHED = 1001
"""Seed of the search, none of the table's: losses at two rates differ by less than two seeds'."""


class Setting(NamedTuple):
    """What is compared."""

    name: str
    config: LearningConfig


class Search(NamedTuple):
    """The outer rate of the lowest loss, and the losses by rate that it comes from."""

    rate: float
    losses: dict[float, float]


def loss(config: LearningConfig, rate: float, seed: int) -> float:
    """The final loss at an outer rate."""
    outer = replace(config.outer, learning_rate=rate)
    (curve,) = replay(TAPE, replace(config, outer=outer), [seed])
    return curve.final_loss


def searched(setting: Setting) -> Search:
    """The lowest point of a parabola in the logarithm of the rate, through the three lowest.

    Rates are added on the side of the lowest loss until it has one on either side.
    """
    found: dict[float, float] = {}
    middle = FIRST
    while True:
        near = [middle / RATIO, middle, middle * RATIO]
        for rate in near:
            if rate not in found:
                found[rate] = loss(setting.config, rate, SEARCHED)
                show((setting.name, "search", rate, found[rate]))
        best = min(near, key=found.__getitem__)
        if best == middle:
            break
        middle = best
    steep, slope, _ = np.polyfit(np.log(near), [found[rate] for rate in near], 2)
    rate = float(np.exp(-slope / (2.0 * steep)))
    show((setting.name, "parabola", steep, rate))
    return Search(rate, found)


KINDS: dict[int, list[tuple[str, int | None]]] = {
    16: [("uniform", None)],
    4: [("uniform", None), ("float", 64), ("gaussian", None)],
    2: [("uniform", None), ("float", 64), ("gaussian", None)],
    1: [("uniform", None), ("sign", None), ("gaussian", None)],
}
"""Quantizers by bits, each with the numbers that share a scale if that is not the tensor."""


def few_bits() -> Iterator[Setting]:
    """Widths and quantizers, without error feedback."""
    for bits, quantizers in KINDS.items():
        for quantizer, block in quantizers:
            yield _sent(bits, quantizer, block, feedback=False)


def feedback() -> Iterator[Setting]:
    """The same with error feedback, where bits are few."""
    yield _sent(16, "uniform", None, feedback=False)
    for bits in (2, 1):
        for quantizer, block in KINDS[bits]:
            yield _sent(bits, quantizer, block, feedback=True)


def _sent(bits: int, quantizer: str, block: int | None, *, feedback: bool) -> Setting:
    base = of("decoupled_diloco")
    outer = replace(
        base.outer, bits=bits, quantizer=quantizer, block=block, error_feedback=feedback
    )
    name = f"{bits} {quantizer}{' with feedback' if feedback else ''}"
    return Setting(name, replace(base, outer=outer))


def muon() -> Iterator[Setting]:
    """Muon and AdamW inside, at 16 bits and at 2 with error feedback."""
    base = of("decoupled_diloco")
    outers: dict[str, OuterConfig] = {
        "16": replace(base.outer, bits=16),
        "2 gaussian with feedback": replace(
            base.outer, bits=2, quantizer="gaussian", error_feedback=True
        ),
    }
    rates = {"adamw": BASE.schedule.rate, "muon": _inner_rate(base)}
    for optimizer, rate in rates.items():
        for name, outer in outers.items():
            config = _inside(replace(base, outer=outer), optimizer, rate)
            yield Setting(f"{optimizer}, {name}", config)


def _inner_rate(base: LearningConfig) -> float:
    """Muon's inner rate: the lowest loss at 16 bits and an outer rate of 0.5, on one seed."""
    found = {}
    for rate in (0.008, 0.016, 0.032):
        found[rate] = loss(_inside(base, "muon", rate), 0.5, SEARCHED)
        show(("muon", "inner", rate, found[rate]))
    return min(found, key=found.__getitem__)


def _inside(config: LearningConfig, optimizer: str, rate: float) -> LearningConfig:
    inner = replace(config.inner, optimizer=optimizer)  # type: ignore[arg-type]
    return replace(config, inner=inner, schedule=replace(config.schedule, rate=rate))


def compared(settings: Iterator[Setting], seeds: int) -> None:
    """Train each at its own rate, and print means, standard errors and ratios to the first."""
    losses: dict[str, list[float]] = {}
    rates: dict[str, float] = {}
    for setting in settings:
        rates[setting.name] = searched(setting).rate
        losses[setting.name] = []
        for seed in range(seeds):
            losses[setting.name].append(loss(setting.config, rates[setting.name], seed))
            show((setting.name, "seed", seed, losses[setting.name][-1]))
    first = np.array(next(iter(losses.values())))
    show(())
    show(("setting", "outer rate", "loss", "standard error", "over the first", "standard error"))
    for name, found in losses.items():
        over = np.array(found) / first - 1.0
        each = np.array(found)
        root = seeds**0.5
        error, spread = each.std(ddof=1) / root, over.std(ddof=1) / root
        show((name, rates[name], each.mean(), error, over.mean(), spread))


def main() -> None:
    """Run one of the comparisons."""
    known = {"bits": few_bits, "feedback": feedback, "muon": muon}
    name = sys.argv[1] if len(sys.argv) > 1 else ""
    if name not in known:
        sys.exit(f"one of: {', '.join(known)}")
    compared(known[name](), int(sys.argv[2]) if len(sys.argv) > 2 else 5)


if __name__ == "__main__":
    main()
