"""Whether a calibration predicts: the first part of a log fitted, the rest simulated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from math import exp, log, sqrt
from pathlib import Path
from statistics import NormalDist
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
FEWEST = 10
SPREAD = 40
MODEL_ERROR = {"goodput": 0.03, "steps": 0.03, "commits": 0.04, "alone": 0.1}
"""How far a calibrated model is off as a rule, relatively: by more in what rests on few events."""
ALIKE = 0.5
"""How the model's errors on two parts of a log correlate."""
SHARES = ("goodput", "alone")
"""Measures that do not grow with time."""


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
    predictions: tuple[Prediction, ...]
    given: str


def hold_out(
    whole: RunLog,
    share: float,
    *,
    replications: int = REPLICATIONS,
    seed: int = 0,
    progress: Progress | None = None,
) -> Holdout:
    """Fit the part of a log before the last `share` of its time, and predict that.

    Faults that were done on purpose are a plan, which is given, kills as far as they took effect;
    for how long they keep a unit away is drawn. Failures are drawn at the rate of the part
    that was fitted, with that rate's own uncertainty.
    """
    middle = whole.end - share * whole.span
    fitted, held = whole.between(whole.start, middle), whole.between(middle, whole.end + 1e-9)
    for part, name in ((fitted, "first"), (held, "second")):
        if not any(True for _ in part.of("step")):
            said = f"no step in its {name} part"
            raise TraceError(
                [Problem(whole.file, None, said, "another --holdout, or a longer log")]
            )
    found = estimate(fitted)
    given = _plan(fitted, held, found)
    usual = found["step"].value
    each = Counter(event.steps for event in fitted.of("step")).most_common(1)[0][0]
    first, second = measure(fitted, usual), measure(held, usual)
    again = max(FEWEST, replications * 2 // 5)
    tell = _telling(progress, again + replications)
    past = _World(_scenario(fitted, fitted, found, given), _plan(fitted, fitted, found), seed)
    coming = _World(_scenario(fitted, held, found, given), given, seed)
    repeated = past.runs(again, each, usual, tell, first=replications)
    rows = coming.runs(replications, each, usual, tell)
    calm = coming.calm(each, usual)
    ratio = held.span / fitted.span
    predictions = []
    for name in MEASURES:
        then, now = first[name], second[name]
        if then is None or now is None or not rows[name]:
            continue
        values: Sequence[float] = rows[name]
        if name in MODEL_ERROR:
            values = _corrected(values, then, repeated[name], MODEL_ERROR[name])
        low, middle, high = np.quantile(values, (TAILS[0], 0.5, TAILS[1])).tolist()
        if name in SHARES:
            low, middle, high = (min(value, 1.0) for value in (low, middle, high))
        carried = then * (1.0 if name in SHARES else ratio)
        predictions.append(Prediction(name, now, low, middle, high, carried, calm[name] or 0.0))
    return Holdout(fitted, held, tuple(predictions), "" if given is None else given.said)


def _corrected(
    values: Sequence[float], then: float, repeated: Sequence[float], error: float
) -> Sequence[float]:
    """Predictions corrected by how far the model is off on the part that it was fitted to.

    Its `error` (relative, lognormal) is half alike from part to part; what the repeated part
    scatters says how much the one comparison tells of it. What is not known of it afterwards is
    spread over each value.
    """
    again = np.asarray([value for value in repeated if value > 0.0])
    if then <= 0.0 or len(again) < 2:
        return values
    noise = float(np.log(again).std(ddof=1)) ** 2
    weight = ALIKE * error**2 / (error**2 + noise)
    shift = weight * (log(then) - float(np.log(again).mean()))
    normal = NormalDist(shift, error * sqrt(1.0 - ALIKE * weight))
    factors = [exp(normal.inv_cdf((place + 0.5) / SPREAD)) for place in range(SPREAD)]
    return [value * factor for value in values for factor in factors]


def _telling(progress: Progress | None, total: int) -> Callable[[], None]:
    done = count()
    return lambda: None if progress is None else progress(next(done), total, "what is held out")


@dataclass(frozen=True)
class _World:
    """A part of the log as a scenario, with the plan of its faults if there is one."""

    scenario: Scenario
    plan: _Plan | None
    seed: int

    @property
    def method(self) -> str:
        """The only method."""
        (method,) = (spec.name for spec in self.scenario.methods)
        return method

    def runs(
        self, number: int, each: int, usual: float, tell: Callable[[], None], first: int = 0
    ) -> dict[str, list[float]]:
        """What so many histories come to, each with values of its own from the intervals."""
        rows: dict[str, list[float]] = {name: [] for name in MEASURES}
        for replication in range(first, first + number):
            tell()
            one = sampled(self.scenario.with_({"seed": self.seed}), replication)[0]
            if self.plan is not None:
                one = one.with_({"chaos": self.plan.entries(one, self.seed, replication)})
            for name, value in measure(self._log(one, replication, each), usual).items():
                if value is not None:
                    rows[name].append(value)
        return rows

    def calm(self, each: int, usual: float) -> dict[str, float | None]:
        """What it comes to without failures."""
        one = self.scenario.with_({"failures.causes": []})
        return measure(self._log(one, 0, each), usual)

    def _log(self, scenario: Scenario, replication: int, each: int) -> RunLog:
        """The log of a simulated run, in which steps are noted `each` at a time."""
        result = simulate(scenario, self.method, replication, log=True)
        return in_rows(log_of("simulated", "steps", result.run_log), each)


def _scenario(fitted: RunLog, span: RunLog, found: Estimates, plan: _Plan | None) -> Scenario:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "calibrated.yaml"
        path.write_text(scenario_text(fitted, found, drawn=plan is None), encoding="utf-8")
        return load(path, {"duration": f"{span.span} s"})


@dataclass(frozen=True)
class _Plan:
    """Faults done on purpose: kills that took effect, when and of whom, and links that were cut.

    Times are seconds from the beginning of the part. `downs` are how long the fitted part's kills
    kept a unit away, of which each kill draws one; `turn` is how long a round takes.
    """

    kills: tuple[tuple[float, str], ...]
    cuts: tuple[tuple[float, str, float], ...]
    downs: tuple[float, ...]
    turn: float

    @property
    def said(self) -> str:
        """What is given, in words."""
        cut = f", and {len(self.cuts)} cuts of a link" if self.cuts else ""
        return f"given, as done on purpose: {len(self.kills)} kills that took effect{cut}"

    def entries(self, scenario: Scenario, seed: int, replication: int) -> list[dict[str, str]]:
        """The plan of one history: where in a round it begins is drawn, and for how long units go.

        A kill that would come after the end comes at the beginning.
        """
        rng = stream(seed, "drill", replication)
        later = float(rng.uniform(0.0, self.turn))
        regions = {unit.name: unit.region for unit in scenario.units()}
        faults = [("kill", at, unit, float(rng.choice(self.downs))) for at, unit in self.kills] + [
            ("cut", at, regions[unit], length) for at, unit, length in self.cuts
        ]
        return [
            {
                "at": f"{(at + later) % scenario.duration:.3f} s",
                "fault": fault,
                "target": target,
                "for": f"{length:.3f} s",
            }
            for fault, at, target, length in faults
        ]


def _plan(fitted: RunLog, part: RunLog, found: Estimates) -> _Plan | None:
    """The plan of a part of a drill, None where no fault was done on purpose."""
    if not any(True for _ in part.of("fault")):
        return None
    downs = tuple(event.duration or 0.0 for event in fitted.of("down"))
    step = found.get("step")
    cuts = [event for event in part.of("fault") if event.cause in PLANNED and event.duration]
    begun = [max(part.start, event.time - (event.duration or 0.0)) for event in cuts]
    return _Plan(
        tuple((event.time - part.start, event.unit) for event in part.of("failure") if downs),
        tuple(
            (at - part.start, event.unit, event.time - at)
            for at, event in zip(begun, cuts, strict=True)
        ),
        downs,
        (found.inner_steps or 1) * (step.value if step else 0.0),
    )
