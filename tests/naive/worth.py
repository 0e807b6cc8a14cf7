"""What becomes of every completed step, fragment by fragment: merged, overwritten or pending."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .ledger import StepRecord


class Portion:
    """One step of one fragment, and how much of it went which way."""

    def __init__(self, record: StepRecord) -> None:
        self.record = record
        self.merged: float = 0
        self.overwritten: float = 0
        self.pending: float = 1
        self.updates: set[int] = set()

    def merge(self) -> None:
        """The first answer that carries it enters a merge."""
        self.merged += self.pending
        self.pending = 0

    def overwrite(self, update: int, kept: float) -> None:
        """What the update does not keep of it is lost, unless it had been merged; but once."""
        if update in self.updates:
            return
        self.updates.add(update)
        self.overwritten += (1 - kept) * self.pending
        self.pending *= kept

    def lose(self) -> None:
        """Its unit is lost whole."""
        self.overwritten += self.pending
        self.pending = 0


Answer = tuple[Portion, ...]
"""What an answer carries: every portion of its fragments that still waits for a merge."""


class Worth:
    """All portions of one unit's steps."""

    def __init__(self, fragments: int) -> None:
        self.of: list[list[Portion]] = [[] for _ in range(fragments)]
        self.waiting: list[list[Portion]] = [[] for _ in range(fragments)]
        """Those that may still be merged or lost."""

    def completed(self, record: StepRecord) -> None:
        """A step has been completed: it is in every fragment."""
        for portions, waiting in zip(self.of, self.waiting, strict=True):
            portions.append(Portion(record))
            waiting.append(portions[-1])

    def answer(self, fragments: Iterable[int]) -> Answer:
        """What an answer given now carries."""
        return tuple(portion for p in fragments for portion in self.waiting[p])

    def receive(self, fragment: int, update: int, kept: float = 0) -> None:
        """The update of that number replaces all but this share of what has not been merged."""
        for portion in self.waiting[fragment]:
            portion.overwrite(update, kept)
        self._forget_what_is_settled()

    def lose(self) -> None:
        """The unit is lost whole, and what it had not merged with it."""
        for portions in self.waiting:
            for portion in portions:
                portion.lose()
        self._forget_what_is_settled()

    def _forget_what_is_settled(self) -> None:
        self.waiting = [[p for p in portions if p.pending] for portions in self.waiting]

    def standing(self) -> list[Portion]:
        """The portions of steps that have not been rolled back."""
        return [portion for of in self.of for portion in of if not portion.record.wasted]


def enter(answer: Answer) -> None:
    """The answer is in a merge."""
    for portion in answer:
        portion.merge()


def tokens_merged(worths: Sequence[Worth]) -> float:
    """Tokens of the steps as far as they were merged, each fragment having its share of them."""
    return sum(
        portion.merged * portion.record.tokens / len(worth.of)
        for worth in worths
        for portion in worth.standing()
    )
