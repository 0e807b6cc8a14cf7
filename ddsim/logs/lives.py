"""Lives as a likelihood sees them: each value counted once, an interval where it is rounded."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ddsim.logs.model import Array, Spells
from ddsim.world.distributions import duration_text

UNITS = (86_400.0, 43_200.0, 21_600.0, 3_600.0, 1_800.0, 900.0, 600.0, 300.0, 60.0, 30.0, 10.0, 1.0)
"""To what people and their tools round, in seconds."""
_COARSE = 0.005
"""A step of rounding is worth an interval where it is more than this share of the median life."""
MOST = 2_000
"""Values beyond which neighbours are taken together."""
_ENDS = 200


@dataclass(frozen=True)
class Lives:
    """Values of lives that ended and of lives that did not, each with how often it occurs.

    `low` and `high` bound the lives that ended where `step`, what they were rounded to, is not 0;
    they are the same otherwise. `grouped` says that neighbours were taken together.
    """

    low: Array
    high: Array
    counts: Array
    unended: Array
    unended_counts: Array
    step: float
    grouped: bool

    @property
    def middle(self) -> Array:
        """The values as they were written."""
        return self.high if self.step == 0.0 else self.high - self.step / 2.0


def lives(spells: Spells) -> Lives:
    """The lives of spells whose lengths are above 0."""
    step = rounded_to(spells.durations[spells.ended])
    ended, counts, first = _counted(spells.durations[spells.ended])
    unended, unended_counts, second = _counted(spells.durations[~spells.ended])
    low, high = np.maximum(ended - step / 2.0, 0.0), ended + step / 2.0
    return Lives(low, high, counts, unended, unended_counts, step, first or second)


def rounded_to(values: Array) -> float:
    """The unit of which all values are multiples, if some are the same and it is coarse; or 0."""
    if len(np.unique(values)) == len(values):
        return 0.0
    coarse = _COARSE * float(np.median(values))
    for unit in UNITS:
        if unit < coarse:
            return 0.0
        share = values / unit
        # a value that was divided and multiplied again is off by a rounding of its own
        if np.all(np.abs(share - np.round(share)) < 1e-6 * np.maximum(share, 1.0)):
            return unit
    return 0.0


def words(found: Lives) -> list[str]:
    """What was done to the lives, for a person."""
    said = []
    if found.step:
        step = duration_text(found.step)
        said.append(f"lives are multiples of {step}: each is fitted as an interval of that width")
    if found.grouped:
        said.append(f"neighbours among the lives are taken together, {MOST} values in all")
    return said


def _counted(values: Array) -> tuple[Array, Array, bool]:
    """Each value once, with how often it occurs; of too many, groups of neighbours by their mean.

    The lowest and the highest stay alone: they say most of the tails.
    """
    each, counts = np.unique(values, return_counts=True)
    if len(each) <= MOST:
        return each, counts.astype(np.float64), False
    inner = np.linspace(_ENDS, len(each) - _ENDS, MOST - 2 * _ENDS + 1).round().astype(np.int64)
    edges = np.concatenate([np.arange(_ENDS), inner[:-1], np.arange(inner[-1], len(each))])
    totals = np.add.reduceat(counts.astype(np.float64), edges)
    return np.add.reduceat(each * counts, edges) / totals, totals, True
