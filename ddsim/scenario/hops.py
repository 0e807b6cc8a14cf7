"""From one region to another: how long a message takes, and what streams make of the way."""

from __future__ import annotations

from dataclasses import dataclass

from ddsim.scenario.network import Link, Network, Region, Tcp
from ddsim.scenario.places import place_latency
from ddsim.theory import tcp


@dataclass(frozen=True, slots=True)
class Streams:
    """The streams of one hop: `count` of them, each at most `each` (bit/s), at first with `first`
    bits in flight all together; a round trip takes `round_trip` seconds.
    """

    count: int
    each: float
    first: float
    round_trip: float

    @property
    def rate(self) -> float:
        """What all get together, in bit/s, where no link is a limit."""
        return self.count * self.each


def hop_latency(network: Network, here: str, there: str) -> float:
    """Seconds from one region to another, of a network that is laid out.

    A link's own; between places without latencies what the catalogue says; else the longer of the
    two regions'.
    """
    link = _link(network, here, there)
    if link is not None:
        return link.latency or 0.0
    one, other = network.regions[here], network.regions[there]
    if one.latency is None and other.latency is None and one.place and other.place:
        return place_latency(one.place, other.place, network.route_factor)
    return max(one.latency or 0.0, other.latency or 0.0)


def hop_streams(network: Network, here: str, there: str) -> Streams | None:
    """The streams from one region to another, None where `tcp` says nothing of them.

    Those of a link of its own, else whichever of the two regions' get less.
    """
    link = _link(network, here, there)
    ends: tuple[Link | Region, ...] = (network.regions[here], network.regions[there])
    if link is not None and link.given("tcp"):
        ends = (link,)
    round_trip = 2.0 * hop_latency(network, here, there)
    found = [streams_over(end.tcp, round_trip) for end in ends if end.given("tcp")]
    return min(found, key=lambda one: (one.rate, one.first), default=None)


def streams_over(said: Tcp, round_trip: float) -> Streams:
    """What streams as they are said make of a way with a round trip of so many seconds."""
    rate = tcp.stream_rate(round_trip, said.congestion, said.window, said.loss, said.mtu)
    return Streams(said.streams, rate, tcp.first_window(said.streams, said.mtu), round_trip)


def line_share(network: Network, part: Network | Region | Link) -> float:
    """What of a line's bandwidth can carry anything new: what is lost is sent again."""
    return 1.0 - part.tcp.loss if part.given("tcp") else network.efficiency


def _link(network: Network, here: str, there: str) -> Link | None:
    ends = {here, there}
    return next((link for link in reversed(network.links) if set(link.between) == ends), None)
