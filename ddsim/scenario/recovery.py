"""``elastic``, ``restart`` and ``checkpoint``: what a failure costs the job."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args

from pydantic_core import PydanticCustomError

from ddsim.naming import shown
from ddsim.scenario.fields import (
    Choice,
    Flag,
    Kind,
    Number,
    Quantity,
    Range,
    count,
    faults_of,
    refuse,
)
from ddsim.scenario.section import Section, described
from ddsim.scenario.stalls import Length, Span
from ddsim.scenario.units import BANDWIDTH, DATA, TIME, write_quantity

StallRule = Literal["absorb", "extend"]
Policy = Literal["none", "fixed", "young", "daly", "optimal", "in_memory"]
_STEPS = re.compile(r"\s*(\S+)\s+steps?\s*")


class Elastic(Section):
    """Reconfiguring without and with a slice."""

    downscale: Annotated[float, Quantity(TIME)] = described(
        10.0, "Stall, after detection, to go on without a failed slice."
    )
    upscale: Annotated[float, Quantity(TIME)] = described(10.0, "Stall to take a slice back in.")
    granule: Annotated[int, count()] = described(
        1,
        "Chips that are dropped and taken back together, such as those of a replica of the model: "
        "neighbouring slices of a unit, rounded up to whole ones. Those that stand beside a failed "
        "one are `stranded`, and what happens to them costs no stall.",
        otherwise="a slice",
    )
    stall_rule: Annotated[StallRule, Choice(get_args(StallRule))] = described(
        "absorb", "What a failure or return during a stall does: nothing more, or extend it."
    )


class Restart(Section):
    """Starting a job, or a unit that was lost whole, again."""

    time: Annotated[Length, Span(TIME)] = described(
        60.0,
        "Stall of a restart: a time; {phases: {NAME: ...}}, which are summed; {by_chips: "
        "{CHIPS: time}} by the chips of the job, or of the unit of a learner, linear in the "
        "logarithm of chips; or {drawn: DISTRIBUTION}, anew at every restart.",
    )
    stall_rule: Annotated[StallRule, Choice(get_args(StallRule))] = described(
        "extend", "What a failure during a restart of data_parallel does."
    )
    moment_bits: Annotated[float, Number(Range(0.0, 256.0), unit="bit")] = described(
        64.0,
        "Bits a parameter of the inner optimizer's moments, which in the DiLoCo family a unit that "
        "was lost whole copies from another over the links before it steps; without a syncer's "
        "replica beside it, parameters and the outer momentum as well, 32 bits each. 0 where "
        "nothing is copied.",
    )
    spares: Annotated[int, count(0)] = described(
        0,
        "Spare slices on top of cluster.chips, spread evenly over the regions. Those of a region "
        "take the places of slices that failed there; in data_parallel any of them does.",
        otherwise="the sum of the units' spares, else 0",
    )
    spare_start: Annotated[float, Quantity(TIME)] = described(
        0.0, "Time that a cold spare takes to start, from the detection on; 0 s for a hot one."
    )
    standbys: Annotated[int, count(0)] = described(
        0,
        "How many of the spares are kept warm. They go in first; another idle spare is warmed in "
        "the place of one that went, in the time that a cold one takes to start.",
    )
    standby_start: Annotated[float, Quantity(TIME)] = described(
        0.0, "Time that a warm standby takes to start, in place of `spare_start`."
    )
    spares_fail: Annotated[bool, Flag()] = described(
        False, "Whether idle spares fail as often as slices in use."
    )


@dataclass(frozen=True)
class Interval:
    """Time between saves: in seconds of running, or in steps; the other is None."""

    seconds: float | None = None
    steps: int | None = None


class Saves(Kind):
    """A time or a number of steps."""

    unit = "s or steps"
    allowed = f'{TIME.help}, or a number of steps, such as "1 step"'

    def read(self, value: Any, context: Any = None) -> Interval:
        """The interval."""
        match = _STEPS.fullmatch(value) if isinstance(value, str) else None
        try:
            if match:
                return Interval(steps=int(count().read(match[1])))
            return Interval(seconds=Quantity(TIME, Range(0.0, above=True)).read(value))
        except PydanticCustomError as error:
            found = shown(value) if match else faults_of(error)[0][1]
            raise refuse(found, f"above 0: {self.allowed}") from None

    def write(self, value: Any) -> str:
        """The interval as files spell it."""
        if value.steps is not None:
            return f"{value.steps} {'step' if value.steps == 1 else 'steps'}"
        return write_quantity(value.seconds, TIME)

    def json_schema(self) -> dict[str, Any]:
        """A text."""
        return {"type": "string", "examples": ["30 min", "1 step"]}


class Checkpoint(Section):
    """When state is saved, and what saving and restoring cost."""

    policy: Annotated[Policy, Choice(get_args(Policy))] = described(
        "none", "When to save: never, at a fixed or a computed interval, or in memory at each step."
    )
    interval: Annotated[Interval | None, Saves()] = described(
        None, "Running time or steps between saves; `fixed` needs it.", otherwise="by the policy"
    )
    save: Annotated[float, Quantity(TIME)] = described(
        0.0,
        "Time that a save takes, in which the job stands unless it is asynchronous.",
        otherwise="0 s, or size / bandwidth",
    )
    restore: Annotated[float, Quantity(TIME)] = described(
        0.0, "Stall to restore a save.", otherwise="0 s, or size / bandwidth"
    )
    spread: Annotated[float, Number(Range(0.0, 2.0))] = described(
        0.0,
        "How far saves and restores scatter: the standard deviation of each over its mean, which "
        "is the time given; lognormal. Where saves overlap with running, how far `stall` does.",
    )
    asynchronous: Annotated[bool, Flag()] = described(
        False,
        "Whether a save overlaps with running: it stands for `stall` alone, is complete after "
        "`save`, and no other begins before that.",
    )
    stall: Annotated[float, Quantity(TIME)] = described(
        0.0, "Time for which an asynchronous save holds the job up."
    )
    size: Annotated[float, Quantity(DATA, Range(0.0, above=True))] = described(
        0.0,
        "What a save holds.",
        otherwise="14 bytes a parameter: 16-bit weights, 32-bit master copy and two moments",
    )
    bandwidth: Annotated[float | None, Quantity(BANDWIDTH, Range(0.0, above=True))] = described(
        None,
        "Rate at which all of the job together writes and reads a save; it gives `save` and "
        "`restore` where they are not given.",
        otherwise="none",
    )
