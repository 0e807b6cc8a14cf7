"""The saves that a job keeps, and what it did between them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ddsim.world.instants import NEVER, Ticks


@dataclass(slots=True)
class Unsaved:
    """What would be lost without the next save.

    Steps, tokens, the job's compute in ticks, and `work`, its chip-seconds by unit.
    """

    work: list[float]
    steps: int = 0
    tokens: float = 0.0
    compute: Ticks = 0

    def share(self, count: int) -> Unsaved:
        """One of `count` equal parts of it."""
        if count == 1:
            return self
        work = [item / count for item in self.work]
        return Unsaved(work, self.steps // count, self.tokens / count, self.compute // count)


@dataclass(slots=True)
class Segment:
    """`count` saves, the first complete at `first` and then one every `period`, and the work that
    each has added to the one before.
    """

    work: Unsaved
    first: Ticks
    period: Ticks
    count: int

    def later_than(self, time: Ticks) -> int:
        """How many of them were not complete at `time`."""
        if time == NEVER:
            return 0
        if self.period == 0:
            return self.count if self.first > time else 0
        done = (time - self.first) // self.period + 1
        return self.count - min(self.count, max(0, done))


class KeptSaves:
    """The saves of a job in the order of time, many alike as one entry.

    A save is complete `late` after the job goes on; at most one is under way. Those before
    the last complete one are kept only where `keep` says that one of them may be asked for.
    """

    def __init__(self, keep: bool, late: Ticks = 0) -> None:
        self._keep = keep
        self._late = late
        self._segments: list[Segment] = []
        self._under_way: tuple[Unsaved, Ticks] | None = None

    def add(self, work: Unsaved, first: Ticks, period: Ticks = 0, count: int = 1) -> None:
        """Add saves after which the job goes on at `first` and then every `period`.

        `work` is what all of them together added to the one before.
        """
        share = work.share(count)
        if self._late:
            self._settle()
            last = first + (count - 1) * period + self._late
            self._under_way = share, last
            count -= 1
        if self._keep and count:
            self._segments.append(Segment(share, first + self._late, period, count))

    def _settle(self) -> None:
        """Take it that the save under way is complete."""
        if self._under_way is not None and self._keep:
            self._segments.append(Segment(*self._under_way, 0, 1))
        self._under_way = None

    def lost(self, now: Ticks, since: Ticks = NEVER) -> Iterator[tuple[Unsaved, int]]:
        """Drop the saves that are not complete `now`, or were not at `since`.

        Yields the work of one of them, and how many are like it.
        """
        if self._under_way is not None:
            work, complete = self._under_way
            if complete > now:
                self._under_way = None
                yield work, 1
            else:
                self._settle()
        while self._segments:
            last = self._segments[-1]
            dropped = last.later_than(since)
            if not dropped:
                return
            last.count -= dropped
            if not last.count:
                self._segments.pop()
            yield last.work, dropped
