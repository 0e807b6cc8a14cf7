"""What M learners that merge lose against one: two published fits, and one that fits methods."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ddsim.quality.constants import constants
from ddsim.quality.interval import Ends

NONE = Ends(1.0, 1.0)
"""The penalty of one learner, or of none that is counted."""


def joint(learners: int) -> float:
    """Return M^b, by which the joint law multiplies the loss at every size.

    Source: arXiv 2503.09799, L = A N^a M^b.
    """
    return float(learners ** constants("diloco_joint")["b"])


def joint_loss(parameters: float, learners: int) -> float:
    """Return the joint law's loss after the tokens that are optimal for the size, H = 30."""
    known = constants("diloco_joint")
    return float(known["A"] * parameters ** known["a"]) * joint(learners)


def by_size(parameters: float, learners: int) -> float:
    """Return M^(c N^-g), a multiplier that fades as models grow.

    Source: a third party's fit to Table 4 of arXiv 2503.09799.
    """
    known = constants("replicas_penalty_by_size")
    return float(learners ** (known["c"] * parameters ** -known["g"]))


FITS = ("diloco_joint", "replicas_penalty_by_size")
"""The published fits, by the names of their rows in the reference table."""


def penalty(name: str, parameters: float, learners: int) -> Ends:
    """Return what the loss is multiplied by, from none at all to what a fit, or the worse, says.

    `name` is one of `FITS`, `published` for both, or `none`. The better end is no penalty
    whatever the fit: tables show it fade with size, and a run with two learners below one with one.
    """
    said = dict(zip(FITS, (joint(learners), by_size(parameters, learners)), strict=True))
    return Ends(1.0, {**said, "published": max(said.values()), "none": 1.0}[name])


class Gap(NamedTuple):
    """By how much a method's loss lies above data-parallel's at one size, both in nats."""

    parameters: float
    loss: float
    gap: float


def level(gaps: Sequence[Gap], learners: int) -> float:
    """Return how many times the penalty by size a method's gaps are, by least squares.

    No law knows H or the bits of a method, so that its level is fitted, at sizes where it was
    measured; the shape by size is the fit's.
    """
    shapes = [predicted_gap(1.0, item.parameters, item.loss, learners) for item in gaps]
    squares = sum(shape * shape for shape in shapes)
    if squares == 0.0:
        raise ValueError("one learner has no gap to fit a level to")
    return sum(shape * item.gap for shape, item in zip(shapes, gaps, strict=True)) / squares


def predicted_gap(level: float, parameters: float, loss: float, learners: int) -> float:
    """Return the gap in nats of a method with that level, where data-parallel's loss is `loss`."""
    return level * (by_size(parameters, learners) - 1.0) * loss
