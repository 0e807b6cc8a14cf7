"""Availability of repairable parts, and of jobs that need all or some of them.

`mtbf` is the mean up time of one part, `mttr` and `downtime` mean outages, in seconds.
Textbook reliability theory (Barlow and Proschan, "Statistical theory of reliability and life
testing"; counter types from G. F. Knoll, "Radiation detection and measurement").
"""

import math
from dataclasses import dataclass

from ddsim.theory._checks import not_negative, positive


def nonparalyzable_availability(mtbf: float, downtime: float) -> float:
    """M / (M + D): failures during an outage are ignored, or the failure clock stops.

    Any distribution of the outage; Poisson failures if the clock runs on.
    """
    positive(mtbf=mtbf)
    not_negative(downtime=downtime)
    return mtbf / (mtbf + downtime)


def paralyzable_availability(mtbf: float, downtime: float) -> float:
    """exp(-D / M): failures go on during an outage and extend it to max(end, t + D).

    The idle share of an M/G/infinity queue, so any distribution of D will do.
    """
    positive(mtbf=mtbf)
    not_negative(downtime=downtime)
    return math.exp(-downtime / mtbf)


def all_up_independent(parts: int, mtbf: float, mttr: float) -> float:
    """Share of time in which all of n parts are up; parts fail on while others are down.

    (m / (m + r))^n, with a repair crew for each part.
    """
    _count(parts)
    return nonparalyzable_availability(mtbf, mttr) ** parts


def all_up_clock_stops(parts: int, mtbf: float, mttr: float) -> float:
    """Share of time in which all of n parts are up; none fails while one is down.

    1 / (1 + n r / m).
    """
    _count(parts)
    positive(mtbf=mtbf)
    not_negative(mttr=mttr)
    return 1.0 / (1.0 + parts * mttr / mtbf)


def at_least(parts: int, needed: int, availability: float) -> float:
    """Probability that at least `needed` of independent parts are up, each with `availability`."""
    _count(parts)
    if not 0.0 <= availability <= 1.0:
        raise ValueError(f"availability is {availability!r}; it has to lie between 0 and 1")
    if needed <= 0:
        return 1.0
    down = 1.0 - availability
    return math.fsum(
        math.comb(parts, up) * availability**up * down ** (parts - up)
        for up in range(needed, parts + 1)
    )


def k_of_n_availability(parts: int, needed: int, mtbf: float, mttr: float) -> float:
    """Share of time in which at least k of n independent parts are up.

    A repair crew for each part; insensitive to the distribution of the repair beyond its mean.
    """
    return at_least(parts, needed, nonparalyzable_availability(mtbf, mttr))


def mean_capacity_fraction(mtbf: float, mttr: float) -> float:
    """Mean share of independent parts that is up: m / (m + r)."""
    return nonparalyzable_availability(mtbf, mttr)


@dataclass(frozen=True, slots=True)
class MachineRepairman:
    """n parts in the care of c repair crews: exponential up times and repairs.

    A birth-death chain on the number of parts down: from i, one more fails at rate (n - i)/m and
    one is repaired at rate min(i, c)/r.
    """

    parts: int
    crews: int
    mtbf: float
    mttr: float

    def __post_init__(self) -> None:
        _count(self.parts)
        _count(self.crews)
        positive(mtbf=self.mtbf, mttr=self.mttr)

    def down_distribution(self) -> list[float]:
        """Long-run probabilities of 0, 1, ..., n parts down."""
        logs = [0.0]  # in logarithms, for thousands of parts overflow otherwise
        for down in range(self.parts):
            fail = (self.parts - down) / self.mtbf
            mend = min(down + 1, self.crews) / self.mttr
            logs.append(logs[-1] + math.log(fail / mend))
        top = max(logs)
        weights = [math.exp(value - top) for value in logs]
        total = math.fsum(weights)
        return [weight / total for weight in weights]

    def all_up(self) -> float:
        """Share of time in which every part is up."""
        return self.down_distribution()[0]

    def mean_up_fraction(self) -> float:
        """Mean share of the parts that is up."""
        chances = self.down_distribution()
        return 1.0 - math.fsum(i * p for i, p in enumerate(chances)) / self.parts


def _count(parts: int) -> None:
    if parts < 1:
        raise ValueError(f"a count is {parts!r}; it has to be at least 1")
