"""The published goodput of 150,000 to 2.4 million chips out of one set of values."""

from __future__ import annotations

import re

import pytest
from goodput_table import (
    DOCUMENT,
    HALF_WIDTH,
    LEAST_UPTIME,
    UPTIME_DAYS,
    Cell,
    Simulated,
    document,
    errors,
    published,
    rms,
    simulate_cell,
    table,
)

import ddsim
from ddsim.results import MethodResult

Found = tuple[dict[Cell, Simulated], dict[Cell, Simulated]]


@pytest.fixture(scope="module")
def found() -> Found:
    """The table, and the elastic jobs that its learners are held against."""
    return table()


@pytest.mark.slow
def test_learner_rows_are_near_the_published_ones(found: Found) -> None:
    """Elastic and decoupled rows: RMSE within 2 points, no cell more than 4.5 off."""
    apart = errors(found[0], learners=True)
    assert len(apart) == 25
    assert rms(apart) <= 0.020
    assert max(map(abs, apart)) <= 0.045


@pytest.mark.slow
def test_the_row_that_restarts_is_near_the_published_one(found: Found) -> None:
    """data_parallel: no cell more than 5 points off."""
    apart = errors(found[0], learners=False)
    assert len(apart) == 5
    assert max(map(abs, apart)) <= 0.050


@pytest.mark.slow
def test_every_cell_is_known_well_enough(found: Found) -> None:
    """The 95% half-width of every cell's goodput is at most half a point."""
    for cell, simulated in found[0].items():
        assert simulated.half_width <= HALF_WIDTH, cell


@pytest.mark.slow
def test_enough_learners_never_stop_all_at_once(found: Found) -> None:
    """Uptime over 10 days is at least 0.9999 from 8 learners on, and with 4 up to 600,000 chips."""
    held = {cell: simulated for cell, simulated in found[0].items() if cell.holds_uptime}
    assert len(held) == 13
    for cell, simulated in held.items():
        assert simulated.days >= UPTIME_DAYS
        assert simulated.uptime >= LEAST_UPTIME, cell


@pytest.mark.slow
def test_m_learners_are_m_elastic_jobs(found: Found) -> None:
    """M learners on N chips are within 2 points of one elastic job on N/M."""
    table_cells, everything = found
    decoupled = [cell for cell in table_cells if cell.learners > 1]
    assert len(decoupled) == 20
    for cell in decoupled:
        assert abs(everything[cell].goodput - everything[cell.alone].goodput) <= 0.02, cell


@pytest.mark.slow
def test_the_document_says_what_is_simulated(found: Found) -> None:
    """docs/validation-goodput.md is what is written now, but for noise in its figures.

    `python tests/goodput_table.py --write` renews it.
    """
    kept, now = DOCUMENT.read_text(encoding="utf-8"), document(*found)
    assert _words(kept) == _words(now)
    ours = _simulated(now)
    assert len(ours) == len(published())
    for (value, half), (new, new_half) in zip(_simulated(kept), ours, strict=True):
        assert abs(value - new) <= 2.5 * (half + new_half) + 0.1


def _words(text: str) -> str:
    return re.sub(r"[\d.+-]+", "#", text)


def _simulated(text: str) -> list[tuple[float, float]]:
    return [(float(a), float(b)) for a, b in re.findall(r"\| ([\d.]+) ± ([\d.]+) \|", text)]


def test_the_length_of_a_learners_step_is_of_no_account() -> None:
    """Goodput and uptime of decoupled learners are the same with steps of 5 s and of 2 min."""
    cell = {"cluster.chips": 2_400_000, "cluster.learners": 4, "duration": "1 h"}
    found: list[MethodResult] = []
    for step in ("5 s", "2 min"):
        scenario = ddsim.load("goodput_vs_chips", {**cell, "training.step_time": step})
        found += ddsim.run(scenario, ["decoupled_diloco"]).results
    short, long = found
    assert short.steps > 20 * long.steps
    assert short.failures == long.failures > 100
    assert short.goodput == pytest.approx(long.goodput, abs=1e-9)
    assert short.uptime == pytest.approx(long.uptime, abs=1e-9)
    assert short.uptime < 1.0


def test_a_cell_is_the_same_whoever_simulates_it() -> None:
    """A cell's figures depend on the scenario alone, not on the order or process of the cells."""
    cell = Cell("elastic_data_parallel", 1, 9_375)
    assert simulate_cell(cell) == simulate_cell(cell)
