"""The tables of docs/links.md, each made by a function.

`python tests/links_doc.py --write` writes them into the page.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bandwidth_doc import table
from scipy.optimize import brentq

import ddsim
from ddsim import reference
from ddsim.bandwidth import step_model, utilization
from ddsim.bandwidth.streams import least_streams, with_streams
from ddsim.scenario.places import IN_FIBRE, LIGHT, distance, places
from ddsim.theory import ring_factor, tcp

PAGE = Path(__file__).parent.parent / "docs" / "links.md"
_BLOCK = re.compile(r"<!-- table: (?P<name>\w+) -->\n(?P<text>.*?)<!-- end -->", re.DOTALL)
GIGA = 1e9
PAYLOAD = 1.073e9 * 8
EUROPE, AMERICA = 0.010, 0.040
"""Round trips of the rings, assumed: between the hubs of Western Europe, and of North America."""
RINGS = {"Western Europe: 6 peers": (6, EUROPE), "North America: 12 peers": (12, AMERICA)}
PLAIN: dict[str, Any] = {
    "congestion": "cubic",
    "loss": 0.0,
    "window": tcp.DEFAULT_WINDOW,
    "mtu": tcp.MTU,
}
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
"""Paths, and the Gbit/s of a stream worked out by hand."""

METHODS = ("data_parallel", "diloco", "streaming_diloco", "decoupled_diloco")


def points() -> str:
    """Rates of a stream, worked out by hand and by the closed forms."""
    body = []
    for path, by_hand in POINTS:
        said = {**PLAIN, **path}
        flight = tcp.stream_window(**said) / tcp.segment_size(said["mtu"])
        body.append(
            (
                said["congestion"],
                f"{1e3 * said['round_trip']:g} ms",
                f"{said['loss']:g}",
                f"{said['window'] / 8e3:,g} kB",
                f"{said['mtu'] / 8:,g} B",
                f"{flight:,.1f}",
                f"{by_hand:.6f}",
                f"{tcp.stream_rate(**said) / GIGA:.6f}",
            )
        )
    head = ("congestion", "round trip", "loss", "window", "mtu", "segments", "by hand", "here")
    return table(head, body)


def routes() -> str:
    """Measured round trips beside distance."""
    pairs = [(row["place"], row["other"]) for row in reference.rows("cloud_round_trips")]
    body = []
    for here, there in (pairs[1], pairs[2], pairs[4], pairs[24], pairs[38]):
        measured = next(
            float(row["round_trip_ms"])
            for row in reference.rows("cloud_round_trips")
            if (row["place"], row["other"]) == (here, there)
        )
        straight = 2e3 * distance(here, there) / (LIGHT * IN_FIBRE)
        names = " to ".join(f"{places()[name].city}" for name in (here, there))
        factor = f"{measured / straight:.2f}"
        body.append((names, f"{distance(here, there) / 1e3:,.0f}", f"{measured:g}", factor))
    return table(
        ("pair", "km", "measured round trip (ms)", "times the great circle in fibre"), body
    )


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


def stream_counts() -> dict[int, tuple[float, float]]:
    """Gbit/s of a peer in Western Europe by number of streams: predicted, published."""
    found = {
        int(row["streams"]): float(row["value"])
        for row in reference.rows("wan_streams")
        if row["setting"] == "Western Europe: 6 peers"
    }
    each = brentq(lambda rate: both_ways(16, 16 * rate) - found[16], 1e7, 1e11)
    ceiling = brentq(lambda rate: both_ways(64, rate) - found[64], 1e9, 1e12)
    return {
        streams: (both_ways(streams, tcp.streams_rate(streams, each, ceiling)), value)
        for streams, value in found.items()
    }


def ring_times() -> dict[str, tuple[float, float]]:
    """Seconds of the rings over one connection: from their rate, published."""
    times = {}
    for where, (peers, round_trip) in RINGS.items():
        rows = [row for row in reference.rows("wan_streams") if row["setting"].startswith(where)]
        seconds, rate = (float(row["value"]) for row in rows if "reduce" in row["setting"])
        times[where] = ring_time(peers, 1, rate * GIGA / 2, round_trip), seconds
    return times


def measured() -> str:
    """Streams of six peers."""
    fitted = {16: "the rate of a stream", 64: "the ceiling"}
    body = [
        (streams, f"{ours:.2f}", f"{theirs:.2f}", fitted.get(streams, f"{ours / theirs - 1:+.1%}"))
        for streams, (ours, theirs) in stream_counts().items()
    ]
    return table(("streams", "Gbit/s here", "published", "off by, or gives"), body)


def rings() -> str:
    """Rings over one connection."""
    body = [
        (where, f"{ours:.1f}", f"{theirs:.1f}", f"{ours / theirs - 1:+.1%}")
        for where, (ours, theirs) in ring_times().items()
    ]
    return table(("ring", "seconds here", "published", "off by"), body)


def losses() -> str:
    """Utilization with one stream and losses, and how many streams bring it back."""
    plan = ddsim.load("four_regions_12b", {"network.efficiency": None})
    body = []
    for method in METHODS:
        model = step_model(plan.for_method(method))
        alone = float(utilization(method, model, 5.0))
        cells = []
        for loss in (0.0, 1e-6, 1e-5, 1e-4):
            one = with_streams(model, 1, loss=loss)
            reached = float(utilization(method, one, 5.0))
            cells.append(f"{reached:.2%} ({least_streams(method, one, 0.99 * alone, 5.0)})")
        body.append((method, f"{alone:.2%}", *cells))
    head = ("utilization (streams)", "link alone", "no loss", "1e-6", "1e-5", "1e-4")
    return table(head, body)


MAKERS: dict[str, Callable[[], str]] = {
    maker.__name__: maker for maker in (points, routes, measured, rings, losses)
}


def blocks() -> dict[str, str]:
    """The tables as they stand in the page, by name."""
    text = PAGE.read_text(encoding="utf-8")
    return {match["name"]: match["text"] for match in _BLOCK.finditer(text)}


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        raise SystemExit(__doc__)
    PAGE.write_text(
        _BLOCK.sub(
            lambda match: f"<!-- table: {match['name']} -->\n{MAKERS[match['name']]()}<!-- end -->",
            PAGE.read_text(encoding="utf-8"),
        ),
        encoding="utf-8",
    )
