"""Trends in quality that others report: bits, merges, mixed hardware, on a small language model."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import fmean

import ddsim
from ddsim.figures.dots import dots
from ddsim.figures.style import METHOD_COLOURS
from ddsim.learning import LearningConfig, OuterConfig, Schedule, even, lockstep, replay
from ddsim.learning.merging import Rule
from ddsim.reference import rows
from ddsim.reproduce.basis import declined, identity
from ddsim.reproduce.registry import Conclusion, Found, Pace, reproduction
from ddsim.reproduce.rows import Row
from ddsim.results.interval import half_width

_H = 24
_BITS = {"16 bits": 16, "4 bits": 4, "2 bits": 2, "1 bit": 1}
_MERGES: dict[str, tuple[Rule, int]] = {
    "mean M=8": ("mean", 8),
    "mean M=16": ("mean", 16),
    "radial_directional M=8": ("radial_directional", 8),
    "radial_directional M=16": ("radial_directional", 16),
}
_RATES: dict[Rule, float] = {"mean": 0.75, "radial_directional": 0.5}
"""Outer learning rates, each merge's own: the lowest of parabolas in docs/learning.md."""
_QUORUMS = {"K=8": (8, 0.0), "K=1": (1, 0.0), "K=1 with grace": (1, 0.5)}
_BEST = {"bits": "16 bits", "merging": "radial_directional M=8", "mixed quality": "K=1 with grace"}
Losses = Mapping[str, Sequence[float]]
"""The final loss of each seed, by setting."""
_ITSELF = identity("relative to itself")
_OTHER_MEASURE = declined("a text score beside the loss of a small character model")


@reproduction("trends", "Quality by bits, merge and quorum: arXiv 2604.21428")
def trends(pace: Pace) -> Found:
    """Final losses beside published text scores, each relative to one setting of its topic."""
    seeds = range(2 if pace.quick else 3)
    losses = {
        "bits": _by_bits(48 if pace.quick else 1200, seeds),
        "merging": _by_merge(48 if pace.quick else 960, seeds),
        "mixed quality": _by_quorum("1 min" if pace.quick else "80 min", len(seeds)),
    }
    found = []
    for topic, mine in losses.items():
        lines = {r["setting"]: r for r in rows("decoupled_diloco_reported") if r["topic"] == topic}
        best = float(lines[_BEST[topic]]["value"])
        for setting, of_seeds in mine.items():
            line = lines[setting]
            qualities = [b / one for b, one in zip(mine[_BEST[topic]], of_seeds, strict=True)]
            theirs = float(line["value"]) / best
            found.append(
                Row(
                    "relative quality",
                    setting,
                    fmean(qualities),
                    "",
                    theirs,
                    source=line["source"],
                    half_width=None if setting == _BEST[topic] else half_width(qualities),
                    basis=_ITSELF if setting == _BEST[topic] else _OTHER_MEASURE,
                )
            )
    ax = dots(
        [row.cell.replace("_", "-") for row in found],
        [row.simulated for row in found],
        [row.published or 0.0 for row in found],
        half_width=[row.half_width or 0.0 for row in found],
        title="Quality by bits, merge and quorum",
        x="quality, relative to one setting of its kind",
        colour=METHOD_COLOURS["decoupled_diloco"],
    )
    return Found(
        found,
        {"trends": ax},
        "Published: mean text score of a language model. Simulated: final loss of a small "
        f"character model, the mean of {len(seeds)} seeds with 95% intervals. Relative to 16 "
        "bits, to 8 learners merged radially and to K = 1 with grace. Merges are at outer rates "
        "of their own (docs/learning.md). The collapse at 2 bits and 1 bit does not show in so "
        "small a model.",
        _conclusions({row.cell: row for row in found}),
    )


def _conclusions(found: Mapping[str, Row]) -> list[Conclusion]:
    """What the paper concludes from its scores, and whether these losses say so beyond noise."""
    ours = {cell: row.simulated for cell, row in found.items()}
    mean, radial = ours["mean M=16"], ours["radial_directional M=16"]
    noise = max(found[cell].half_width or 0.0 for cell in ("mean M=16", "radial_directional M=16"))
    return [
        Conclusion(
            "Plain means lose to radial ones at M = 16, by 3% of the score.",
            f"Here they differ by {100 * (radial - mean):.1f}%, with intervals of "
            f"{100 * noise:.1f}% to either side.",
            radial - mean > noise,
            "A mean's loss of norm is in part made good by an outer rate of its own, which is the "
            "higher one.",
        ),
        Conclusion(
            "Sixteen learners are worse than eight, whichever way they are merged.",
            f"Here they are better by {100 * (mean - ours['mean M=8']):.1f}% with means and by "
            f"{100 * (radial - ours['radial_directional M=8']):.1f}% with radial ones.",
            mean < ours["mean M=8"] and radial < ours["radial_directional M=8"],
            "Sixteen learners see as many tokens together in the paper, and twice as many here: "
            "the steps are the same.",
        ),
        Conclusion(
            "At 2 bits and at 1 bit quality collapses, to 77% and 67%.",
            f"Here it is {100 * ours['2 bits']:.0f}% and {100 * ours['1 bit']:.0f}%.",
            max(ours["2 bits"], ours["1 bit"]) < 0.9,
            "Errors that cancel over the steps of a small model add up in a large one.",
        ),
    ]


def _config(learners: int, rule: Rule = "radial_directional") -> LearningConfig:
    return LearningConfig(
        "language_model",
        **even(learners, 64),
        fragments=_H,
        schedule=Schedule(0.016),
        outer=OuterConfig(_RATES[rule], 0.6, merge=rule),
        evaluations=2,
    )


def _by_bits(steps: int, seeds: Sequence[int]) -> Losses:
    tape = lockstep.streaming(8, steps, _H, _H)
    base = _config(8)
    found = {}
    for setting, bits in _BITS.items():
        config = replace(base, outer=replace(base.outer, bits=bits))
        found[setting] = [it.final_loss for it in replay(tape, config, seeds)]
    return found


def _by_merge(steps: int, seeds: Sequence[int]) -> Losses:
    found = {}
    for setting, (rule, learners) in _MERGES.items():
        tape = lockstep.streaming(learners, steps, _H, _H)
        curves = replay(tape, _config(learners, rule), seeds)
        found[setting] = [curve.final_loss for curve in curves]
    return found


def _by_quorum(duration: str, seeds: int) -> Losses:
    units = [{"name": f"fast {i}", "chips": 64, "region": "a"} for i in range(4)]
    units += [{"name": f"slow {i}", "chips": 64, "region": "b", "speed": 0.82} for i in range(4)]
    found = {}
    for setting, (quorum, grace) in _QUORUMS.items():
        changes: dict[str, object] = {
            "duration": duration,
            "cluster": {"units": units, "chips_per_slice": 8, "jitter": 0.1},
            "network": {"bandwidth": "unlimited", "regions": ["a", "b"]},
            "failures.chip_mtbi": "never",
            "restart.spares": 0,
            "training.quorum": quorum,
            "training.grace": grace,
            "learning.evaluations": 2,
            "learning.seeds": seeds,
        }
        scenario = ddsim.load("convergence", changes)
        learning = ddsim.run(scenario, ["decoupled_diloco"])["decoupled_diloco"].learning
        assert learning is not None
        found[setting] = learning["final_losses"]
    return found
