"""The hardware of a run: units of slices of chips, standing in regions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ddsim.scenario import Scenario


@dataclass(frozen=True, slots=True)
class UnitPlan:
    """One learner unit as it was built, before anything fails.

    The slices have `slice_size` chips each; the last one has what is left of `chips`.
    `step_time` is the pure compute of one of its steps in seconds.
    """

    index: int
    name: str
    region: str
    chip: str
    chips: int
    slice_size: int
    step_time: float

    @property
    def slice_count(self) -> int:
        """Number of slices."""
        return -(-self.chips // self.slice_size)

    def size(self, index: int) -> int:
        """Chips of slice `index`."""
        return min(self.slice_size, self.chips - index * self.slice_size)


@dataclass(frozen=True, slots=True)
class Cluster:
    """All units, and the spare slices that stand besides them.

    `placed` says how many of the spares stand in which region; without it they are spread evenly.
    `slices_per_rack` neighbouring slices of a unit share a rack; its last rack may have fewer.
    `hosts` are the units that share their compute, and how long a step of each takes that has the
    host for itself, as a share of its step time.
    """

    units: tuple[UnitPlan, ...]
    spares: int = 0
    slices_per_rack: int = 1
    placed: tuple[tuple[str, int], ...] = ()
    hosts: tuple[tuple[list[int], list[float]], ...] = ()

    @property
    def spares_by_region(self) -> dict[str, int]:
        """Spare slices in each region: as placed, else as evenly as may be, the first get more."""
        if self.placed:
            return dict(self.placed)
        regions = dict.fromkeys(unit.region for unit in self.units)
        each, more = divmod(self.spares, len(regions))
        return {region: each + (index < more) for index, region in enumerate(regions)}

    @property
    def chips(self) -> int:
        """Chips of the units; spares are not among them."""
        return sum(unit.chips for unit in self.units)

    @property
    def spare_chips(self) -> int:
        """Chips of the spare slices."""
        return self.spares * max(unit.slice_size for unit in self.units)

    def unit_named(self, name: str) -> UnitPlan:
        """Return the unit of that name; KeyError where there is none."""
        for unit in self.units:
            if unit.name == name:
                return unit
        raise KeyError(name)


def build(scenario: Scenario) -> Cluster:
    """Lay the scenario's cluster out, unit by unit."""
    units = tuple(
        UnitPlan(
            index=index,
            name=unit.name,
            region=unit.region,
            chip=unit.chip,
            chips=unit.chips,
            slice_size=unit.chips_per_slice,
            step_time=unit.step_time,
        )
        for index, unit in enumerate(scenario.units())
    )
    placed: dict[str, int] = {}
    for unit in scenario.units():
        if unit.spares:
            placed[unit.region] = placed.get(unit.region, 0) + unit.spares
    restart, rack = scenario.restart, scenario.cluster.slices_per_rack
    return Cluster(units, restart.spares, rack, tuple(placed.items()), _hosts(scenario))


def _hosts(scenario: Scenario) -> tuple[tuple[list[int], list[float]], ...]:
    by_name: dict[str, list[int]] = {}
    for index, unit in enumerate(scenario.units()):
        if unit.host:
            by_name.setdefault(unit.host, []).append(index)
    shared = [units for units in by_name.values() if len(units) > 1]
    return tuple(
        (units, [_alone(scenario, unit, len(units)) for unit in units]) for units in shared
    )


def _alone(scenario: Scenario, index: int, units: int) -> float:
    unit = scenario.units()[index]
    return 1.0 / units if unit.step_time_alone is None else unit.step_time_alone / unit.step_time
