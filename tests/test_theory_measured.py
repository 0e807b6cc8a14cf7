"""Arithmetic on measured runs: what published times and links imply."""

import pytest

from ddsim.reference import rows
from ddsim.theory import measured

WHERE = [("USA", 103.0), ("USA+Europe", 382.0), ("Global", 469.0)]


def _published(run: str, setting: str, metric: str) -> float:
    found = [
        float(row["value"])
        for row in rows("measured_runs")
        if row["run"] == run
        and row["setting"].startswith(setting)
        and row["metric"].startswith(metric)
        and (setting != "USA" or row["setting"] == "USA")
    ]
    assert len(found) == 1
    return found[0]


@pytest.mark.parametrize(("setting", "seconds"), WHERE)
def test_intellect1_utilization_follows_from_its_all_reduce_times(
    setting: str, seconds: float
) -> None:
    """2,280 s of compute and the median all-reduce, within 0.1 points of the published value."""
    compute = _published("INTELLECT-1", "10B", "time of 100 inner steps")
    assert _published("INTELLECT-1", setting, "median all-reduce") == seconds
    value = 100 * measured.blocking_utilization(compute, seconds)
    assert value == pytest.approx(
        _published("INTELLECT-1", setting, "compute utilization"), abs=0.1
    )


@pytest.mark.parametrize(("seconds", "gbps"), [(103.0, 1.44), (382.0, 0.389), (469.0, 0.317)])
def test_intellect1_ring_rate(seconds: float, gbps: float) -> None:
    """8 bits of 10B parameters around 14 nodes: 1.44 Gbit/s in the USA, 0.3 to 0.4 across seas."""
    payload = measured.compressed_bits(10e9, 8.0)
    assert measured.ring_rate(payload, 14, seconds) / 1e9 == pytest.approx(gbps, rel=5e-3)


def test_covenant_utilization_follows_from_its_times() -> None:
    """1,200 s of compute and 70 s of communication are the published 94.5%."""
    value = 100 * measured.blocking_utilization(1200.0, 70.0)
    assert value == pytest.approx(94.5, abs=0.05)


def test_covenant_time_is_the_upload_of_a_16_bit_base() -> None:
    """Of all readings of the payload one alone comes near 70 s: 16 bits, upload only, 72.4 s."""
    readings = measured.peer_exchange_readings(72.7e9, 146, 20, 110e6, 500e6)
    near = [r for r in readings if abs(r.seconds - 70.0) < 0.1 * 70.0]
    assert [(r.base_bits, r.exchange) for r in near] == [(16.0, "upload only")]
    assert near[0].seconds == pytest.approx(72.4, abs=0.05)


def test_covenant_other_readings_miss() -> None:
    """The others are off by half and more: 15.9 s and 138 to 606 s."""
    readings = measured.peer_exchange_readings(72.7e9, 146, 20, 110e6, 500e6)
    seconds = sorted(round(r.seconds, 1) for r in readings)
    assert seconds == [15.9, 31.9, 72.4, 137.6, 144.9, 275.2, 302.8, 605.5]
