"""The ledger: every chip-second of a run stands in exactly one account."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Protocol

from ddsim.engine.losses import Losses
from ddsim.world.instants import SECOND

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class Account(IntEnum):
    """Where a chip-second can go, in the order in which it is decided."""

    UNALLOCATED = 0
    FAILED_HARDWARE = 1
    DETECTION = 2
    ELASTIC_DOWNSCALE = 3
    ELASTIC_UPSCALE = 4
    RESTART = 5
    CHECKPOINT_RESTORE = 6
    STRANDED = 7
    PRODUCTIVE = 8
    WASTED_PROGRESS = 9
    DEGRADED = 10
    EXPOSED_COMMUNICATION = 11
    WAITING_ON_PEERS = 12
    WAITING_ON_DATA = 13
    CHECKPOINT_SAVE = 14

    @property
    def label(self) -> str:
        """The account's name in results."""
        return _LABELS[self]


# looked up for every state that is recorded; an enum's own name is slow to get
_LABELS = tuple(account.name.lower() for account in Account)


class Sheet(Protocol):
    """Where time stands that is not posted yet."""

    def read(self) -> Iterable[tuple[int, Sequence[int]]]:
        """Give units with their chip-ticks by account."""
        ...


class Ledger:
    """Chip-seconds by unit and account: what is posted, and what stands on time sheets.

    `posts` says whether anything ever was posted: where all units do alike, nothing is.

    The hardware's state decides what is booked, the ledger only adds up.
    """

    __slots__ = ("_posted", "losses", "posts", "sheets")

    def __init__(self, units: int) -> None:
        self.posts = False
        self._posted = [[0.0] * len(Account) for _ in range(units)]
        self.losses = Losses()
        self.sheets: list[Sheet] = []

    def post(self, unit: int, account: Account, chip_seconds: float) -> None:
        """Add chip-seconds to an account of a unit."""
        self.posts = True
        self._posted[unit][account] += chip_seconds

    def computed(self, units: Iterable[int]) -> list[float]:
        """The compute of these units, kept or not, that is posted; empty where nothing ever was."""
        if not self.posts:
            return []
        books = [self._posted[unit] for unit in units]
        return [book[Account.PRODUCTIVE] + book[Account.WASTED_PROGRESS] for book in books]

    def waste(self, unit: int, chip_seconds: float) -> None:
        """Move compute that was rolled back from `productive` to `wasted_progress`."""
        book = self._posted[unit]
        book[Account.PRODUCTIVE] -= chip_seconds
        book[Account.WASTED_PROGRESS] += chip_seconds

    @property
    def books(self) -> list[list[float]]:
        """The totals so far by unit and account, worked out anew."""
        books = [list(book) for book in self._posted]
        for sheet in self.sheets:
            for unit, ticks in sheet.read():
                books[unit] = [
                    posted + spent / SECOND
                    for posted, spent in zip(books[unit], ticks, strict=True)
                ]
        return books

    def totals(self) -> dict[str, float]:
        """Chip-seconds by account over all units."""
        books = self.books
        return {account.label: sum(book[account] for book in books) for account in Account}

    def goodput(self, units: Sequence[int]) -> float:
        """Productive share of what these units could have done while in the job; 0 if nothing."""
        all_books = self.books
        books = [all_books[unit] for unit in units]
        allocated = sum(sum(book) - book[Account.UNALLOCATED] for book in books)
        productive = sum(book[Account.PRODUCTIVE] for book in books)
        return productive / allocated if allocated > 0.0 else 0.0
