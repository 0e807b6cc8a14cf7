"""A walk through the beginning of a scenario's histories: which units stand when, and why.

It takes the strikes that a run will meet, at most `MOST` of them, and knows of a method only how
long its units stand. What is not walked is reckoned to be like what was.
"""

from __future__ import annotations

from heapq import heappop, heappush, heapreplace
from itertools import groupby
from math import inf
from typing import TYPE_CHECKING, NamedTuple

from ddsim.world.domains import DOMAINS, Parts
from ddsim.world.instants import seconds

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ddsim.scenario import Scenario
    from ddsim.world.cluster import Cluster
    from ddsim.world.histories import Histories
    from ddsim.world.strike import Strike

MOST, MOST_SLICES = 1000, 20_000
"""Strikes that are walked through, and slices that they take down."""
MOST_PARTS = 100_000
"""Parts whose ages are followed, and slices that a trace may take; more make no walk."""

Spans = list[tuple[float, float, int]]
"""From when until when, in seconds, a unit stands."""


class Rules(NamedTuple):
    """How long units stand, in seconds: `again` from their first hardware on until they step.

    As `one` job all units stand for each; it `needs_all` of its slices or goes on without. What
    comes while a unit stands begins that anew where it `extends`; where it does not, one that needs
    all still waits until all are back. For
    hardware whose age `stops`, a strike on what does not step is none: a unit that runs steps for
    the share `steps` of its time, and does not while `together` all stand for one, as they do after
    having been `ahead` for so many seconds.
    """

    again: float
    one: bool = False
    needs_all: bool = False
    extends: bool = False
    together: bool = False
    ahead: float = 0.0
    steps: float = 1.0


class Walk(NamedTuple):
    """What was met in `span` seconds: how many strikes, how many of them hit what was up.

    `lost` has when units had no hardware, `stalls` when they stood for other reasons; each is in
    the order of time, and no two of a unit meet.
    """

    span: float
    drawn: int
    struck: int
    lost: Spans
    stalls: Spans


class _Unit:
    """Hardware that stands as one: so many slices, and those that are out until when."""

    def __init__(self, index: int, slices: int) -> None:
        self.index, self.slices = index, slices
        self.out: dict[object, float] = {}
        self.backs: list[tuple[float, object]] = []
        self.lost_since: float | None = None
        self.stalled_until = 0.0

    def back_first(self) -> float:
        return self.backs[0][0] if self.backs else inf


class _Walker:
    def __init__(self, scenario: Scenario, cluster: Cluster, rules: Rules) -> None:
        self._rules = rules
        self._plans = cluster.units
        elastic = scenario.elastic
        self._down, self._up = elastic.downscale, elastic.upscale
        self._stops = scenario.failures.age_while_down == "stops"
        self._start = scenario.restart.spare_start
        where = {"": cluster.spares} if rules.needs_all else cluster.spares_by_region
        self._spares = {region: [0.0] * min(count, MOST) for region, count in where.items()}
        slices = sum(plan.slice_count for plan in self._plans) if rules.one else 0
        self._job = _Unit(0, slices)
        self._units: dict[int, _Unit] = {}
        self._standing = 0.0, 0.0
        self._due = 0.0
        self.lost: Spans = []
        self.stalls: Spans = []

    def unit(self, index: int) -> _Unit:
        if self._rules.one:
            return self._job
        if index not in self._units:
            self._units[index] = _Unit(index, self._plans[index].slice_count)
        return self._units[index]

    def meet(self, strike: Strike) -> bool:
        """Let a strike come; return whether it hits something."""
        unit, now = self.unit(strike.unit), seconds(strike.time)
        self.pass_to(unit, now)
        hit = [where for where in self._places(strike) if where not in unit.out]
        if strike.slow_to < 1.0 or not (hit if strike.slices else unit.lost_since is None):
            return False
        if self._stops and not strike.unallocated and not self._stepping(unit, now):
            return False
        known = now + seconds(strike.detection)
        back = filled = known + seconds(strike.repair)
        for where in hit:
            if not strike.unallocated:
                filled = self._filled(self._plans[strike.unit].region, known, back)
            unit.out[where] = filled
            heappush(unit.backs, (filled, where))
        again = self._rules.again
        if len(unit.out) == unit.slices:
            if unit.lost_since is None:
                unit.lost_since = now
            self._stand(now, unit.back_first() + again)
        elif now == 0.0 and strike.unallocated:  # it was never there
            pass
        elif self._rules.needs_all:
            folded = now < unit.stalled_until and not self._rules.extends
            back = known if strike.unallocated else filled
            self._stall(unit, now, back if folded else back + again)
        elif not strike.slices:
            self._stall(unit, now, known + again)
        else:
            self._stall(unit, now, known + self._down)
        return True

    def pass_to(self, unit: _Unit, now: float) -> None:
        """Let all return that is back by then."""
        while unit.backs and unit.backs[0][0] <= now:
            back, where = heappop(unit.backs)
            if unit.out.get(where) != back:
                continue
            del unit.out[where]
            if unit.lost_since is not None:
                self.lost.append((unit.lost_since, back, unit.index))
                unit.lost_since = None
                self._stall(unit, back, back + self._rules.again)
            elif not self._rules.needs_all:
                self._stall(unit, back, back + self._up)

    def end(self, now: float) -> None:
        """Let the walk end then."""
        for unit in (self._job, *self._units.values()):
            self.pass_to(unit, now)
            if unit.lost_since is not None:
                self.lost.append((unit.lost_since, now, unit.index))

    def _places(self, strike: Strike) -> Iterable[object]:
        one = self._rules.one
        return [(strike.unit, index) for index in strike.slices] if one else strike.slices

    def _filled(self, region: str, known: float, back: float) -> float:
        """When the place of a slice is filled that comes back then, by a spare or by itself."""
        spares = self._spares.get("" if self._rules.needs_all else region)
        if not spares:
            return back
        start = max(known, spares[0]) + self._start
        if start >= back:
            return back
        heapreplace(spares, back)
        return start

    def _stepping(self, unit: _Unit, now: float) -> bool:
        since, until = self._standing
        if unit.lost_since is not None or now < unit.stalled_until or since <= now < until:
            return False
        self._due += self._rules.steps
        if self._due < 1.0:
            return False
        self._due -= 1.0
        return True

    def _stall(self, unit: _Unit, since: float, until: float) -> None:
        """Stand; what comes meanwhile is folded in, or lasts longer."""
        rules = self._rules
        if since < unit.stalled_until and not (rules.needs_all or rules.extends):
            return
        if until > unit.stalled_until:
            self.stalls.append((max(since, unit.stalled_until), until, unit.index))
            unit.stalled_until = until
            self._stand(since, until)

    def _stand(self, since: float, until: float) -> None:
        """Take note of when all stand, for one of them."""
        begun, ended = self._standing
        if self._rules.together and until > ended:
            self._standing = begun if since <= ended else since + self._rules.ahead, until


def walk(
    scenario: Scenario, cluster: Cluster, rules: Rules, histories: Histories, span: float
) -> Walk:
    """Meet what befalls a cluster in `span` seconds, or in what of them is walked through."""
    world, end = _within(scenario, cluster, span)
    walker = _Walker(scenario, cluster, rules)
    drawn = struck = taken = 0
    incident = -1
    if world is not None:
        for strike in histories.of(world)[1]:
            now = seconds(strike.time)
            taken += len(strike.slices)
            if now >= end:
                break
            if drawn >= MOST or taken > MOST_SLICES:
                end = now
                break
            same = strike.incident >= 0 and strike.incident == incident
            hits = walker.meet(strike)
            drawn += not (strike.planned or same)
            struck += hits and not (strike.planned or same)
            incident = strike.incident
    walker.end(end)
    return Walk(end, drawn, struck, apart(walker.lost, end), apart(walker.stalls, end))


def _within(scenario: Scenario, cluster: Cluster, span: float) -> tuple[Scenario | None, float]:
    """The scenario whose history is met, and for how long: what that takes is bounded here."""
    failures, trace = scenario.failures, scenario.trace.file
    slices = sum(unit.slice_count for unit in cluster.units)
    if any(cause.burst.size > MOST for cause in failures.causes):
        return None, span
    if trace is not None:
        if slices > MOST_PARTS or not trace.times:
            return None, span
        levels = max(2, min(MOST, MOST_PARTS // slices))
        if len(trace.times) > levels:
            span = min(span, trace.times[levels])
        elif trace.end > 0.0:
            span = min(span, trace.end * (levels // len(trace.times)))
        scenario = scenario.replaced(duration=min(scenario.duration, span))
    aging = [cause for cause in failures.causes if cause.lifetime and cause.domain in DOMAINS]
    if any(Parts(cause.domain, cluster).count > MOST_PARTS for cause in aging):
        scenario = scenario.replaced(failures=failures.replaced(age_while_down="stops"))
    return scenario, span


def apart(spans: Spans, end: float) -> Spans:
    """The same up to the end, in the order of time, what of a unit overlaps as one."""
    found: Spans = []
    by_unit = sorted((unit, since, min(until, end)) for since, until, unit in spans if since < end)
    for unit, of_unit in groupby(by_unit, key=lambda item: item[0]):
        reached = -inf
        for _, since, until in of_unit:
            if until > max(since, reached):
                found.append((max(since, reached), until, unit))
                reached = until
    return sorted(found)
