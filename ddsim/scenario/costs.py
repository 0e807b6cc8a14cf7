"""``prices`` and ``power``: what a chip costs and draws."""

from __future__ import annotations

from typing import Annotated

from ddsim.scenario.fields import Number, Quantity, Range
from ddsim.scenario.section import Section, described
from ddsim.scenario.units import MONEY, POWER


class Prices(Section):
    """What chips cost; what crosses the WAN is priced in ``network``."""

    chip_hour: Annotated[float | None, Quantity(MONEY)] = described(
        None, "Price of one chip for one hour.", otherwise="no prices"
    )
    unallocated: Annotated[float, Number(Range(0.0, 1.0))] = described(
        1.0,
        "Share of the price that a chip outside the job costs: 1 where it is reserved, "
        "0 where it is given back.",
    )


class Power(Section):
    """What chips draw, with the share of host, network and cooling that goes with each."""

    chip: Annotated[float | None, Quantity(POWER)] = described(
        None, "Power that a chip at work draws.", otherwise="no energy is counted"
    )
    idle: Annotated[float | None, Quantity(POWER)] = described(
        None, "Power that a chip in the job draws when it does not compute.", otherwise="as at work"
    )
    overhead: Annotated[float, Number(Range(1.0))] = described(
        1.0, "Power of the site over that of its chips (PUE)."
    )
