"""A learner on a unit, as its method sees it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from ddsim.engine.body import Body
    from ddsim.engine.saves import Saves
    from ddsim.world.instants import Ticks


class UnitLearner(Protocol):
    """A learner as its method sees it, whatever takes its steps."""

    @property
    def index(self) -> int:
        """Its unit's."""
        ...

    @property
    def body(self) -> Body:
        """What stalls when its hardware fails."""
        ...

    @property
    def lost_hardware(self) -> bool:
        """Whether it has lost what it had, and has not taken up its steps since."""
        ...

    @property
    def steps(self) -> int:
        """Steps that have ended, taken back or not."""
        ...

    @property
    def undone(self) -> int:
        """Steps that have been taken back since they ended."""
        ...

    @property
    def tokens(self) -> float:
        """Tokens of the steps that were kept."""
        ...

    @property
    def productive(self) -> float:
        """Nanoseconds of compute that were kept."""
        ...

    def save_by(self, saves: Saves) -> None:
        """Save at step boundaries from now on, and hold the unit up for it."""
        ...

    def close(self, now: Ticks) -> None:
        """Note the wait under way at the end of the run."""
        ...
