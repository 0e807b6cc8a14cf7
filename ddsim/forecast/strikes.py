"""How often the hardware of a scenario is struck."""

from __future__ import annotations

from collections import deque
from math import expm1, inf, isfinite
from typing import TYPE_CHECKING

from ddsim.theory.renewal import renewal_function
from ddsim.world import cluster as clusters
from ddsim.world.causes import (
    Away,
    cause_rate,
    goes_on_at_its_age,
    lifetime_of,
    repair_of,
)
from ddsim.world.distributions import from_spec
from ddsim.world.domains import DOMAINS, Parts
from ddsim.world.renewal import expected_unrenewed
from ddsim.world.stalls import detection_time

if TYPE_CHECKING:
    from ddsim.scenario import Scenario
    from ddsim.scenario.failures import Cause
    from ddsim.world.cluster import Cluster

SETTLED = 20.0
"""Mean lives after which parts fail at their long-run rate."""
CELLS = 200
"""Of the grid on which their failures before that are reckoned."""


def strikes(scenario: Scenario, span: float) -> tuple[float, float]:
    """Strikes in `span` seconds: those on what is up, and all that the history holds."""
    cluster = clusters.build(scenario)
    planned = _planned(scenario, cluster, span)
    if scenario.chaos_only:
        return planned, planned
    failures = scenario.failures
    rate = cluster.chips / failures.chip_mtbi
    slices = sum(unit.slice_count for unit in cluster.units)
    away = detection_time(scenario) + from_spec(failures.repair.kind, failures.repair.params).mean()
    up = planned + span * rate * there(rate / slices, finite(away), span)
    drawn = planned + span * rate
    for cause in failures.causes:
        if cause.domain in DOMAINS:
            some = span * rate_of(cause, cluster, scenario, span)
            up, drawn = up + some, drawn + some
    return up, drawn


def rate_of(cause: Cause, cluster: Cluster, scenario: Scenario, span: float) -> float:
    """Failures of a cause a second, on average over the first `span` seconds of a run."""
    parts = Parts(cause.domain, cluster).count
    detection = detection_time(scenario, cause.detection)
    away = finite(Away(detection, repair_of(cause, scenario)).mean())
    if cause.lifetime is not None and scenario.failures.age_while_down != "stops":
        life = lifetime_of(cause)
        if goes_on_at_its_age(cause):
            found = expected_unrenewed(life, parts, span, away)
        elif span < SETTLED * life.mean():
            found = parts * renewal_function(life.cdf, span, cells=CELLS)
        else:
            found = parts * span / (life.mean() + away)
    else:
        rate = cause_rate(cause, parts)
        found = span * rate * there(rate / max(parts, 1), away, span)
    return float(found * cause.burst.size / span) if span else 0.0


def there(rate: float, away: float, span: float) -> float:
    """Share of `span` seconds for which a part is there that fails at this rate and is `away` then.

    It is there at first, and comes to what lasts as two states between which time has no memory.
    """
    lasting = 1.0 / (1.0 + rate * away)
    settled = (rate + 1.0 / away) * span if away else inf
    return lasting + (1.0 - lasting) * (-expm1(-settled) / settled if settled else 1.0)


def finite(time: float) -> float:
    """The time, or nothing of one without an end."""
    return time if isfinite(time) else 0.0


def _planned(scenario: Scenario, cluster: Cluster, span: float) -> float:
    """Planned faults, and what leaves in a trace, each time."""
    faults = [item for item in scenario.chaos if item.fault in ("kill", "slow") and item.at < span]
    return len(faults) + _replayed(scenario, cluster, span)


def _replayed(scenario: Scenario, cluster: Cluster, span: float) -> float:
    """Units that slices leave in a trace, each time: slices are chosen without regard to units.

    Those of a unit that leave together are one strike only if they also return together, the first
    that left first.
    """
    trace = scenario.trace.file
    if trace is None or trace.end <= 0.0:
        return 0.0
    units = len(cluster.units)
    here = slices = sum(unit.slice_count for unit in cluster.units)

    def struck(count: int) -> float:
        return units * (1.0 - float((1.0 - 1.0 / units) ** count))

    out: deque[int] = deque()
    found = 0.0
    for time, nodes in zip(trace.times, trace.counts, strict=True):
        if time >= span:
            break
        wanted = round(nodes / max(trace.counts) * slices)
        if wanted < here:
            out.append(here - wanted)
        back = wanted - here
        while back > 0:
            piece = min(back, out[0])
            found += struck(piece)
            back -= piece
            if piece < out[0]:
                out[0] -= piece
            else:
                out.popleft()
        here = wanted
    found += sum(map(struck, out))
    return found * (max(1.0, span / trace.end) if scenario.trace.repeat else 1.0)
