"""How many streams a bandwidth takes, and what they have in flight."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ddsim.bandwidth.model import Reading, StepModel
from ddsim.bandwidth.solve import required
from ddsim.bandwidth.streams import least_streams
from ddsim.theory.tcp import DEFAULT_WINDOW, streams_for


@dataclass(frozen=True, slots=True)
class Flight:
    """What a bandwidth of a hop, in Gbit/s, has in flight on the way (bits), over how many streams.

    `window` is what one stream has in flight at most (bits).
    """

    gbps: float
    bits: float
    streams: int
    window: float

    def to_dict(self) -> dict[str, Any]:
        """Plain data: megabytes."""
        return {
            "gbps": self.gbps,
            "in_flight_mb": self.bits / 8e6,
            "streams": self.streams,
            "window_mb": self.window / 8e6 if math.isfinite(self.window) else None,
        }


def flights(
    method: str, model: StepModel, needed: Mapping[float, float], reading: Reading
) -> dict[float, Flight | None]:
    """What each required bandwidth (Gbit/s by target) takes; None where no streams reach it.

    The streams are those of the scenario, or of Linux's defaults where it says nothing of them. A
    target that is out of reach for want of streams gets the least number that reach it, and the
    bandwidth that it needs with them.
    """
    if model.round_trip == 0.0 or model.datacenters == 1:
        return {}
    each = model.stream_rate
    if model.streams is None:
        each = DEFAULT_WINDOW / model.round_trip
    found: dict[float, Flight | None] = {}
    for target, gbps in needed.items():
        streams = 1
        if gbps == math.inf and model.streams is not None:
            least = least_streams(method, model, target, reading=reading)
            if least is not None:
                streams = least
                gbps = required(method, replace(model, streams=least), [target], reading)[target]
        rate = gbps * 1e9 * model.efficiency / model.connections
        if gbps == math.inf:
            found[target] = None
            continue
        streams = max(streams, int(streams_for(rate, each)))
        flight = rate * model.round_trip
        found[target] = Flight(rate / 1e9, flight, streams, each * model.round_trip)
    return found


def in_words(flight: Flight | None) -> str:
    """Such as "37.5 MB in flight, 7 streams"."""
    if flight is None:
        return "out of reach"
    streams = f"{flight.streams} stream{'s'[: flight.streams != 1]}"
    return f"{flight.bits / 8e6:.3g} MB, {streams}"


def windows(all_flights: Iterable[Flight | None]) -> float:
    """The window of a stream (bits), of flights over alike streams; infinite without any."""
    return max((flight.window for flight in all_flights if flight), default=math.inf)
