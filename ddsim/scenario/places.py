"""Cloud regions by name, and how long a message takes between two of them."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass

from ddsim import reference

LIGHT = 299_792_458.0
"""Meters a second in empty space."""
IN_FIBRE = 2.0 / 3.0
"""Of that, in glass."""
_RADIUS = 6_371_008.8  # the Earth's mean, m


@dataclass(frozen=True, slots=True)
class Place:
    """A cloud region: where it stands, in degrees north and east."""

    name: str
    city: str
    latitude: float
    longitude: float


@functools.cache
def places() -> Mapping[str, Place]:
    """The catalogue, by names such as `aws:us-east-1`."""
    found = {}
    for row in reference.rows("cloud_regions"):
        at = reference.numbers(row, "latitude", "longitude")
        found[row["place"]] = Place(row["place"], row["city"], *at)
    return found


def distance(here: str, there: str) -> float:
    """Meters between two places along the great circle (haversine formula)."""
    one, other = places()[here], places()[there]
    north, beside = math.radians(one.latitude), math.radians(other.latitude)
    east = math.radians(other.longitude - one.longitude)
    square = (
        math.sin((beside - north) / 2) ** 2
        + math.cos(north) * math.cos(beside) * math.sin(east / 2) ** 2
    )
    return 2.0 * _RADIUS * math.asin(math.sqrt(square))


def measured_round_trip(here: str, there: str) -> float | None:
    """Seconds of a round trip between two places as measured, None where nobody is cited."""
    return _measured().get(frozenset((here, there)))


def place_latency(here: str, there: str, route_factor: float) -> float:
    """Seconds from one place to another: half of a measured round trip, else by distance.

    That is the great circle, longer by the route factor, at two thirds of the speed of light.
    """
    known = measured_round_trip(here, there)
    if known is not None:
        return known / 2.0
    return distance(here, there) * route_factor / (LIGHT * IN_FIBRE)


@functools.cache
def _measured() -> Mapping[frozenset[str], float]:
    return {
        frozenset((row["place"], row["other"])): reference.numbers(row, "round_trip_ms")[0] / 1e3
        for row in reference.rows("cloud_round_trips")
    }
