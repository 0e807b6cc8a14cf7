"""Places for slices, strikes that empty them, repairs and spares that fill them again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from simpy import Environment

from .case import Case, StrikeCase
from .clock import Moment, Order


class Repair:
    """What one strike took, on its way back together."""

    def __init__(self, back_at: float) -> None:
        self.back_at = back_at
        self.pieces = 0


@dataclass(eq=False)
class Place:
    """Where a slice of a unit stands, or stood."""

    unit: int
    index: int
    chips: int
    up: bool = True
    struck_at: float = 0
    detected: bool = True
    repair: Repair | None = None
    """The repair of the slice that failed here, while the place waits for it."""

    def fill(self) -> None:
        """A slice stands here again."""
        self.up = True
        self.repair = None


class Hardware:
    """All places of all units. With spares, any whole slice fits into any place of its pool."""

    def __init__(
        self, env: Environment, case: Case, regional: bool, on_back: Callable[[int], None]
    ) -> None:
        """`on_back(unit)`: slices stand again in places of this unit, or may where all is one pool.

        The pools are regions, or else one: every slice of the job may be replaced by any other.
        """
        self.env = env
        self.regional = regional
        self.places = [
            [Place(u, i, chips) for i, chips in enumerate(unit.slices)]
            for u, unit in enumerate(case.units)
        ]
        self.pools = [unit.region if regional else "" for unit in case.units]
        names = list(dict.fromkeys(self.pools))
        self.free = Counter(names[i % len(names)] for i in range(case.spares))
        self.with_spares = set(self.free)
        """The pools that have any; elsewhere every slice comes back to its own place."""
        self.on_back = on_back
        self.on_detected: Callable[[], None] = lambda: None

    def every_place(self) -> list[Place]:
        """In the order of units and slices."""
        return [place for unit in self.places for place in unit]

    def has_hardware(self, unit: int) -> bool:
        """Whether a slice of the unit is up."""
        return any(place.up for place in self.places[unit])

    def healthy_chips(self) -> int:
        """Chips that stand in all places."""
        return sum(place.chips for place in self.every_place() if place.up)

    def strike(self, strike: StrikeCase) -> bool:
        """Take down what is up; say whether anything was."""
        places = self.places[strike.unit]
        hit = [places[i] for i in sorted(strike.slices) if places[i].up]
        if not hit:
            return False
        repair = Repair(self.env.now + strike.detection + strike.repair)
        if set(strike.slices) == set(range(len(places))):
            self._take_over_what_was_down(places, repair)
        for place in hit:
            place.up = False
            place.detected = False
            place.struck_at = self.env.now
            place.repair = repair
            repair.pieces += 1
        Moment(
            self.env,
            repair.back_at - self.env.now,
            Order.HARDWARE_BACK,
            lambda: self._back(strike.unit, repair),
        )
        if strike.detection > 0:
            noticed = partial(self._detect, strike.unit, hit)
            Moment(self.env, strike.detection, Order.DETECTED, noticed)
        else:
            self._detect(strike.unit, hit)
        return True

    def _take_over_what_was_down(self, places: list[Place], repair: Repair) -> None:
        for place in places:
            if place.repair is not None:
                repair.back_at = max(repair.back_at, place.repair.back_at)
                place.repair.pieces -= 1
                repair.pieces += 1
                place.repair = repair

    def _detect(self, unit: int, hit: list[Place]) -> None:
        for place in hit:
            place.detected = True
        if self.regional:
            Moment(self.env, 0, Order.HARDWARE_BACK, lambda: self._replace(self.pools[unit]))
        else:
            self._use_free_slices("")
            self.on_detected()

    def _replace(self, pool: str) -> None:
        for unit in self._use_free_slices(pool):
            self.on_back(unit)

    def _back(self, unit: int, repair: Repair) -> None:
        if repair.pieces == 0:
            return
        homes = [place for place in self.every_place() if place.repair is repair]
        for place in homes:
            place.repair = None
        pool = self.pools[unit]
        if pool not in self.with_spares:
            for place in homes:
                place.fill()
            self.on_back(unit)
            return
        self.free[pool] += repair.pieces
        if self.regional:
            self._replace(pool)
        else:
            self._use_free_slices(pool)
            self.on_back(unit)

    def _use_free_slices(self, pool: str) -> list[int]:
        """The place that has waited longest first, the lowest index on a tie; whose they are."""
        filled = []
        while self.free[pool] > 0:
            empty = [
                place
                for place in self.every_place()
                if self.pools[place.unit] == pool and not place.up and place.detected
            ]
            if not empty:
                break
            first = min(empty, key=lambda place: place.struck_at)
            first.fill()
            filled.append(first.unit)
            self.free[pool] -= 1
        return sorted(set(filled))
