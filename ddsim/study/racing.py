"""A race of candidates on common histories, and how sure its outcome is.

Successive elimination: all meet a few histories, and who is clearly behind then meets no more. A
candidate leaves only where its being the best is so improbable that all such errors together, over
all candidates and all looks, stay within `ALPHA`; so what is said of the winner holds over all that
began, not over those that are left. On common histories a difference between two candidates is
known far better than either's own value, so that few histories tell them apart.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from statistics import fmean, stdev
from typing import TYPE_CHECKING

from ddsim.results.interval import LEVEL, met, skewness_of, warranted
from ddsim.study.measures import (
    Measured,
    apart_by,
    chosen,
    difference,
    has,
    mean,
    shared,
    sign_of,
)
from ddsim.study.telling import gaps

if TYPE_CHECKING:
    from ddsim.results.telling import Gap
    from ddsim.study.work import Row
    from ddsim.world.chance import Chance

ALPHA = 1.0 - LEVEL
FIRST = 3
"""Histories at the first look: two say next to nothing of their spread."""


def looks(replications: int) -> list[int]:
    """How many histories those who are left have met at each look: twice as many each time."""
    found = [min(FIRST, replications)]
    while found[-1] < replications:
        found.append(min(2 * found[-1], replications))
    return found


def doubt(ahead: Sequence[float]) -> float:
    """How probable it is to see such differences where their mean is not above 0.

    The larger of Student's and, where they are skewed, of Hall's (`ddsim.results.interval`).
    """
    from scipy.special import stdtr

    n = len(ahead)
    centre, spread = fmean(ahead), stdev(ahead)
    if spread == 0.0:
        return 0.0 if centre > 0.0 else 1.0
    root = math.sqrt(n)
    t, g = root * centre / spread, skewness_of(ahead)
    hall = t + g * t * t / (3.0 * root) + g * g * t**3 / (27.0 * n) + g / (6.0 * root)
    return float(max(stdtr(n - 1, -t), stdtr(n - 1, -hall)))


class Race:
    """Candidates by number, the rows that they have, and who is still in the race.

    `rows` grow as candidates meet histories; of those that are there before, none counts that its
    candidate has not met in this race.
    """

    def __init__(
        self,
        rows: Mapping[int, Sequence[Row]],
        chances: Mapping[int, Chance],
        metric: str,
        replications: int,
    ) -> None:
        self._rows, self._chances, self.metric = rows, chances, metric
        self._sign = sign_of(metric)
        self._looks = looks(replications)
        self.met = dict.fromkeys(chances, 0)
        self.doubts: dict[int, float] = {}
        self.order: list[int] = list(chances)

    def run(self, meet: Callable[[Sequence[int], int], None]) -> None:
        """Let candidates `meet` so many histories in all, and drop who is clearly behind."""
        alive, allowed = list(self.order), ALPHA / max(1, len(self.order) - 1)
        for histories in self._looks:
            meet(alive, histories)
            self.met.update(dict.fromkeys(alive, histories))
            alive = self._ranked(alive)
            for other in alive[1:]:
                improbable = self._improbable(alive[0], other)
                if improbable <= allowed:
                    self.doubts[other] = improbable
            alive = [number for number in alive if number not in self.doubts]
        self.alive = alive
        left = sorted(self.doubts, key=lambda number: -self.met[number])
        self.order = alive + [
            number
            for histories in dict.fromkeys(self.met[number] for number in left)
            for number in self._ranked([n for n in left if self.met[n] == histories])
        ]

    @property
    def best(self) -> int:
        """The winner."""
        return self.order[0]

    def rows(self, number: int) -> Sequence[Row]:
        """What a candidate met in this race."""
        return self._rows[number][: self.met[number]]

    def value(self, number: int) -> float | None:
        """The metric of a candidate over what it met; None where a history lacks it.

        What it lacks may be what speaks against it, such as a goal that was not reached.
        """
        rows = self.rows(number)
        whole = all(has(row, self.metric) for row in rows)
        return mean(rows, self.metric) if whole else None

    def winner(self) -> Measured | None:
        """The best's value; its interval holds for whichever of all candidates was chosen."""
        if self.value(self.best) is None:
            return None
        rows, chance = self.rows(self.best), self._chances[self.best]
        return chosen(rows, self.metric, chance, len(self.order))

    def behind(self, other: int) -> Measured | None:
        """By how much the best is better; the intervals of all candidates hold together."""
        level = 1.0 - ALPHA / max(1, len(self.order) - 1)
        pairs = self._pairs(self.best, other)
        if self._sign < 0.0:
            pairs = [(b, a) for a, b in pairs]
        return difference(pairs, self.metric, self._both(self.best, other), level)

    def gaps(self, other: int) -> list[Gap]:
        """How far the best is ahead at each end of a law; intervals of all hold together."""
        level = 1.0 - ALPHA / max(1, len(self.order) - 1)
        chance = self._both(self.best, other)
        return gaps(self.rows(self.best), self.rows(other), self.metric, chance, level)

    @property
    def tied(self) -> list[int]:
        """Who gave what the best gave in every history, though failures struck."""
        return [
            number
            for number in self.alive[1:]
            if met(self._struck(self.best, number), self._both(self.best, number))
            and not any(self._ahead(self.best, number))
        ]

    @property
    def untold(self) -> list[int]:
        """Whom nothing has told apart from the best: too few histories differ, or were struck."""
        return [
            number
            for number in self.alive[1:]
            if number not in self.tied and not self._told(self.best, number)
        ]

    @property
    def sure(self) -> float:
        """How sure it is, over all candidates, that none is better than the best."""
        open_ones = [number for number in self.alive[1:] if number not in self.tied]
        doubts = [self._improbable(self.best, number) for number in open_ones]
        return max(0.0, 1.0 - math.fsum([*doubts, *self.doubts.values()]))

    def _ranked(self, numbers: Sequence[int]) -> list[int]:
        scores = {number: self._score(number) for number in numbers}
        return sorted(numbers, key=lambda number: (-scores[number], number))

    def _score(self, number: int) -> float:
        value = self.value(number)
        return -math.inf if value is None or math.isnan(value) else self._sign * value

    def _pairs(self, one: int, other: int) -> list[tuple[Row, Row]]:
        return shared(self.rows(one), self.rows(other), self.metric)

    def _both(self, one: int, other: int) -> Chance:
        return self._chances[one].with_(self._chances[other])

    def _ahead(self, leader: int, other: int) -> list[float]:
        apart = apart_by(self._pairs(leader, other), self.metric)
        return [self._sign * item for item in apart]

    def _struck(self, one: int, other: int) -> int:
        """How many of their histories met a failure."""
        pairs = zip(self.rows(one), self.rows(other), strict=False)
        return sum(bool(a.get("failures") or b.get("failures")) for a, b in pairs)

    def _told(self, leader: int, other: int) -> bool:
        ahead, struck = self._ahead(leader, other), self._struck(leader, other)
        return len(ahead) > 1 and warranted(ahead, struck, self._both(leader, other))

    def _improbable(self, leader: int, other: int) -> float:
        """The probability of this lead if the other were better, times the looks at it."""
        if self._score(other) == -math.inf:
            return 0.0  # without the metric it is no candidate
        if not self._told(leader, other):
            return 1.0
        return min(1.0, len(self._looks) * doubt(self._ahead(leader, other)))
