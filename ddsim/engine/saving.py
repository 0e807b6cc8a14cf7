"""A learner's own saves: when the next is due, and what would be lost without it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ddsim.engine.clock import Rank
from ddsim.engine.kept import Unsaved
from ddsim.engine.ledger import Account
from ddsim.world.instants import NEVER, Ticks

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ddsim.engine.body import Body
    from ddsim.engine.clock import Wake
    from ddsim.engine.saves import Saves


class Saving:
    """Holds a unit up for a save at the first step boundary at which one is due.

    `unsaved` is what was done since the last. Without `saves` there are none, and nothing is lost:
    the copies at peers are of the last step. `suspend` is called where a save begins. One that came
    to nothing is tried again a step later.
    """

    __slots__ = ("_body", "_epoch", "_suspend", "_tried", "saves", "unsaved")

    def __init__(self, body: Body, suspend: Callable[[], None]) -> None:
        self.saves: Saves | None = None
        self.unsaved = Unsaved([0.0])
        self._body = body
        self._suspend = suspend
        self._epoch = 0
        self._tried: int | None = None  # the unsaved steps with which the last save began

    def arm(
        self,
        saves: Saves,
        ends: Sequence[Ticks],
        at: Ticks,
        when: Callable[[Ticks], Ticks],
        *,
        fresh: bool,
    ) -> None:
        """Await the first end of a step in a leg that stands `at`, at which a save is due.

        `when` gives the instant of an end; `fresh` says that the leg is at a step boundary.
        """
        unsaved = self.unsaved
        self._epoch += 1
        tried = unsaved.steps == self._tried
        if fresh and not tried and saves.due(unsaved.compute, unsaved.steps):
            wait = 0
        else:
            end = saves.first_due(ends, at, unsaved.compute, unsaved.steps)
            wait = NEVER if end is None else when(end) - self._body.clock.now
        self._body.clock.after(wait, Rank.NEXT, self._save, self._epoch)

    def _save(self, wake: Wake) -> None:
        body, saves = self._body, self.saves
        if wake.given != self._epoch or not body.running or saves is None:
            return
        body.settle()
        if not saves.due(self.unsaved.compute, self.unsaved.steps):
            return
        self._suspend()
        self._tried = self.unsaved.steps
        body.saving = True
        if saves.length:
            body.stall([(Account.CHECKPOINT_SAVE, saves.next_length())])
        else:
            body.stall_over()

    def done(self) -> None:
        """Count everything as saved."""
        self.unsaved = Unsaved([0.0])
        self._tried = None

    def lost(self) -> Unsaved | None:
        """Go back to the last save: return what that costs, None where nothing is ever lost."""
        if self.saves is None:
            return None
        unsaved = self.unsaved
        self.done()
        return unsaved

    def take_back(self, step: Unsaved) -> None:
        """The step in progress has come to nothing otherwise, as far as it was not saved."""
        self._tried = None
        unsaved = self.unsaved
        unsaved.work[0] = max(0.0, unsaved.work[0] - step.work[0])
        unsaved.compute = max(0, unsaved.compute - step.compute)
