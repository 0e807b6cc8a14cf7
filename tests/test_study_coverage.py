"""Intervals hold the truth as often as they say, wherever one is printed."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from races import raced

from ddsim.study import Rule
from ddsim.study.measures import Measured, measured
from ddsim.study.work import Row
from ddsim.world.chance import Chance

ASKED = 0.90
LOSS = 0.3

Array = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
Draw = Callable[[np.random.Generator, int], Array]


def rare(probability: float) -> Draw:
    """Histories without a failure, and a few that lose some of their time."""

    def draw(rng: np.random.Generator, n: int) -> Array:
        return 1.0 - (rng.random(n) < probability) * rng.exponential(0.1, n)

    return draw


WORLDS: dict[str, tuple[Draw, float]] = {
    "normal": (lambda rng, n: rng.normal(0.9, 0.02, n), 0.9),
    "rare losses, 5%": (rare(0.05), 1.0 - 0.05 * 0.1),
    "rare losses, 1%": (rare(0.01), 1.0 - 0.01 * 0.1),
    "lognormal": (lambda rng, n: rng.lognormal(0.0, 0.75, n), math.exp(0.75**2 / 2)),
    "near 1": (lambda rng, n: rng.beta(60.0, 1.0, n), 60.0 / 61.0),
    "yes or no": (lambda rng, n: (rng.random(n) < 0.97).astype(float), 0.97),
}


def rows_of(values: Array) -> list[Row]:
    """A history each; what lost nothing met no failure."""
    return [{"uptime": value, "failures": float(value != 1.0)} for value in values.tolist()]


def look(rows: list[Row], world: str) -> Measured:
    """What is said of them: as of a share, where they are shares."""
    metric = "steps" if world == "lognormal" else "uptime"
    found = measured([{metric: row["uptime"], **row} for row in rows], metric, Chance(0.01))
    assert found is not None
    return found


def holds(found: list[Measured], truth: float) -> str:
    """How many intervals there are, and of these how many hold the truth; asserted."""
    printed = [it for it in found if it.enough]
    covered = sum(it.low <= truth <= it.high for it in printed)
    n = len(printed)
    assert covered >= ASKED * n - 5 * math.sqrt(n * ASKED * (1 - ASKED))
    return f"{covered} of {n} intervals ({len(found)} studies) hold the truth"


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize(
    "n", [5, pytest.param(10, marks=pytest.mark.slow), 20, pytest.param(60, marks=pytest.mark.slow)]
)
def test_at_a_fixed_number(world: str, n: int) -> None:
    """At least 90% of those that are printed, at five standard errors."""
    draw, truth = WORLDS[world]
    rng = np.random.default_rng(24)
    found = [look(rows_of(draw(rng, n)), world) for _ in range(400)]
    print(f"{world}, {n}: {holds(found, truth)}")  # noqa: T201 (for `pytest -rP`)


@pytest.mark.parametrize("world", WORLDS)
def test_under_a_stopping_rule(world: str) -> None:
    """As many as make the interval narrow, which a few histories alike never do."""
    draw, truth = WORLDS[world]
    rng = np.random.default_rng(25)
    metric = "steps" if world == "lognormal" else "uptime"
    width = 0.3 if world == "lognormal" else 0.01
    rule = Rule(half_width=width, metric=metric, most=160)
    found = []
    for _ in range(120):
        values, n = draw(rng, rule.most), 0
        rows = [
            {metric: value, **row}
            for value, row in zip(values.tolist(), rows_of(values), strict=True)
        ]
        while (more := rule.wanted(rows[:n], Chance(0.01))) > n:
            n = more
        found.append(look(rows_of(values[:n]), world))
        assert found[-1].enough or n == rule.most
    print(f"{world}: {holds(found, truth)}")  # noqa: T201 (for `pytest -rP`)


def test_histories_alike_are_no_interval_while_failures_are_possible() -> None:
    """Ten without a failure say that at most a quarter of all histories meet one."""
    quiet: list[Row] = [{"uptime": 1.0, "failures": 0.0}] * 10
    found = measured(quiet, "uptime", Chance(0.03))
    assert found is not None
    assert not found.enough
    assert found.unseen == pytest.approx(1.0 - 0.05**0.1)
    sure = measured(quiet, "uptime", Chance())
    assert sure is not None
    assert (sure.low, sure.high) == (1.0, 1.0)


def test_jitter_alone_is_no_proof_either() -> None:
    """All histories differ, and none met a failure, although some are to be expected."""
    rows: list[Row] = [{"uptime": 0.9 + 0.001 * i, "failures": 0.0} for i in range(10)]
    found = measured(rows, "uptime", Chance(0.1))
    assert found is not None
    assert not found.enough
    assert measured(rows, "uptime", Chance()).enough  # type: ignore[union-attr]


def test_a_share_stays_between_0_and_1() -> None:
    """Its interval too."""
    rows: list[Row] = [{"goodput": g, "failures": 1.0} for g in (0.99, 0.2, 1.0)]
    found = measured(rows, "goodput", Chance(1.0))
    assert found is not None
    assert (found.low, found.high) == (0.0, 1.0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("candidates", "spread", "replications"),
    [(9, 1.0, 20), pytest.param(20, 0.0, 6, marks=pytest.mark.slow)],
)
def test_a_plan_that_is_sure_is_right(candidates: int, spread: float, replications: int) -> None:
    """At least 93 of a hundred times, over all candidates, and never among equal ones."""
    found = raced(candidates, spread, replications, 60)
    print(found.words)  # noqa: T201 (for `pytest -rP`)
    assert found.right >= 0.93 * found.sure - 5 * math.sqrt(found.sure * 0.93 * 0.07)
    assert (found.sure > 0) == (spread > 0.0)
