"""What a quality says, number by number: for tables, studies and pages alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from ddsim.results.record import MethodResult

Part = Literal["loss", "hours_to_target", "cost_to_target"]
_NAMES: dict[Part, str] = {
    "loss": "predicted_loss",
    "hours_to_target": "hours_to_target",
    "cost_to_target": "cost_to_target",
}
_ENDS = ("_best", "", "_worst")
COLUMNS = tuple(f"{name}{end}" for name in _NAMES.values() for end in ("", "_best", "_worst"))
"""Names of all numbers: the middle of each, and its two ends."""
BASE = "data_parallel"
"""The method by which others are measured."""


def quality_numbers(item: MethodResult) -> dict[str, float | None]:
    """Return the numbers of `COLUMNS`, None for what is not there."""
    found: dict[str, float | None] = dict.fromkeys(COLUMNS)
    for part, name in _NAMES.items():
        values = interval_of(item, part) or [None] * 3
        found.update(zip((f"{name}{end}" for end in _ENDS), values, strict=True))
    return found


def interval_of(item: MethodResult, part: Part) -> list[float | None] | None:
    """Return [low, mid, high] of a part of a result's quality; None where there is none of it."""
    found = item.quality[part] if item.quality is not None else None
    return None if found is None or found == [None, None, None] else found


def over_base(
    results: Sequence[MethodResult], item: MethodResult, part: Part
) -> list[float | None] | None:
    """Return an interval over the middle of `BASE`'s; None where one of the two has none.

    Ratios carry over from one data set to another better than losses, and than hours to a loss.
    """
    base = next((interval_of(one, part) for one in results if one.method == BASE), None)
    mine = interval_of(item, part)
    if base is None or mine is None or not base[1]:
        return None
    return [None if value is None else value / base[1] for value in mine]
