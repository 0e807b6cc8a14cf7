"""Maximum likelihood for the families of distributions, with lives that have not ended."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ddsim.logs.lives import Lives, lives
from ddsim.logs.model import Spells
from ddsim.world.distributions import (
    Distribution,
    Exponential,
    ExponentiatedWeibull,
    Gamma,
    Lognormal,
    Mixture,
    Weibull,
)

Vector = NDArray[np.float64]

_SHARPEST = 1_000.0
_FEWEST = 5


@dataclass(frozen=True)
class Family:
    """A family as its likelihood sees it: `build` from a free vector, and where to start."""

    kind: str
    free: int
    build: Callable[[Vector], Distribution]
    starts: Callable[[Spells], Iterable[Vector]]


def log_likelihood(distribution: Distribution, found: Lives) -> float:
    """Log densities of the lives that ended, log survivals of the others, added up.

    Of rounded lives the probability of their interval takes the place of the density.
    """
    if found.step:
        begin, end = distribution.cumulative_hazard(np.array([found.low, found.high]))
        # e^-begin - e^-end, without taking nearly equal numbers from each other
        each = np.log(-np.expm1(begin - end)) - begin
    else:
        each = distribution.log_pdf(found.high)
    total = float(each @ found.counts)
    if len(found.unended):
        total -= float(distribution.cumulative_hazard(found.unended) @ found.unended_counts)
    return total


def maximize(
    family: Family, spells: Spells, resolution: float, found: Lives | None = None
) -> tuple[Distribution, float] | None:
    """The member of the family under which the spells are likeliest, and their log-likelihood.

    None where the likelihood is finite at no start. `found` are the lives of the spells, if they
    are at hand. Nelder-Mead from each start. Mixtures whose component stands for fewer than 5
    lives, or is sharper than the `resolution` of the data in seconds, are out: their likelihood has
    no bound. So are exponentiated Weibulls with a shape or power beyond 100 or below 1/100, which
    stand for limits of the family and not for anything that a person could use.
    """
    from scipy.optimize import minimize

    seen = lives(spells) if found is None else found
    least = min(0.5, _FEWEST / len(spells))

    def cost(vector: Vector) -> float:
        if np.any(np.abs(vector) > 60.0):
            return math.inf
        distribution = family.build(vector)
        if isinstance(distribution, Mixture) and not _sound(distribution, least, resolution):
            return math.inf
        if family.build is _build_exponentiated and np.abs(vector[:2]).max() > math.log(100.0):
            return math.inf
        with np.errstate(all="ignore"):
            value = -log_likelihood(distribution, seen)
        return value if math.isfinite(value) else math.inf

    best: tuple[float, Vector] | None = None
    for start in family.starts(spells):
        if not math.isfinite(cost(start)):
            continue
        reached = minimize(
            cost,
            start,
            method="Nelder-Mead",
            options={"xatol": 1e-6, "fatol": 1e-7, "maxiter": 1_000 * family.free},
        )
        if best is None or reached.fun < best[0]:
            best = float(reached.fun), np.asarray(reached.x)
    if best is None or not math.isfinite(best[0]):
        return None
    return family.build(best[1]), -best[0]


def _sound(mixture: Mixture, least: float, resolution: float) -> bool:
    if min(mixture.weights) < least:
        return False
    for part in mixture.components:
        assert isinstance(part, Weibull)
        # the standard deviation of a sharp Weibull is 1.28 scale / shape
        if part.shape > _SHARPEST or part.shape > max(3.0, 1.28 * part.scale / resolution):
            return False
    return True


def _build_exponential(v: Vector) -> Distribution:
    return Exponential(math.exp(v[0]))


def _build_weibull(v: Vector) -> Distribution:
    return Weibull(math.exp(v[0]), math.exp(v[1]))


def _build_gamma(v: Vector) -> Distribution:
    return Gamma(math.exp(v[0]), math.exp(v[1] - v[0]))


def _build_lognormal(v: Vector) -> Distribution:
    return Lognormal(math.exp(v[0]), math.exp(v[1]))


def _build_exponentiated(v: Vector) -> Distribution:
    return ExponentiatedWeibull(math.exp(v[0]), math.exp(v[1]), math.exp(v[2]))


def _build_mixture(v: Vector) -> Distribution:
    share = 1.0 / (1.0 + math.exp(-v[0]))
    parts = sorted((_weibull(v[1:3], share), _weibull(v[3:5], 1.0 - share)), key=_by_mean)
    return Mixture(tuple(w for w, _ in parts), tuple(part for _, part in parts))


def _weibull(v: Vector, weight: float) -> tuple[float, Weibull]:
    return weight, Weibull(math.exp(v[0]), math.exp(v[1]))


def _by_mean(part: tuple[float, Weibull]) -> float:
    return part[1].scale


def _start_exponential(spells: Spells) -> list[Vector]:
    return [np.array([math.log(spells.durations.sum() / spells.ended.sum())])]


def _weibull_guess(durations: Vector) -> tuple[float, float]:
    """Log shape and log scale from the mean and deviation of the logarithms (Gumbel's)."""
    logs = np.log(durations)
    shape = float(np.clip(math.pi / math.sqrt(6.0) / max(float(logs.std()), 1e-9), 0.05, 200.0))
    return math.log(shape), float(logs.mean()) + np.euler_gamma / shape


def _start_weibull(spells: Spells) -> list[Vector]:
    return [np.array(_weibull_guess(spells.durations))]


def _start_gamma(spells: Spells) -> list[Vector]:
    log_shape, _ = _weibull_guess(spells.durations)
    return [np.array([log_shape, math.log(spells.durations.mean())])]


def _start_lognormal(spells: Spells) -> list[Vector]:
    logs = np.log(spells.durations)
    return [np.array([float(logs.mean()), math.log(max(float(logs.std()), 1e-3))])]


def _start_exponentiated(spells: Spells) -> list[Vector]:
    log_shape, log_scale = _weibull_guess(spells.durations)
    return [
        np.array([log_shape - bend, bend, log_scale])
        for bend in (0.0, math.log(3.0), -math.log(3.0))
    ]


def _start_mixture(spells: Spells) -> list[Vector]:
    ordered = np.sort(spells.durations)
    starts = []
    for share in (0.25, 0.5, 0.75):
        cut = max(1, min(len(ordered) - 1, round(share * len(ordered))))
        early, late = _weibull_guess(ordered[:cut]), _weibull_guess(ordered[cut:])
        starts.append(np.array([math.log(share / (1.0 - share)), *early, *late]))
    return starts


FAMILIES = (
    Family("exponential", 1, _build_exponential, _start_exponential),
    Family("weibull", 2, _build_weibull, _start_weibull),
    Family("gamma", 2, _build_gamma, _start_gamma),
    Family("lognormal", 2, _build_lognormal, _start_lognormal),
    Family("exponentiated_weibull", 3, _build_exponentiated, _start_exponentiated),
    Family("mixture", 5, _build_mixture, _start_mixture),
)
"""What is fitted. `constant` and `empirical` have no density, and so no likelihood to rank by."""
