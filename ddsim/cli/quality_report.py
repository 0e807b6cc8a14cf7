"""What `ddsim run` prints of losses, and of hours and money to a loss."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import click

from ddsim.cli.tables import show, tell
from ddsim.cli.words import plain_number, quantity, ratio

if TYPE_CHECKING:
    from ddsim.results import MethodResult, Results
    from ddsim.results.worth import Part


def show_quality(results: Results) -> None:
    """Print what tokens are worth, ratios first, and which goals were out of reach."""
    from ddsim.results.worth import BASE

    first = next((item.quality for item in results.results if item.quality is not None), None)
    if first is not None:
        target = first.get("target")
        parts: list[tuple[Part, str, Callable[[float | None], str]]] = [
            ("hours_to_target", "hours", quantity),
            ("cost_to_target", "USD", quantity),
            ("loss", "loss at the end", _loss),
        ]
        columns = [column for part in parts for column in _columns(results, *part)]
        rows = [
            [item.method, *(cells[at] for _, cells in columns)]
            for at, item in enumerate(results.results)
        ]
        show(["method", *(heading for heading, _ in columns)], rows)
        if any("/" in heading for heading, _ in columns):
            tell(f"/{BASE}: over {BASE}'s; losses of one law compare with its own alone")
        tell(f"by {first['law']}: {_aim(target)}middle [better end to worse end]")
        for line in dict.fromkeys(_warnings(results.results)):
            tell(line)
        click.echo()


def _aim(target: float | None) -> str:
    if target is None:
        return ""
    return f"hours and USD to {target:.4g} of its own nats, at the rate of this run; "


def _columns(
    results: Results, part: Part, heading: str, write: Callable[[float | None], str]
) -> list[tuple[str, list[str]]]:
    """A column for a part over the base's, one for the part itself; none where nobody has it."""
    from ddsim.results.worth import BASE, interval_of, over_base

    mine = [interval_of(item, part) for item in results.results]
    if not any(mine):
        return []
    found = [(heading, [_interval(item, write) for item in mine])]
    others = [over_base(results.results, item, part) for item in results.results]
    if part == "cost_to_target" or len(mine) == 1 or not any(others):
        return found
    relative = _ratio_of_losses if part == "loss" else ratio
    return [(f"{heading}/{BASE}", [_interval(item, relative) for item in others]), *found]


def _interval(values: Sequence[float | None] | None, write: Callable[[float | None], str]) -> str:
    if values is None:
        return "out of reach"
    low, mid, high = (write(value) if value is not None else "never" for value in values)
    return mid if low == mid == high else f"{mid} [{low} to {high}]"


def _loss(value: float | None) -> str:
    return "-" if value is None else plain_number(value)


def _ratio_of_losses(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}x"


def _warnings(results: Sequence[MethodResult]) -> list[str]:
    said = []
    for item in results:
        if item.quality is not None:
            said += [f"beyond its range: {line}" for line in item.quality.get("warnings", [])]
            reason = item.quality.get("unreachable")
            said += [f"{item.method}: {reason}"] if reason else []
    return said
