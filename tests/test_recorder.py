"""States over time, and waits cut out of them."""

from __future__ import annotations

from typing import Any

import pytest

from ddsim.engine.hardware import UnitState
from ddsim.engine.ledger import Account, Ledger
from ddsim.engine.losses import Losses
from ddsim.engine.recorder import Merge, Recorder, Span, States
from ddsim.engine.time_sheet import TimeSheet
from ddsim.engine.tracks import RUNNING
from ddsim.world.cluster import UnitPlan
from ddsim.world.instants import NEVER, ticks


class Bench:
    """A track of units of 8 chips in slices of 4, and the waits of a record."""

    def __init__(self, units: int = 1, healthy: int = 8) -> None:
        self.units = [UnitState(UnitPlan(i, str(i), "a", "chip", 8, 4, 1.0)) for i in range(units)]
        for unit in self.units:
            unit.healthy = healthy
        self.states = States([unit.plan.name for unit in self.units], ticks(1.0))
        self.track = self.states.track(self.units)
        self.ledger = Ledger(units)
        self.sheet = TimeSheet(self.units, Losses())

    def spend(self, length: float, computed: float = 0.0, state: int = RUNNING) -> None:
        """All units are in a state for so long, and compute for so much of it."""
        self.sheet.spend(Account.PRODUCTIVE, ticks(computed))
        self.sheet.until += ticks(length)
        self.track.note(self.sheet.until, state, self.sheet, self.ledger)

    def become(self, healthy: int, unit: int = 0) -> None:
        """Let a unit have so many chips from now on."""
        self.units[unit].healthy = healthy
        self.changed(unit)

    def changed(self, unit: int = 0) -> None:
        """Something of a unit's hardware changes."""
        self.track.changed(self.units[unit], self.sheet, self.ledger)

    def spans(self, least: float | None = None) -> list[Span]:
        """What is handed out at the end."""
        for unit in range(len(self.units)):
            self.changed(unit)
        return self.states.spans(NEVER if least is None else ticks(least))


def test_a_state_that_goes_on_is_one_from_its_beginning() -> None:
    """Though its hardware changes back within an instant, or in what nobody sees."""
    bench = Bench()
    bench.spend(2, 0, Account.RESTART)
    bench.spend(4, 4)
    bench.changed()
    bench.spend(4, 2)
    bench.changed()
    bench.spend(6, 1)
    assert bench.spans() == [
        Span("0", 0.0, 2.0, "restart", 8),
        Span("0", 2.0, 16.0, "running", 8, 0.5),
    ]


def test_a_state_ends_where_the_number_of_chips_changes() -> None:
    """The share of compute is of the chips that are up."""
    bench = Bench()
    bench.spend(4, 4)
    bench.become(4)
    bench.spend(4, 1)
    bench.become(8)
    bench.spend(2, 1)
    bench.become(4)
    bench.spend(2, 0)
    assert bench.spans() == [
        Span("0", 0.0, 4.0, "running", 8, 1.0),
        Span("0", 4.0, 8.0, "running", 4, 0.25),
        Span("0", 8.0, 10.0, "running", 8, 0.5),
        Span("0", 10.0, 12.0, "running", 4, 0.0),
    ]


def test_a_unit_may_begin_without_chips() -> None:
    """It is out for what has taken them, whatever those beside it do."""
    bench = Bench(healthy=0)
    bench.spend(4)
    bench.become(8)
    bench.spend(4, 4)
    assert bench.spans() == [
        Span("0", 0.0, 4.0, "failed_hardware", 0),
        Span("0", 4.0, 8.0, "running", 8, 1.0),
    ]


def test_a_unit_without_chips_is_out_and_computes_nothing() -> None:
    """While the one beside it goes on."""
    bench = Bench(2)
    bench.spend(4, 4)
    bench.become(0, 1)
    bench.spend(4, 3)
    one, other = bench.spans()[:1], bench.spans()[1:]
    assert one == [Span("0", 0.0, 8.0, "running", 8, 0.875)]
    assert [span[3:] for span in other] == [
        ("running", 8, 1.0),
        ("failed_hardware", 0, 0.0),
    ]


def test_what_is_posted_of_a_unit_is_its_own() -> None:
    """In the running state in which it is, or else the next: here from the second one on."""
    bench = Bench(2)
    bench.spend(4, 1)
    bench.spend(2, 0, Account.RESTART)
    bench.ledger.post(0, Account.PRODUCTIVE, 8.0)
    bench.spend(2)
    bench.ledger.post(0, Account.WASTED_PROGRESS, 8.0)
    bench.ledger.post(1, Account.PRODUCTIVE, 4.0)
    bench.spend(2)
    bench.ledger.post(1, Account.PRODUCTIVE, 12.0)
    bench.spend(2, 0, Account.RESTART)
    bench.ledger.post(1, Account.PRODUCTIVE, 4.0)
    bench.spend(4, 1)
    spans = bench.spans()
    assert [span.computing for span in spans if span.unit == "0"] == [0.25, 0, 0.5, 0, 0.25]
    assert [span.computing for span in spans if span.unit == "1"] == [0.25, 0, 0.125, 0, 0.75]


def test_a_change_of_hardware_keeps_what_was_posted_apart() -> None:
    """Two units of which one goes on with half of its chips."""
    bench = Bench(2)
    bench.spend(4, 1)
    bench.ledger.post(0, Account.PRODUCTIVE, 8.0)
    bench.ledger.post(1, Account.PRODUCTIVE, 16.0)
    bench.sheet.until += ticks(4)
    bench.become(4)
    bench.ledger.post(0, Account.PRODUCTIVE, 16.0)
    bench.spend(4)
    assert [(span.unit, span.healthy, span.computing) for span in bench.spans()] == [
        ("0", 8, 0.25),
        ("0", 4, 1.0),
        ("1", 8, 0.25),
    ]


def test_a_share_of_compute_never_exceeds_one() -> None:
    """Whatever rounding has made of it; to seven digits."""
    bench = Bench()
    bench.spend(3, 1)
    bench.become(4)
    bench.spend(3, 3.1)
    assert [span.computing for span in bench.spans()] == [0.3333333, 1.0]


def waiting(*waits: tuple[float, float], least: float | None = 0.0) -> list[Span]:
    """Ten seconds of running, half of them computed, then ten of restart, with waits."""
    bench = Bench()
    bench.spend(10, 5)
    bench.spend(10, 0, Account.RESTART)
    for start, end in waits:
        bench.states.wait(0, ticks(start), ticks(end), "wait")
    return bench.spans(least)


def test_a_wait_is_cut_out_and_computes_nothing() -> None:
    """What was computed around it is that of the rest, spread by its length."""
    assert waiting((2.0, 4.0))[:4] == [
        Span("0", 0.0, 2.0, "running", 8, 0.625),
        Span("0", 2.0, 4.0, "wait", 8, 0.0),
        Span("0", 4.0, 10.0, "running", 8, 0.625),
        Span("0", 10.0, 20.0, "restart", 8),
    ]


@pytest.mark.parametrize(
    ("waits", "pieces"),
    [
        ([(0.0, 2.0)], ["wait 0-2", "running 2-10"]),
        ([(8.0, 10.0)], ["running 0-8", "wait 8-10"]),
        ([(0.0, 10.0)], ["wait 0-10"]),
        ([(1.0, 2.0), (2.0, 3.0)], ["running 0-1", "wait 1-2", "wait 2-3", "running 3-10"]),
        ([(1.0, 3.0), (2.0, 4.0)], ["running 0-1", "wait 1-3", "wait 3-4", "running 4-10"]),
        ([(1.0, 4.0), (2.0, 3.0)], ["running 0-1", "wait 1-4", "running 4-10"]),
        ([(3.0, 3.0)], ["running 0-3", "running 3-10"]),
    ],
)
def test_waits_and_the_rest_follow_each_other(
    waits: list[tuple[float, float]], pieces: list[str]
) -> None:
    """Without a gap or an overlap, whatever the waits are like."""
    spans = [span for span in waiting(*waits) if span.end <= 10.0]
    assert [f"{span.state} {span.start:g}-{span.end:g}" for span in spans] == pieces


def test_a_wait_may_reach_over_the_end_of_a_state() -> None:
    """It is cut out of both; the next wait is looked for from there on."""
    spans = waiting((8.0, 12.0), (15.0, 16.0))
    assert [(span.start, span.end, span.state) for span in spans] == [
        (0.0, 8.0, "running"),
        (8.0, 10.0, "wait"),
        (10.0, 12.0, "wait"),
        (12.0, 15.0, "restart"),
        (15.0, 16.0, "wait"),
        (16.0, 20.0, "restart"),
    ]


@pytest.mark.parametrize(("least", "found"), [(2.0, 1), (2.1, 0), (None, 0)])
def test_waits_are_told_from_a_length_on(least: float | None, found: int) -> None:
    """Those just as long too."""
    states = [span.state for span in waiting((2.0, 4.0), (6.0, 7.0), least=least)]
    assert states.count("wait") == found


def test_a_record_notes_waits_from_its_least_on() -> None:
    """And tells those that are seen, all, or none; without `keep` it notes nothing at all."""
    record = Recorder(["one"], least_wait=5)
    unit: Any = UnitState(UnitPlan(0, "one", "a", "chip", 8, 8, 1.0))
    track, sheet, ledger = record.track([unit]), TimeSheet([unit], Losses()), Ledger(1)
    assert track is not None
    record.wait(0, 5, 9, "short")
    record.wait(0, 10, 15, "long")
    record.keep_all()
    record.wait(0, 20, 24, "short")
    sheet.until = 100
    track.note(100, RUNNING, sheet, ledger)
    track.changed(unit, sheet, ledger)
    counts = [len(told()) for told in (record.states, record.timeline, record.whole)]
    assert counts == [1, 3, 5]
    nothing = Recorder(["one"], least_wait=5, keep=False)
    nothing.wait(0, 0, 50, "long")
    nothing.note(Merge(0, (0,), 0, 1, (0,)))
    assert (nothing.track([unit]), nothing.states(), nothing.merges) == (None, [], [])


def test_merges_are_told_in_seconds() -> None:
    """All else of them as it was noted."""
    record = Recorder(["one"], least_wait=5)
    record.note(Merge(3, (1, 2), ticks(2), ticks(2.5), (0,), (1.0,)))
    assert record.merges == [Merge(3, (1, 2), 2.0, 2.5, (0,), (1.0,))]
