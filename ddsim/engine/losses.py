"""What failures cost: chip-seconds by what struck, and hour by hour."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from ddsim.world.instants import SECOND, Ticks

if TYPE_CHECKING:
    from collections.abc import Mapping

Blame = tuple[str, str]
"""Cause and domain of a failure."""

HOUR = 3600
_HOUR = HOUR * SECOND


class Losses:
    """Chip-seconds that failures took, by cause and domain, and in which hour.

    A failure takes the hardware that is down, the stalls of what it stops, the stall of its
    return, and the compute that is rolled back; not what others wait for. `catching_up` has the
    compute that jobs had to do again, in ticks.
    """

    __slots__ = ("_hour", "by_hour", "catching_up", "chip_seconds")

    def __init__(self) -> None:
        self.chip_seconds: defaultdict[Blame, float] = defaultdict(float)
        self.by_hour: defaultdict[int, float] = defaultdict(float)
        self.catching_up = 0
        self._hour = 0

    def lose(self, blame: Blame, chips: int, start: Ticks, end: Ticks) -> None:
        """Book chips that were down or stalled from `start` to `end`."""
        lost = chips * (end - start) / SECOND
        self.chip_seconds[blame] += lost
        hour = self._hour
        begun = hour * _HOUR
        if begun <= start and end <= begun + _HOUR:
            self.by_hour[hour] += lost
            return
        self._hour = hour = start // _HOUR
        while start < end:
            stop = min(end, (hour + 1) * _HOUR)
            self.by_hour[hour] += chips * (stop - start) / SECOND
            start = stop
            hour += 1

    def waste(self, blame: Blame, chip_seconds: float) -> None:
        """Book compute that is rolled back."""
        if chip_seconds:
            self.chip_seconds[blame] += chip_seconds

    def grouped(self, strikes: Mapping[Blame, int], key: int) -> dict[str, dict[str, float]]:
        """Failures, chip-seconds lost, and lost per failure; by cause (`key` 0) or domain (1).

        `strikes` are the failures that hit something.
        """
        groups: dict[str, dict[str, float]] = {}
        for blame in dict.fromkeys([*strikes, *self.chip_seconds]):
            group = groups.setdefault(blame[key], {"failures": 0.0, "chip_seconds": 0.0})
            group["failures"] += strikes.get(blame, 0)
            group["chip_seconds"] += self.chip_seconds.get(blame, 0.0)
        for group in groups.values():
            failures = group["failures"]
            group["per_failure"] = group["chip_seconds"] / failures if failures else 0.0
        return dict(sorted(groups.items()))

    def worst_hour(self, chips: int, end: float) -> dict[str, float] | None:
        """The hour of a run of `end` s that lost most to hardware that was down and to stalls:
        when it began (s), and its loss as a share of what `chips` could have done in it; None
        without losses.
        """
        if not self.by_hour:
            return None
        hour = min(self.by_hour, key=lambda item: (-self.by_hour[item], item))
        length = min(HOUR, end - hour * HOUR)
        return {"start_s": float(hour * HOUR), "lost_share": self.by_hour[hour] / (chips * length)}
