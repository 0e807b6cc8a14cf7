"""``network``: the links between regions, what they carry, cost, and how they change."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal, get_args

from pydantic_core import core_schema

from ddsim.naming import shown
from ddsim.scenario.fields import (
    Choice,
    Fault,
    Kind,
    Number,
    Quantity,
    Range,
    Text,
    count,
    refuse,
    refuse_all,
)
from ddsim.scenario.section import Section, described, required
from ddsim.scenario.units import BANDWIDTH, DATA, PRICE, TIME
from ddsim.scenario.variation import Varying
from ddsim.theory.tcp import BYTE, CONGESTIONS, DEFAULT_WINDOW, MTU, Congestion

Collective = Literal["ring", "hierarchical", "parameter_server"]

_SHARE = Number(Range(0.0, 1.0, above=True))
_ACCESS = Quantity(BANDWIDTH, Range(0.0, above=True), "unlimited")
_PRICE = Quantity(PRICE)


class Tcp(Section):
    """The streams that a transfer is sent over, from which follows what it gets of a link."""

    streams: Annotated[int, count()] = described(1, "Connections that share a transfer.")
    congestion: Annotated[Congestion, Choice(CONGESTIONS)] = described(
        "cubic", "The kind of congestion control."
    )
    window: Annotated[float, Quantity(DATA, Range(0.0, above=True), "unlimited")] = described(
        DEFAULT_WINDOW, "What the kernel lets one stream have in flight."
    )
    loss: Annotated[float, Number(Range(0.0, 1.0, below=True))] = described(
        0.0, "Share of packets that the path drops, each on its own."
    )
    mtu: Annotated[float, Quantity(DATA, Range(576 * BYTE, 65_535 * BYTE))] = described(
        MTU, "Largest packet, its 40 bytes of headers included."
    )


class Region(Varying):
    """The WAN access of one region."""

    bandwidth: Annotated[float, _ACCESS] = described(
        math.inf, "Its WAN access in each direction.", otherwise="of the network"
    )
    upload: Annotated[float, _ACCESS] = described(
        math.inf, "What it can send.", otherwise="its bandwidth"
    )
    download: Annotated[float, _ACCESS] = described(
        math.inf, "What it can receive.", otherwise="its bandwidth"
    )
    latency: Annotated[float | None, Quantity(TIME)] = described(
        0.0, "Time that a message takes to or from it.", otherwise="of the network"
    )
    place: Annotated[str | None, Text("a cloud region, such as aws:us-east-1")] = described(
        None,
        "The cloud region in which it stands (`ddsim list places`): latencies between two follow "
        "from measurement or distance, where neither has one and the network has none.",
    )
    price: Annotated[float | None, _PRICE] = described(
        None, "Price of what it sends.", otherwise="of the network"
    )
    tcp: Tcp = described(Tcp(), "Its streams, field by field.", otherwise="of the network")


class _Pair(Kind):
    """Two different names."""

    def read(self, value: Any, context: Any = None) -> tuple[str, str]:
        """The two names."""
        allowed = "a list of two different regions"
        if not isinstance(value, list | tuple) or len(value) != 2:
            raise refuse(shown(value), allowed)
        for index, name in enumerate(value):
            if not isinstance(name, str):
                raise refuse_all([((index,), shown(name), "a region's name")])
        if value[0] == value[1]:
            raise refuse(f'"{value[0]}" twice', allowed)
        return (value[0], value[1])

    def write(self, value: Any) -> list[str]:
        """A list."""
        return list(value)

    def json_schema(self) -> dict[str, Any]:
        """An array of two strings."""
        return {"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 2}


class Link(Varying):
    """A link between two regions with limits of its own."""

    between: Annotated[tuple[str, str], _Pair()] = required(("", ""), "The two regions it joins.")
    bandwidth: Annotated[float, _ACCESS] = described(
        math.inf, "What it carries in each direction.", otherwise="of the network"
    )
    latency: Annotated[float, Quantity(TIME)] = described(
        0.0, "Time that a message takes on it.", otherwise="of the network"
    )
    price: Annotated[float | None, _PRICE] = described(
        None, "Price of what it carries, besides what the regions pay."
    )
    tcp: Tcp = described(Tcp(), "Its streams, field by field.", otherwise="of its regions")


class _Regions(Kind):
    """A mapping of names to regions, or a list of names."""

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> core_schema.CoreSchema:
        return core_schema.no_info_before_validator_function(self.read, handler(source))

    def read(self, value: Any, context: Any = None) -> Any:
        """The mapping that a list of names stands for."""
        if isinstance(value, dict):
            return {name: {} if region is None else region for name, region in value.items()}
        if not isinstance(value, list | tuple):
            raise refuse(shown(value), "a list of names, or a mapping of names to their bandwidths")
        return {name: {} for name in _names(value)}

    def json_schema(self) -> dict[str, Any]:
        """A list or a mapping."""
        region = {"type": ["object", "null"], "additionalProperties": True}
        return {
            "anyOf": [
                {"type": "array", "items": {"type": "string"}},
                {"type": "object", "additionalProperties": region},
            ]
        }


def _names(value: Any) -> list[str]:
    names: list[str] = []
    faults: list[Fault] = []
    for index, name in enumerate(value):
        if not isinstance(name, str) or not name.strip():
            faults.append(((index,), shown(name), "a region's name"))
        elif name in names:
            faults.append(((index,), f'"{name}" again', "each region once"))
        else:
            names.append(name)
    if faults:
        raise refuse_all(faults)
    return names


class Network(Varying):
    """The wide-area network between regions. What varies is each region's access."""

    bandwidth: Annotated[float, _ACCESS] = described(
        math.inf, "WAN access of each region in each direction."
    )
    latency: Annotated[float | None, Quantity(TIME)] = described(
        0.0,
        "Time that a message takes between two regions, one way.",
        otherwise="by the regions' places, else 0 s",
    )
    route_factor: Annotated[float, Number(Range(1.0, 100.0))] = described(
        1.8, "How much longer than the great circle a line between two places is."
    )
    efficiency: Annotated[float, _SHARE] = described(
        1.0, "Share of a link's bandwidth that a transfer really gets; not beside `tcp`."
    )
    tcp: Tcp = described(
        Tcp(),
        "The streams that a transfer is sent over, which say what it gets of a link.",
        otherwise="what `efficiency` says",
    )
    sync_cost: Annotated[float, Quantity(TIME)] = described(
        0.0,
        "Fixed time that every synchronization takes besides its bytes and its phases: launches, "
        "a quorum, copies to the host. What it takes for every byte is in `efficiency`.",
    )
    collective: Annotated[Collective, Choice(get_args(Collective))] = described(
        "ring",
        "How units exchange: a ring of all units, a ring of regions (hierarchical: units of one "
        "region reduce among themselves first), or through a parameter_server.",
    )
    server: Annotated[str | None, Text("a region's name")] = described(
        None, "The region of the parameter server.", otherwise="the first region"
    )
    ring_timeout: Annotated[float, Quantity(TIME, Range(0.0, above=True), "never")] = described(
        30.0,
        "Time after which decoupled_diloco merges without the regions that an exchange waits for, "
        "and lock-step methods whose `training.on_failure` is leave without those that are cut.",
    )
    recovery_share: Annotated[float, _SHARE] = described(
        0.25, "Most of a link that what units and replicas have missed may take, all together."
    )
    price: Annotated[float | None, _PRICE] = described(
        None, "Price of what a region sends over the WAN.", otherwise="nothing"
    )
    regions: Annotated[dict[str, Region], _Regions()] = described(
        {},
        "The regions: a list of names, or name: {bandwidth, upload, download, latency, ...}.",
        otherwise="one for each unit: region 0, region 1, ...",
    )
    links: tuple[Link, ...] = described((), "Links between two regions with limits of their own.")

    @property
    def has_streams(self) -> bool:
        """Whether `tcp` says anywhere what a transfer gets, in place of `efficiency`."""
        return any(part.given("tcp") for part in (self, *self.regions.values(), *self.links))
