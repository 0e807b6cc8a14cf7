"""A log of fixed size that is thinned evenly over the whole run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")
U = TypeVar("U")


class Thinned(Generic[T]):
    """Every `every`-th of the entries that were offered, from the first on; at most `room` of them.

    What there is room for is kept whole. When one more comes, every second entry goes, and of what
    follows only half is taken: so the log is as dense at the end of a run as at its start. `room`
    is None where there is no limit; `offered` counts all.
    """

    def __init__(self, room: int | None) -> None:
        self.room = room
        self.every = 1
        self.offered = 0
        self.entries: list[T] = []

    @property
    def unfilled(self) -> int:
        """How many entries more there is room for before the log is thinned for the first time."""
        return 0 if self.room is None else max(0, self.room - self.offered)

    def offer(self, count: int, entry: Callable[[int], T]) -> None:
        """Offer so many entries more; `entry` gives that with an index for those that are taken."""
        following = self.offered + count
        while self.room is not None and -(-following // self.every) > self.room:
            self.every *= 2
            del self.entries[1::2]
        first = -self.offered % self.every
        self.entries += [entry(index) for index in range(first, count, self.every)]
        self.offered = following

    def made(self, of: Callable[[T], U]) -> Thinned[U]:
        """Return the same log with what is made of each entry."""
        log: Thinned[U] = Thinned(self.room)
        log.every, log.offered = self.every, self.offered
        log.entries = [of(entry) for entry in self.entries]
        return log
