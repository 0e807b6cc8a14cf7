"""Spare slices: where they stand, when they fail, and which place each of them takes."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from ddsim.engine.clock import Rank
from ddsim.engine.hardware import Hardware, UnitState
from ddsim.world.causes import spare_failures
from ddsim.world.instants import Ticks, ticks

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from simpy.events import EventPriority

    from ddsim.engine.clock import Clock, Wake
    from ddsim.engine.hardware import Struck
    from ddsim.engine.run import Run
    from ddsim.world.cluster import UnitPlan
    from ddsim.world.strike import Strike

Place = tuple[int, int]


class Pool:
    """The spares that units of these indices share: so many in all, of which `free` are idle.

    `waiting` are the empty places whose failure is known, in the order in which it became so;
    `starting` spares are on their way to the first of them. Of the idle ones `warm` are standbys,
    of which there are to be `standbys`, and `warming` are on their way to be.
    """

    __slots__ = ("free", "size", "standbys", "starting", "units", "waiting", "warm", "warming")

    def __init__(self, units: Collection[int], size: int, standbys: int = 0) -> None:
        self.units = units
        self.size = self.free = size
        self.standbys = self.warm = min(standbys, size)
        self.warming = 0
        self.waiting: deque[Place] = deque()
        self.starting = 0


class SparePool(Hardware):
    """Hardware with spare slices: a free spare takes a place once its failure is detected.

    A cold spare takes `start` more, a warm one `standby_start`, and these go first. Whatever slice
    is repaired goes to the place of its pool that has waited longest, or becomes a free spare.
    Units of no pool, or of one without any spare, get their own slices back. `failures` are those
    of idle spares: when, which of all in the order of the pools, and for how long it is away.
    Places that are filled at one instant are one return. `rank` says what else of the instant a
    spare comes before.
    """

    def __init__(
        self,
        clock: Clock,
        plans: Sequence[UnitPlan],
        history: Iterable[Strike],
        *,
        age_stops: bool,
        pools: Iterable[Pool],
        crews: int | None = None,
        granules: Sequence[int] = (),
        start: Ticks = 0,
        standby_start: Ticks = 0,
        failures: Iterator[tuple[Ticks, int, Ticks]] | None = None,
        rank: EventPriority = Rank.BACK,
    ) -> None:
        super().__init__(clock, plans, history, age_stops=age_stops, crews=crews, granules=granules)
        self._pools = [pool for pool in pools if pool.size]
        self._pool_of = {unit: pool for pool in self._pools for unit in pool.units}
        self._start = start
        self._standby_start = standby_start
        self._rank = rank
        self._failures = iter(()) if failures is None else failures
        self._await_failure()

    def _await_failure(self) -> None:
        failure = next(self._failures, None)
        if failure is not None:
            time, number, away = failure
            given = number, away
            self.clock.after(time - self.clock.now, Rank.STRIKE, self._spare_fails, given)

    def _spare_fails(self, wake: Wake) -> None:
        number, away = wake.given
        for pool in self._pools:
            if number < pool.size:
                if number < pool.free:
                    pool.free -= 1
                    pool.warm = min(pool.warm, pool.free)
                    self.clock.after(away, Rank.BACK, self._spare_back, pool)
                break
            number -= pool.size
        self._await_failure()

    def _spare_back(self, wake: Wake) -> None:
        self._use(wake.given, 1)

    def take_down(self, unit: UnitState, hit: list[int], strike: Strike) -> None:
        """Take slices out; spares, then repaired slices, will fill their places."""
        pool = self._pool_of.get(unit.index)
        if pool is not None and not strike.unallocated:
            places = [(unit.index, index) for index in hit]
            self.clock.after(strike.detection, self._rank, self._detected, (pool, places))
        super().take_down(unit, hit, strike)

    def _detected(self, wake: Wake) -> None:
        pool, places = wake.given
        for place in places:
            unit, index = place
            if index in self.units[unit].detected:
                pool.waiting.append(place)
        if self._start:
            self._start_spares(pool)
        else:
            ready, pool.free = pool.free, 0
            self._use(pool, ready)

    def _start_spares(self, pool: Pool) -> None:
        while pool.free and len(pool.waiting) > pool.starting:
            start = self._standby_start if pool.warm else self._start
            pool.warm = max(0, pool.warm - 1)
            pool.free -= 1
            pool.starting += 1
            self.clock.after(start, self._rank, self._started, pool)
        self._warm_up(pool)

    def _warm_up(self, pool: Pool) -> None:
        """Begin to warm idle spares, as many as are to be standbys."""
        while pool.warm + pool.warming < min(pool.standbys, pool.free):
            pool.warming += 1
            self.clock.after(self._start, self._rank, self._warmed, pool)

    def _warmed(self, wake: Wake) -> None:
        pool = wake.given
        pool.warming -= 1
        pool.warm = min(pool.warm + 1, pool.standbys, pool.free)

    def _started(self, wake: Wake) -> None:
        wake.given.starting -= 1
        self._use(wake.given, 1)

    def _use(self, pool: Pool, slices: int) -> None:
        """Put slices that are ready into the places that have waited longest, or keep them."""
        if not pool.waiting:
            pool.free += slices
            if pool.standbys:
                self._warm_up(pool)
            return
        filled: dict[Struck, UnitState] = {}
        while slices and (place := self._next_place(pool)) is not None:
            slices -= 1
            number, index = place
            unit, body = self.units[number], self.bodies[number]
            body.settle()
            if self.fill(unit, [index]):
                filled[body] = unit
        pool.free += slices
        if pool.standbys:
            self._warm_up(pool)
        for body, unit in filled.items():
            body.returned(unit)

    def _next_place(self, pool: Pool) -> Place | None:
        while pool.waiting:
            unit, index = place = pool.waiting.popleft()
            if index in self.units[unit].detected:  # it may have left the job in the meantime
                return place
        return None

    def _back(self, wake: Wake) -> None:
        unit, back = wake.given
        pool = self._pool_of.get(unit.index)
        if back.joining or pool is None:
            super()._back(wake)
            return
        returned, back.slices = back.slices, []
        self._use(pool, len(returned))


def hardware_of(run: Run, *, anywhere: bool = False) -> Hardware:
    """Return a run's hardware under its failure history, with its spares if there are any.

    Each region's spares serve the units there. Where they may stand `anywhere`, all serve all, and
    are in place before what waits for them decides whether it can go on: it goes on with all chips
    or not at all, so that `elastic.granule` says nothing.
    """
    scenario, cluster = run.scenario, run.cluster
    age_stops = scenario.failures.age_while_down == "stops"
    crews = scenario.failures.crews
    world = (run.clock, cluster.units, run.history)
    granules = () if anywhere else _granules(run)
    if not cluster.spares:
        return Hardware(*world, age_stops=age_stops, crews=crews, granules=granules)
    return SparePool(
        *world,
        age_stops=age_stops,
        crews=crews,
        granules=granules,
        pools=_one_pool(run) if anywhere else _by_region(run),
        start=ticks(scenario.restart.spare_start),
        standby_start=ticks(scenario.restart.standby_start),
        failures=spare_failures(scenario, cluster, run.replication),
        rank=Rank.SPARE if anywhere else Rank.BACK,
    )


def _granules(run: Run) -> list[int]:
    """How many slices of each unit elasticity drops together."""
    chips = run.scenario.elastic.granule
    return [
        min(unit.slice_count, max(1, -(-chips // unit.slice_size))) for unit in run.cluster.units
    ]


def _one_pool(run: Run) -> list[Pool]:
    units = [unit.index for unit in run.cluster.units]
    return [Pool(units, run.cluster.spares, run.scenario.restart.standbys)]


def _by_region(run: Run) -> list[Pool]:
    """A pool a region; the standbys are spread as the spares are."""
    units, standbys, of = run.cluster.units, run.scenario.restart.standbys, run.cluster.spares
    pools, before = [], 0
    for region, spares in run.cluster.spares_by_region.items():
        warm = standbys * (before + spares) // of - standbys * before // of
        pools.append(Pool([unit.index for unit in units if unit.region == region], spares, warm))
        before += spares
    return pools
