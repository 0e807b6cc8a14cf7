"""Chip-seconds by unit and account: what is posted, and what stands on time sheets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pytest

from ddsim.engine.ledger import Account, Ledger
from ddsim.world.instants import SECOND


class OneSheet:
    """A time sheet with the same number of ticks in every account of one unit."""

    def __init__(self, unit: int, ticks: int) -> None:
        self.unit, self.ticks = unit, ticks

    def read(self) -> Iterable[tuple[int, Sequence[int]]]:
        """Give the unit with its chip-ticks."""
        yield self.unit, [self.ticks] * len(Account)


def posted(*entries: tuple[int, Account, float]) -> Ledger:
    """A ledger of two units with these entries."""
    ledger = Ledger(2)
    for entry in entries:
        ledger.post(*entry)
    return ledger


def test_what_is_posted_adds_up_by_unit_and_account() -> None:
    """And nothing else has anything."""
    ledger = posted((0, Account.RESTART, 2.0), (0, Account.RESTART, 3.0), (1, Account.RESTART, 7.0))
    assert [book[Account.RESTART] for book in ledger.books] == [5.0, 7.0]
    assert sum(map(sum, ledger.books)) == 12.0
    assert ledger.totals()["restart"] == 12.0


def test_time_sheets_come_on_top_in_seconds() -> None:
    """Of the unit that they are of, once each time that they are read."""
    ledger = posted((1, Account.RESTART, 2.0))
    ledger.sheets += [OneSheet(1, 3 * SECOND), OneSheet(1, SECOND // 2)]
    for _ in range(2):
        assert ledger.books[0] == [0.0] * len(Account)
        assert ledger.books[1][Account.RESTART] == 5.5
        assert ledger.books[1][Account.PRODUCTIVE] == 3.5


def test_a_time_sheet_has_every_account() -> None:
    """One that leaves some out is a mistake, whichever they are."""
    ledger, sheet = Ledger(1), OneSheet(0, SECOND)
    sheet.read = lambda: [(0, [SECOND])]  # type: ignore[method-assign]
    ledger.sheets.append(sheet)
    with pytest.raises(ValueError, match="zip"):
        _ = ledger.books


def test_waste_is_compute_that_was_productive_before() -> None:
    """Its unit has computed as much as before."""
    ledger = posted((0, Account.PRODUCTIVE, 5.0), (0, Account.WASTED_PROGRESS, 1.0))
    ledger.waste(0, 2.0)
    assert ledger.books[0][Account.PRODUCTIVE] == 3.0
    assert ledger.books[0][Account.WASTED_PROGRESS] == 3.0
    assert ledger.computed([0, 1]) == [6.0, 0.0]
    assert Ledger(2).computed([0, 1]) == []


@pytest.mark.parametrize(("units", "goodput"), [([0], 0.25), ([1], 1.0), ([0, 1], 0.4), ([], 0.0)])
def test_goodput_is_the_productive_share_of_what_is_in_the_job(
    units: list[int], goodput: float
) -> None:
    """Of those units alone, also where all of it is less than a chip-second."""
    ledger = posted(
        (0, Account.PRODUCTIVE, 0.1),
        (0, Account.DETECTION, 0.3),
        (0, Account.UNALLOCATED, 9.0),
        (1, Account.PRODUCTIVE, 0.1),
    )
    assert ledger.goodput(units) == pytest.approx(goodput)


def test_units_outside_the_job_have_a_goodput_of_nothing() -> None:
    """Rather than none."""
    assert posted((0, Account.UNALLOCATED, 9.0)).goodput([0]) == 0.0
