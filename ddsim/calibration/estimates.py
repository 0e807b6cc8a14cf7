"""What a run log says of each value of a scenario, with the interval that it leaves."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import sqrt
from pathlib import Path
from typing import TYPE_CHECKING

from scipy.special import stdtrit

from ddsim.calibration.busy import Company, company_of
from ddsim.calibration.intervals import TAILS, Interval, line, mean_of_times, of_series, poisson

if TYPE_CHECKING:
    from ddsim.logs.run_log import Event, RunLog

SHARES_HOST = 0.8
"""A step alone takes less than this share of one in company where units share a host."""
ENOUGH = 5
"""Rows of each kind before two kinds of step are told apart."""
CUT = "partition"
"""The fault during which what a unit does may take as long as that does."""
TIMEOUT_GRAIN = 0.05
"""Relative distance within which waits for a lost unit are one timeout."""


@dataclass(frozen=True)
class Estimate:
    """One value: what it is, its interval, and the rows that it came from.

    `lines` are those of the first and the last row; `note` is what else is to be said of it, and
    `domain` what fails, of a rate.
    """

    kind: str
    interval: Interval
    file: str
    lines: tuple[int, int]
    note: str = ""
    domain: str = "unit"

    @property
    def source(self) -> str:
        """The log and the rows, in words."""
        rows = f"{self.interval.count} row{'s' if self.interval.count != 1 else ''}"
        if self.lines[1] > 0:
            rows += f", lines {self.lines[0]} to {self.lines[1]}"
        return f"{Path(self.file).name}: {rows}"


@dataclass
class Estimates:
    """All that a log says: intervals by kind, failures by cause, and counts that are certain."""

    by_kind: dict[str, Estimate] = field(default_factory=dict)
    causes: dict[str, Estimate] = field(default_factory=dict)
    shared_host: bool = False
    inner_steps: int | None = None
    save_every: int | None = None
    correlation: float = 0.0

    def __getitem__(self, kind: str) -> Interval:
        """The interval of a kind."""
        return self.by_kind[kind].interval

    def get(self, kind: str) -> Interval | None:
        """The interval of a kind, None where the log says nothing of it."""
        return self.by_kind[kind].interval if kind in self.by_kind else None


def estimate(log: RunLog) -> Estimates:
    """Estimate all that a run log speaks of."""
    found = Estimates()
    company = company_of(log)
    _steps(log, company, found)
    _syncs(log, company, found)
    for kind in ("save", "load", "restart", "down", "evaluation"):
        _times(log, kind, found)
    _detection(log, found)
    _failures(log, found)
    return found


def _times(log: RunLog, kind: str, found: Estimates) -> None:
    events = [event for event in log.of(kind) if event.duration]
    cut = [event for event in log.of("fault") if event.cause == CUT]
    free = [event for event in events if not any(_meet(event, one) for one in cut)]
    if free := free or events:
        events = free
        of_events = mean_of_times([event.duration or 0.0 for event in events])
        found.by_kind[kind] = _of(log, kind, of_events, events)


def _meet(event: Event, fault: Event) -> bool:
    """Whether a unit was cut off while something of its own went on."""
    begun, cut = event.time - (event.duration or 0.0), fault.time - (fault.duration or 0.0)
    return event.unit == fault.unit and begun < fault.time and cut < event.time


def _of(
    log: RunLog, kind: str, interval: Interval, events: Sequence[Event], note: str = ""
) -> Estimate:
    lines = [event.line for event in events if event.line] or [0]
    return Estimate(kind, interval, log.file, (min(lines), max(lines)), note)


# Steps.


def _steps(log: RunLog, company: Company, found: Estimates) -> None:
    clean = company.clean
    if not clean:
        return
    together = [step for step in clean if company.together(step)]
    apart = [step for step in clean if company.alone(step)]
    shares = min(len(apart), len(together)) >= ENOUGH
    _step_time(log, "step", together if shares else clean, found)
    if not shares:
        return
    alone = _alone(company, apart, found["step"].value)
    if alone is not None and alone.high < SHARES_HOST * found["step"].value:
        note = "while another does not step"
        found.by_kind["step_alone"] = _of(log, "step_alone", alone, apart, note)
        found.shared_host = True
    else:
        _step_time(log, "step", clean, found)


def _alone(company: Company, steps: Sequence[Event], usual: float) -> Interval | None:
    """What a step takes while another unit does not step, from rows of which that is a part.

    A ratio of sums: time without the other, and steps that are left for it.
    """
    taken, time = [], []
    for step in steps:
        length, share = step.steps * (step.duration or 0.0), company.shared(step)
        taken.append(step.steps - share * length / usual)
        time.append((1.0 - share) * length)
    total, count = sum(taken), len(taken)
    if total <= 0.0 or count < ENOUGH:
        return None
    value = sum(time) / total
    left = [t - value * n for t, n in zip(time, taken, strict=True)]
    error = sqrt(sum(x * x for x in left) * count / (count - 1)) / total
    half = float(stdtrit(count - 1, TAILS[1])) * error
    return Interval(value, max(0.0, value - half), value + half, count, "ratio of sums")


def _step_time(log: RunLog, kind: str, steps: Sequence[Event], found: Estimates) -> None:
    each = Counter(step.steps for step in steps).most_common(1)[0][0]
    series: dict[str, list[float]] = defaultdict(list)
    for step in steps:
        if step.steps == each or each == 1:
            series[step.unit].append(step.duration or 0.0)
    made = of_series(list(series.values()), each)
    found.by_kind[kind] = _of(log, kind, made.mean, steps)
    if kind == "step":
        found.correlation = made.correlation
        relative = made.deviation.scaled(1.0 / made.mean.value)
        note = f"neighbours correlate by {made.correlation:.2f}"
        found.by_kind["jitter"] = _of(log, "jitter", relative, steps, note)


# Synchronizations.


def _syncs(log: RunLog, company: Company, found: Estimates) -> None:
    syncs = list(log.of("sync"))
    if not syncs:
        return
    found.inner_steps = _steps_between(log, syncs)
    timed = [sync for sync in syncs if sync.duration is not None and len(sync.participants) > 1]
    sized = [sync for sync in timed if sync.bytes]
    made = line([it.bytes or 0.0 for it in sized], [it.duration or 0.0 for it in sized])
    if made is not None:
        found.by_kind["sync_fixed"] = _of(log, "sync_fixed", made[0], sized)
        found.by_kind["sync_per_byte"] = _of(log, "sync_per_byte", made[1], sized)
        return
    note = "all of their time is taken as fixed"
    if timed:
        times = [sync.duration or 0.0 for sync in timed]
        found.by_kind["sync_fixed"] = _of(log, "sync_fixed", mean_of_times(times), timed, note)
        return
    rows, extra = _excess(company, syncs, found)
    if extra:
        found.by_kind["sync_fixed"] = _of(log, "sync_fixed", mean_of_times(extra), rows, note)


def _excess(
    company: Company, syncs: Sequence[Event], found: Estimates
) -> tuple[list[Event], list[float]]:
    """What steps with a synchronization among them took longer; who waited least says it."""
    usual = found.get("step")
    if usual is None:
        return [], []
    rows, extra = [], []
    for sync in syncs:
        if len(sync.participants) < 2:
            continue
        longer = []
        for unit in sync.participants:
            step = company.around(unit, sync)
            if step is not None and step.duration is not None:
                longer.append(step.steps * (step.duration - usual.value))
        if len(longer) == len(sync.participants) and min(longer) > 0.0:
            rows.append(sync)
            extra.append(min(longer))
    return rows, extra


def _steps_between(log: RunLog, syncs: Sequence[Event]) -> int | None:
    """How many steps of its own a unit takes between two synchronizations, most often."""
    counts: Counter[int] = Counter()
    numbers: dict[str, int] = {}
    last: dict[str, int] = {}
    for event in sorted((*log.of("step"), *syncs), key=lambda it: (it.time, it.event == "sync")):
        if event.event == "step":
            numbers[event.unit] = event.step or 0
            continue
        for unit in event.participants:
            own = event.step if len(event.participants) == 1 and event.step else numbers.get(unit)
            if own is not None and unit in last and own > last[unit]:
                counts[own - last[unit]] += 1
            if own is not None:
                last[unit] = own
    return counts.most_common(1)[0][0] if counts else None


# Failures.


def _detection(log: RunLog, found: Estimates) -> None:
    noted = [event for event in log.of("detection") if event.duration]
    if noted:
        times = [event.duration or 0.0 for event in noted]
        found.by_kind["detection"] = _of(log, "detection", mean_of_times(times), noted)
        return
    waits = []
    syncs = list(log.of("sync"))
    for failure in log.of("failure"):
        at = next((n for n, sync in enumerate(syncs) if sync.time > failure.time), 0)
        was_in = at > 0 and failure.unit in syncs[at - 1].participants
        if was_in and failure.unit not in syncs[at].participants:
            waits.append((syncs[at].time - failure.time, failure))
    waits.sort(key=lambda wait: wait[0])
    shortest = [wait for wait in waits if wait[0] <= waits[0][0] * (1.0 + TIMEOUT_GRAIN)]
    if len(shortest) > 1:
        note = "what others waited at most for a unit that had failed"
        timeout = mean_of_times([wait for wait, _ in shortest])
        rows = [failure for _, failure in shortest]
        found.by_kind["detection"] = _of(log, "detection", timeout, rows, note)


def _still_away(log: RunLog) -> float:
    """For how long units that were without hardware at the end had been, together."""
    back = {event.unit: event.time for event in log.of("down")}
    if not back:
        return 0.0
    last: dict[str, float] = {}
    for event in log.of("failure"):
        if event.time > back.get(event.unit, log.start):
            last.setdefault(event.unit, event.time)
    return sum(log.end - since for since in last.values())


def _failures(log: RunLog, found: Estimates) -> None:
    """Failures of a unit in the time in which it had its hardware."""
    units = max(1, len(log.units))
    away = sum(event.duration or 0.0 for event in log.of("down")) + _still_away(log)
    exposure = max(units * log.span - away, 1e-9)
    by_cause: dict[str, list[Event]] = defaultdict(list)
    for event in log.of("failure"):
        by_cause[event.cause or "failure"].append(event)
    for cause, events in by_cause.items():
        found.causes[cause] = _of(log, "rate", poisson(len(events), exposure), events)
    every = list(log.of("failure"))
    found.by_kind["rate"] = _of(log, "rate", poisson(len(every), exposure), every)
