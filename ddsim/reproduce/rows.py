"""One number beside its published one, and whether it is as near as it is held to be."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import fabs

from ddsim.reproduce.basis import Basis
from ddsim.reproduce.foretold import Foretold

BESIDE = "reported beside"
ROUNDING = 1e-9
"""As a share of a published number: nothing nearer than that is told from it."""


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How near a number is held to be to the published one.

    limit: largest distance in `unit`, or as a fraction of the published number if `relative`; None
        for numbers that are reported beside each other and held to nothing.
    at_least: the published number is a lower bound, less `limit`.
    """

    limit: float | None = None
    relative: bool = False
    at_least: bool = False

    def words(self, unit: str) -> str:
        """The tolerance in words."""
        if self.limit is None:
            return BESIDE
        if self.at_least:
            return (
                "at least" if self.limit == 0 else f"at least, less {self.limit:g} {unit}".strip()
            )
        if self.limit == 0:
            return "exact as printed"
        return f"{100 * self.limit:g}%" if self.relative else f"{self.limit:g} {unit}".strip()

    def holds(self, published: float, simulated: float) -> bool | None:
        """Whether the number is within the tolerance; None where there is none."""
        if self.limit is None:
            return None
        allowed = self.limit * (fabs(published) if self.relative else 1.0)
        allowed += ROUNDING * fabs(published)
        if self.at_least:
            return simulated >= published - allowed
        return fabs(simulated - published) <= allowed


REPORTED_BESIDE = Tolerance()
EXACT = Tolerance(0.0)
AT_LEAST = Tolerance(0.0, at_least=True)


@dataclass(frozen=True, slots=True)
class Row:
    """One number: what it is, as published or measured, and as simulated.

    quantity, cell: what is counted, and where in the table it stands.
    published: None for a number that is drawn without a published one beside it.
    half_width: of the simulated number's 95% interval, where it is a mean over histories.
    settled: whether a coarse pass gives the same number: it depends on no chance and no length.
    source: of the published number.
    basis: how the number came about; every one that has a published number beside it says so.
    """

    quantity: str
    cell: str
    simulated: float
    unit: str = ""
    published: float | None = None
    tolerance: Tolerance = REPORTED_BESIDE
    source: str = ""
    half_width: float | None = None
    settled: bool = False
    basis: Basis | None = None

    @property
    def foretold(self) -> Foretold | None:
        """When it was predicted, of a prediction that was committed before its value."""
        return self.basis.foretold if self.basis else None

    @property
    def error(self) -> float | None:
        """Simulated less published."""
        return None if self.published is None else self.simulated - self.published

    @property
    def relative_error(self) -> float | None:
        """The error as a fraction of the published number; None where that is 0."""
        return self._relative(self.simulated)

    @property
    def guess_error(self) -> float | None:
        """The relative error of the naive guess; None where nobody guessed."""
        if self.basis is None or self.basis.guess is None:
            return None
        return self._relative(self.basis.guess)

    @property
    def beats_guess(self) -> bool:
        """Whether it is nearer to the published number than the naive guess, be that number 0."""
        if self.published is None or self.basis is None or self.basis.guess is None:
            return False
        return fabs(self.simulated - self.published) < fabs(self.basis.guess - self.published)

    def _relative(self, value: float) -> float | None:
        """How far a number is from the published one, which rounding does not count for."""
        if not self.published:
            return None
        share = (value - self.published) / fabs(self.published)
        return share if fabs(share) > ROUNDING else 0.0

    @property
    def within(self) -> bool | None:
        """Whether the number is as near as it is held to be; None where it is held to nothing."""
        if self.published is None:
            return None
        return self.tolerance.holds(self.published, self.simulated)


def beside_published(rows: Iterable[Row]) -> list[Row]:
    """The rows that have a published number."""
    return [row for row in rows if row.published is not None]


def without_value(rows: Iterable[Row]) -> list[Row]:
    """The predictions whose published number has not entered the tree."""
    return [row for row in rows if row.published is None and row.foretold]


def misses(rows: Iterable[Row]) -> list[Row]:
    """The rows that are farther from the published number than they are held to be."""
    return [row for row in rows if row.within is False]
