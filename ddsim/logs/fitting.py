"""Distributions fitted to a trace, ranked, and what a person should know about them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ddsim.logs.likelihood import FAMILIES, maximize
from ddsim.logs.lives import Lives, lives, words
from ddsim.logs.model import Jobs, Lifetimes, NodeCounts, Points, Spells, Trace
from ddsim.world.distributions import Distribution, duration_text

FEWEST = 5
"""Lives that must have ended for a fit."""


@dataclass(frozen=True)
class Fit:
    """One family's likeliest member.

    `aic` is 2 free - 2 log_likelihood, smaller is better; `ks` the Kolmogorov-Smirnov distance
    between its cdf and the data's (Kaplan-Meier where lives have not ended).
    """

    kind: str
    distribution: Distribution
    free: int
    log_likelihood: float
    aic: float
    ks: float


@dataclass(frozen=True)
class FitReport:
    """All fits of a trace, best first by AIC.

    `quantity` says in words what was fitted; `ended` and `unended` count the lives behind it;
    `remarks` are sentences for a person: what fits badly, what the data cannot tell.
    """

    quantity: str
    ended: int
    unended: int
    fits: tuple[Fit, ...]
    remarks: tuple[str, ...]

    @property
    def best(self) -> Fit | None:
        """The fit with the smallest AIC; None where nothing could be fitted."""
        return self.fits[0] if self.fits else None

    def to_dict(self) -> dict[str, object]:
        """The same as plain types."""
        return {
            "quantity": self.quantity,
            "ended": self.ended,
            "unended": self.unended,
            "fits": [
                {
                    "kind": fit.kind,
                    "distribution": fit.distribution.describe(),
                    "parameters": fit.distribution.specification()[1],
                    "free": fit.free,
                    "log_likelihood": fit.log_likelihood,
                    "aic": fit.aic,
                    "ks": fit.ks,
                }
                for fit in self.fits
            ],
            "remarks": list(self.remarks),
        }


def fit(trace: Trace, kinds: Sequence[str] | None = None) -> FitReport:
    """Fits every family, or those of `kinds`, to the lives in a trace by maximum likelihood.

    Node events: the lives of nodes, those still there at the end counted as unended. Lifetimes: as
    given. Node counts do not say which node left: the times between losses of the whole.
    """
    match trace:
        case NodeCounts():
            quantity = "time between losses of the whole"
            remarks = [
                "node counts do not say which node left: what is fitted is the time between "
                "instants of loss, not the life of a node"
            ]
        case Jobs():
            quantity = "time that a job runs until it fails"
            remarks = []
        case Points():
            quantity = "time between failures of the whole"
            remarks = []
        case _:
            quantity = "life of a node"
            remarks = []
    if isinstance(trace, Lifetimes) and trace.ended.all():
        remarks.append("every life is taken as ended: no column says otherwise")
    return fit_spells(trace.spells(), quantity, kinds, remarks)


def fit_spells(
    spells: Spells,
    quantity: str = "life",
    kinds: Sequence[str] | None = None,
    remarks: Sequence[str] = (),
) -> FitReport:
    """Fits every family, or those of `kinds`, to spells of life by maximum likelihood.

    Raises ValueError for a kind that is not fitted.
    """
    known = [family.kind for family in FAMILIES]
    for kind in kinds or ():
        if kind not in known:
            raise ValueError(f"{kind!r} is not fitted; there are {', '.join(known)}")
    said = list(remarks)
    positive = spells.durations > 0.0
    if (spells.ended & ~positive).any():
        count = int((spells.ended & ~positive).sum())
        said.append(f"{count} of length 0 (begun and ended at one instant) left out of the fits")
    spells = Spells(spells.durations[positive], spells.ended[positive])
    ended = int(spells.ended.sum())
    if ended < FEWEST or len(np.unique(spells.durations)) < 2:
        said.append(f"{ended} ended, {len(np.unique(spells.durations))} different: too few to fit")
        return FitReport(quantity, ended, len(spells) - ended, (), tuple(said))
    seen = lives(spells)
    fits, left_out = _fits(spells, seen, known if kinds is None else kinds)
    said += [*words(seen), *left_out]
    if fits:
        said += _judgement(fits, ended)
    said += _late_mass(spells)
    return FitReport(quantity, ended, len(spells) - ended, fits, tuple(said))


def _fits(spells: Spells, seen: Lives, kinds: Sequence[str]) -> tuple[tuple[Fit, ...], list[str]]:
    """The fits, best first, and a sentence for each family that could not be fitted."""
    resolution = seen.step or float(np.diff(np.unique(spells.durations)).min())
    fits, left_out = [], []
    for family in FAMILIES:
        if family.kind not in kinds or family.free >= spells.ended.sum():
            continue
        found = maximize(family, spells, resolution, seen)
        if found is None:
            left_out.append(f"{family.kind} is left out: nothing of it is likely with these lives")
            continue
        distribution, likelihood = found
        aic = 2.0 * family.free - 2.0 * likelihood
        ks = ks_distance(distribution, spells, seen.step)
        fits.append(Fit(family.kind, distribution, family.free, likelihood, aic, ks))
    return tuple(sorted(fits, key=lambda one: one.aic)), left_out


def ks_distance(distribution: Distribution, spells: Spells, step: float = 0.0) -> float:
    """The largest distance between the distribution's cdf and the data's, at the ends of lives.

    Lives that are rounded to multiples of `step` are compared at the edges of their intervals.
    """
    from scipy.stats import CensoredData, ecdf

    data = CensoredData.right_censored(spells.durations, ~spells.ended)
    seen = ecdf(data).cdf
    upper = distribution.cdf(seen.quantiles + step / 2.0)
    lower = distribution.cdf(np.maximum(seen.quantiles - step / 2.0, 0.0))
    before = np.concatenate([[0.0], seen.probabilities[:-1]])
    above, below = np.abs(seen.probabilities - upper), np.abs(before - lower)
    return float(np.maximum(above, below).max())


def _judgement(fits: tuple[Fit, ...], ended: int) -> list[str]:
    """Whether a single Weibull, and the best of all, can be believed."""
    remarks = []
    # what the distance of a true law would exceed once in 20 times
    usual = 1.36 / math.sqrt(ended)
    by_kind = {one.kind: one for one in fits}
    single, best = by_kind.get("weibull"), fits[0]
    if single is not None and single.ks > usual and single.aic > best.aic + 10.0:
        remarks.append(
            f"a single Weibull fits badly: its Kolmogorov-Smirnov distance is {single.ks:.3f} "
            f"where {usual:.3f} would be usual, and its AIC is {single.aic - best.aic:,.0f} above "
            f"that of the best ({best.kind}, distance {best.ks:.3f})"
        )
    mixed = by_kind.get("mixture")
    if single is not None and mixed is not None and mixed.aic < single.aic - 10.0:
        remarks.append(
            f"a mixture of two Weibulls fits better than one: AIC lower by "
            f"{single.aic - mixed.aic:,.0f}, Kolmogorov-Smirnov distance {mixed.ks:.3f} for "
            f"{single.ks:.3f}"
        )
    if best.ks > usual:
        remarks.append(
            f"even the best ({best.kind}) lies further from the data than chance would have it: "
            f"distance {best.ks:.3f}, usual up to {usual:.3f}; replay or `empirical` are safer"
        )
    return remarks


def _late_mass(spells: Spells) -> list[str]:
    """Says so where many lives end in a narrow band at the upper end, as under a time limit."""
    lives = spells.durations[spells.ended]
    top = float(lives.max())
    late = lives >= 0.95 * top
    middle = (lives >= 0.5 * top) & ~late
    share = float(late.mean())
    # nine times as wide a band, and still at most a fifth of the density
    if share < 0.05 or late.sum() < 10 or middle.sum() / 9.0 > late.sum() / 5.0:
        return []
    low, high = duration_text(float(lives[late].min())), duration_text(top)
    return [
        f"late mass: {share:.0%} of the lives end between {low} and {high}, far more than just "
        f"before: it looks like a time limit, which no smooth hazard gives"
    ]
