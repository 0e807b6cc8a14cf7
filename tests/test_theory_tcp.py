"""What TCP makes of a path, against numbers worked out by hand and against measured streams."""

from __future__ import annotations

import math
from typing import Any

import pytest
from links_doc import POINTS, RINGS, ring_times, stream_counts

from ddsim.theory import tcp

MB = 8e6
GIGA = 1e9


@pytest.mark.parametrize(("path", "gbps"), POINTS)
def test_a_stream_gets_what_the_closed_form_says(path: dict[str, Any], gbps: float) -> None:
    """Ten points worked out by hand."""
    assert tcp.stream_rate(**path) / GIGA == pytest.approx(gbps, rel=1e-5)


def test_cubic_keeps_4040_segments_at_60_ms_and_one_loss_in_a_million() -> None:
    """RFC 9438's response function."""
    assert tcp.cubic_window(1e-6, 0.060) == pytest.approx(4040, abs=0.5)


def test_bbr_stands_losses_up_to_a_fifth() -> None:
    """Below its ceiling the window alone is a limit; above it four segments are left."""
    assert tcp.stream_rate(0.060, "bbr", loss=0.19) == 6 * MB / 0.060
    assert tcp.stream_rate(0.060, "bbr", loss=0.21) == pytest.approx(4 * 11_680 / 0.060)


def test_streams_together_never_get_more_than_the_link() -> None:
    """So many times one's rate, up to the link without what it loses."""
    assert tcp.streams_rate(3, 0.8, 5.0) == pytest.approx(2.4)
    assert tcp.streams_rate(7, 0.8, 5.0) == 5.0
    assert tcp.streams_rate(7, 0.8, 5.0, loss=0.1) == 4.5


def test_five_gigabits_at_60_ms_take_seven_streams_of_6_mb() -> None:
    """37.5 MB in flight."""
    assert tcp.streams_for(5 * GIGA, tcp.stream_rate(0.060)) == 7
    assert tcp.streams_for(0.8 * GIGA, tcp.stream_rate(0.060)) == 1


@pytest.mark.parametrize(
    ("size", "seconds"),
    [
        # bits on 1 Gbit/s and 60 ms, first 10 segments of 11,680 bits
        (100_000, 0.0001),  # within the first window
        (116_801, 0.060 + 1 / GIGA),  # one bit more than that
        (1_000_000, 3 * 0.060 + (1_000_000 - 7 * 116_800) / GIGA),
        (50_000_000, 8 * 0.060 + (50_000_000 - 255 * 116_800) / GIGA),
        (8e9, 10 * 0.060 + (8e9 - 1023 * 116_800) / GIGA),  # the tenth window lasts a round trip
    ],
)
def test_an_idle_connection_pays_its_round_trips_and_the_rest_at_the_rate(
    size: float, seconds: float
) -> None:
    """Five transfers worked out by hand."""
    assert tcp.slow_start_time(size, GIGA, 0.060, tcp.first_window()) == pytest.approx(
        seconds, rel=1e-9
    )


def test_measured_streams_add_up_to_a_ceiling() -> None:
    """The rate of a stream from 16 of them and the ceiling from 64 predict the other counts."""
    found = stream_counts()
    for streams, within in ((32, 0.05), (100, 0.05), (128, 0.05), (8, 0.25)):
        predicted, published = found[streams]
        assert predicted == pytest.approx(published, rel=within), streams


@pytest.mark.parametrize("where", RINGS)
def test_the_time_of_a_measured_ring_follows_from_its_rate(where: str) -> None:
    """The published rates count both directions: 2 (M - 1) / M of the payload in each."""
    predicted, published = ring_times()[where]
    assert predicted == pytest.approx(published, rel=0.06)


@pytest.mark.parametrize("bad", [{"loss": 1.0}, {"loss": -0.1}, {"window": 0.0}, {"mtu": 320.0}])
def test_what_no_path_can_be_is_refused(bad: dict[str, float]) -> None:
    """Shares below 1, windows and packets above nothing."""
    with pytest.raises(ValueError, match=next(iter(bad))):
        tcp.stream_rate(0.06, "reno", **bad)


def test_without_a_round_trip_nothing_but_the_link_is_a_limit() -> None:
    """A window takes no time."""
    assert tcp.stream_rate(0.0) == math.inf
