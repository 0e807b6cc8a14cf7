"""The tables of docs/links.md, each made by a function.

`python tests/links_doc.py --write` writes them into the page.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path

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
METHODS = ("data_parallel", "diloco", "streaming_diloco", "decoupled_diloco")


def points() -> str:
    """Rates of a stream."""
    body = []
    paths: tuple[tuple[tcp.Congestion, float, float], ...] = (
        ("cubic", 0.060, 0.0),
        ("cubic", 0.060, 1e-6),
        ("cubic", 0.060, 1e-4),
        ("reno", 0.060, 1e-6),
        ("reno", 0.060, 1e-4),
        ("bbr", 0.060, 1e-2),
    )
    for congestion, round_trip, loss in paths:
        held = tcp.loss_window(congestion, loss, round_trip)
        rate = tcp.stream_rate(round_trip, congestion, loss=loss)
        needed = tcp.streams_for(5 * GIGA, rate)
        body.append(
            (congestion, "60 ms", f"{loss:g}", f"{held:,.0f}", f"{rate / GIGA:.3f}", needed)
        )
    head = ("congestion", "round trip", "loss", "segments", "Gbit/s", "streams for 5 Gbit/s")
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
