"""A failure, as it stands in a history."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Strike(NamedTuple):
    """One failure: at `time`, the slices of these indices in unit `unit` go down.

    They are noticed after `detection` seconds and are back `repair` seconds later, unless a
    method puts spares in their place. `cause` names what struck, `domain` what it took out. A
    failure of the job itself has no slices: the learner of unit `unit`, or the job that this unit
    is part of, stops. Strikes of one `incident` (a region takes its units) are one failure; a
    negative one stands alone. `state_lost` says whether state has to come from a save.
    `unallocated` hardware leaves the job rather than fails; what is `planned` is no failure.
    With `slow_to` below 1 nothing goes down: the slices run at that share of their speed for
    `repair` seconds. What struck had corrupted the state unnoticed from `since` on, None where it
    had not.
    """

    time: float
    unit: int
    slices: Sequence[int]
    detection: float
    repair: float
    cause: str
    domain: str = "slice"
    incident: int = -1
    state_lost: bool = True
    unallocated: bool = False
    planned: bool = False
    slow_to: float = 1.0
    since: float | None = None

    @property
    def blame(self) -> tuple[str, str]:
        """Cause and domain, under which its losses are booked."""
        return self.cause, self.domain
