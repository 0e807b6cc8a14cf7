"""Causes of failures: each a random process over the parts of a domain, drawn apart."""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count
from math import inf
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ddsim.world.distributions import Distribution, from_spec
from ddsim.world.distributions.base import Array
from ddsim.world.domains import DOMAINS, Parts
from ddsim.world.instants import Ticks, later, ticks
from ddsim.world.renewal import AgingParts
from ddsim.world.stalls import detection_time, detections
from ddsim.world.streams import stream
from ddsim.world.strike import Strike

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ddsim.scenario import Scenario
    from ddsim.scenario.failures import Cause
    from ddsim.world.cluster import Cluster

BLOCK = 4096
PER_WINDOW = 2048
LONGEST_WINDOW = 31557600.0
INCIDENTS = 1 << 40


class Failure(NamedTuple):
    """A part of a domain fails at `time` and takes `repair` after its detection, in ticks."""

    time: Ticks
    part: int
    repair: Ticks


@dataclass(frozen=True)
class Away(Distribution):
    """How long a failed part is away: `detection` seconds, and then its repair."""

    detection: float
    repair: Distribution

    def sample(self, rng: np.random.Generator, n: int) -> Array:
        """Draw n of them."""
        return self.detection + self.repair.sample(rng, n)

    def mean(self) -> float:
        """Mean of both together."""
        return self.detection + self.repair.mean()

    def variance(self) -> float:
        """Variance of the repair."""
        return self.repair.variance()

    def cdf(self, x: object) -> Array:
        """Probability of at most x."""
        return self.repair.cdf(np.maximum(0.0, np.asarray(x, dtype=float) - self.detection)) * (
            np.asarray(x, dtype=float) >= self.detection
        )

    def quantile(self, q: object) -> Array:
        """Inverse of the cdf."""
        return self.detection + self.repair.quantile(np.asarray(q, dtype=float))


def failure_rate(scenario: Scenario, cluster: Cluster) -> float:
    """Return the long-run rate of failures of all hardware and the job, in 1/s."""
    rate = cluster.chips / scenario.failures.chip_mtbi
    for cause in scenario.failures.causes:
        if cause.domain in DOMAINS:
            parts = Parts(cause.domain, cluster).count
            rate += cause_rate(cause, parts) * cause.burst.size
    return rate


def cause_rate(cause: Cause, parts: int) -> float:
    """Return the long-run rate of one cause over all parts of its domain, in 1/s, bursts as one."""
    if cause.lifetime is not None:
        return parts / lifetime_of(cause).mean()
    if cause.count is not None:
        return cause.count / cause.per if cause.per else 0.0
    return 0.0 if cause.mtbi is None else parts_and_more(cause, parts) / cause.mtbi


def lemons_of(cause: Cause, parts: int) -> int:
    """Return how many of the parts of a cause's domain are lemons."""
    share = cause.lemons.share
    return max(1, round(share * parts)) if share > 0.0 and parts else 0


def parts_and_more(cause: Cause, parts: int) -> float:
    """Return how many ordinary parts would fail as often as these with their lemons."""
    return parts + lemons_of(cause, parts) * (cause.lemons.factor - 1.0)


def lifetime_of(cause: Cause) -> Distribution:
    """Return the distribution of the life of a part."""
    assert cause.lifetime is not None
    return from_spec(cause.lifetime.kind, cause.lifetime.params)


def repair_of(cause: Cause, scenario: Scenario) -> Distribution:
    """Return the distribution of the repair of what a cause has taken down; a job takes nothing."""
    if not cause.replace or cause.domain == "job":
        return from_spec("constant", {"value": 0.0})
    spec = cause.repair or scenario.failures.repair
    return from_spec(spec.kind, spec.params)


def goes_on_at_its_age(cause: Cause) -> bool:
    """Whether a part that a cause has struck is as old afterwards as it was before.

    So is hardware that is not replaced, unless its life is bounded: it would fail without end. The
    process of a job is new with every restart that its own failure brings about.
    """
    bounded = np.isfinite(float(lifetime_of(cause).quantile(1.0)))
    return not (cause.replace or cause.domain == "job" or bounded)


def detections_of(cause: Cause, scenario: Scenario, replication: int) -> Callable[[], Ticks]:
    """Return what says how long the next failure of this cause takes to be known."""
    return detections(scenario, cause.name, replication, cause.detection)


def loses_state(cause: Cause, scenario: Scenario) -> bool:
    """Return whether what a cause strikes has lost its state: a warning leaves time to save it."""
    saved = cause.notice > 0.0 and cause.notice >= scenario.checkpoint.save
    return cause.state_lost and not saved


def cause_strikes(
    cause: Cause, number: int, scenario: Scenario, cluster: Cluster, replication: int
) -> Iterator[Strike]:
    """Yield the strikes of one cause in the order of time, without end unless it never strikes.

    Every cause has random streams of its own, named for it, so that another cause moves none of
    its failures. `number` keeps its incidents apart from those of the others.
    """
    parts = Parts(cause.domain, cluster)
    key = ("failures", cause.name)
    units = stream(scenario.seed, *key, "unit", replication)
    detected = detections_of(cause, scenario, replication)
    latent = ticks(cause.latent)
    state_lost = loses_state(cause, scenario)
    failures = part_failures(cause, parts.count, scenario, replication)
    if cause.burst.size > 1:
        failures = _bursts(failures, cause, parts, scenario, replication)
    for index, failure in zip(count(number * INCIDENTS), failures, strict=False):
        part = int(units.integers(parts.units)) if cause.domain == "job" else failure.part
        slowed = cause.slow_to is not None
        detection = 0 if slowed else max(0, detected() - ticks(cause.notice))
        for unit, slices in parts.places(part):
            yield Strike(
                later(failure.time, latent),
                unit,
                slices,
                detection,
                failure.repair,
                cause.name,
                cause.domain,
                index,
                state_lost,
                cause.unallocated,
                slow_to=1.0 if cause.slow_to is None else cause.slow_to,
                since=failure.time if latent else None,
                screened=cause.screened,
            )


def spare_failures(
    scenario: Scenario, cluster: Cluster, replication: int
) -> Iterator[tuple[Ticks, int, Ticks]]:
    """Yield when idle spares fail, which one of all, and for how long it is away.

    Their rate is that of a slice in use, from chips and slices, in the long run and without ages.
    """
    if not scenario.restart.spares_fail or scenario.chaos_only:
        return
    slices = Parts("slice", cluster).count
    rate = cluster.spare_chips / scenario.failures.chip_mtbi
    for cause in scenario.failures.causes:
        if cause.domain in ("chip", "slice") and cause.slow_to is None and not cause.unallocated:
            parts = Parts(cause.domain, cluster).count
            rate += cause_rate(cause, parts) * cluster.spares / slices
    if rate == 0.0:
        return
    rng = stream(scenario.seed, "failures", "spares", replication)
    spec = scenario.failures.repair
    repair = from_spec(spec.kind, spec.params)
    now = 0.0
    while True:
        gaps = rng.exponential(1.0 / rate, BLOCK).tolist()
        numbers = rng.integers(cluster.spares, size=BLOCK).tolist()
        durations = repair.sample(rng, BLOCK).tolist()
        for gap, number, duration in zip(gaps, numbers, durations, strict=True):
            now += gap
            yield ticks(now), number, ticks(detection_time(scenario)) + ticks(duration)


def part_failures(
    cause: Cause, parts: int, scenario: Scenario, replication: int
) -> Iterator[Failure]:
    """Yield the failures of one cause among so many parts, bursts as their first failure."""
    stops = scenario.failures.age_while_down == "stops"
    if cause.lifetime is None or stops:  # with which lives are exponential, and nobody is away
        return _constant_hazard(cause, parts, scenario, replication)
    return _ages(cause, parts, scenario, replication)


class LemonParts:
    """Which parts of a cause's domain fail more often, and which of those have been taken out.

    To the failures that all parts have alike those come that lemons have besides, which there are
    none of any more once a lemon is out: the superposition is exact.
    """

    def __init__(self, cause: Cause, parts: int, seed: int, replication: int) -> None:
        key = ("failures", cause.name, "lemons")
        self._rng = stream(seed, *key, "more", replication)
        count = lemons_of(cause, parts)
        chosen = stream(seed, *key, "which", replication).choice(parts, count, replace=False)
        self._who: list[int] = chosen.tolist()
        self._left = dict.fromkeys(self._who, cause.lemons.out_after or inf)
        self._alike = parts / parts_and_more(cause, parts)

    def struck(self, part: int) -> int | None:
        """Return what fails, `part` or a lemon; None where that would be one that is out."""
        if self._rng.random() >= self._alike:
            part = self._who[int(self._rng.integers(len(self._who)))]
            if part not in self._left:
                return None
        if part in self._left:
            self._left[part] -= 1
            if self._left[part] < 1:
                del self._left[part]
        return part


def _constant_hazard(
    cause: Cause, parts: int, scenario: Scenario, replication: int
) -> Iterator[Failure]:
    rate = cause_rate(cause, parts)
    if rate == 0.0:
        return
    repair = repair_of(cause, scenario)
    key = ("failures", cause.name)
    times, places, repairs = (
        stream(scenario.seed, *key, what, replication) for what in ("time", "place", "repair")
    )
    few = lemons_of(cause, parts)
    lemons = LemonParts(cause, parts, scenario.seed, replication) if few else None
    now = 0.0
    while True:
        gaps = times.exponential(1.0 / rate, BLOCK).tolist()
        chosen = places.integers(parts, size=BLOCK).tolist()
        durations = repair.sample(repairs, BLOCK).tolist()
        for gap, part, duration in zip(gaps, chosen, durations, strict=True):
            now += gap
            struck = part if lemons is None else lemons.struck(part)
            if struck is not None:
                yield Failure(ticks(now), struck, ticks(duration))


def _ages(cause: Cause, parts: int, scenario: Scenario, replication: int) -> Iterator[Failure]:
    """Failures of parts that age, in windows whose length only the scenario decides."""
    life = lifetime_of(cause)
    # A part is new again once it is back: after the mean time until its failure is known.
    away = Away(detection_time(scenario, cause.detection), repair_of(cause, scenario))
    aging = AgingParts(
        life,
        parts,
        stream(scenario.seed, "failures", cause.name, "life", replication),
        away,
        renews="nothing" if goes_on_at_its_age(cause) else "failed_part",
    )
    window = min(LONGEST_WINDOW, PER_WINDOW * life.mean() / parts)
    end = 0.0
    while end < scenario.duration:
        end = min(end + window, scenario.duration)
        found = aging.advance(end)
        times, failed = found.times.tolist(), found.parts.tolist()
        for time, part, gone in zip(times, failed, found.repairs.tolist(), strict=True):
            yield Failure(ticks(time), part, ticks(max(0.0, gone - away.detection)))


def _bursts(
    failures: Iterator[Failure], cause: Cause, parts: Parts, scenario: Scenario, replication: int
) -> Iterator[Failure]:
    """Let every failure take more parts with it, evenly spread over all parts and `spread`."""
    rng = stream(scenario.seed, "failures", cause.name, "burst", replication)
    repair = repair_of(cause, scenario)
    more = cause.burst.size - 1
    waiting: list[Failure] = []
    for failure in failures:
        while waiting and waiting[0].time <= failure.time:
            yield heappop(waiting)
        yield failure
        delays = cause.burst.spread * rng.random(more)
        others = rng.integers(parts.count, size=more)
        durations = repair.sample(rng, more)
        for delay, other, duration in zip(
            delays.tolist(), others.tolist(), durations.tolist(), strict=True
        ):
            time = later(failure.time, ticks(delay))
            heappush(waiting, Failure(time, other, ticks(duration)))
