"""Small random scenarios that between them exercise every rule; times are continuous draws."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from .case import Case, LinkChange, StrikeCase, UnitCase, no_delay, no_jitter

METHOD_NAMES = (
    "data_parallel",
    "elastic_data_parallel",
    "diloco",
    "streaming_diloco",
    "decoupled_diloco",
    "async_local_sgd",
)
JOB_METHODS = METHOD_NAMES[:2]
PARAMETERS = 1e6
TABLE_LENGTH = 512


@dataclass(frozen=True)
class JitterTable:
    """Numbers drawn beforehand for steps, one row a unit, used again after the last."""

    rows: tuple[tuple[float, ...], ...]

    def __call__(self, unit: int, k: int) -> float:
        """The number of the unit's k-th begun step."""
        return self.rows[unit][k % TABLE_LENGTH]


def random_case(seed: int, method: str) -> Case:
    """The scenario of that number for a method; the same whenever it is asked for."""
    return _drawn(_stream(seed, method), method)


def eventful_case(seed: int, method: str) -> Case:
    """One with unlike steps, limited links, a grace and a unit lost whole.

    Most have late data, spares, a syncer that computes and a mixing factor besides, where the
    method knows them.
    """
    rng = _stream(seed, method, 1)
    case = _drawn(rng, method)
    while not _is_eventful(case):
        case = _drawn(rng, method)
    step = case.units[0].step_time
    spares = int(rng.integers(0, 4))
    if spares:
        size = case.units[0].slices[0]
        units = tuple(replace(unit, slices=(size,) * len(unit.slices)) for unit in case.units)
        case = replace(case, units=units)
    return replace(
        case,
        spares=spares,
        delay=_delay(rng, len(case.units), step) if _chance(rng, 0.7) else no_delay,
        mixing=float(rng.choice([0.0, 0.25, 0.5, 0.7, 1.0])),
        syncer_time=_length(rng, step, 0.5, zero=0.6),
        strikes=_corrupting(rng, case, step) if method == "data_parallel" else case.strikes,
    )


def numbered_case(number: int, method: str) -> Case:
    """Every other one is eventful."""
    return eventful_case(number, method) if number % 2 else random_case(number, method)


def _stream(seed: int, method: str, *kind: int) -> np.random.Generator:
    place = METHOD_NAMES.index(method)
    return np.random.default_rng(np.random.SeedSequence([seed, place, *kind]))


def _is_eventful(case: Case) -> bool:
    """Whether more than the weather of one unit decides."""
    return (
        len({unit.region for unit in case.units}) > 1
        and all(math.isfinite(rate) for rate in case.capacity.values())
        and case.grace > 0
        and case.jitter is not no_jitter
        and any(len(s.slices) == len(case.units[s.unit].slices) for s in case.strikes)
    )


def _drawn(rng: np.random.Generator, method: str) -> Case:
    step = float(rng.uniform(0.5, 2.0))
    spares = _spares(rng, method)
    case = Case(
        method=method,
        duration=step * float(rng.uniform(20, rng.choice([60, 120, 300]))),
        units=_units(rng, step, equal_slices=spares > 0),
        spares=spares if method == "data_parallel" else 0,
    )
    case = _with_training(rng, case)
    case = _with_network(rng, case, step)
    case = _with_stalls(rng, case, step)
    return _with_strikes(rng, case, step)


def _chance(rng: np.random.Generator, probability: float) -> bool:
    return bool(rng.random() < probability)


def _length(rng: np.random.Generator, step: float, most: float, zero: float = 0.2) -> float:
    """A time of up to so many steps, zero now and then."""
    return 0.0 if _chance(rng, zero) else step * float(rng.uniform(0.05, most))


def _spares(rng: np.random.Generator, method: str) -> int:
    if method == "data_parallel":
        return int(rng.integers(0, 4))
    return int(_chance(rng, 0.1))


def _units(rng: np.random.Generator, step: float, equal_slices: bool) -> tuple[UnitCase, ...]:
    count = int(rng.integers(1, 5))
    regions = int(rng.integers(1, 4))
    chips = int(rng.integers(1, 9))
    slices = int(rng.integers(1, 5))
    equal_units, equal_speeds = _chance(rng, 0.6), _chance(rng, 0.6)
    units = []
    for index in range(count):
        sizes = [chips] * (slices if equal_units else int(rng.integers(1, 5)))
        if not equal_slices and _chance(rng, 0.2):
            sizes[-1] = int(rng.integers(1, chips + 1))
        speed = 1.0 if equal_speeds else float(rng.uniform(0.7, 1.3))
        region = f"region {index % regions}"
        units.append(UnitCase(f"unit {index}", region, tuple(sizes), step * speed))
    return tuple(units)


def _with_training(rng: np.random.Generator, case: Case) -> Case:
    inner_steps = int(rng.integers(1, 7))
    layers = int(rng.integers(1, 7))
    return replace(
        case,
        parameters=PARAMETERS,
        layers=layers,
        inner_steps=inner_steps,
        fragments=int(rng.integers(1, min(inner_steps, layers) + 1)),
        overlap_steps=int(rng.integers(0, 4)),
        quorum=int(rng.integers(1, len(case.units) + 1)),
        grace=0.0 if _chance(rng, 0.4) else float(rng.uniform(0.05, 0.95)),
        payload_bits=float(rng.choice([4, 16, 32])),
        gradient_bits=16.0,
        tokens_per_step=1000.0,
        apply=str(rng.choice(["on_arrival", "at_tau"])),
        below_quorum=str(rng.choice(["block", "step_on"])),
        release=str(rng.choice(["by_layer", "end_of_step"])),
        jitter=_jitter(rng, len(case.units)) if _chance(rng, 0.5) else no_jitter,
    )


def _jitter(rng: np.random.Generator, units: int) -> JitterTable:
    spread = float(rng.choice([0.01, 0.1]))
    table = np.maximum(rng.normal(1.0, spread, (units, TABLE_LENGTH)), 0.5)
    return JitterTable(tuple(tuple(row) for row in table.tolist()))


def _delay(rng: np.random.Generator, units: int, step: float) -> JitterTable:
    """Data that are there at once, or up to a step late, or very late now and then."""
    late = rng.random((units, TABLE_LENGTH)) < float(rng.choice([0.1, 1.0]))
    table = late * rng.exponential(0.3 * step, (units, TABLE_LENGTH))
    return JitterTable(tuple(tuple(row) for row in table.tolist()))


def _with_network(rng: np.random.Generator, case: Case, step: float) -> Case:
    regions = sorted({unit.region for unit in case.units})
    if case.method in JOB_METHODS:
        bits = case.gradient_bits * PARAMETERS
    else:
        bits = case.payload_bits * PARAMETERS / max(1, case.inner_steps / 2)
    steps_to_send = {"unlimited": 0.0, "fast": 0.1, "slow": 1.5}[
        str(rng.choice(["unlimited", "fast", "slow"]))
    ]
    capacity = {}
    for region in regions:
        seconds = steps_to_send * step * float(rng.uniform(0.5, 1.5))
        capacity[region] = bits / seconds if seconds > 0 else math.inf
    return replace(
        case,
        capacity=capacity,
        latency=_length(rng, step, 0.1, zero=0.5),
        link_changes=_link_changes(rng, case.duration, capacity, bits / step, step),
    )


def _link_changes(
    rng: np.random.Generator, duration: float, capacity: dict[str, float], usual: float, step: float
) -> tuple[LinkChange, ...]:
    """Throttles and cuts, each healed some steps later."""
    changes = []
    for _ in range(int(rng.integers(0, 4)) if _chance(rng, 0.6) else 0):
        region = str(rng.choice(sorted(capacity)))
        at = float(rng.uniform(0, duration))
        left = 0.0 if _chance(rng, 0.4) else float(rng.uniform(0.05, 0.5))
        throttled = left * min(capacity[region], 10 * usual)
        changes.append(LinkChange(at, region, throttled))
        healed = at + step * float(rng.uniform(0.2, 15))
        changes.append(LinkChange(healed, region, capacity[region]))
    return tuple(sorted(changes, key=lambda change: change.time))


def _with_stalls(rng: np.random.Generator, case: Case, step: float) -> Case:
    policy = "none"
    if case.method in JOB_METHODS:
        policy = str(rng.choice(["none", "fixed", "in_memory"]))
    by_steps = policy == "fixed" and _chance(rng, 0.3)
    return replace(
        case,
        downscale=_length(rng, step, 3),
        upscale=_length(rng, step, 3),
        elastic_rule=str(rng.choice(["absorb", "extend"])),
        restart_time=_length(rng, step, 6),
        restart_rule=str(rng.choice(["absorb", "extend"])),
        checkpoint_policy=policy,
        interval=step * float(rng.uniform(1, 12)) if policy == "fixed" and not by_steps else None,
        save=_length(rng, step, 0.8, zero=0.4) if policy != "none" else 0.0,
        restore=_length(rng, step, 4) if policy != "none" else 0.0,
        age_while_down=str(rng.choice(["runs", "stops"])),
    )


def _with_strikes(rng: np.random.Generator, case: Case, step: float) -> Case:
    """Strikes on slices and on whole units, some soon after the one before."""
    detection = _length(rng, step, 2)
    longest_repair = step * float(rng.choice([1, 8, 30]))
    strikes: list[StrikeCase] = []
    for _ in range(int(rng.poisson(float(rng.choice([0.5, 3, 8]))))):
        at = float(rng.uniform(0, case.duration))
        while at < case.duration:
            unit = int(rng.integers(0, len(case.units)))
            strikes.append(
                StrikeCase(
                    time=at,
                    unit=unit,
                    slices=_struck_slices(rng, len(case.units[unit].slices)),
                    detection=detection,
                    repair=float(rng.uniform(0.02, 1)) * longest_repair,
                )
            )
            if _chance(rng, 0.6):
                break
            at += step * float(rng.exponential(2.0))
    return replace(case, strikes=tuple(sorted(strikes, key=lambda strike: strike.time)))


def _corrupting(rng: np.random.Generator, case: Case, step: float) -> tuple[StrikeCase, ...]:
    """Some of the strikes find that the state has been corrupt for a while."""
    return tuple(
        replace(strike, since=max(0.0, strike.time - step * float(rng.exponential(8.0))))
        if _chance(rng, 0.3)
        else strike
        for strike in case.strikes
    )


def _struck_slices(rng: np.random.Generator, slices: int) -> tuple[int, ...]:
    kind = float(rng.random())
    if kind < 0.25:
        return tuple(range(slices))
    if kind < 0.35:
        count = int(rng.integers(1, slices + 1))
        return tuple(sorted(int(i) for i in rng.choice(slices, count, replace=False)))
    return (int(rng.integers(0, slices)),)
