"""Whether laws from tokens to loss hold: gaps of larger models, and the project's own models."""

from collections.abc import Mapping, Sequence
from math import sqrt
from statistics import fmean

import ddsim
from ddsim.figures.dots import dots
from ddsim.figures.style import METHOD_COLOURS
from ddsim.quality import Gap, level, predicted_gap
from ddsim.quality.fitting import fit_tokens
from ddsim.quality.penalty import joint_loss
from ddsim.reference import rows
from ddsim.reproduce.basis import Basis, identity, predicted
from ddsim.reproduce.registry import Found, Pace, reproduction
from ddsim.reproduce.rows import Row, Tolerance
from ddsim.results.quality import share_merged

_TABLE = "losses_streaming_table5"
_BASE = "Data-Parallel"
_SIZES = {"35M": 35e6, "100M": 100e6, "200M": 200e6, "300M": 300e6, "500M": 500e6}
_SEEN, _HELD = ("35M", "100M"), ("200M", "300M", "500M")
_LEARNERS = 2
_ONE = 0.015
"""Nats of the naive guess that is the same for all."""
_GAP, _PRINTED = Tolerance(0.012), Tolerance(5e-4)
_JOINT = {1: 2.291, 2: 2.309, 4: 2.328, 8: 2.346}
"""Learners and the joint law's loss at 2.4B parameters, worked by hand."""
Place = tuple[str, str]


@reproduction("losses", "Gaps of loss to data-parallel: arXiv 2501.18512 Table 5, 2503.09799")
def loss_gaps(pace: Pace) -> Found:
    """Gaps of larger models by the shape of the penalty, beside naive guesses; hand-worked points.

    One level a method is fitted to the two smallest sizes, as no law knows H or bits.
    """
    losses = {(r["model"], r["method"]): float(r["eval_loss_nats"]) for r in rows(_TABLE)}
    source = rows(_TABLE)[0]["source"]
    gaps = {place: loss - losses[place[0], _BASE] for place, loss in losses.items()}
    methods = [method for size, method in losses if size == _SEEN[0] and method != _BASE]
    ours: dict[Place, float] = {}
    for method in methods:
        seen = [Gap(_SIZES[size], losses[size, _BASE], gaps[size, method]) for size in _SEEN]
        own = level(seen, _LEARNERS)
        for size in _HELD:
            base = losses[size, _BASE]
            ours[size, method] = predicted_gap(own, _SIZES[size], base, _LEARNERS)
    found = [
        _settled(
            "gap of loss",
            f"{size} {method}",
            ours[size, method],
            gap,
            _GAP,
            source,
            predicted(
                gaps["100M", method],
                "its gap at 100M",
                system="Streaming DiLoCo's losses",
                beyond="Each gap carries 0.01 nats of rounding.",
            ),
        )
        for (size, method), gap in gaps.items()
        if (size, method) in ours
    ]
    naive = {
        "no gap": dict.fromkeys(ours, 0.0),
        f"{_ONE} for all": dict.fromkeys(ours, _ONE),
        "each method's at 100M": {place: gaps["100M", place[1]] for place in ours},
    }
    missed = {"the shape": _miss(ours, gaps), **{k: _miss(v, gaps) for k, v in naive.items()}}
    found += [Row("mean miss of a gap", guess, miss, "nats") for guess, miss in missed.items()]
    by_hand = "identity: worked by hand from the constants of arXiv 2503.09799"
    found += [
        _settled(
            "joint law (identity)",
            f"2.4B, M={m}",
            joint_loss(2.4e9, m),
            loss,
            _PRINTED,
            by_hand,
            identity("the law itself, at its published constants"),
        )
        for m, loss in _JOINT.items()
    ]
    held = found[: len(ours)]
    ax = dots(
        [row.cell for row in held],
        [row.simulated for row in held],
        [row.published or 0.0 for row in held],
        title="Gap of loss to data-parallel, two learners",
        x="gap (nats)",
        y="model and method",
        colour=METHOD_COLOURS["streaming_diloco"],
    )
    words = ", ".join(f"{guess} {miss:.4f}" for guess, miss in missed.items())
    return Found(
        found,
        {"losses": ax},
        "One level a method is fitted at 35M and 100M, the shape by size is that of a fit to other "
        f"models. Each gap carries 0.01 nats of rounding. Mean miss in nats: {words}. The joint "
        "law's points are arithmetic alone.",
    )


def _settled(
    quantity: str,
    cell: str,
    ours: float,
    published: float,
    held: Tolerance,
    source: str,
    basis: Basis,
) -> Row:
    return Row(quantity, cell, ours, "nats", published, held, source, settled=True, basis=basis)


def _miss(guess: Mapping[Place, float], gaps: Mapping[Place, float]) -> float:
    return fmean(abs(value - gaps[place]) for place, value in guess.items())


@reproduction("loss-calibration", "A law of one method on the others: the project's own models")
def loss_calibration(pace: Pace) -> Found:
    """Fit a law to the final losses of one method; lay it beside the others', by merged tokens."""
    lengths = (2, 2.5, 3, 4) if pace.quick else (10, 15, 22, 32, 45, 65)
    points: dict[str, list[tuple[float, float]]] = {}
    for minutes in lengths:
        scenario = ddsim.load(
            "convergence", {"duration": f"{minutes} min", "learning.evaluations": 2}
        )
        methods = [spec.name for spec in scenario.methods]
        for item in ddsim.run(scenario, methods).results:
            assert item.learning is not None
            counted = item.tokens * share_merged(item)
            points.setdefault(item.method, []).append((counted, item.learning["final_loss"]))
    found = []
    for base in ("data_parallel", "decoupled_diloco"):
        law = fit_tokens(*zip(*points[base], strict=True))
        for method, mine in points.items():
            if method != base:
                cell = f"{base} on {method}"
                found += _beside(cell, [law.loss(1.0, tokens) for tokens, _ in mine], mine)
    return Found(
        found,
        {},
        f"The character model of `convergence`, {len(lengths)} lengths. A law fitted to one "
        "method's final losses says what the others' are by their merged tokens: with as many "
        "learners it does, with one for eight it does not know what they lose (docs/quality.md).",
    )


def _beside(cell: str, said: Sequence[float], mine: Sequence[tuple[float, float]]) -> list[Row]:
    ratios = [loss / law for (_, loss), law in zip(mine, said, strict=True)]
    off = sqrt(fmean((loss - law) ** 2 for (_, loss), law in zip(mine, said, strict=True)))
    return [
        Row("loss over the law's, least", cell, min(ratios)),
        Row("loss over the law's, most", cell, max(ratios)),
        Row("loss off the law's, rms", cell, off, "nats"),
    ]
