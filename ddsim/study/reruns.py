"""The tables of a study's reruns: why goodput is not 1, and which uncertain input matters most."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ddsim.study.grid import BASE, INPUT, SPECIAL, WITHOUT, CellName
from ddsim.study.measures import mean, shared
from ddsim.study.tables import Table, boots, difference, finite, lead_of, settings_of

if TYPE_CHECKING:
    from ddsim.study.gathered import Gathered


def reruns(study: Gathered, column: str) -> Iterator[tuple[CellName, list[CellName]]]:
    """Each base cell that is done, with the reruns of it that are."""
    found: dict[tuple[object, ...], list[CellName]] = {}
    for cell in study.done:
        if cell.settings.get(column, BASE) != BASE:
            found.setdefault(_place(cell), []).append(cell)
    for base in study.done:
        if base.is_base and _place(base) in found:
            yield base, found[_place(base)]


def _place(cell: CellName) -> tuple[object, ...]:
    return (cell.method, *sorted(cell.but(*SPECIAL).items()))


def why(study: Gathered) -> Table:
    """A row a cause, the one that would bring most first."""
    lead = [name for name in lead_of(study) if name not in SPECIAL]
    rows: list[list[Any]] = []
    for base, again in reruns(study, WITHOUT):
        lines: list[list[Any]] = []
        pairs = [(cell, difference(study, cell, base, "goodput")) for cell in again]
        gains = [(cell, gain) for cell, gain in pairs if gain is not None]
        resampled = boots(study, "goodput", [gain.items for _, gain in gains])
        for (cell, gain), boot in zip(gains, resampled, strict=True):
            means = [mean(study.rows[item.index], "goodput") for item in (base, cell)]
            it = gain.found
            numbers = finite([it.value, it.low, it.high, *boot])
            lines.append([cell.settings[WITHOUT], *means, *numbers])
        lines.sort(key=lambda line: -line[3])
        rows += [[base.index, *settings_of(study, base, lead), *line] for line in lines]
    ends = ["gain", "gain_low", "gain_high", "gain_boot_low", "gain_boot_high"]
    return Table(["cell", *lead, "cause", "goodput", "goodput_without", *ends], rows)


def tornado(study: Gathered) -> Table:
    """A row an uncertain input, the widest swing first.

    Its ends are compared on the histories that have the metric at both. `note` says of an input
    that swings nothing when its ends are the same number.
    """
    lead = [name for name in lead_of(study) if name not in SPECIAL]
    rows = []
    for base, again in reruns(study, INPUT):
        ends: dict[str, dict[str, CellName]] = {}
        for cell in again:
            path, _, value = str(cell.settings[INPUT]).partition(" = ")
            ends.setdefault(path, {})[value] = cell
        found = (_swing(study, path, values) for path, values in ends.items())
        lines = [line for line in found if line is not None]
        lines.sort(key=lambda line: -abs(line[6]))
        rows += [[base.index, *settings_of(study, base, lead), *line] for line in lines]
    names = ["input", "low", "high", "metric", "at_low", "at_high"]
    swings = ["swing", "swing_low", "swing_high", "note"]
    return Table(["cell", *lead, *names, *swings], rows)


def _swing(study: Gathered, path: str, ends: dict[str, CellName]) -> list[Any] | None:
    """An input's row; None while an end is not done, or where the two share no history."""
    (low, at_low), *rest = ends.items()
    there = mean(study.rows[at_low.index], study.metric)
    if not rest:
        note = f"no effect: both ends round to {low}"
        alike = [path, low, low, study.metric, there, there, 0.0, None, None, note]
        return alike if there is not None and _is_alone(study, at_low) else None
    ((high, at_high),) = rest
    pairs = shared(study.rows[at_high.index], study.rows[at_low.index], study.metric)
    swing = difference(study, at_high, at_low)
    if swing is None:
        return None
    means = [mean([pair[side] for pair in pairs], study.metric) for side in (1, 0)]
    it = swing.found
    return [path, low, high, study.metric, *means, *finite([it.value, it.low, it.high]), ""]


def _is_alone(study: Gathered, cell: CellName) -> bool:
    """Whether an input has one end alone, and not another that is still to be done."""
    path = str(cell.settings[INPUT]).partition(" = ")[0]
    labels = {
        str(other.settings[INPUT])
        for other in study.cells
        if _place(other) == _place(cell) and INPUT in other.settings
    }
    return sum(label.partition(" = ")[0] == path for label in labels) == 1
