"""What the chips of some units spend alike: counted once, brought to each unit's book late."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ddsim.engine.ledger import Account

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ddsim.engine.hardware import UnitState
    from ddsim.engine.losses import Losses
    from ddsim.world.instants import Ticks

# plain integers: to index by a member of an enum takes twice the time
_PRODUCTIVE = int(Account.PRODUCTIVE)
_WASTED = int(Account.WASTED_PROGRESS)
_FAILED = int(Account.FAILED_HARDWARE)
_STRANDED = int(Account.STRANDED)
_UNALLOCATED = int(Account.UNALLOCATED)


class _Line:
    """A unit's chip-ticks by account, and how far they are: to which time and which counts."""

    __slots__ = ("known", "since", "ticks")

    def __init__(self) -> None:
        self.ticks = [0] * len(Account)
        self.known = [0] * len(Account)
        self.since: Ticks = 0


class Stint:
    """The productive chip-ticks of each unit since some moment, for the case that they are lost.

    What stands in `done` for a unit that was brought up before `begun` does not count.
    """

    __slots__ = ("_sheet", "begun", "done")

    def __init__(self, sheet: TimeSheet) -> None:
        self._sheet = sheet
        self.begun: Ticks = 0
        self.done = [0] * len(sheet.units)

    def begin(self, done: Ticks = 0) -> None:
        """Count from now on, and what was `done` last."""
        self.begun = self._sheet.spent[_PRODUCTIVE] - done

    def read(self) -> list[int]:
        """Return each unit's chip-ticks."""
        self._sheet.bring_all_up()
        if self._sheet.spent[_PRODUCTIVE] <= self.begun:  # nobody has worked since
            self.done = [0] * len(self.done)
        return list(self.done)

    def take_away(self, work: Sequence[int]) -> None:
        """Some of it, that was just read, counts no more."""
        self.done = [done - less for done, less in zip(self.done, work, strict=True)]


class TimeSheet:
    """The time of units that stall and step together.

    `spent` has by account the ticks that every chip that is up has spent by `until`. What that is
    for a unit is worked out when its hardware changes, and when somebody reads it: a change costs
    as much among many units as among few. Chip-ticks are whole numbers, of any size.
    """

    __slots__ = ("_lines", "_losses", "_stints", "_used", "spent", "units", "until")

    def __init__(self, units: Sequence[UnitState], losses: Losses) -> None:
        self.units = units
        self.spent: list[Ticks] = [0] * len(Account)
        self.until: Ticks = 0
        self._used: list[int] = []
        self._losses = losses
        self._lines = {unit.index: (place, _Line()) for place, unit in enumerate(units)}
        self._stints: list[Stint] = []

    def stint(self) -> Stint:
        """Return a count of productive chip-ticks that begins now."""
        stint = Stint(self)
        stint.begin()
        self._stints.append(stint)
        return stint

    @property
    def computed(self) -> Ticks:
        """The ticks of compute, kept or not, of every chip that was always up."""
        return self.spent[_PRODUCTIVE]

    def spend(self, account: Account, time: Ticks) -> None:
        """All chips that are up have spent this time in an account."""
        if time:
            if not self.spent[account]:
                self._used.append(int(account))
            self.spent[account] += time

    def bring_up(self, unit: UnitState) -> None:
        """Work out what a unit has spent so far, at the latest before its hardware changes."""
        place, line = self._lines[unit.index]
        ticks, known, spent, chips = line.ticks, line.known, self.spent, unit.healthy
        worked, has_worked = known[_PRODUCTIVE], spent[_PRODUCTIVE]
        if has_worked > worked:
            for stint in self._stints:
                if worked <= stint.begun:
                    stint.done[place] = chips * (has_worked - stint.begun)
                else:
                    stint.done[place] += chips * (has_worked - worked)
        for account in self._used:
            more = spent[account] - known[account]
            if more:
                ticks[account] += chips * more
                known[account] += more
        since, until = line.since, self.until
        if until > since:
            line.since = until
            for blame, failed in unit.failed_by.items():
                self._losses.lose(blame, failed, since, until)
                ticks[_FAILED] += failed * (until - since)
            if unit.idle:
                self._losses.lose(unit.blame, unit.idle, since, until)
                ticks[_STRANDED] += unit.idle * (until - since)
            if unit.away:
                ticks[_UNALLOCATED] += unit.away * (until - since)

    def waste(self, work: Sequence[int]) -> None:
        """Move productive chip-ticks of every unit, that were just read, to what is wasted."""
        for (_, line), chip_ticks in zip(self._lines.values(), work, strict=True):
            line.ticks[_PRODUCTIVE] -= chip_ticks
            line.ticks[_WASTED] += chip_ticks

    def bring_all_up(self) -> None:
        """Work out what every unit has spent so far."""
        for unit in self.units:
            self.bring_up(unit)

    def read(self) -> Iterator[tuple[int, list[int]]]:
        """Yield each unit's index, and its chip-ticks by account."""
        self.bring_all_up()
        for index, (_, line) in self._lines.items():
            yield index, line.ticks
