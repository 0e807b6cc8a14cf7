"""A failure, as it stands in a history."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ddsim.world.instants import Ticks


class Strike(NamedTuple):
    """One failure: at `time`, the slices of these indices in unit `unit` go down.

    They are noticed `detection` later and are back `repair` after that, unless a method puts
    spares in their place; times are ticks. `cause` names what struck, `domain` what it took out. A
    failure of the job itself has no slices: the learner of unit `unit`, or the job that this unit
    is part of, stops. Strikes of one `incident` (a region takes its units) are one failure; a
    negative one stands alone. `state_lost` says whether state has to come from a save.
    `unallocated` hardware leaves the job rather than fails; what is `planned` is no failure.
    With `slow_to` below 1 nothing goes down: the slices run at that share of their speed for
    `repair`. What struck had corrupted the state unnoticed from `since` on, None where it
    had not; `screened` says that no learner merged what was corrupt.
    """

    time: Ticks
    unit: int
    slices: Sequence[int]
    detection: Ticks
    repair: Ticks
    cause: str
    domain: str = "slice"
    incident: int = -1
    state_lost: bool = True
    unallocated: bool = False
    planned: bool = False
    slow_to: float = 1.0
    since: Ticks | None = None
    screened: bool = False

    @property
    def blame(self) -> tuple[str, str]:
        """Cause and domain, under which its losses are booked."""
        return self.cause, self.domain
