"""Checkpointing theory: optima, limits, and what arguments are refused."""

import pytest
from scipy.optimize import minimize_scalar

from ddsim.theory import checkpointing as ck


@pytest.mark.parametrize(("mtbf", "save"), [(11124.0, 60.0), (100.0, 150.0), (3600.0, 1.0)])
def test_optimal_interval_maximises_goodput(mtbf: float, save: float) -> None:
    """Lambert's W gives the interval that a numeric search finds, whatever the restart."""
    best = minimize_scalar(
        lambda tau: -ck.checkpoint_goodput(mtbf, tau, save, restart=77.0, downtime=5.0),
        bounds=(1e-3 * mtbf, 3 * mtbf),
        method="bounded",
        options={"xatol": 1e-6 * mtbf},
    )
    assert ck.optimal_interval(mtbf, save) == pytest.approx(best.x, rel=1e-4)


def test_approximate_intervals_meet_the_optimum_for_short_saves() -> None:
    """Young's and Daly's intervals tend to the exact one, Daly's faster."""
    exact = ck.optimal_interval(1e6, 1.0)
    young, daly = ck.young_interval(1e6, 1.0), ck.daly_interval(1e6, 1.0)
    assert abs(daly - exact) < abs(young - exact) < 1e-3 * exact


def test_daly_interval_is_the_mtbf_for_long_saves() -> None:
    """From saves of twice the MTBF on, Daly saves once per MTBF."""
    assert ck.daly_interval(100.0, 200.0) == 100.0


def test_optimal_interval_without_cost_is_none() -> None:
    """Saves that cost nothing are taken all the time."""
    assert ck.optimal_interval(3600.0, 0.0) == pytest.approx(0.0, abs=1e-3)


@pytest.mark.parametrize("ratio", [1e-9, 0.9e-5, 1.1e-5])
def test_lost_time_of_a_short_segment_is_half_of_it(ratio: float) -> None:
    """No digits are lost where the two terms of the formula cancel."""
    assert ck.expected_lost_time(1.0, ratio) == pytest.approx(ratio / 2, rel=1e-5)


def test_goodput_without_failures_is_the_share_of_work() -> None:
    """With an endless MTBF only the save costs."""
    assert ck.checkpoint_goodput(1e15, 90.0, 10.0, 100.0) == pytest.approx(0.9, rel=1e-6)


def test_message_names_the_argument() -> None:
    """A refused argument is named with its value."""
    with pytest.raises(ValueError, match=r"mtbf is -1\.0"):
        ck.young_interval(-1.0, 60.0)
    with pytest.raises(ValueError, match="save is nan"):
        ck.optimal_interval(1.0, float("nan"))
