"""What the chips of some units spend alike: counted once, a unit's share when somebody reads it."""

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
    """A unit's chips that are up, and its chip-ticks by account besides what those have `spent`.

    `since` is up to when chips that idle or are away are counted.
    """

    __slots__ = ("besides", "chips", "since")

    def __init__(self, chips: int) -> None:
        self.chips = chips
        self.besides = [0] * len(Account)
        self.since: Ticks = 0


class Stint:
    """The productive chip-ticks of each unit since some moment, for the case that they are lost.

    `besides` has by unit what they are more than those of the chips that are up now.
    """

    __slots__ = ("_changed", "_sheet", "begun", "besides")

    def __init__(self, sheet: TimeSheet) -> None:
        self._sheet = sheet
        self.begun: Ticks = 0
        self._changed = False
        self.besides = [0] * len(sheet.units)

    def begin(self, done: Ticks = 0) -> None:
        """Count from now on, and what was `done` last."""
        self.begun = self._sheet.spent[_PRODUCTIVE] - done
        if self._changed:
            self._changed = False
            self.besides = [0] * len(self.besides)

    def change(self, place: int, chips: int) -> None:
        """So many more chips of a unit are up from now on."""
        worked = self._sheet.spent[_PRODUCTIVE] - self.begun
        if worked > 0:
            self._changed = True
            self.besides[place] -= chips * worked

    def read(self) -> list[int]:
        """Return each unit's chip-ticks."""
        worked = self._sheet.spent[_PRODUCTIVE] - self.begun
        return [
            unit.healthy * worked + more
            for unit, more in zip(self._sheet.units, self.besides, strict=True)
        ]

    def take_away(self, work: Sequence[int]) -> None:
        """Some of it, that was just read, counts no more."""
        self._changed = True
        self.besides = [more - less for more, less in zip(self.besides, work, strict=True)]


class TimeSheet:
    """The time of units that stall and step together.

    `spent` has by account the ticks that every chip that is up has spent by `until`: what all
    have spent is theirs times the chips that are up now, but for those that came or went, of which
    a change keeps what they had not, or had, spent by then. It costs as much among many units as
    among few. Chip-ticks are whole numbers, of any size.
    """

    __slots__ = ("_lines", "_losses", "_stints", "_used", "spent", "units", "until")

    def __init__(self, units: Sequence[UnitState], losses: Losses) -> None:
        self.units = units
        self.spent: list[Ticks] = [0] * len(Account)
        self.until: Ticks = 0
        self._used: list[int] = []
        self._losses = losses
        self._lines = {unit.index: (place, _Line(unit.healthy)) for place, unit in enumerate(units)}
        self._stints: list[Stint] = []

    def stint(self) -> Stint:
        """Return a count of productive chip-ticks that begins now."""
        stint = Stint(self)
        stint.begin()
        self._stints.append(stint)
        return stint

    def spend(self, account: Account, time: Ticks) -> None:
        """All chips that are up have spent this time in an account."""
        if time:
            if not self.spent[account]:
                self._used.append(int(account))
            self.spent[account] += time

    def changed(self, unit: UnitState) -> int:
        """A unit's hardware has just changed; return how many more of its chips are up."""
        place, line = self._lines[unit.index]
        line.since = self.until
        more = unit.healthy - line.chips
        if more:
            line.chips = unit.healthy
            besides, spent = line.besides, self.spent
            for account in self._used:
                besides[account] -= more * spent[account]
            for stint in self._stints:
                stint.change(place, more)
        return more

    def fail(self, unit: UnitState, index: int) -> None:
        """Count how long a slice has been down so far."""
        (blame, since), until = unit.failing[index], self.until
        if until > since:
            chips = unit.plan.size(index)
            self._lines[unit.index][1].besides[_FAILED] += chips * (until - since)
            self._losses.lose(blame, chips, since, until)
            unit.failing[index] = blame, until

    def stand(self, unit: UnitState) -> None:
        """Count how long chips have idled or been away so far."""
        if not (unit.idle or unit.away):
            return
        line, until = self._lines[unit.index][1], self.until
        since, line.since = line.since, until
        if until > since:
            if unit.idle:
                self._losses.lose(unit.blame, unit.idle, since, until)
                line.besides[_STRANDED] += unit.idle * (until - since)
            if unit.away:
                line.besides[_UNALLOCATED] += unit.away * (until - since)

    def waste(self, work: Sequence[int]) -> None:
        """Move productive chip-ticks of every unit, that were just read, to what is wasted."""
        for (_, line), chip_ticks in zip(self._lines.values(), work, strict=True):
            line.besides[_PRODUCTIVE] -= chip_ticks
            line.besides[_WASTED] += chip_ticks

    def bring_up(self) -> None:
        """Count what is still down, idle or away."""
        for unit in self.units:
            self.stand(unit)
            for index in unit.failing:
                self.fail(unit, index)

    def read(self) -> Iterator[tuple[int, list[int]]]:
        """Yield each unit's index, and its chip-ticks by account."""
        self.bring_up()
        for index, (_, line) in self._lines.items():
            yield (
                index,
                [
                    line.chips * time + more
                    for time, more in zip(self.spent, line.besides, strict=True)
                ],
            )
