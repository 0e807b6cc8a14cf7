"""``cluster`` and ``network``: the hardware, and the links between its regions."""

from __future__ import annotations

import math
from typing import Annotated, Any

from pydantic_core import core_schema

from ddsim.scenario.errors import shown
from ddsim.scenario.fields import (
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
from ddsim.scenario.units import BANDWIDTH, SPEED, TIME

_CHIPS = count(most=1_000_000_000_000)
_SHARE = Number(Range(0.0, 1.0, above=True))


class Unit(Section):
    """One learner unit."""

    name: Annotated[str, Text("a unit's name")] = described(
        "", "The unit's name.", otherwise="unit 0, unit 1, ..."
    )
    region: Annotated[str, Text("a region's name")] = described(
        "", "The region it stands in.", otherwise="the regions in turn"
    )
    chips: Annotated[int, _CHIPS] = described(
        0, "Its chips.", otherwise="its share of cluster.chips"
    )
    chips_per_slice: Annotated[int, count()] = described(
        0, "Chips of each of its slices; the last may be smaller.", otherwise="of the cluster"
    )
    chip: Annotated[str | None, Text("a chip's name")] = described(
        None, "Its chip type.", otherwise="of the cluster"
    )
    chip_speed: Annotated[float | None, Quantity(SPEED, Range(0.0, above=True))] = described(
        None, "Peak compute of one of its chips, for one that is not in the catalogue."
    )
    speed: Annotated[float, Number(Range(0.0, above=True))] = described(
        1.0, "Speed relative to the nominal one: its step takes the nominal time / speed."
    )
    step_time: Annotated[float | None, Quantity(TIME, Range(0.0, above=True))] = described(
        None, "Pure compute of one of its steps, instead of what speed gives.", otherwise="derived"
    )

    @property
    def slice_count(self) -> int:
        """Number of slices of a unit that is laid out; the last may be smaller."""
        return -(-self.chips // self.chips_per_slice)


class Cluster(Section):
    """The chips and the units they form."""

    chips: Annotated[int, _CHIPS] = described(
        0, "Chips of all units together.", otherwise="the sum of the units' chips"
    )
    chips_per_slice: Annotated[int, count()] = described(
        1, "Chips of a slice, which is what a failure takes out."
    )
    learners: Annotated[int, count(most=100_000)] = described(
        1, "Number of equal learner units, spread over the regions; not with `units`."
    )
    chip: Annotated[str | None, Text("a chip's name")] = described(
        None, "Chip type, of the catalogue (`ddsim list chips`) where it has to give the step time."
    )
    chip_speed: Annotated[float | None, Quantity(SPEED, Range(0.0, above=True))] = described(
        None, "Peak compute of a chip, for one that is not in the catalogue."
    )
    mfu: Annotated[float, _SHARE] = described(
        0.4, "Share of the chip's peak that a step reaches (model FLOPs utilization)."
    )
    jitter: Annotated[float, Number(Range(0.0, 1.0, below=True))] = described(
        0.0, "Relative standard deviation of the compute of a unit's step."
    )
    units: tuple[Unit, ...] = described((), "The units one by one, instead of `learners`.")


_ACCESS = Quantity(BANDWIDTH, Range(0.0, above=True), "unlimited")


class Region(Section):
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
    latency: Annotated[float, Quantity(TIME)] = described(
        0.0, "Time that a message takes to or from it.", otherwise="of the network"
    )


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


class Link(Section):
    """A link between two regions with limits of its own."""

    between: Annotated[tuple[str, str], _Pair()] = required(("", ""), "The two regions it joins.")
    bandwidth: Annotated[float, _ACCESS] = described(
        math.inf, "What it carries in each direction.", otherwise="of the network"
    )
    latency: Annotated[float, Quantity(TIME)] = described(
        0.0, "Time that a message takes on it.", otherwise="of the network"
    )


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


class Network(Section):
    """The wide-area network between regions."""

    bandwidth: Annotated[float, _ACCESS] = described(
        math.inf, "WAN access of each region in each direction."
    )
    latency: Annotated[float, Quantity(TIME)] = described(
        0.0, "Time that a message takes between two regions."
    )
    efficiency: Annotated[float, _SHARE] = described(
        1.0, "Share of a link's bandwidth that a transfer really gets."
    )
    regions: Annotated[dict[str, Region], _Regions()] = described(
        {},
        "The regions: a list of names, or name: {bandwidth, upload, download, latency}.",
        otherwise="one for each unit: region 0, region 1, ...",
    )
    links: tuple[Link, ...] = described((), "Links between two regions with limits of their own.")
