"""Random scenarios whose times are tenths, so that much falls on one instant, and courses compared.

A course is what a run comes to in whole nanoseconds, the naive model's or the engine's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import count, islice, zip_longest
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np
from naive.case import Case, LinkChange, NaiveResult, StrikeCase, UnitCase, retimed
from naive.model import simulate
from naive.random_cases import JOB_METHODS
from naive.reckoning import NANOSECONDS, Reckoning

if TYPE_CHECKING:
    from naive_cases import EngineResult

METHODS = ("decoupled_diloco", "diloco", "streaming_diloco")
SHARES = (0.6, 0.2, 0.2)
PAYLOAD_BITS = 16.0
LEAST_DISTANCE = Fraction(1, 10**4)
"""Of a length from what rounds either way, in nanoseconds: sums of floats are within it."""

Moments = list[tuple[str, int]]
Merged = tuple[int, int, int, tuple[int, ...]]


def tie_case(seed: int) -> Case:
    """The scenario of that number, the same whenever it is asked for.

    None in which a length lies halfway between two nanoseconds: floats cannot tell which is near.
    """
    return next(case for attempt in count() if is_settled(case := _draw(seed, attempt)))


def narrow(case: Case, seed: int) -> Case:
    """The same with few steps from one exchange of a fragment to its next, so that many are due."""
    single = case.method == "diloco"
    fragments = 1 if single else 1 + seed % case.layers
    before = 1 if single else case.fragments
    return replace(
        case,
        inner_steps=1 + seed % 3,
        fragments=fragments,
        parameters=case.parameters / before * fragments,
    )


@dataclass(frozen=True)
class Late:
    """Data that are some tenths late, now and then."""

    tenths: tuple[int, ...]

    def __call__(self, unit: int, k: int) -> float:
        """By how many seconds those of the unit's k-th begun step are."""
        return self.tenths[(3 * unit + k) % len(self.tenths)] / 10


def laden(case: Case, seed: int) -> Case:
    """The same with late data, with spares of equal slices, and with a mixing factor."""
    rng = np.random.default_rng([seed, 2])
    slices = case.units[0].slices
    return replace(
        case,
        delay=Late(tuple(int(rng.choice([0, 0, 1, 2, 5])) for _ in range(7))),
        mixing=float(rng.choice([0.0, 0.25, 0.5, 1.0])),
        spares=int(rng.integers(0, 4)) if all(u.slices == slices for u in case.units) else 0,
    )


def scaled(case: Case, factor: str) -> Case:
    """All times multiplied by a decimal, bits in place of rates."""

    def times(value: float) -> float:
        return float(Fraction(str(value)) * Fraction(factor))

    return replace(
        retimed(case, times),
        units=tuple(replace(unit, step_time=times(unit.step_time)) for unit in case.units),
        latency=times(case.latency),
        parameters=times(case.parameters),
    )


@dataclass(frozen=True)
class Course:
    """What a run comes to: instants in nanoseconds, accounts in chip-seconds."""

    changes: list[Moments]
    """Per unit, every state that it enters and when."""
    merges: list[Merged]
    """(slot, step or round; start of the exchange; arrival; units that took part), in order."""
    accounts: list[dict[str, float]]
    steps: float
    """A unit's, in the mean."""
    tokens: float
    strikes: int
    fates: tuple[float, float, float] | None
    """Shares of all steps x fragments that were merged, overwritten, and neither so far; None where
    all are merged: in a job.
    """
    tokens_merged: float
    wan_bytes: float
    """Of the busiest region, in one direction, what is not sent to its end included."""
    late_answers: int | None
    """Those that came after their slot had closed; None where nobody answers."""


def course_of_naive(case: Case, result: NaiveResult) -> Course:
    """The course that the naive model lived through."""
    return Course(
        changes=[[(state, _ns(start)) for start, _, state, _ in unit] for unit in result.spans],
        merges=_in_order(case, result.merges),
        accounts=result.accounts,
        steps=sum(result.steps) / len(result.steps),
        tokens=result.tokens,
        strikes=result.strikes,
        fates=_fates(case, result),
        tokens_merged=result.tokens_merged,
        wan_bytes=result.wan_bytes,
        late_answers=result.late_answers,
    )


def course_of_engine(case: Case, result: EngineResult) -> Course:
    """The course that the engine ran."""
    states = result.run.recorder.states()
    # Fragments that arrive apart count with the last of them, and not before.
    noted = result.run.recorder.merges
    arrived = Counter(merge.slot for merge in noted)
    last = {
        merge.slot: (merge.slot, merge.start, merge.arrival, merge.participants)
        for merge in noted
        if case.method != "streaming_diloco" or arrived[merge.slot] == _due(case, merge.slot)
    }
    return Course(
        changes=[
            [(s.state, _ns(s.start)) for s in states if s.unit == unit.name] for unit in case.units
        ],
        merges=_in_order(case, last.values()),
        accounts=result.accounts(),
        steps=result.outcome.steps,
        tokens=result.outcome.tokens,
        strikes=result.strikes,
        fates=_fates(case, result.outcome),
        tokens_merged=result.outcome.tokens_merged,
        wan_bytes=result.run.meter.bits / 8,
        late_answers=result.outcome.late_answers,
    )


def differences(case: Case, expected: Course, found: Course) -> list[str]:
    """The first difference of each kind, in words; none if the two agree in every state change."""
    said: list[str] = []
    for unit, pair in enumerate(zip(expected.changes, found.changes, strict=True)):
        said += _first_difference(f"unit {unit}, state", *pair)
    said += _first_difference("merge", expected.merges, found.merges)
    # Half a nanosecond of all chips: chip-time is a sum of floats, the instants are not.
    least = 0.5e-9 * case.chips
    for unit, (ours, theirs) in enumerate(zip(expected.accounts, found.accounts, strict=True)):
        for name in sorted({*ours, *theirs}):
            booked, here = ours.get(name, 0.0), theirs.get(name, 0.0)
            if abs(booked - here) > least:
                said.append(f"unit {unit}, {name}: {booked!r} chip-seconds, found {here!r}")
    fastest = max((rate for rate in case.capacity.values() if rate < inf), default=0.0)
    a_nanosecond = {"wan_bytes": 1e-9 * fastest / 8}
    for name in ("steps", "tokens", "tokens_merged", "wan_bytes"):
        counted, here = getattr(expected, name), getattr(found, name)
        if abs(counted - here) > 1e-9 * max(abs(counted), 1.0) + a_nanosecond.get(name, 0.0):
            said.append(f"{name}: {counted!r}, found {here!r}")
    if expected.fates is not None and found.fates is not None:
        pairs = zip(expected.fates, found.fates, strict=True)
        if any(abs(ours - theirs) > 1e-9 for ours, theirs in pairs):
            said.append(f"merged, overwritten, pending: {expected.fates}, found {found.fates}")
    for name in ("strikes", "late_answers"):
        if (counted := getattr(expected, name)) != (here := getattr(found, name)):
            said.append(f"{name}: {counted}, found {here}")
    return said


def disagreements(
    seeds: Iterable[int],
    run: Callable[[Case], Course],
    dress: Callable[[Case, int], Case] = lambda case, _: case,
) -> Iterator[tuple[int, Case, list[str]]]:
    """The scenarios, dressed in what else there may be, in which a run departs, and how."""
    for seed in seeds:
        case = dress(tie_case(seed), seed)
        expected = course_of_naive(case, simulate(case, NANOSECONDS))
        if said := differences(case, expected, run(case)):
            yield seed, case, said


def _first_difference(name: str, expected: list[Any], found: list[Any]) -> list[str]:
    pairs = enumerate(zip_longest(expected, found))
    unlike = (f"{name} {i}: {a}, found {b}" for i, (a, b) in pairs if a != b)
    return list(islice(unlike, 1))


def _due(case: Case, slot: int) -> int:
    """How many fragments are due at a slot."""
    every, count = case.inner_steps, case.fragments
    return sum(p * every // count == slot % every for p in range(count))


def _ns(seconds: float) -> int:
    return round(seconds * 1e9)


def _in_order(
    case: Case, merges: Iterable[tuple[int, float, float, tuple[int, ...]]]
) -> list[Merged]:
    noted = sorted((n, _ns(start), _ns(arrival), tuple(who)) for n, start, arrival, who in merges)
    if case.method != "async_local_sgd":
        return noted
    # Updates that a server applies at one instant have no order.
    noted.sort(key=lambda merge: (merge[2], merge[1], merge[3]))
    return [(n, *merge[1:]) for n, merge in enumerate(noted, start=1)]


def _fates(case: Case, result: Any) -> tuple[float, float, float] | None:
    if case.method in JOB_METHODS:
        return None
    counted = (result.merged, result.overwritten, result.pending)
    total = sum(counted)
    return tuple(steps / total for steps in counted) if total else counted


@dataclass(frozen=True)
class _Watching(Reckoning):
    """Nanoseconds that notice what lies halfway between two."""

    least: Fraction = LEAST_DISTANCE
    halves: list[float] = field(default_factory=list)

    def length(self, ticks: float | Fraction) -> float:
        if abs(Fraction(ticks) % 1 - Fraction(1, 2)) < self.least:
            self.halves.append(float(ticks))
        return super().length(ticks)


def is_settled(case: Case, least: Fraction = LEAST_DISTANCE) -> bool:
    """Whether no length lies so near the middle of two nanoseconds that floats cannot tell."""
    watching = _Watching(NANOSECONDS.per_second, NANOSECONDS.whole, least)
    simulate(case, watching)
    return not watching.halves


def _draw(seed: int, attempt: int) -> Case:
    rng = np.random.default_rng(np.random.SeedSequence([seed, attempt]))
    step = _one_of(rng, 4, 5, 6, 8, 10, 12)
    case = _with_training(rng, str(rng.choice(METHODS, p=SHARES)), step)
    return _with_strikes(rng, _with_network(rng, case), step)


def _one_of(rng: np.random.Generator, *tenths: int) -> int:
    return int(rng.choice(tenths))


def _time(rng: np.random.Generator, *tenths: int) -> float:
    return _one_of(rng, *tenths) / 10


def _with_training(rng: np.random.Generator, method: str, step: int) -> Case:
    count = int(rng.integers(2, 7))
    regions = int(rng.choice([1, 2, count], p=[0.1, 0.2, 0.7]))
    slices = _one_of(rng, 1, 1, 2)
    paces = [step] if rng.random() < 0.4 else [step, step + 1, 2 * step, max(1, step // 2)]
    units = tuple(
        UnitCase(f"unit {i}", f"region {i % regions}", (1,) * slices, _time(rng, *paces))
        for i in range(count)
    )
    # A step of two layers has five equal parts: what is released by layer is decimal too, but for
    # a ring without the dropped, on which every layer would be rounded apart.
    on_failure = str(rng.choice(["wait", "wait", "drop", "rollback"]))
    release = (
        str(rng.choice(["end_of_step", "by_layer"])) if on_failure != "drop" else "end_of_step"
    )
    layers = 2 if release == "by_layer" else 6
    inner_steps = int(rng.integers(1, 7))
    return Case(
        method=method,
        duration=_one_of(rng, *range(20 * step, 60 * step)) / 10,
        units=units,
        layers=layers,
        inner_steps=inner_steps,
        fragments=int(rng.integers(1, min(inner_steps, layers) + 1)),
        overlap_steps=int(rng.integers(0, 4)),
        quorum=int(rng.integers(1, count + 1)),
        grace=float(rng.choice([0.0, 0.25, 0.5, 0.9])),
        payload_bits=PAYLOAD_BITS,
        tokens_per_step=60.0,
        apply=str(rng.choice(["on_arrival", "at_tau"])),
        below_quorum=str(rng.choice(["block", "step_on"])),
        release=release,
        on_failure=on_failure,
        downscale=_time(rng, 0, 3, 5, 10),
        upscale=_time(rng, 0, 3, 5, 10),
        elastic_rule=str(rng.choice(["absorb", "extend"])),
        restart_time=_time(rng, 0, 5, 10, 24),
        age_while_down=str(rng.choice(["runs", "stops"])),
    )


def _with_network(rng: np.random.Generator, case: Case) -> Case:
    """A fragment is exchanged in 1.6 s or another number of tenths, or at once."""
    count = len(case.units)
    regions = sorted({unit.region for unit in case.units})
    tenths = _one_of(rng, 0, 1, 3, 5, 8, 10, 16, 16, 16, 24)
    fragments = 1 if case.method == "diloco" else case.fragments
    # A ring sends 2 (M - 1) / M of a payload: what M divides leaves rates and times whole.
    rate = PAYLOAD_BITS * 2 * (count - 1) * 1000 if tenths else float("inf")
    changes: list[LinkChange] = []
    if tenths and rng.random() < 0.3:
        region = str(rng.choice(regions))
        at = _one_of(rng, *range(int(10 * case.duration))) / 10
        changes = [
            LinkChange(at, region, rate * float(rng.choice([0.0, 0.5]))),
            LinkChange(round(at + _time(rng, 4, 15, 30, 80), 1), region, rate),
        ]
    return replace(
        case,
        parameters=float(count * fragments * 100 * tenths),
        capacity=dict.fromkeys(regions, rate),
        link_changes=tuple(changes),
        latency=_time(rng, 0, 0, 1, 2),
        syncer_time=_time(rng, 0, 0, 2, 10),
    )


def _with_strikes(rng: np.random.Generator, case: Case, step: int) -> Case:
    """Units lost, or a slice of two, at any tenth or where steps end; one at an instant a unit."""
    end, detection = int(10 * case.duration), _time(rng, 0, 5, 10)
    strikes: dict[tuple[float, int], StrikeCase] = {}
    for _ in range(int(rng.integers(0, 7))):
        unit = int(rng.integers(len(case.units)))
        at = _one_of(rng, *range(step, end))
        time = (at - at % step if rng.random() < 0.5 else at) / 10
        slices = tuple(range(len(case.units[unit].slices)))
        struck = slices if rng.random() < 0.75 else slices[:1]
        strikes[time, unit] = StrikeCase(time, unit, struck, detection, _time(rng, *range(1, 80)))
    return replace(case, strikes=tuple(strikes[key] for key in sorted(strikes)))
