"""How long each stall of a run lasts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import exp, log1p, sqrt
from typing import TYPE_CHECKING

from ddsim.scenario.repair import RepairSpec
from ddsim.scenario.stalls import Length, Stall, seconds_of
from ddsim.world.distributions import from_spec
from ddsim.world.instants import Ticks, ticks
from ddsim.world.streams import stream

if TYPE_CHECKING:
    from ddsim.scenario import Scenario

BLOCK = 64
JOB = -1
"""Who restarts where all units are one job."""


def restarts(scenario: Scenario, chips: int, who: int, replication: int) -> Callable[[], Ticks]:
    """Return what says how long the next restart of a job or unit of so many chips lasts.

    `who` is the unit, or `JOB`: each has draws of its own, the same for all methods.
    """
    return _lengths(scenario.restart.time, chips, scenario.seed, ("restart", who, replication))


def restores(scenario: Scenario, who: int, replication: int) -> Callable[[], Ticks]:
    """Return what says how long the next restore of a save lasts, of a unit or of the `JOB`."""
    checkpoint, name = scenario.checkpoint, ("restore", who, replication)
    return scattered(ticks(checkpoint.restore), checkpoint.spread, scenario.seed, name)


def nothing() -> Ticks:
    """Return how long what takes no time lasts."""
    return 0


def scattered(
    length: Ticks, spread: float, seed: int, name: tuple[str | int, ...]
) -> Callable[[], Ticks]:
    """Return what says how long the next of some stalls lasts.

    They are lognormal around their mean `length`, with `spread` times it as standard deviation.
    """
    if spread <= 0.0 or length == 0:
        return lambda: length
    sigma2 = log1p(spread * spread)
    spec = RepairSpec("lognormal", {"median": exp(-sigma2 / 2.0), "sigma": sqrt(sigma2)})
    factors = _samples(spec, seed, name)
    return lambda: max(1, round(length * next(factors)))


def detection_time(scenario: Scenario, own: Length | None = None) -> float:
    """Return the mean seconds until a failure is known: a cause's own, else those of all."""
    length = scenario.failures.detection if own is None else own
    if not isinstance(length, Stall):
        return length
    drawn = (from_spec(part.kind, part.params) for part in length.drawn())
    chips = sum(unit.chips for unit in scenario.units())
    return length.seconds(chips) + sum(distribution.mean() for distribution in drawn)


def detections(
    scenario: Scenario, cause: str, replication: int, own: Length | None = None
) -> Callable[[], Ticks]:
    """Return what says how long the next failure of a cause takes to be known.

    The failures of a cause have draws of their own, in the order of time, the same for all methods.
    """
    length = scenario.failures.detection if own is None else own
    if not isinstance(length, Stall):
        always = ticks(length)
        return lambda: always
    chips = sum(unit.chips for unit in scenario.units())
    return _lengths(length, chips, scenario.seed, ("failures", cause, "detection", replication))


def _lengths(
    length: Length, chips: int, seed: int, name: tuple[str | int, ...]
) -> Callable[[], Ticks]:
    if not isinstance(length, Stall) or length.fixed:
        always = ticks(seconds_of(length, chips))
        return lambda: always
    fixed = length.seconds(chips)
    drawn = [
        _samples(part, seed, (*name, phase))
        for phase, part in length.parts
        if isinstance(part, RepairSpec)
    ]
    return lambda: ticks(fixed + sum(next(samples) for samples in drawn))


def _samples(spec: RepairSpec, seed: int, name: tuple[str | int, ...]) -> Iterator[float]:
    rng, distribution = stream(seed, *name), from_spec(spec.kind, spec.params)
    while True:
        yield from distribution.sample(rng, BLOCK).tolist()
