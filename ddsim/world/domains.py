"""What fails at once: the parts of every failure domain, and the slices that each takes down."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ddsim.world.cluster import Cluster, UnitPlan

    # units, and the indices of the slices in each that go down together
    Places = Sequence[tuple[int, Sequence[int]]]


# Domains of hardware, and the job; links and replicas fail on their own.
DOMAINS = ("chip", "slice", "rack", "unit", "region", "job")


class Parts:
    """The parts of one domain: `count` of them, numbered unit by unit.

    `places(part)` says what goes down with a part. The job is one part; which unit's learner it
    hits in methods that have several is for the caller to draw from `units`.
    """

    def __init__(self, domain: str, cluster: Cluster) -> None:
        self.domain = domain
        self.units = len(cluster.units)
        self._plans = cluster.units
        self._racks = cluster.slices_per_rack
        self._regions = [
            [plan.index for plan in cluster.units if plan.region == region]
            for region in dict.fromkeys(plan.region for plan in cluster.units)
        ]
        self._edges = list(accumulate(self._in_unit(plan) for plan in cluster.units))
        if domain == "region":
            self.count = len(self._regions)
        else:
            self.count = 1 if domain == "job" else self._edges[-1]

    def _in_unit(self, plan: UnitPlan) -> int:
        """Parts that stand in one unit."""
        if self.domain == "chip":
            return plan.chips
        if self.domain == "slice":
            return plan.slice_count
        return -(-plan.slice_count // self._racks) if self.domain == "rack" else 1

    def places(self, part: int) -> Places:
        """What goes down with a part; of the job, the part is the unit that it hits."""
        if self.domain == "job":
            return ((part, ()),)
        if self.domain == "region":
            return [(index, range(self._plans[index].slice_count)) for index in self._regions[part]]
        unit = bisect_right(self._edges, part)
        plan = self._plans[unit]
        if self.domain == "unit":
            return ((unit, range(plan.slice_count)),)
        inside = part - (self._edges[unit - 1] if unit else 0)
        if self.domain == "chip":
            return ((unit, (inside // plan.slice_size,)),)
        if self.domain == "slice":
            return ((unit, (inside,)),)
        first = inside * self._racks
        return ((unit, range(first, min(first + self._racks, plan.slice_count))),)
