"""The states of units over time, kept small: once for all units that stall together."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from ddsim.engine.ledger import Account
from ddsim.world.instants import SECOND, Ticks

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ddsim.engine.hardware import UnitState
    from ddsim.engine.ledger import Ledger
    from ddsim.engine.time_sheet import TimeSheet

_PRODUCTIVE = int(Account.PRODUCTIVE)
RUNNING = -1
"""As a state: the unit does what its runner does; the others are accounts."""
_LABELS = {RUNNING: "running"} | {int(account): account.label for account in Account}

Stay = tuple[Ticks, Ticks, str, int, float]
"""One state of a unit: from when until when, the state, the healthy chips, and the chip-seconds
that they computed."""


class _Moments:
    """Until when something was so, and what had been computed by then.

    `alike` are the ticks of every chip of the units that compute alike; what each unit has computed
    besides, in chip-seconds, is kept from the first moment on at which any has.
    """

    __slots__ = ("_alone", "alike", "untils")

    def __init__(self) -> None:
        self.untils = array("q")
        self.alike = array("q")
        self._alone: list[array[float]] = []

    def add(self, until: Ticks, alike: Ticks, alone: Sequence[float]) -> None:
        """One more, later than the others; `alone` by unit, empty where none has anything."""
        if alone:
            self._begin(alone)
            for more, had in zip(alone, self._alone, strict=True):
                had.append(more)
        self.untils.append(until)
        self.alike.append(alike)

    def move(self, until: Ticks, alike: Ticks, alone: Sequence[float]) -> None:
        """The last one was later."""
        if alone:
            self._begin(alone)
            for more, had in zip(alone, self._alone, strict=True):
                had[-1] = more
        self.untils[-1] = until
        self.alike[-1] = alike

    def _begin(self, alone: Sequence[float]) -> None:
        if not self._alone:
            self._alone = [self._nothing() for _ in alone]

    def _nothing(self) -> array[float]:
        return array("d", bytes(8 * len(self.untils)))

    def alone(self, place: int) -> Sequence[float]:
        """What a unit had computed besides by each moment."""
        return self._alone[place] if self._alone else self._nothing()


class _Health(_Moments):
    """How many chips of a unit were up until when, and where its time goes without any.

    `up` and `absence` are so now.
    """

    __slots__ = ("absence", "absences", "chips", "up")

    def __init__(self, unit: UnitState) -> None:
        super().__init__()
        self.chips = array("q")
        self.absences = array("b")
        self.up = unit.healthy
        self.absence = int(unit.absence)


class Track:
    """What units that stall together were in, one state after another without a gap.

    What each unit's own states were follows from that and from its hardware, when somebody asks.
    """

    __slots__ = ("_health", "_states", "_turns")

    def __init__(self, units: Sequence[UnitState]) -> None:
        self._states = array("b")
        self._turns = _Moments()
        self._health = {unit.index: _Health(unit) for unit in units}

    def note(self, end: Ticks, state: int, sheet: TimeSheet, ledger: Ledger) -> None:
        """Note what those units that have hardware were in up to `end`: an account, or RUNNING.

        What they had computed by then is in the books.
        """
        alone = ledger.computed(self._health) if ledger.posts else ()
        states = self._states
        if states and states[-1] == state:
            self._turns.move(end, sheet.spent[_PRODUCTIVE], alone)
        else:
            states.append(state)
            self._turns.add(end, sheet.spent[_PRODUCTIVE], alone)

    def changed(self, unit: UnitState, sheet: TimeSheet, ledger: Ledger) -> None:
        """A unit's hardware has changed, or the run ends; all is booked up to now."""
        health = self._health[unit.index]
        alone = ledger.computed([unit.index]) if ledger.posts else ()
        health.add(sheet.until, sheet.spent[_PRODUCTIVE], alone)
        health.chips.append(health.up)
        health.absences.append(health.absence)
        health.up = unit.healthy
        health.absence = int(unit.absence)

    def stays(self) -> Iterator[tuple[int, list[Stay]]]:
        """Yield each unit's index and its states, joined where one follows itself."""
        for place, (unit, health) in enumerate(self._health.items()):
            yield unit, list(_joined(self._pieces(health, self._turns.alone(place))))

    def _pieces(self, health: _Health, alone: Sequence[float]) -> Iterator[Stay]:
        """Yield a unit's states, cut where its hardware changes.

        What is posted late counts in the running state that it is posted in, or next to.
        """
        turns, at_changes = self._turns, health.alone(0)
        start = had_alike = 0
        had_alone = 0.0
        change, until = 0, -1
        for end, state, then, by_then in zip(
            turns.untils, self._states, turns.alike, alone, strict=True
        ):
            while start < end:
                while until <= start:
                    until, chips = health.untils[change], health.chips[change]
                    absence = health.absences[change]
                    at_change = health.alike[change], at_changes[change]
                    change += 1
                stop, (alike, own) = min((end, (then, by_then)), (until, at_change))
                computed = 0.0
                if state == RUNNING and chips:
                    computed = chips * (alike - had_alike) / SECOND + own - had_alone
                    had_alone = own
                had_alike = alike
                yield start, stop, _LABELS[state if chips else absence], chips, computed
                start = stop


def _joined(pieces: Iterator[Stay]) -> Iterator[Stay]:
    last: Stay | None = None
    for piece in pieces:
        _, end, state, healthy, computed = piece
        if last is not None and last[2:4] == (state, healthy):
            last = last[0], end, state, healthy, last[4] + computed
        else:
            if last is not None:
                yield last
            last = piece
    if last is not None:
        yield last
