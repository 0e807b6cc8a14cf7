"""``cluster``: the chips and the units they form."""

from __future__ import annotations

from typing import Annotated

from ddsim.scenario.fields import Number, Quantity, Range, Text, count
from ddsim.scenario.repair import Repair, RepairSpec
from ddsim.scenario.section import Section, described
from ddsim.scenario.units import SPEED, TIME

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
    host: Annotated[str, Text("a host's name")] = described(
        "",
        "What it shares its compute with other units of: a host, or a device. Its step time is the "
        "one with all units of the host computing.",
        otherwise="nothing is shared",
    )
    step_time_alone: Annotated[float | None, Quantity(TIME, Range(0.0, above=True))] = described(
        None,
        "Pure compute of one of its steps while no other unit of its host computes; between that "
        "and its step time it is linear in how many do. In the DiLoCo family only.",
        otherwise="the step time over the units of the host",
    )
    spares: Annotated[int, count(0)] = described(
        0,
        "Spare slices on top of its chips, for all units of its region.",
        otherwise="restart.spares, spread evenly over the regions",
    )

    @property
    def slice_count(self) -> int:
        """Number of slices of a unit that is laid out; the last may be smaller."""
        return -(-self.chips // self.chips_per_slice)


class Cluster(Section):
    """The chips and the units they form."""

    chips: Annotated[int, _CHIPS] = described(
        0, "Chips of all units, spares not among them.", otherwise="the sum of the units' chips"
    )
    chips_per_slice: Annotated[int, count()] = described(
        1, "Chips of a slice, which is what a failure takes out."
    )
    slices_per_rack: Annotated[int, count()] = described(
        1, "Neighbouring slices of a unit that share a rack; its last rack may have fewer."
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
    delay: Annotated[RepairSpec | None, Repair()] = described(
        None,
        "How long a unit waits for its data before the compute of every step (`waiting_on_data`): "
        "a time, or a distribution, drawn for each step and unit apart.",
        otherwise="nothing",
    )
    speed_spread: Annotated[float, Number(Range(0.0, 1.0, below=True))] = described(
        0.0,
        "Relative standard deviation of the slices' speeds, which last; a unit steps at its "
        "slowest slice.",
    )
    units: tuple[Unit, ...] = described((), "The units one by one, instead of `learners`.")
