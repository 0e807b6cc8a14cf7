"""Chip-seconds and spans, booked by looking at every place between any two events."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence

from .case import Span
from .hardware import Place
from .phases import FAILED, PRODUCTIVE, RUNNING, WASTED


class StepRecord:
    """What a step in progress, or completed, has cost in productive chip-seconds per unit."""

    def __init__(self) -> None:
        self.productive: dict[int, float] = defaultdict(int)
        self.tokens: float = 0
        self.wasted = False


class Ledger:
    """Accounts and spans of every unit."""

    def __init__(
        self,
        places: Sequence[Sequence[Place]],
        phase_of: Callable[[int], str],
        running_account_of: Callable[[int], str],
        step_of: Callable[[int], StepRecord | None],
    ) -> None:
        self.places = places
        self.phase_of = phase_of
        self.running_account_of = running_account_of
        self.step_of = step_of
        self.accounts: list[dict[str, float]] = [defaultdict(int) for _ in places]
        self.spans: list[list[Span]] = [[] for _ in places]

    def book(self, start: float, end: float) -> None:
        """Nothing changes between `start` and `end`: book that stretch to what stands."""
        if end <= start:
            return
        for unit, places in enumerate(self.places):
            phase = self.phase_of(unit)
            account = self.running_account_of(unit) if phase == RUNNING else phase
            healthy = 0
            for place in places:
                if place.up:
                    healthy += 1
                    self._add(unit, account, place.chips * (end - start))
                else:
                    self._add(unit, FAILED, place.chips * (end - start))
            self._extend(unit, (start, end, phase if healthy else FAILED, healthy))

    def waste(self, step: StepRecord) -> None:
        """The compute of a step comes to nothing."""
        step.wasted = True
        for unit, chip_seconds in step.productive.items():
            self.accounts[unit][PRODUCTIVE] -= chip_seconds
            self.accounts[unit][WASTED] += chip_seconds

    def _add(self, unit: int, account: str, chip_seconds: float) -> None:
        self.accounts[unit][account] += chip_seconds
        if account == PRODUCTIVE:
            step = self.step_of(unit)
            assert step is not None
            step.productive[unit] += chip_seconds

    def _extend(self, unit: int, span: Span) -> None:
        spans = self.spans[unit]
        if spans and spans[-1][2:] == span[2:]:
            span = (spans.pop()[0], *span[1:])
        spans.append(span)
