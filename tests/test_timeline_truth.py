"""What a timeline draws is what the ledger has booked, for every method and unit."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from replicated import world

from ddsim import methods
from ddsim.engine.job_books import note_tail
from ddsim.engine.ledger import Account
from ddsim.engine.run import Run
from ddsim.figures.stretches import COLUMNS, COMPUTING, WITHIN, stretches_of
from ddsim.results import books as bookkeeping
from ddsim.simulation import simulate
from ddsim.world.cluster import build

COMPUTE = {"productive", "wasted_progress"}
WAITS = {"exposed_communication", "waiting_on_peers", "waiting_on_data", "degraded"}
DOWN = {"failed_hardware", "unallocated"}
NEAR = 0.01
STALLS = [
    "detection",
    "elastic_downscale",
    "elastic_upscale",
    "restart",
    "checkpoint_restore",
    "stranded",
]
GROUPS = (COMPUTING, WITHIN, "down", *STALLS)


def groups(account: str) -> str:
    """Which areas of a timeline an account may be part of: its own but for these."""
    if account in COMPUTE | {COMPUTING}:
        return COMPUTING
    if account in WAITS | {WITHIN, "checkpoint_save"}:
        return WITHIN
    return "down" if account in DOWN else account


def shares(parts: dict[str, float]) -> dict[str, float]:
    """The shares by what a timeline can tell apart."""
    found: dict[str, float] = dict.fromkeys(GROUPS, 0.0)
    for name, share in parts.items():
        found[groups(name)] += share
    return found


def test_the_shortest_wait_that_is_noted_is_a_whole_number_of_ticks() -> None:
    """A two thousandth of the run, rounded down: one that is just as long is noted."""
    scenario = world(duration="1.000000001 s")
    recorder = Run(scenario, build(scenario), [], 0).recorder
    assert recorder.least_wait == 500_000


def test_who_has_no_hardware_waits_for_no_bytes() -> None:
    """Of the units of a job, the wait is that of those that sent."""
    noted: list[tuple[object, ...]] = []
    units = [SimpleNamespace(index=0, healthy=8), SimpleNamespace(index=1, healthy=0)]
    recorder = SimpleNamespace(least_wait=5, wait=lambda *wait: noted.append(wait))
    body: Any = SimpleNamespace(units=units, recorder=recorder)
    note_tail(body, 10, 15)
    note_tail(body, 20, 24)  # too short to be seen
    assert noted == [(0, 10, 15, Account.EXPOSED_COMMUNICATION.label)]


@pytest.fixture
def books(monkeypatch: pytest.MonkeyPatch) -> list[list[float]]:
    """The ledger's books of the last run, a list a unit."""
    seen: list[list[float]] = []
    close = bookkeeping.result_of

    def keep(name: str, one: Any, *rest: Any) -> Any:
        found = close(name, one, *rest)
        seen[:] = one.ledger.books
        return found

    monkeypatch.setattr(bookkeeping, "result_of", keep)
    return seen


@pytest.mark.slow
@pytest.mark.parametrize("columns", [COLUMNS, pytest.param(20, marks=pytest.mark.slow)])
@pytest.mark.parametrize("method", methods.names())
def test_areas_are_the_accounts(method: str, columns: int, books: list[list[float]]) -> None:
    """Failures, thin links and jitter: within 1% of each unit's time, in few columns or many."""
    scenario = world(
        seed=3,
        duration="1 h",
        network__bandwidth="1 Gbit/s",
        cluster__jitter=0.1,
        failures__chip_mtbi="30 h",
        training__inner_steps=12,
    )
    item = simulate(scenario, method)
    drawn = stretches_of(item, item.wall_clock_s, columns)
    assert len(drawn) == len(scenario.cluster.units)
    for book, stretches in zip(books, drawn.values(), strict=False):
        booked = shares({a.label: book[a] / sum(book) for a in Account})
        area: dict[str, float] = dict.fromkeys(GROUPS, 0.0)
        for stretch in stretches:
            lasts = (stretch.end - stretch.start) / item.wall_clock_s
            for name, share in shares(dict(stretch.parts)).items():
                area[name] += share * lasts
        area["down"] += 1.0 - sum(area.values())  # chips that are not drawn
        for name in GROUPS:
            assert area[name] == pytest.approx(booked[name], abs=NEAR), name
        assert booked[COMPUTING] > 0.01


@pytest.mark.parametrize("method", ["data_parallel", "elastic_data_parallel"])
def test_spans_have_the_compute_of_the_books(method: str, books: list[list[float]]) -> None:
    """Between the waits and not in them; a unit that is not there waits for nothing."""
    kill = {"at": "100 s", "fault": "kill", "target": "unit 0", "for": "100 s"}
    scenario = world(
        duration="10 min",
        network__bandwidth="5 Gbit/s",
        chaos=[kill],
        failures__detection="10 s",
    )
    item = simulate(scenario, method)
    for index, book in enumerate(books):
        spans = [span for span in item.timeline if span.unit == f"unit {index}"]
        chips = [span.healthy_chips * (span.end - span.start) for span in spans]
        found = sum((span.computing or 0.0) * area for span, area in zip(spans, chips, strict=True))
        assert found == pytest.approx(
            book[Account.PRODUCTIVE] + book[Account.WASTED_PROGRESS], 1e-3
        )
        assert all(span.healthy_chips for span in spans if span.state in WAITS)
