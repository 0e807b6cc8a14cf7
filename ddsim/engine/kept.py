"""The saves that a job keeps, and what it did between them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from ddsim.world.instants import NEVER, Ticks

START: Ticks = -1
"""As an instant to go back to: the beginning, where nothing had been saved."""

S = TypeVar("S")


@dataclass(slots=True)
class Unsaved:
    """What would be lost without the next save.

    Steps, tokens, the job's compute in ticks, and its work by unit: `work` in chip-seconds, and
    where units compute alike `alike`, in chip-ticks besides.
    """

    work: list[float]
    steps: int = 0
    tokens: float = 0.0
    compute: Ticks = 0
    alike: Sequence[int] = ()

    def add(self, work: Sequence[float], compute: Ticks) -> None:
        """So much more; no `work` where it is none, or alike."""
        self.compute += compute
        if any(work):
            self.work = [a + b for a, b in zip(self.work, work, strict=True)]

    def share(self, count: int) -> Unsaved:
        """One of `count` equal parts of it."""
        if count == 1:
            return self
        return Unsaved(
            [item / count for item in self.work],
            self.steps // count,
            self.tokens / count,
            self.compute // count,
            [item // count for item in self.alike],
        )


def between(earlier: Unsaved, later: Unsaved) -> Unsaved:
    """What one learner did from one state of its progress to a later one, never negative."""
    return Unsaved(
        [max(0.0, later.work[0] - earlier.work[0])],
        max(0, later.steps - earlier.steps),
        max(0.0, later.tokens - earlier.tokens),
        max(0, later.compute - earlier.compute),
    )


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
    the last complete one are kept only where `keep` says that one of them may be asked for. With
    `last_only` they are gone all the same, and only what they had to do with is known.
    """

    def __init__(self, keep: bool, late: Ticks = 0, *, last_only: bool = False) -> None:
        self.keep = keep
        self._late = late
        self._last_only = last_only
        self._segments: list[Segment] = []
        self._under_way: tuple[Unsaved, Ticks] | None = None

    @property
    def earlier(self) -> bool:
        """Whether one before the last may be gone back to: where that one may not be complete."""
        return self._late > 0 or (self.keep and not self._last_only)

    @property
    def asked_for(self) -> bool:
        """Whether anything is ever asked about saves that are added."""
        return self.keep or self._late > 0

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
        if self.keep and count:
            self._segments.append(Segment(share, first + self._late, period, count))

    def _settle(self) -> None:
        """Take it that the save under way is complete."""
        if self._under_way is not None and self.keep:
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
        all_gone = False
        while self._segments:
            last = self._segments[-1]
            dropped = last.count if all_gone else last.later_than(since)
            if not dropped:
                return
            if self._last_only:
                dropped, all_gone = last.count, True
            last.count -= dropped
            if not last.count:
                self._segments.pop()
            yield last.work, dropped


class KeptStates(Generic[S]):
    """What one learner has saved, as far back as a corruption may ask for it.

    That stays unnoticed for `back` at the longest. With `last_only` a save that is complete takes
    the place of the one before it.
    """

    def __init__(self, back: Ticks, *, last_only: bool) -> None:
        self._back = back
        self._last_only = last_only
        self._saves: list[tuple[Ticks, S]] = []

    def add(self, state: S, now: Ticks, complete: Ticks) -> None:
        """Keep a state that is saved `now`, in a save that will be complete."""
        saves = self._saves
        needed = now if self._last_only else now - self._back
        while len(saves) > 1 and saves[1][0] <= needed:
            del saves[0]
        saves.append((complete, state))

    def at(self, instant: Ticks, now: Ticks) -> S | None:
        """Return what of the saves kept `now` was the last complete one at an instant."""
        there = [save for save in self._saves if save[0] <= now]
        if self._last_only:
            there = there[-1:]
        return next((state for complete, state in reversed(there) if complete <= instant), None)

    def drop_after(self, instant: Ticks) -> None:
        """Drop the saves that were not complete at an instant."""
        self._saves = [save for save in self._saves if save[0] <= instant]


def last_common(kept: Iterable[KeptStates[Any]], before: Ticks, now: Ticks) -> Ticks:
    """Return the last instant before a corruption at which all had a save, or START.

    Each goes back to the one that it had then.
    """
    return before if all(each.at(before, now) is not None for each in kept) else START
