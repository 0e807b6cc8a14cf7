"""The ledger: every chip-second of a run stands in exactly one account."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

from ddsim.engine.losses import Losses

if TYPE_CHECKING:
    from collections.abc import Sequence


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


class Ledger:
    """Chip-seconds by unit and account.

    `books[unit][account]` is a running total; the hardware's state decides what is booked, the
    ledger only adds up.
    """

    __slots__ = ("books", "losses")

    def __init__(self, units: int) -> None:
        self.books = [[0.0] * len(Account) for _ in range(units)]
        self.losses = Losses()

    def post(self, unit: int, account: Account, chip_seconds: float) -> None:
        """Add chip-seconds to an account of a unit."""
        self.books[unit][account] += chip_seconds

    def waste(self, unit: int, chip_seconds: float) -> None:
        """Move compute that was rolled back from `productive` to `wasted_progress`."""
        book = self.books[unit]
        book[Account.PRODUCTIVE] -= chip_seconds
        book[Account.WASTED_PROGRESS] += chip_seconds

    def totals(self) -> dict[str, float]:
        """Chip-seconds by account over all units."""
        return {account.label: sum(book[account] for book in self.books) for account in Account}

    def goodput(self, units: Sequence[int]) -> float:
        """Productive share of what these units could have done while in the job; 0 if nothing."""
        books = [self.books[unit] for unit in units]
        allocated = sum(sum(book) - book[Account.UNALLOCATED] for book in books)
        productive = sum(book[Account.PRODUCTIVE] for book in books)
        return productive / allocated if allocated > 0.0 else 0.0
