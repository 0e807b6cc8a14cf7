"""``failures`` and ``chaos``: what breaks, when, and when it is back."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal, get_args

from ddsim.scenario.fields import Choice, Flag, Number, Quantity, Range, Text, count
from ddsim.scenario.presence import Maintenance
from ddsim.scenario.repair import Repair, RepairSpec
from ddsim.scenario.section import Section, described, required
from ddsim.scenario.stalls import Length, Span
from ddsim.scenario.units import BANDWIDTH, TIME, read_number

Ages = Literal["runs", "stops"]
Fault = Literal["kill", "slow", "cut", "throttle", "flap", "lose_replica"]
Domain = Literal["chip", "slice", "rack", "unit", "region", "link", "replica", "job"]


class Left(Quantity):
    """A bandwidth, or a share between 0 and 1, which is a bare number."""

    def read(self, value: Any, context: Any = None) -> float:
        """The bandwidth in bit/s, or the share."""
        number = read_number(value) if isinstance(value, str) else value
        if isinstance(number, float) and 0.0 < number < 1.0:
            return number
        return super().read(value, context)

    def write(self, value: Any) -> Any:
        """The share as a number, the bandwidth with its unit."""
        return value if value < 1.0 else super().write(value)

    def json_schema(self) -> dict[str, Any]:
        """A text, or a number."""
        share = {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}
        return {"anyOf": [super().json_schema(), share]}


class Burst(Section):
    """Failures that come together."""

    size: Annotated[int, count(most=100_000)] = described(
        1, "Parts that fail together; the others of a burst are any parts of the same domain."
    )
    spread: Annotated[float, Quantity(TIME)] = described(
        0.0, "Time after the first within which the others of a burst fail."
    )


class Lemons(Section):
    """Parts that fail more often than the others of their domain."""

    share: Annotated[float, Number(Range(0.0, 1.0, below=True))] = described(
        0.0, "Share of the parts that are lemons; where it is above 0 at least one is."
    )
    factor: Annotated[float, Number(Range(1.0, 1e6))] = described(
        1.0, "How many times as often as any other part a lemon fails."
    )
    out_after: Annotated[int | None, count()] = described(
        None,
        "After how many of its failures a lemon is taken out, for a part like the others.",
        otherwise="it stays",
    )


class Cause(Section):
    """One cause of failures: what it takes out, how often, and what it takes to recover.

    How often is said by one of `mtbi`, `count` with `per`, and `lifetime`.
    """

    name: Annotated[str, Text("a name")] = required("", "Name in results.")
    domain: Annotated[Domain, Choice(get_args(Domain))] = required(
        "chip",
        "What fails at once. A chip takes its slice down, a region its units and the syncer's "
        "replicas beside them. A link is one of "
        "network.links, or without any a region's WAN access; a replica the host beside a unit on "
        "which decoupled_diloco's syncer stands, or a central syncer's own. A failure of the job "
        "takes no hardware: it stops the job, or in methods with learners one of them.",
    )
    mtbi: Annotated[float | None, Quantity(TIME, Range(0.0, above=True), "never")] = described(
        None, "Mean time between failures of one part of the domain.", otherwise="none"
    )
    count: Annotated[float | None, Number(Range(0.0))] = described(
        None, "Expected failures of all its parts together in the time `per`.", otherwise="none"
    )
    per: Annotated[float | None, Quantity(TIME, Range(0.0, above=True))] = described(
        None, "Time in which `count` is expected.", otherwise="none"
    )
    lifetime: Annotated[RepairSpec | None, Repair()] = described(
        None,
        "Distribution of the life of a part: all are new at the start; a part that is replaced is "
        "new again, and so is a job's process once its failure is detected; other parts go on at "
        "their age.",
        otherwise="exponential",
    )
    detection: Annotated[Length | None, Span(TIME)] = described(
        None,
        "Time from a failure until it is known; as restart.time, drawn anew for every failure.",
        otherwise="failures.detection",
    )
    repair: Annotated[RepairSpec | None, Repair()] = described(
        None,
        "Time from the end of detection until what failed is back.",
        otherwise="failures.repair",
    )
    replace: Annotated[bool, Flag()] = described(
        True,
        "Whether hardware has to be repaired or replaced; else it is back once the failure is "
        "detected.",
    )
    state_lost: Annotated[bool, Flag()] = described(
        True,
        "Whether a job that the failure stops has lost its state, and goes back to its last save; "
        "else it goes on where it was. A unit without any hardware always loses its own.",
    )
    unallocated: Annotated[bool, Flag()] = described(
        False, "Whether the hardware is taken from the job, as by preemption, rather than fails."
    )
    notice: Annotated[float, Quantity(TIME)] = described(
        0.0,
        "Warning before the failure: it shortens the detection, and with the time for a save "
        "(`checkpoint.save`) no state is lost.",
    )
    to: Annotated[float | None, Quantity(BANDWIDTH, Range(0.0, above=True))] = described(
        None, "Bandwidth that a failed link has left.", otherwise="none"
    )
    slow_to: Annotated[float | None, Number(Range(0.0, 1.0, above=True, below=True))] = described(
        None,
        "Share of its speed to which hardware slows down, for the time of the repair, in place of "
        "failing; its unit steps at that speed.",
        otherwise="none",
    )
    latent: Annotated[float, Quantity(TIME)] = described(
        0.0,
        "Time for which a corruption of state stays unnoticed; when it is noticed the job goes "
        "back to the last save from before it, for which it keeps all, and so do learners that "
        "have merged what is corrupt. A corrupt learner that nobody has merged restarts from the "
        "others.",
    )
    screened: Annotated[bool, Flag()] = described(
        False,
        "Whether learners screen what they merge, so that nothing corrupt gets into it: what is "
        "`latent` then costs the restart of its own unit alone.",
    )
    burst: Burst = described(Burst(), "Failures that come together.")
    lemons: Lemons = described(
        Lemons(),
        "A share of the parts that fails more often: `mtbi` is that of the others, `count` all "
        "failures together while no lemon has been taken out. Not with `lifetime`.",
        otherwise="all parts are alike",
    )


class Failures(Section):
    """Failures drawn at random."""

    chip_mtbi: Annotated[float, Quantity(TIME, Range(0.0, above=True), "never")] = described(
        math.inf, "Mean time between interruptions of one chip, exponentially distributed."
    )
    repair: Annotated[RepairSpec, Repair()] = described(
        RepairSpec("constant", {"value": 1200.0}),
        "Time from the end of detection until the hardware is back: a time, or a distribution.",
        otherwise="20 min",
    )
    detection: Annotated[Length, Span(TIME)] = described(
        10.0,
        "Time from a failure until it is known; as restart.time, drawn anew for every failure. "
        "Planned absences, traces of nodes and spares take the mean.",
    )
    age_while_down: Annotated[Ages, Choice(get_args(Ages))] = described(
        "runs",
        "Whether a unit ages, and can be struck, while it does not step. With stops the lifetimes "
        "of causes are exponential.",
    )
    crews: Annotated[int | None, count()] = described(
        None,
        "Repairs that can be under way at once; others wait in the order of detection.",
        otherwise="any number",
    )
    causes: tuple[Cause, ...] = described(
        (), "Causes of failures one by one, instead of `chip_mtbi`."
    )
    maintenance: tuple[Maintenance, ...] = described(
        (), "Planned times out; no failure, and no work is lost."
    )


class Chaos(Section):
    """One planned fault."""

    at: Annotated[float, Quantity(TIME)] = required(0.0, "When it strikes.")
    fault: Annotated[Fault, Choice(get_args(Fault))] = required(
        "kill",
        "kill or slow hardware; cut, throttle or flap a region's WAN access or a link; "
        "lose_replica, the host on which decoupled_diloco's syncer stands, with what it holds.",
    )
    target: Annotated[str, Text("what it strikes")] = required(
        "",
        "`UNIT`, `UNIT/slice N`, `UNIT/chip N` (from 0) to kill or slow; a region or `A-B` to cut, "
        "throttle or flap; a region, or the `UNIT` beside which it stands, to lose a replica.",
    )
    duration: Annotated[float, Quantity(TIME, Range(0.0, above=True), "never")] = described(
        math.inf, "How long until it is healed; `never` for good.", alias="for"
    )
    to: Annotated[float | None, Left(BANDWIDTH, Range(0.0, above=True))] = described(
        None,
        "What is left: the bandwidth of a throttled link, or the share of its speed, such as 0.6, "
        "of what is slowed down.",
        otherwise="none",
    )
    every: Annotated[float | None, Quantity(TIME, Range(0.0, above=True))] = described(
        None, "How long a flapping link is down, and then up, in turn.", otherwise="none"
    )
