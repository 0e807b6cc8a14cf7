"""A scenario from what logs say: ranges for what they measured, remarks for what they cannot."""

from __future__ import annotations

from dataclasses import dataclass, replace
from io import StringIO
from math import hypot, log
from pathlib import Path
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

from ddsim.calibration.intervals import TAILS, Interval, finite, mean_of_times
from ddsim.scenario.units import BANDWIDTH, write_quantity

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ddsim.calibration.estimates import Estimate, Estimates
    from ddsim.logs.run_log import RunLog

BITS = 8.0
DIGITS = 5
WIDE = 2.0
"""Times its lower end from which on an interval is no range but a lognormal."""
PLANNED = ("partition",)
"""Faults done on purpose that have a cause; a kill is a failure, where it took effect."""
_LOCKSTEP = ("data_parallel", "elastic_data_parallel")
_ASSUMED = "assumed: the log does not tell"


@dataclass
class Line:
    """One value of a scenario: its path, how it is spelled, and where it is from."""

    path: tuple[str | int, ...]
    value: Any
    source: str


@dataclass
class Draft:
    """The values of a scenario that is being written, in order."""

    lines: list[Line]

    def add(self, path: str, value: Any, source: str) -> None:
        """Add a value, unless the path has one."""
        parts = tuple(int(part) if part.isdigit() else part for part in path.split("."))
        if not any(line.path == parts for line in self.lines):
            self.lines.append(Line(parts, value, source))

    def text(self, heading: Sequence[str]) -> str:
        """The scenario as YAML, each value with its source behind it."""
        from ruamel.yaml import YAML
        from ruamel.yaml.comments import CommentedMap, CommentedSeq

        root = CommentedMap()
        for line in self.lines:
            at: Any = root
            for part, below in zip(line.path, (*line.path[1:], None), strict=True):
                if below is None:
                    _put(at, part, line.value)
                    if line.source:
                        at.yaml_add_eol_comment(f"# {line.source}", part)
                elif (isinstance(part, int) and part < len(at)) or (
                    isinstance(part, str) and part in at
                ):
                    at = at[part]
                else:
                    new = CommentedSeq() if isinstance(below, int) else CommentedMap()
                    _put(at, part, new)
                    at = new
        yaml = YAML()
        yaml.width = 1000
        yaml.indent(mapping=2, sequence=4, offset=2)
        out = StringIO()
        yaml.dump(root, out)
        return "".join(f"# {line}\n" for line in heading) + out.getvalue()


def _put(at: Any, part: str | int, value: Any) -> None:
    if isinstance(part, int):
        at.append(value)
    else:
        at[part] = value


def times(interval: Interval) -> Any:
    """A range of times, or a time where there is none."""
    return _spelled(interval, seconds)


def seconds(value: float) -> str:
    """A time as scenarios have it."""
    return f"{_short(value):g} s"


def numbers(interval: Interval) -> Any:
    """A range of numbers, or a number."""
    return _spelled(interval, _short)


def rates(interval: Interval) -> Any:
    """A range of bandwidths, or one."""
    return _spelled(interval, lambda value: write_quantity(_short(value), BANDWIDTH))


def _spelled(interval: Interval, spell: Callable[[float], Any]) -> Any:
    """A value, or its interval: where that is wide and skewed a lognormal of the same ends.

    A range has its middle far from the value then, at which a scenario would stand.
    """
    if not interval.spread or not finite(interval):
        return spell(interval.value)
    if 0.0 < WIDE * interval.low < interval.high:
        sigma = log(interval.high / interval.low) / (2.0 * NormalDist().inv_cdf(TAILS[1]))
        return _flow(
            {"lognormal": _flow({"median": spell(interval.value), "sigma": _short(sigma)})}
        )
    return _flow({"low": spell(interval.low), "high": spell(interval.high)})


def _flow(items: Mapping[str, Any]) -> Any:
    from ruamel.yaml.comments import CommentedMap

    made = CommentedMap(items)
    made.fa.set_flow_style()
    return made


def _short(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")


def scenario_text(
    log: RunLog, found: Estimates, *, more: Sequence[Estimate] = (), drawn: bool = True
) -> str:
    """The scenario of a run log; `more` are failures by cause that other logs told of.

    Where failures are not to be `drawn` it has none.
    """
    draft = Draft([])
    method = log.method or ("diloco" if any(True for _ in log.of("sync")) else "data_parallel")
    said = "given by the log" if log.method else _ASSUMED
    draft.add("duration", seconds(log.span), "the length of the log" if log.events else _ASSUMED)
    draft.add("methods.0", method, said)
    for path, value in log.given.items():
        draft.add(path, value, "given by the log")
    _training(draft, log, found, method)
    _network(draft, found, method)
    _away(draft, log, found)
    if drawn:
        _causes(draft, log, found, more)
    _recovery(draft, log, found, method)
    _assumed(draft)
    heading = [
        f"calibrated from {Path(log.file).name} ({log.form}), {seconds(log.span)} of "
        f"{len(log.units)} unit{'s' if len(log.units) != 1 else ''}",
        "ranges are 95% intervals of what the log says; what it cannot tell is marked assumed",
    ]
    return _ordered(draft).text(heading)


def _training(draft: Draft, log: RunLog, found: Estimates, method: str) -> None:
    steps = found.by_kind.get("step")
    if steps is None:
        draft.add("training.step_time", "1 s", _ASSUMED)
        return
    share = _evaluations(log)
    also = f", and {share:.3g} s a step for evaluations" if share else ""
    draft.add("training.step_time", times(_more(steps.interval, share)), steps.source + also)
    if found.inner_steps and method not in _LOCKSTEP:
        source = f"{Path(log.file).name}: steps between synchronizations, most often"
        draft.add("training.inner_steps", found.inner_steps, source)
    if method == "diloco":
        draft.add(
            "training.release", "end_of_step", "what a synchronization takes, it takes after a step"
        )
        rule = "leave" if any(log.of("failure", "fault")) else "wait"
        draft.add("training.on_failure", rule, "assumed: who fails is left behind, and comes back")
    jitter = found.by_kind.get("jitter")
    if jitter is not None:
        draft.add("cluster.jitter", numbers(jitter.interval), f"{jitter.source}; {jitter.note}")
    _units(draft, log, found, share)


def _units(draft: Draft, log: RunLog, found: Estimates, share: float) -> None:
    names = [name for name in log.units if name != "job"] or ["job"]
    alone = found.by_kind.get("step_alone")
    for place, name in enumerate(names):
        at = f"cluster.units.{place}"
        chips = log.units.get(name, 0)
        draft.add(f"{at}.name", name, "")
        draft.add(f"{at}.chips", chips or 1, "given by the log" if chips else _ASSUMED)
        if alone is not None:
            less = share * alone.interval.value / found["step"].value
            draft.add(f"{at}.host", "shared", "a step takes less while the others do not compute")
            interval = times(_more(alone.interval, less))
            draft.add(f"{at}.step_time_alone", interval, alone.source)


def _evaluations(log: RunLog) -> float:
    """Seconds of evaluation for each step."""
    steps = sum(event.steps for event in log.of("step"))
    spent = sum(event.duration or 0.0 for event in log.of("evaluation"))
    return spent / steps if steps else 0.0


def _more(interval: Interval, by: float) -> Interval:
    return replace(
        interval, value=interval.value + by, low=interval.low + by, high=interval.high + by
    )


def _network(draft: Draft, found: Estimates, method: str) -> None:
    fixed, per_byte = found.by_kind.get("sync_fixed"), found.by_kind.get("sync_per_byte")
    if fixed is not None:
        note = f"; {fixed.note}" if fixed.note else ""
        draft.add("network.sync_cost", times(fixed.interval), fixed.source + note)
        draft.add("network.latency", "0 s", "its phases are in sync_cost")
    if per_byte is not None:
        rate = per_byte.interval.inverse(BITS)
        draft.add("network.bandwidth", rates(rate), per_byte.source)
    else:
        inside = "what gradients take is in the step time" if method in _LOCKSTEP else _ASSUMED
        draft.add("network.bandwidth", "unlimited", inside)


def _away(draft: Draft, log: RunLog, found: Estimates) -> None:
    """How long it takes until a failure is known, and until what failed is back."""
    detection, down = found.by_kind.get("detection"), found.by_kind.get("down")
    if detection is not None:
        draft.add("failures.detection", times(detection.interval), detection.source)
        if any(event.cause in PLANNED for event in log.of("fault")):
            timeout = times(detection.interval)
            draft.add("network.ring_timeout", timeout, "as long as for a unit that has failed")
    if down is not None:
        less = detection.interval.value if detection is not None else 0.0
        if detection is None:
            draft.add("failures.detection", "0 s", "in the time until hardware is back")
        back = _positive(_more(down.interval, -less))
        draft.add("failures.repair", times(back), f"{down.source}, less the detection")


def _causes(draft: Draft, log: RunLog, found: Estimates, more: Sequence[Estimate]) -> None:
    parts = max(1, len(log.units)) * log.span
    drill = any(True for _ in log.of("fault"))
    whole_job = list(log.units) in ([], ["job"]) and "down" not in found.by_kind
    place = 0
    for cause, rate in found.causes.items():
        at = f"failures.causes.{place}"
        draft.add(f"{at}.name", cause, rate.note)
        draft.add(f"{at}.domain", "job" if whole_job else "unit", "")
        if drill:
            count, source = rate.interval.count, f"{rate.source}, as many as took effect"
        else:
            count = numbers(rate.interval.scaled(parts))
            source = f"{rate.source}; {rate.interval.how}"
        draft.add(f"{at}.count", count, source)
        draft.add(f"{at}.per", seconds(log.span), "")
        place += 1
    for rate in more:
        at = f"failures.causes.{place}"
        draft.add(f"{at}.name", rate.kind, rate.note)
        draft.add(f"{at}.domain", rate.domain, "")
        between = rate.interval.inverse(1.0)
        mtbi = times(between) if finite(between) else "never"
        draft.add(f"{at}.mtbi", mtbi, f"{rate.source}; {rate.interval.how}")
        place += 1
    for cause in PLANNED:
        cuts = [event for event in log.of("fault") if event.cause == cause and event.duration]
        if not cuts:
            continue
        at, source = f"failures.causes.{place}", f"{Path(log.file).name}: {len(cuts)} rows"
        draft.add(f"{at}.name", cause, "")
        draft.add(f"{at}.domain", "link", "")
        draft.add(f"{at}.count", len(cuts), source)
        draft.add(f"{at}.per", seconds(log.span), "")
        draft.add(f"{at}.detection", "0 s", "")
        length = mean_of_times([event.duration or 0.0 for event in cuts])
        draft.add(f"{at}.repair", times(length), source)
        place += 1


def _positive(interval: Interval) -> Interval:
    return replace(
        interval,
        value=max(0.0, interval.value),
        low=max(0.0, interval.low),
        high=max(0.0, interval.high),
    )


def _recovery(draft: Draft, log: RunLog, found: Estimates, method: str) -> None:
    save, load, restart = (found.by_kind.get(kind) for kind in ("save", "load", "restart"))
    learners = method not in _LOCKSTEP
    if restart is not None:
        whole, source = restart.interval, restart.source
        if learners and load is not None:
            whole, source = _sum(whole, load.interval), f"{source}, and {load.interval.count} loads"
        draft.add("restart.time", times(whole), source)
        draft.add("restart.moment_bits", 0, "what is copied at a restart is in its time")
    if save is not None:
        draft.add("checkpoint.policy", "fixed", f"{save.source}")
        taken = sum(event.steps for event in log.of("step"))
        every = max(1, round(taken / save.interval.count))
        source = f"{Path(log.file).name}: steps for each save"
        draft.add("checkpoint.interval", f"{every} steps", source)
        draft.add("checkpoint.save", times(save.interval), save.source)
    if load is not None:
        draft.add("checkpoint.restore", times(load.interval), load.source)


def _sum(one: Interval, other: Interval) -> Interval:
    """The sum of two independent values."""
    value = one.value + other.value
    down = hypot(one.value - one.low, other.value - other.low)
    up = hypot(one.high - one.value, other.high - other.value)
    return Interval(value, value - down, value + up, one.count, one.how)


def _assumed(draft: Draft) -> None:
    """What every scenario needs."""
    if not any(line.path[0] == "cluster" for line in draft.lines):
        draft.add("cluster.chips", 1, _ASSUMED)
    for path, value in _NEEDED.items():
        draft.add(path, value, _ASSUMED)


_NEEDED: Mapping[str, Any] = {
    "model.parameters": 1e9,
    "model.layers": 32,
    "training.tokens_per_step": 1,
    "failures.detection": "0 s",
    "failures.repair": "0 s",
}
_ORDER = (
    "duration",
    "methods",
    "model",
    "training",
    "cluster",
    "network",
    "failures",
    "restart",
    "checkpoint",
)


def _ordered(draft: Draft) -> Draft:
    """The sections in the order in which scenarios have them."""

    def place(line: Line) -> int:
        section = str(line.path[0])
        return _ORDER.index(section) if section in _ORDER else len(_ORDER)

    return Draft(sorted(draft.lines, key=place))
