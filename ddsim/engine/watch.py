"""Whether a run still gets nearer to its goal: one that never will is stopped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ddsim.engine.clock import Rank
from ddsim.engine.ledger import Account
from ddsim.world.instants import SECOND, Ticks

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ddsim.engine.clock import Clock, Wake
    from ddsim.engine.hardware import Struck
    from ddsim.engine.ledger import Ledger

YEAR: Ticks = 31_557_600 * SECOND
ROUND = YEAR // 12
IDLE_ROUNDS, VAIN_ROUNDS, PARTED_ROUNDS = 12, 36, 2
LEAST_GAIN = 1e-9
"""Of what has been computed: less than that is rounding."""

_WHY = {
    Account.UNALLOCATED: "its hardware is not in the job",
    Account.FAILED_HARDWARE: "its hardware does not come back",
    Account.STRANDED: "hardware that it needs does not come back",
    Account.EXPOSED_COMMUNICATION: "it waits for bytes that do not get through",
    Account.WAITING_ON_PEERS: "it waits for others who do not come",
    Account.WASTED_PROGRESS: "failures take back what it does before that is saved",
    Account.PRODUCTIVE: "failures take back what it does before that is saved",
}


class Watch:
    """Looks once a month at what has been computed, and ends a run that has no use.

    That is one in which nothing was computed for a year, or nothing was kept for three: whatever
    was computed was taken back again. Where only what is `merged` counts, it is also one in which
    nothing was merged for a year, or for two months where all regions are `parted` for good.
    `reason` then says why, in words.
    """

    def __init__(
        self,
        clock: Clock,
        ledger: Ledger,
        bodies: Sequence[Struck],
        merged: Callable[[], float] | None = None,
        parted: Callable[[], bool] = bool,
    ) -> None:
        self._merged, self._parted = merged, parted
        self._merged_before, self._unmerged = 0.0, 0
        self.reason: str | None = None
        self._clock = clock
        self._ledger = ledger
        self._bodies = list(dict.fromkeys(bodies))
        self._computed = self._kept = 0.0
        self._idle = self._vain = 0
        self._before = list[list[float]]()
        self._await()

    def _await(self) -> None:
        self._clock.after(ROUND, Rank.COUNT, self._look)

    def _look(self, wake: Wake) -> None:
        for body in self._bodies:
            body.settle()
        books = self._ledger.books
        kept = sum(book[Account.PRODUCTIVE] for book in books)
        computed = kept + sum(book[Account.WASTED_PROGRESS] for book in books)
        grows = 1.0 + LEAST_GAIN
        self._idle = 0 if computed > self._computed * grows else self._idle + 1
        self._vain = 0 if kept > self._kept * grows else self._vain + 1
        self._computed = max(computed, self._computed)
        self._kept = max(kept, self._kept)
        self._before = [*self._before, [sum(items) for items in zip(*books, strict=True)]]
        del self._before[: -IDLE_ROUNDS - 1]
        if self._idle >= IDLE_ROUNDS:
            self._stop("nothing was computed for a year")
        elif self._vain >= VAIN_ROUNDS:
            self._stop("nothing was kept for three years")
        elif not self._stands_unmerged():
            self._await()

    def _stands_unmerged(self) -> bool:
        """End a run in which nothing is merged any more, and say whether that was done."""
        if self._merged is None:
            return False
        merged = self._merged()
        self._unmerged = 0 if merged > self._merged_before else self._unmerged + 1
        self._merged_before = merged
        if self._unmerged >= PARTED_ROUNDS and self._parted():
            why = "all links between regions are cut for good"
            self.reason = f"nothing was merged for two months: {why}"
        elif self._unmerged >= IDLE_ROUNDS:
            self.reason = "nothing was merged for a year, and only what is merged counts"
        else:
            return False
        self._clock.stop()
        return True

    def _stop(self, what: str) -> None:
        first, last = self._before[0], self._before[-1]
        grown = [after - before for before, after in zip(first, last, strict=True)]
        main = Account(max(range(len(grown)), key=lambda account: grown[account]))
        why = _WHY.get(main, f"its time goes to {main.label}")
        self.reason = f"{what}: {why}"
        self._clock.stop()
