"""Whether one cell is ahead of another: on the same histories, at the same end of a law."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ddsim.results.interval import LEVEL
from ddsim.results.metrics import LOSS, METRICS
from ddsim.results.telling import NEGLIGIBLE, Gap, Told, told
from ddsim.study.measures import difference, has, mean, shared, sign_of

if TYPE_CHECKING:
    from ddsim.study.work import Row
    from ddsim.world.chance import Chance

_LOSSES = (LOSS, "final_loss")
"""Where no difference is too small to matter: a little loss is much compute."""


def ends_of(metric: str) -> list[str]:
    """The metric at the ends of what a law leaves open, its middle second; itself without one."""
    ends = [f"{metric}_best", metric, f"{metric}_worst"]
    return ends if ends[0] in METRICS else [metric]


def gaps(
    one: Sequence[Row], other: Sequence[Row], metric: str, chance: Chance, level: float = LEVEL
) -> list[Gap]:
    """How far the first is ahead at each end, over the histories that both met.

    An end to which neither comes says nothing of the two; one to which one alone comes in every
    history puts that one ahead. Empty where they share nothing.
    """
    names = ends_of(metric)
    found = (_gap(one, other, name, metric, chance, level, len(names) > 1) for name in names)
    return [gap for gap in found if gap is not None]


def tell(
    one: Sequence[Row], other: Sequence[Row], metric: str, chance: Chance, level: float = LEVEL
) -> Told:
    """What there is to say of two; unknown where they share nothing."""
    found = gaps(one, other, metric, chance, level)
    return told(found) if found else Told.UNKNOWN


def _gap(
    one: Sequence[Row],
    other: Sequence[Row],
    name: str,
    metric: str,
    chance: Chance,
    level: float,
    by_law: bool,
) -> Gap | None:
    grain = 0.0 if metric in _LOSSES else NEGLIGIBLE
    if by_law:
        there, too = (all(has(row, name) for row in rows) for rows in (one, other))
        if not (there and too):
            never = math.inf if there else -math.inf
            return Gap(never, (never, never), 1.0, grain) if there or too else None
    pairs = shared(one, other, name)
    found = difference(pairs, name, chance, level)
    size = mean([mine for mine, _ in pairs], name)
    if found is None or size is None:
        return None
    sign = sign_of(metric)
    low, high = sorted((sign * found.low, sign * found.high))
    return Gap(sign * found.value, (low, high) if found.enough else None, size, grain)
