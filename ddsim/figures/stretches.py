"""What every unit did over time as shares of its chips: what timelines draw, on paper and on pages.

A unit that runs does not compute all the time. Its stretch is divided into what computed, in the
method's colour, and what did not; so that the areas of a row are the unit's accounts, whether a
method's waits are long enough to be seen or not.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ddsim.figures import style
from ddsim.results import MethodResult, Span

COMPUTING = "running"
"""The part of a stretch that computed; in the method's colour."""
WITHIN = "waits_within_steps"
"""The part of a running unit's chip-time that did not: waits, saves, slowness."""
MOST_UNITS = 12
COLUMNS = 300
"""Parts of the time; of more spans than these each part is drawn as the mixture that it is."""
_DIGITS = 4


@dataclass(frozen=True, slots=True)
class Stretch:
    """From `start` to `end` (seconds), shares of all the unit's chips by what they did.

    What the shares lack of 1 are chips that are down while others of the unit are up.
    """

    start: float
    end: float
    parts: Mapping[str, float]


def stretches_of(
    item: MethodResult, longest: float, columns: int = COLUMNS
) -> dict[str, list[Stretch]]:
    """Return the stretches of each unit; of many units the dozen that ran least.

    `longest` is how long the time axis is, in seconds.
    """
    units: dict[str, list[Span]] = {}
    for span in item.timeline:
        units.setdefault(span.unit, []).append(span)
    return {
        name: _stretches(spans, longest / columns, columns)
        for name, spans in _most_eventful(units).items()
    }


def _most_eventful(units: dict[str, list[Span]]) -> dict[str, list[Span]]:
    if len(units) <= MOST_UNITS:
        return units
    ran = {
        name: sum(span.end - span.start for span in spans if span.state in style.PROGRESS)
        for name, spans in units.items()
    }
    least = sorted(units, key=ran.__getitem__)[:MOST_UNITS]
    return {name: spans for name, spans in units.items() if name in least}


def _stretches(spans: Sequence[Span], width: float, columns: int) -> list[Stretch]:
    whole = max(span.healthy_chips for span in spans)
    if len(spans) <= columns:
        return [Stretch(span.start, span.end, dict(_parts(span, whole))) for span in spans]
    mixed: list[dict[str, float]] = [{} for _ in range(columns)]
    for span in spans:
        first, last = int(span.start / width), min(columns - 1, int(span.end / width))
        parts = _parts(span, whole)
        for column in range(first, last + 1):
            lasts = min(span.end, (column + 1) * width) - max(span.start, column * width)
            into = mixed[column]
            for state, share in parts if lasts > 0 else ():
                into[state] = into.get(state, 0.0) + share * lasts / width
    return _joined(mixed, width)


def _joined(mixed: Sequence[Mapping[str, float]], width: float) -> list[Stretch]:
    """One stretch for columns in a row that look the same."""
    found: list[Stretch] = []
    for column, shares in enumerate(mixed):
        start, end = column * width, (column + 1) * width
        parts = {state: round(share, _DIGITS) for state, share in shares.items()}
        if not parts:
            continue
        if found and found[-1].end == start and found[-1].parts == parts:
            found[-1] = Stretch(found[-1].start, end, parts)
        else:
            found.append(Stretch(start, end, parts))
    return found


def _parts(span: Span, whole: int) -> list[tuple[str, float]]:
    """Shares of all chips; a unit without hardware is what it is as a whole."""
    share = span.healthy_chips / whole if span.healthy_chips > 0 else 1.0
    if span.state != COMPUTING:
        return [(span.state, share)]
    computing = 1.0 if span.computing is None else span.computing
    parts = [(COMPUTING, share * computing), (WITHIN, share * (1.0 - computing))]
    return [(state, part) for state, part in parts if part > 0.0]
