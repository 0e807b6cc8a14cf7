"""Whether a calibration predicts: the first part of a log fitted, the rest simulated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from ddsim.calibration.estimates import Estimates, estimate
from ddsim.calibration.intervals import TAILS
from ddsim.calibration.measures import MEASURES, in_rows, measure
from ddsim.calibration.writing import PLANNED, scenario_text
from ddsim.loading import load
from ddsim.logs.model import Problem, TraceError
from ddsim.logs.run_log import RunLog, log_of
from ddsim.simulation import simulate
from ddsim.study.work import sampled
from ddsim.world.streams import stream

if TYPE_CHECKING:
    from ddsim.progress import Progress
    from ddsim.scenario import Scenario

REPLICATIONS = 100
MOST_DRAWS = 1000
"""Attempts to place a fault at which others allow it."""


@dataclass(frozen=True)
class Prediction:
    """One measure of the part held out: what was measured, predicted, and guessed without a model.

    `rates` is the first part's figure carried on, `calm` what the model says without failures.
    """

    name: str
    measured: float
    low: float
    middle: float
    high: float
    rates: float
    calm: float

    @property
    def holds(self) -> bool:
        """Whether what was measured lies in the interval."""
        return self.low <= self.measured <= self.high

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {**vars(self), "holds": self.holds}


@dataclass(frozen=True)
class Holdout:
    """The parts of a log and what one predicted of the other."""

    fitted: RunLog
    held: RunLog
    estimates: Estimates
    predictions: tuple[Prediction, ...]
    given: str
    runs: Mapping[str, Sequence[float]]


def hold_out(
    log: RunLog,
    share: float,
    *,
    replications: int = REPLICATIONS,
    seed: int = 0,
    progress: Progress | None = None,
) -> Holdout:
    """Fit the part of a log before the last `share` of its time, and predict that.

    Faults that were done on purpose are a plan: how many there are in the part held out is given,
    and when, whom they hit and for how long is drawn. Failures are drawn at the rate of the part
    that was fitted, with that rate's own uncertainty.
    """
    middle = log.end - share * log.span
    fitted, held = log.between(log.start, middle), log.between(middle, log.end + 1e-9)
    for part, name in ((fitted, "first"), (held, "second")):
        if not any(True for _ in part.of("step")):
            found = f"no step in its {name} part"
            raise TraceError([Problem(log.file, None, found, "another --holdout, or a longer log")])
    found = estimate(fitted)
    plan = _plan(fitted, held)
    scenario = _scenario(fitted, held, found, planned=plan is not None)
    (method,) = (spec.name for spec in scenario.methods)
    usual = found["step"].value
    each = Counter(event.steps for event in fitted.of("step")).most_common(1)[0][0]
    rows: dict[str, list[float]] = {name: [] for name in MEASURES}
    for replication in range(replications):
        if progress is not None:
            progress(replication, replications, method)
        one = sampled(scenario.with_({"seed": seed}), replication)[0]
        if plan is not None:
            one = one.with_({"chaos": plan.entries(one, seed, replication)})
        for name, value in measure(_simulated(one, method, replication, each), usual).items():
            if value is not None:
                rows[name].append(value)
    calm = measure(_simulated(_calm(scenario), method, 0, each), usual)
    first, second = measure(fitted, usual), measure(held, usual)
    ratio = held.span / fitted.span
    predictions = tuple(
        _prediction(name, first, second, rows[name], calm[name], ratio) for name in MEASURES
        if first[name] is not None and second[name] is not None and rows[name]
    )
    return Holdout(fitted, held, found, predictions, "" if plan is None else plan.said, rows)


def _prediction(
    name: str,
    first: Mapping[str, float | None],
    second: Mapping[str, float | None],
    values: Sequence[float],
    calm: float | None,
    ratio: float,
) -> Prediction:
    low, middle, high = np.quantile(values, (TAILS[0], 0.5, TAILS[1])).tolist()
    carried = (first[name] or 0.0) * (1.0 if name in ("goodput", "alone") else ratio)
    return Prediction(name, second[name] or 0.0, low, middle, high, carried, calm or 0.0)


def _scenario(fitted: RunLog, held: RunLog, found: Estimates, *, planned: bool) -> Scenario:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "calibrated.yaml"
        path.write_text(scenario_text(fitted, found, drawn=not planned), encoding="utf-8")
        return load(path, {"duration": f"{held.span} s"})


def _calm(scenario: Scenario) -> Scenario:
    return scenario.with_({"failures.causes": []})


def _simulated(scenario: Scenario, method: str, replication: int, each: int) -> RunLog:
    """The log of a simulated run, in which steps are noted `each` at a time."""
    result = simulate(scenario, method, replication, log=True)
    return in_rows(log_of("simulated", "steps", result.run_log), each)


@dataclass(frozen=True)
class _Plan:
    """Faults done on purpose: how many kills took effect, and how long each kind lasts."""

    kills: int
    downs: tuple[float, ...]
    cuts: int
    lengths: tuple[float, ...]
    units: tuple[str, ...]
    catching_up: float

    @property
    def said(self) -> str:
        """What is given, in words."""
        cut = f", {self.cuts} times a link was cut" if self.cuts else ""
        return f"given, as done on purpose: {self.kills} kills that took effect{cut}"

    def entries(self, scenario: Scenario, seed: int, replication: int) -> list[dict[str, Any]]:
        """The plan at instants of its own: a kill takes effect while all others take part."""
        rng = stream(seed, "drill", replication)
        end = scenario.duration
        taken: list[tuple[float, float, str]] = []
        for _ in range(MOST_DRAWS):
            if len(taken) == self.kills:
                break
            at, unit = float(rng.uniform(0.0, end)), str(rng.choice(self.units))
            down = float(rng.choice(self.downs))
            away = at + down + self.catching_up
            if all(
                away < begun or at > until or (who == unit and not begun < at < begun + down)
                for begun, until, who in taken
            ):
                taken.append((at, away, unit))
        entries = [
            {"at": at, "fault": "kill", "target": unit, "for": until - at - self.catching_up}
            for at, until, unit in taken
        ]
        regions = [unit.region for unit in scenario.units()]
        for _ in range(self.cuts):
            at, length = float(rng.uniform(0.0, end)), float(rng.choice(self.lengths))
            region = str(rng.choice(regions))
            entries.append({"at": at, "fault": "cut", "target": region, "for": length})
        for entry in entries:
            entry["at"], entry["for"] = f"{entry['at']:.3f} s", f"{entry['for']:.3f} s"
        return entries


def _plan(fitted: RunLog, held: RunLog) -> _Plan | None:
    """The plan of a drill, None where no fault was done on purpose."""
    if not any(True for _ in held.of("fault")):
        return None
    downs = [event.duration or 0.0 for event in fitted.of("down")]
    cuts = [event for event in held.of("fault") if event.cause in PLANNED and event.duration]
    lengths = [e.duration or 0.0 for e in fitted.of("fault") if e.cause in PLANNED and e.duration]
    kills = sum(1 for _ in held.of("failure"))
    found = estimate(fitted)
    step, restart = found.get("step"), found.get("restart")
    catching_up = (restart.value if restart else 0.0) + (
        (found.inner_steps or 0) * step.value if step else 0.0
    )
    return _Plan(
        kills if downs else 0,
        tuple(downs) or (0.0,),
        len(cuts) if lengths else 0,
        tuple(lengths) or (0.0,),
        tuple(fitted.units),
        catching_up,
    )
