"""Who is first, in one sentence that says where nobody can tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

from ddsim.naming import listed
from ddsim.results.interval import apart, mean_interval, warranted
from ddsim.results.telling import NEGLIGIBLE, Gap, Told, told
from ddsim.world.chance import UNKNOWN, Chance

if TYPE_CHECKING:
    from ddsim.results.comparison import Results
    from ddsim.results.record import MethodResult

HISTORIES = "merged_goodput_by_history"
"""Where `extra` has the merged goodput of each replication, in their order."""
FAILURES = "failures_by_history"
"""Where it has how many failures each met."""
EXPECTED = "expected_of_a_history"
"""Where it has the `Chance` of each, by its fields; not there where that is unknown."""


@dataclass(frozen=True, slots=True)
class Lead:
    """How far the first is ahead of another in merged goodput.

    `interval` is that of the paired difference over the histories that both met, 95%; None where
    they are too few, or too few of them differ or met a failure. `value` is that of the first.
    """

    other: str
    difference: float
    interval: tuple[float, float] | None
    value: float

    @property
    def told(self) -> Told:
        """What there is to say of the two."""
        return told([Gap(self.difference, self.interval, self.value)])


def leads(results: Results) -> tuple[str, list[Lead]]:
    """The method of the highest merged goodput, and its lead over each other, nearest first."""
    ranked = sorted(results.results, key=lambda item: -item.merged_goodput)
    best, *others = ranked
    return best.method, [_lead(best, other) for other in others]


def _lead(best: MethodResult, other: MethodResult) -> Lead:
    mine, theirs = _by_history(best, HISTORIES), _by_history(other, HISTORIES)
    if not mine or len(mine) != len(theirs):
        ahead = best.merged_goodput - other.merged_goodput
        return Lead(other.method, ahead, None, best.merged_goodput)
    between = apart(mine, theirs)
    failures = zip(_by_history(best, FAILURES), _by_history(other, FAILURES), strict=False)
    struck = sum(a > 0 or b > 0 for a, b in failures)
    enough = warranted(between, struck, _chance(best).with_(_chance(other)))
    interval = mean_interval(between) if enough else None
    return Lead(other.method, fmean(between), interval, best.merged_goodput)


def _by_history(item: MethodResult, name: str) -> Sequence[float]:
    """What was kept of each replication; nothing where it was not."""
    found = item.extra.get(name, ())
    return found if isinstance(found, Sequence) else ()


def _chance(item: MethodResult) -> Chance:
    found = item.extra.get(EXPECTED)
    return Chance(**found) if isinstance(found, Mapping) else UNKNOWN


def verdict(results: Results) -> str:
    """Who is first by merged goodput, in one sentence."""
    best, behind = leads(results)
    value = f"{100 * results[best].merged_goodput:.2f}%"
    if not behind:
        return f"{_words(best)} has a merged goodput of {value}."
    ties = [lead for lead in behind if lead.told.tie]
    if ties:
        names = listed([_words(best), *(_words(lead.other) for lead in ties)], "and")
        rest = "" if len(ties) == len(behind) else ", ahead of the others"
        small = all(lead.told is Told.SMALL for lead in ties)
        apart = "cannot be told apart by merged goodput"
        if small:
            apart = f"differ by less than {NEGLIGIBLE:.1%} of merged goodput, too little to matter"
        return (
            f"Tie: {names} {apart}, {value} for the first"
            f"{rest}; {_words(best)} less {_words(ties[0].other)} is {_points(ties[0])}"
            f"{_over(results)}."
        )
    nearest = behind[0]
    said = f"{_words(best).capitalize()} is first with a merged goodput of {value}, "
    said += f"{_points(nearest)} more than {_words(nearest.other)}{_over(results)}"
    if nearest.interval is not None:
        return f"{said}."
    if results.replications == 1:
        return f"{said}, which does not say how much of that is chance."
    return f"{said}, too few of which differ or met a failure for an interval."


def _points(lead: Lead) -> str:
    text = f"{100 * lead.difference:.2f} points"
    if lead.interval is None:
        return text
    low, high = (f"{100 * end:.2f}" for end in lead.interval)
    return f"{text} ({low} to {high} at 95%)"


def _over(results: Results) -> str:
    if results.replications == 1:
        return " on one history"
    return f" over {results.replications} shared histories"


def _words(method: str) -> str:
    return method.replace("_", " ")
