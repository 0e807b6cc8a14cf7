"""What TCP makes of a path, against numbers worked out by hand and against measured streams."""

from __future__ import annotations

import math
from typing import Any

import pytest
from scipy.optimize import brentq

from ddsim import reference
from ddsim.theory import ring_factor, tcp

MB = 8e6
GIGA = 1e9

POINTS: list[tuple[dict[str, Any], float]] = [
    # a window a round trip: 6 MB / 60 ms, 6 MB / 150 ms, 64 kB / 100 ms
    ({"round_trip": 0.060}, 0.8),
    ({"round_trip": 0.150}, 0.32),
    ({"round_trip": 0.100, "window": 64e3 * 8}, 0.00512),
    # reno: 1.22 / sqrt(1e-6) = 1,220 segments of 11,680 bits in 60 ms; 122 and 12.2 of them
    ({"round_trip": 0.060, "congestion": "reno", "loss": 1e-6}, 0.237493),
    ({"round_trip": 0.060, "congestion": "reno", "loss": 1e-4}, 0.0237493),
    ({"round_trip": 0.060, "congestion": "reno", "loss": 1e-2}, 0.00237493),
    # cubic: 1.053826 (0.06 / 1e-6)^(3/4) = 4,040 segments; 127.76 of them at 1e-4
    ({"round_trip": 0.060, "congestion": "cubic", "loss": 1e-6}, 0.786457),
    ({"round_trip": 0.060, "congestion": "cubic", "loss": 1e-4}, 0.0248700),
    # cubic where reno is faster: at 10 ms and 1e-3 38.6 segments against 5.9
    ({"round_trip": 0.010, "congestion": "cubic", "loss": 1e-3}, 0.0450612),
    # a jumbo frame: 8,960 bytes in a segment
    ({"round_trip": 0.060, "congestion": "reno", "loss": 1e-4, "mtu": 9000 * 8}, 0.145749),
]


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


PAYLOAD = 1.073e9 * 8
EUROPE, AMERICA = 0.010, 0.040
"""Round trips of the rings, assumed: between the hubs of Western Europe, and of North America."""


def ring_time(peers: int, streams: int, rate: float, round_trip: float) -> float:
    """Seconds of a ring all-reduce of the payload at a rate a hop: its phases and slow start."""
    bits = ring_factor(peers) * PAYLOAD
    first = tcp.first_window(streams)
    phases = 2 * (peers - 1) * round_trip / 2
    return phases + tcp.slow_start_time(bits, rate, round_trip, first)


def both_ways(streams: int, rate: float) -> float:
    """Gbit/s that a peer of six sends and receives, together, as the published rates count."""
    bits = 2 * ring_factor(6) * PAYLOAD
    return bits / ring_time(6, streams, rate, EUROPE) / GIGA


def test_measured_streams_add_up_to_a_ceiling() -> None:
    """The rate of a stream from 16 of them and the ceiling from 64 predict the other counts."""
    found = {
        int(row["streams"]): float(row["value"])
        for row in reference.rows("wan_streams")
        if row["setting"] == "Western Europe: 6 peers"
    }
    each = brentq(lambda rate: both_ways(16, 16 * rate) - found[16], 1e7, 1e11)
    ceiling = brentq(lambda rate: both_ways(64, rate) - found[64], 1e9, 1e12)
    for streams, within in ((32, 0.05), (100, 0.05), (128, 0.05), (8, 0.25)):
        predicted = both_ways(streams, tcp.streams_rate(streams, each, ceiling))
        assert predicted == pytest.approx(found[streams], rel=within), streams


@pytest.mark.parametrize(
    ("where", "peers", "round_trip"),
    [("Western Europe: 6 peers", 6, EUROPE), ("North America: 12 peers", 12, AMERICA)],
)
def test_the_time_of_a_measured_ring_follows_from_its_rate(
    where: str, peers: int, round_trip: float
) -> None:
    """The published rates count both directions: 2 (M - 1) / M of the payload in each."""
    rows = [row for row in reference.rows("wan_streams") if row["setting"].startswith(where)]
    rows = [row for row in rows if "reduce" in row["setting"]]
    seconds, rate = (float(row["value"]) for row in rows)
    predicted = ring_time(peers, 1, rate * GIGA / 2, round_trip)
    assert predicted == pytest.approx(seconds, rel=0.06)


@pytest.mark.parametrize("bad", [{"loss": 1.0}, {"loss": -0.1}, {"window": 0.0}, {"mtu": 320.0}])
def test_what_no_path_can_be_is_refused(bad: dict[str, float]) -> None:
    """Shares below 1, windows and packets above nothing."""
    with pytest.raises(ValueError, match=next(iter(bad))):
        tcp.stream_rate(0.06, "reno", **bad)


def test_without_a_round_trip_nothing_but_the_link_is_a_limit() -> None:
    """A window takes no time."""
    assert tcp.stream_rate(0.0) == math.inf
