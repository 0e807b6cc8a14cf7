"""What public runs and tables say of each other, by one constant or two rows."""

from __future__ import annotations

import pytest

from ddsim.reference import numbers, rows
from ddsim.reproduce import Found, Row, reproduce


@pytest.fixture(scope="module")
def found() -> dict[str, Found]:
    """A coarse pass, whose settled rows are those of a full one."""
    return reproduce(["wan-sync", "decoupled-runs", "restarts"], quick=True)


def row(item: Found, quantity: str, cell: str) -> Row:
    """The row of a quantity whose cell begins so."""
    (found,) = [r for r in item.rows if r.quantity == quantity and r.cell.startswith(cell)]
    return found


@pytest.mark.slow
def test_one_fixed_time_explains_synchronizations_on_both_links(found: dict[str, Found]) -> None:
    """3.7 s by the first row; the three others are within 3%."""
    item = found["wan-sync"]
    assert "fixed cost of 3.7" in item.note
    _, *others = item.rows
    assert len(others) == 3
    for other in others:
        assert abs(other.relative_error or 1.0) < 0.03


@pytest.mark.slow
def test_bytes_of_decoupled_runs_follow_from_one_of_them(found: dict[str, Found]) -> None:
    """Within 2%; the first load is 0.704 GB."""
    item = found["decoupled-runs"]
    assert "0.704 GB" in item.note
    for run in ("q4", "unthrottled"):
        assert abs(row(item, "data exchanged", run).relative_error or 1.0) < 0.02


@pytest.mark.slow
def test_what_counts_as_predicted_is_nearer_than_the_same_as_before(
    found: dict[str, Found],
) -> None:
    """Of the decoupled runs' time, H and participation; the others are no nearer."""
    base = {line["run"]: line for line in rows("measured_decoupled_runs")}["m2"]
    columns = {
        "time of training": "train_s",
        "mean H between answers": "mean_h",
        "participation": "participation_pct",
    }
    for one in found["decoupled-runs"].rows:
        if one.quantity in columns:
            assert one.basis is not None
            assert one.published is not None
            (guess,) = numbers(base, columns[one.quantity])
            nearer = abs(one.error or 0.0) < abs(guess - one.published) - 1e-6
            assert nearer == (one.basis.kind == "predicted"), one


@pytest.mark.slow
def test_what_a_standby_saves_is_in_gpu_hours(found: dict[str, Found]) -> None:
    """2,401 a failure, of which 2,223 with a standby; 7.7% of the time against 0.6%."""
    item = found["restarts"]
    assert row(item, "GPU-hours of a downtime", "32,008").simulated == pytest.approx(2401, abs=1)
    saved = row(item, "GPU-hours saved by a standby", "32,008").simulated
    assert saved == pytest.approx(2223, abs=1)
    assert row(item, "time lost", "32,008 GPUs, cold").simulated == pytest.approx(7.69, abs=0.01)
    assert row(item, "time lost", "32,008 GPUs, a st").simulated == pytest.approx(0.61, abs=0.01)


@pytest.mark.slow
def test_restarts_that_grow_cost_large_jobs_more(found: dict[str, Found]) -> None:
    """Nothing at the size of the table's first row, several points at 32,768 GPUs."""
    item = found["restarts"]
    small, large = (
        row(item, "goodput", f"{gpus} GPUs, 80").simulated
        - row(item, "goodput", f"{gpus} GPUs, a t").simulated
        for gpus in ("32", "32,768")
    )
    assert small == pytest.approx(0)
    assert large > 4
