"""The interactive page's bucket model."""

import numpy as np
import pytest

from ddsim.bandwidth.page import page_utilization, published_page
from ddsim.reference import numbers, rows

COLUMNS = {
    "data_parallel": "data_parallel_cu_pct",
    "diloco": "diloco_h30_cu_pct",
    "streaming_diloco": "streaming_h100_p16_tau1_cu_pct",
}


@pytest.mark.parametrize("method", COLUMNS)
def test_every_cell_of_the_page(method: str) -> None:
    """Within 0.02 points, the fragment every 6.25 steps included."""
    table = rows("diloco_bandwidth_page")
    gbps = np.array([numbers(row, "bandwidth_gbps")[0] for row in table])
    published = [numbers(row, COLUMNS[method])[0] for row in table]
    assert 100 * published_page(gbps)[method] == pytest.approx(published, abs=0.02)


def test_more_sites_cost_by_the_rings_factor() -> None:
    """Four sites need 1.5 times the bandwidth of two for the same utilization."""
    two = page_utilization(40.0, parameters=1e9, step_time=1.0)
    four = page_utilization(60.0, parameters=1e9, step_time=1.0, sites=4)
    assert float(four) == pytest.approx(float(two), rel=1e-12)


def test_long_run_forgets_the_last_round_cut_short() -> None:
    """2,000 steps hold 66 rounds of 30; the long run holds every 30th step."""
    cut = page_utilization(10.0, parameters=1e10, step_time=1.0, period=30, steps=2000)
    endless = page_utilization(10.0, parameters=1e10, step_time=1.0, period=30)
    assert 1 / cut - 1 == pytest.approx((1 / endless - 1) * 66 * 30 / 2000, rel=1e-12)
