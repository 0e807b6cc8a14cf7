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
MODEL_ERROR = 0.1
"""How far a model is off as a rule, relatively, before its log is looked at."""
EXACT, SHARES = ("failures",), ("goodput", "alone")
"""Measures that no model is off by, and those that do not grow with time."""
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

    Faults that were done on purpose are a plan: how many there are in the part held out is given,
    and when, whom they hit and for how long is drawn. Failures are drawn at the rate of the part
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
        values = rows[name] if name in EXACT else _corrected(rows[name], then, repeated[name])
        low, middle, high = np.quantile(values, (TAILS[0], 0.5, TAILS[1])).tolist()
        carried = then * (1.0 if name in SHARES else ratio)
        predictions.append(Prediction(name, now, low, middle, high, carried, calm[name] or 0.0))
    return Holdout(fitted, held, tuple(predictions), "" if given is None else given.said)


def _corrected(values: Sequence[float], then: float, repeated: Sequence[float]) -> Sequence[float]:
    """Predictions corrected by how far the model is off on the part that it was fitted to.

    Its error is taken for lognormal, of `MODEL_ERROR` before that is looked at; what the repeated
    part scatters says how much the one comparison tells of it (a normal mean of known variance).
    What is not known of it afterwards is spread over each value.
    """
    again = np.asarray([value for value in repeated if value > 0.0])
    if then <= 0.0 or len(again) < 2:
        return values
    noise = float(np.log(again).std(ddof=1)) ** 2
    weight = MODEL_ERROR**2 / (MODEL_ERROR**2 + noise)
    shift = weight * (log(then) - float(np.log(again).mean()))
    normal = NormalDist(shift, max(sqrt(weight * noise), 1e-12))
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


def _plan(fitted: RunLog, held: RunLog, found: Estimates) -> _Plan | None:
    """The plan of a drill, None where no fault was done on purpose."""
    if not any(True for _ in held.of("fault")):
        return None
    downs = [event.duration or 0.0 for event in fitted.of("down")]
    cuts = [event for event in held.of("fault") if event.cause in PLANNED and event.duration]
    lengths = [e.duration or 0.0 for e in fitted.of("fault") if e.cause in PLANNED and e.duration]
    kills = sum(1 for _ in held.of("failure"))
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
