"""How long units that wait for one another stand for failures."""

from __future__ import annotations

from math import exp, inf, log, prod, sqrt
from typing import TYPE_CHECKING

import numpy as np

from ddsim.forecast.strikes import finite, rate_of
from ddsim.scenario.stalls import seconds_of
from ddsim.world.causes import repair_of
from ddsim.world.distributions import from_spec
from ddsim.world.domains import DOMAINS
from ddsim.world.stalls import detection_time

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ddsim.scenario import Scenario
    from ddsim.world.cluster import Cluster

WHOLE = ("unit", "region", "job")
"""Domains whose failure takes all that a unit has."""
INSTANTS, MOST_SPAN = 1000, 30 * 86400.0
"""Instants at which it is looked who is away by plan, within so many seconds."""


def moving_share(
    scenario: Scenario, cluster: Cluster, copy: float, apart: float, span: float
) -> float:
    """Share of `span` seconds in which units that wait for one another do not stand for failures.

    Each stands for a share of its time, apart from the others, and holds them up; but units meet
    every `apart` seconds only, and of what is shorter the longest in that time counts. A unit that
    was lost whole copies its state for `copy` seconds. Before the first failure nothing stands:
    that counts where afterwards nearly everything does.
    """
    there = _planned_share(scenario, span)
    if scenario.chaos_only:
        return there
    units = len(cluster.units)
    stops = list(_stops(scenario, cluster, copy, span))
    rate = sum(rate for rate, _ in stops)
    length = sum(rate * length for rate, length in stops) / rate if rate else 0.0
    if length >= apart:
        up = prod(1.0 / (1.0 + rate * length / units) for rate, length in stops) ** units
    else:
        each = rate / units * apart
        most = min(units * each, each + sqrt(2.0 * each * log(units))) * length
        up = apart / (apart + most)
    before = (1.0 - exp(-rate * span)) / (rate * span) if rate else 1.0
    return there * max(up, before)


def copying_share(scenario: Scenario, cluster: Cluster, copy: float, span: float) -> float:
    """Share of the time in which units that were lost whole copy state, each `copy` seconds."""
    if scenario.chaos_only:
        return 0.0
    lasting = (rate * length for rate, length in _stops(scenario, cluster, copy, span))
    without = (rate * length for rate, length in _stops(scenario, cluster, 0.0, span))
    return min(1.0, sum(lasting) - sum(without))


def _planned_share(scenario: Scenario, span: float) -> float:
    """Share of `span` seconds in which no unit is away as a whole by plan; never nothing."""
    windows = [
        (item.joins, item.leaves - item.joins, item.every or inf, False)
        for item in scenario.scavenging
        if "/" not in item.target
    ]
    windows += [
        (item.at, item.duration, item.every or inf, True)
        for item in scenario.failures.maintenance
        if "/" not in item.target
    ]
    windows += [
        (item.at, item.duration, inf, True)
        for item in scenario.chaos
        if item.fault == "kill" and "/" not in item.target
    ]
    instants = (np.arange(INSTANTS) + 0.5) * min(span, MOST_SPAN) / INSTANTS
    there = np.ones(INSTANTS, dtype=bool)
    for first, length, every, away in windows:
        since = np.where(instants >= first, np.mod(instants - first, every), inf)
        there &= (since < length) != away
    return max(float(there.mean()), 1.0 / INSTANTS)


def _stops(
    scenario: Scenario, cluster: Cluster, copy: float, span: float
) -> Iterator[tuple[float, float]]:
    """Kinds of failures: how many a second in all units, and how long one of them stands."""
    alone = all(unit.slice_count == 1 for unit in cluster.units)
    failures, restart = scenario.failures, scenario.restart
    chips = cluster.chips / len(cluster.units)
    again = finite(seconds_of(restart.time, chips)) + copy
    detection = detection_time(scenario)
    shrinks = detection + scenario.elastic.downscale + scenario.elastic.upscale

    def whole(known: float, repair: float) -> float:
        """How long a unit stands that has lost all: a spare takes less time than a repair."""
        return known + (min(repair, restart.spare_start) if restart.spares else repair) + again

    repair = finite(from_spec(failures.repair.kind, failures.repair.params).mean())
    yield cluster.chips / failures.chip_mtbi, whole(detection, repair) if alone else shrinks
    for cause in failures.causes:
        if cause.domain not in DOMAINS or cause.slow_to is not None:
            continue
        takes_all = alone or cause.domain in WHOLE
        known = detection_time(scenario, cause.detection)
        lasts = whole(known, finite(repair_of(cause, scenario).mean())) if takes_all else shrinks
        yield rate_of(cause, cluster, scenario, span), lasts
