"""The body of a learner that takes its state from others when its unit had been lost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from ddsim.engine.body import ElasticBody
from ddsim.engine.ledger import Account

if TYPE_CHECKING:
    from ddsim.engine.hardware import UnitState
    from ddsim.world.strike import Strike


class Returns(Protocol):
    """Who sees to what a returning learner needs."""

    def gone(self, index: int, strike: Strike) -> None:
        """A unit has lost all its hardware, or its learner what it had."""
        ...

    def back(self, index: int, *, restored: bool) -> None:
        """The first hardware of a lost unit is back; `restored`: its state is its last save's."""
        ...

    def awaits(self, index: int) -> Account | None:
        """A stall is over: where the time goes until the learner has its state, None if it has.

        `checkpoint_restore` says that it has to take its last save.
        """
        ...


class ReturningBody(ElasticBody):
    """An elastic body whose restart lasts until its learner's state is there.

    The restart's own time comes first, then the copy, in the same account. What happens to
    hardware during the copy changes only the hardware.
    """

    def __init__(self, *args: Any, returns: Returns, **options: Any) -> None:
        super().__init__(*args, **options)
        self._returns = returns
        self._index = self.units[0].plan.index

    def struck(self, unit: UnitState, strike: Strike) -> None:
        """Shrink, be lost, or crash, and tell where the state is gone."""
        lived = self.live
        super().struck(unit, strike)
        if self.lost or (lived and not self.live and not self.goes_back):
            self._returns.gone(self._index, strike)

    def returned(self, unit: UnitState) -> None:
        """Grow, or restart."""
        if self.phases is not None and self.phases[0][0] is Account.FAILED_HARDWARE:
            alone = self._alone is not None and self._alone()
            self._returns.back(self._index, restored=alone)
        super().returned(unit)

    def stall_over(self) -> None:
        """Let the runner go on, if it has its state."""
        account = self._returns.awaits(self._index)
        if account is None:
            super().stall_over()
        elif account is Account.CHECKPOINT_RESTORE:
            self.runner.restore()
            self.stall([self._restore()])
        else:
            self.halt(account)

    def proceed(self) -> None:
        """What the learner waited for is there, or is not to come: see what is next."""
        self.settle()
        self.stall_over()
