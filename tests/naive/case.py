"""What the naive model is given and what it hands back. SI floats: seconds, bits, bit/s.

A float stands for the decimal that it is written as.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .reckoning import Reckoning

Span = tuple[float, float, str, int]
"""(start, end, phase, healthy slices) of one unit."""

Merge = tuple[int, float, float, tuple[int, ...]]
"""(slot, step or round; when its exchange started; when it arrived; units that took part)."""


@dataclass(frozen=True)
class UnitCase:
    """A learner unit: the chips of each of its slices, and the pure compute of its step."""

    name: str
    region: str
    slices: tuple[int, ...]
    step_time: float


@dataclass(frozen=True)
class StrikeCase:
    """A failure of some slices of a unit; the hardware is back detection + repair later.

    They had corrupted the state `since` an instant, if there is one: data_parallel alone knows what
    to do about that.
    """

    time: float
    unit: int
    slices: tuple[int, ...]
    detection: float
    repair: float
    since: float | None = None


@dataclass(frozen=True)
class LinkChange:
    """From `time` on a region's WAN access carries `capacity` bit/s in each direction."""

    time: float
    region: str
    capacity: float


def no_jitter(unit: int, k: int) -> float:
    """Every step takes its nominal time."""
    return 1.0


def no_delay(unit: int, k: int) -> float:
    """No step waits for its data."""
    return 0.0


@dataclass(frozen=True)
class Case:
    """One small scenario with everything already drawn."""

    method: str
    duration: float
    units: tuple[UnitCase, ...]
    strikes: tuple[StrikeCase, ...] = ()
    capacity: dict[str, float] = field(default_factory=dict)
    link_changes: tuple[LinkChange, ...] = ()
    latency: float = 0.0
    parameters: float = 0.0
    layers: int = 1
    inner_steps: int = 1
    fragments: int = 1
    overlap_steps: int = 0
    quorum: int = 1
    grace: float = 0.0
    mixing: float = 0.0
    payload_bits: float = 32.0
    gradient_bits: float = 16.0
    broadcast_bits: float = 16.0
    tokens_per_step: float = 1.0
    apply: str = "on_arrival"
    below_quorum: str = "block"
    syncer_time: float = 0.0
    release: str = "by_layer"
    on_failure: str = "wait"
    jitter: Callable[[int, int], float] = no_jitter
    delay: Callable[[int, int], float] = no_delay
    """Seconds before the compute of a step in which its data are not there yet."""
    downscale: float = 0.0
    upscale: float = 0.0
    elastic_rule: str = "absorb"
    restart_time: float = 0.0
    restart_rule: str = "extend"
    spares: int = 0
    checkpoint_policy: str = "none"
    interval: float | None = None
    interval_steps: int = 1
    save: float = 0.0
    restore: float = 0.0
    age_while_down: str = "runs"
    reckoning: Reckoning | None = None
    """None in seconds, as a case is made; else the clock on which it is being lived through."""

    @property
    def chips(self) -> int:
        """Chips of all units, spares apart."""
        return sum(sum(unit.slices) for unit in self.units)


def retimed(case: Case, change: Callable[[float], float]) -> Case:
    """The case with every instant and every stall changed; not what steps and bits take."""
    return replace(
        case,
        duration=change(case.duration),
        strikes=tuple(
            replace(
                strike,
                time=change(strike.time),
                detection=change(strike.detection),
                repair=change(strike.repair),
                since=None if strike.since is None else change(strike.since),
            )
            for strike in case.strikes
        ),
        link_changes=tuple(replace(link, time=change(link.time)) for link in case.link_changes),
        syncer_time=change(case.syncer_time),
        downscale=change(case.downscale),
        upscale=change(case.upscale),
        restart_time=change(case.restart_time),
        interval=None if case.interval is None else change(case.interval),
        save=change(case.save),
        restore=change(case.restore),
    )


@dataclass(frozen=True)
class NaiveResult:
    """Accounts in chip-seconds and everything else that the engine must agree with."""

    accounts: list[dict[str, float]]
    """Per unit, and last the spares if there are any."""
    spans: list[list[Span]]
    steps: list[float]
    """Per unit: completed, less rolled back."""
    tokens: float
    merges: list[Merge]
    """Those that arrived before the end."""
    wan_bytes: float
    """Sent by the busiest region, in one direction, before the end."""
    merged: float
    """Steps x fragments of what was not rolled back whose first answer is in a merge."""
    overwritten: float
    """Those whose fragment was received, or their unit lost, before that."""
    pending: float
    """Those of which neither is true yet."""
    tokens_merged: float
    strikes: int
    """Strikes on what was up."""
    late_answers: int | None
    """Answers that came after their slot had closed; None where nobody answers."""
