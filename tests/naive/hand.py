"""Small cases made by hand: chips of 1, units of equal slices, and what they should come to."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import pytest

from .case import Case, NaiveResult, StrikeCase, UnitCase
from .model import simulate
from .reckoning import EXACT, Reckoning, in_ticks


def run(case: Case, reckoning: Reckoning = EXACT) -> NaiveResult:
    """Simulate, and hold every run to the law that accounts close."""
    result = simulate(case, reckoning)
    capacities = [float(sum(unit.slices)) for unit in case.units]
    if case.spares:
        capacities.append(float(case.spares * case.units[0].slices[0]))
    for account, chips in zip(result.accounts, capacities, strict=True):
        assert sum(account.values()) == pytest.approx(chips * case.duration, rel=1e-9)
        assert min(account.values()) >= -1e-9 * chips * case.duration
    end = reckoning.seconds(in_ticks(case, reckoning).duration)
    for unit in result.spans:
        assert (unit[0][0], unit[-1][1]) == (0.0, end)
        assert all(before[1] == after[0] for before, after in pairwise(unit))
    return result


def units(*step_times: float, slices: int = 1, regions: int = 1) -> tuple[UnitCase, ...]:
    """Units of these step times, dealt out to the regions."""
    return tuple(
        UnitCase(f"unit {i}", f"region {i % regions}", (1,) * slices, step_time)
        for i, step_time in enumerate(step_times)
    )


def far_apart(*step_times: float, seconds: float, **settings: Any) -> Case:
    """Units in regions of their own; sending the whole model once takes so many seconds."""
    regions = len(step_times)
    factor = 2 * (regions - 1) / regions
    return Case(
        units=units(*step_times, regions=regions),
        capacity={f"region {i}": 1.0 for i in range(regions)},
        parameters=seconds / factor,
        payload_bits=1.0,
        gradient_bits=1.0,
        **settings,
    )


def decoupled(*step_times: float, **settings: Any) -> Case:
    """Learners in one region, so that sending is free."""
    return Case(method="decoupled_diloco", units=units(*step_times), **settings)


def slice_strike(
    time: float, index: int = 0, unit: int = 0, detection: float = 1.0, repair: float = 99.0
) -> StrikeCase:
    """A strike on one slice."""
    return StrikeCase(time, unit, (index,), detection, repair)


def nonzero(account: Mapping[str, float]) -> dict[str, float]:
    """What holds more than the rounding of moved chip-seconds."""
    return {name: value for name, value in account.items() if abs(value) > 1e-9}


def books(**accounts: float) -> Any:
    """Accounts as they should be."""
    return pytest.approx(accounts, rel=1e-9)


def spans(*expected: tuple[float, float, str, int]) -> list[Any]:
    """Spans as they should be."""
    return [(about(a), about(b), phase, n) for a, b, phase, n in expected]


def about(value: float) -> Any:
    """Equal but for rounding."""
    return pytest.approx(value, rel=1e-9)
