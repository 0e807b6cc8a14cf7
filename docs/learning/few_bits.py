"""Outer gradients in few bits, each setting at its own outer rate, and Muon's beside AdamW's.

`python docs/learning/few_bits.py bits|feedback|muon [SEEDS]` prints a CSV line for each training as
it is done, what each search found in lines that begin with #, and then the means over seeds.
SEEDS is 5 unless given.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from experiments import STEPS, Row, of, searched, show, tapes
from summaries import means

from ddsim.learning import LearningConfig, OuterConfig, replay
from ddsim.learning.search import Which

TAPE = tapes(STEPS)["decoupled_diloco"]
HALF = tapes(STEPS // 2)["decoupled_diloco"]
"""What rates are searched on."""


class Setting(NamedTuple):
    """What is compared."""

    name: str
    config: LearningConfig
    which: tuple[Which, ...] = ("outer",)
    """The rates that are searched for, in this order."""


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
    for optimizer in ("adamw", "muon"):
        for name, outer in outers.items():
            config = _inside(replace(base, outer=outer), optimizer)
            yield Setting(f"{optimizer}, {name}", config, ("inner", "outer"))


def _inside(config: LearningConfig, optimizer: str) -> LearningConfig:
    return replace(config, inner=replace(config.inner, optimizer=optimizer))  # type: ignore[arg-type]


def compared(settings: Iterator[Setting], seeds: int) -> None:
    """Train each at its own rates, and print means, standard errors and ratios to the first."""
    header = "setting", "outer", "inner", "seed", "loss"
    rows: list[Row] = []
    for name, given, which in settings:
        config = searched(HALF, given, name, which)
        rates = config.outer.learning_rate, config.schedule.rate
        for curve in replay(TAPE, config, range(seeds)):
            rows.append((name, *rates, curve.seed, curve.final_loss))
            show(rows[-1])
    first = rows[0][:3]
    for row in means(header, rows, lambda key, _: key == first):
        show(row)


def main() -> None:
    """Run one of the comparisons."""
    known = {"bits": few_bits, "feedback": feedback, "muon": muon}
    name = sys.argv[1] if len(sys.argv) > 1 else ""
    if name not in known:
        sys.exit(f"one of: {', '.join(known)}")
    compared(known[name](), int(sys.argv[2]) if len(sys.argv) > 2 else 5)


if __name__ == "__main__":
    main()
