"""The published bandwidth tables, cell by cell."""

from functools import cache

import numpy as np
import pytest

from ddsim.bandwidth.model import StepModel, pure_compute, table_period
from ddsim.bandwidth.tables import (
    TARGETS,
    TableRow,
    printed,
    published_grid,
    published_row,
    read_off,
    required_on_grid,
    table_row,
    wall_clock_hours,
)
from ddsim.reference import Row, rows

TABLES = ("streaming_diloco_bandwidth_table4", "eager_updates_bandwidth_table5")


@cache
def cells() -> dict[tuple[TableRow, float], tuple[str, str]]:
    """Ours and the published text of every distinct cell of both tables."""
    found: dict[tuple[TableRow, float], tuple[str, str]] = {}
    for name in TABLES:
        for row in rows(name):
            read = published_row(row)
            ours = required_on_grid(read.method, read.model, TARGETS, read.reading)
            for target in TARGETS:
                published = row[f"gbps_cu{round(100 * target)}"]
                assert found.get((read, target), ("", published))[1] == published
                found[read, target] = (ours[target], published)
    return found


def test_the_tables_have_120_distinct_cells() -> None:
    """Rows that both tables print count once."""
    assert len(cells()) == 120


def test_at_least_118_cells_are_exact() -> None:
    """As printed, digit by digit."""
    assert sum(ours == published for ours, published in cells().values()) >= 118


def test_every_cell_is_within_one_grid_step() -> None:
    """What is not exact is the neighbour on the grid."""
    grid = [printed(point) for point in published_grid()]
    for ours, published in cells().values():
        places = [i for i, text in enumerate(grid) if text == published]
        assert any(abs(grid.index(ours) - place) <= 1 for place in places)


@pytest.mark.parametrize("row", rows("streaming_diloco_hours_table1"), ids=lambda r: r["method"])
def test_published_wall_clock_at_1_gbps(row: Row) -> None:
    """Data-parallel within 0.5%, Streaming with 4 bits within 1.5% of the published hours."""
    label = row["method"].replace("overlapped", "overlapped tau=1")
    read = table_row("1B", 24, 0.1, label)
    hours = wall_clock_hours(float(row["hours_infinite_bw"]), read, 1.0)
    allowed = 0.005 if read.method == "data_parallel" else 0.015
    assert hours == pytest.approx(float(row["hours_1gbps"]), rel=allowed)


def test_period_of_the_tables() -> None:
    """12, 6 and 3 steps between fragments for the three models at H = 100."""
    assert [table_period(100, fragments) for fragments in (8, 16, 36)] == [12, 6, 3]


def test_printing_rounds_twice() -> None:
    """To two digits and then to one, as in 0.2505 -> 0.25 -> 0.2."""
    assert printed(0.2505) == "0.2"
    assert printed(184.207) == "184.2"


def test_reading_takes_the_last_point_below() -> None:
    """A point exactly at the target is not below it."""
    grid = np.array([1.0, 2.0, 3.0])
    assert read_off(grid, np.array([0.1, 0.5, 0.9]), 0.5) == 1.0
    assert np.isnan(read_off(grid, np.array([0.1, 0.2, 0.3]), 0.5))


@pytest.mark.parametrize(
    ("label", "overlap", "bits"),
    [
        ("Streaming DiLoCo H=100", 0, 16),
        ("Streaming DiLoCo overlapped tau=3 FP4 H=100", 3, 4),
        ("Streaming, 1-inner-step overlapped FP8 H=100", 1, 8),
        ("Streaming, 1-outer-step overlapped FP4 H=100", 100, 4),
        ("Streaming, 2-outer-step overlapped H=100", 200, 16),
    ],
)
def test_labels_say_what_is_overlapped_and_how_many_bits(
    label: str, overlap: int, bits: int
) -> None:
    """tau from tau=, inner steps or outer steps; bits from FPn, else 16."""
    model = table_row("10B", 48, 0.8, label).model
    assert (model.overlap_steps, model.payload_bits, model.inner_steps) == (overlap, bits, 100)


def test_unknown_label_is_refused() -> None:
    """A row that names no method is an error, not a guess."""
    with pytest.raises(ValueError, match="Federated"):
        table_row("1B", 24, 0.1, "Federated H=100")


def test_printed_step_time_holds_one_piece_that_is_not_computed() -> None:
    """T = 3 L pieces, of which 3 L - 1 are pure compute."""
    model = StepModel(1e9, 24, pure_compute(0.1, 24))
    assert model.piece == pytest.approx(0.1 / 72, rel=1e-12)
