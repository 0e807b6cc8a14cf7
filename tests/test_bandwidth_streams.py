"""What required bandwidths have in flight, and over how many streams."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import ddsim
from ddsim.bandwidth import BandwidthStudy, StepModel, utilization
from ddsim.bandwidth.flight import Flight, flights
from ddsim.bandwidth.model import LONG_RUN

MODEL = StepModel(12e9, 48, 0.87, payload_bits=4.0, datacenters=4, latency=0.030)


def _study(**settings: Any) -> BandwidthStudy:
    said = {"network.efficiency": None, **settings}
    return ddsim.required_bandwidth(
        ddsim.load("four_regions_12b", said), (0.5, 0.9), methods=["decoupled_diloco"]
    )


def test_five_gigabits_at_60_ms_take_seven_streams_of_six_megabytes() -> None:
    """37.5 MB in flight, where nothing is said of streams."""
    flight = flights("decoupled_diloco", MODEL, {0.9: 5.0}, LONG_RUN)[0.9]
    assert flight is not None
    assert flight.to_dict() == {
        "gbps": 5.0,
        "in_flight_mb": pytest.approx(37.5),
        "streams": 7,
        "window_mb": pytest.approx(6.0),
    }


def test_a_target_that_streams_keep_out_of_reach_says_how_many_reach_it() -> None:
    """The least number, with which the bandwidth that it names gives the target."""
    result = _study(**{"network.tcp.streams": 1, "network.tcp.loss": 1e-5}).results[0]
    assert result.required_gbps[0.9] == float("inf")
    flight = result.flights[0.9]
    assert isinstance(flight, Flight)
    reached = [
        float(utilization("decoupled_diloco", replace(result.model, streams=n), 1e6))
        for n in (flight.streams - 1, flight.streams)
    ]
    assert reached[0] < 0.9 <= reached[1]


def test_enough_streams_need_the_bandwidth_of_the_same_efficiency() -> None:
    """The first windows of 100,000 streams fill the link."""
    plain = _study().results[0].required_gbps
    streams = _study(**{"network.tcp.streams": 100_000}).results[0].required_gbps
    assert streams == pytest.approx(plain, rel=1e-9)


def test_the_convention_says_what_streams_get() -> None:
    """Beside the ring's factor."""
    said = _study(**{"network.tcp.streams": 2, "network.tcp.loss": 0.01}).convention
    assert "2 streams a connection of at most" in said
    assert "0.01 of it lost and sent again" in said


def test_a_server_s_site_has_streams_to_every_other() -> None:
    """Three times what one connection gets."""
    said = {"network.collective": "parameter_server", "network.tcp.streams": 2}
    model = _study(**said).results[0].model
    assert model.most == pytest.approx(3 * 2 * 0.8e9)


def test_without_latency_nothing_is_in_flight() -> None:
    """No round trip, and no window to fill."""
    assert not _study(**{"network.latency": "0 s"}).results[0].flights
