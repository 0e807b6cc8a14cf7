"""Forecasts that try the beginning of a run."""

from __future__ import annotations

from itertools import pairwise
from math import exp
from typing import Any

import pytest
from scenario_text import scenario

import ddsim
from ddsim.cli import consent
from ddsim.errors import InputError
from ddsim.forecast import Forecast, forecast, trial
from ddsim.forecast.strikes import there
from ddsim.forecast.trial import FEW, Try
from ddsim.methods.local import compiling
from ddsim.simulation import simulate

METHOD = "diloco"
DAY = 86400.0


def like(
    monkeypatch: pytest.MonkeyPatch,
    *,
    fixed: float = 0.01,
    seconds: float = 1e-4,
    merges: float | None = 0.5,
    tokens: float = 100.0,
) -> list[float]:
    """Have tries take `fixed` and so many seconds a second, and come to as much; note their spans.

    The first of a process takes longer.
    """
    spans: list[float] = []

    def tried(world: Any, name: str, span: float) -> Try:
        spans.append(span)
        first = 1.0 if len(spans) == 1 else 0.0
        came = None if merges is None else merges * span
        return Try(span, first + fixed + seconds * span, span, tokens * span, came)

    monkeypatch.setattr(trial, "_try", tried)
    monkeypatch.setattr(compiling, "here", lambda: True)
    return spans


def of(duration: str = "1 day", **settings: Any) -> ddsim.Scenario:
    """A scenario of one method that is simulated by hand."""
    return scenario("", {"duration": duration, **settings}).choose([METHOD])


def test_what_came_between_tries_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a run takes however short it is is counted once, what the first loads not at all."""
    like(monkeypatch)
    world = of()
    law, tried = forecast(world), forecast(world, tries=True)
    assert tried.seconds - tried.once == pytest.approx(0.01 + 1e-4 * DAY)
    assert tried.merges == pytest.approx(0.5 * DAY, rel=1e-3)
    assert tried.steps == pytest.approx(4 * DAY)
    assert tried.strikes == law.strikes


def test_tries_grow_until_one_is_long_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is four times as long as the one before; none is begun after one of 0.1 s."""
    spans = like(monkeypatch, fixed=0.0, seconds=1e-6)
    forecast(of("1000 day"), tries=True)
    first, *rest = spans
    assert first == rest[0]
    assert all(later == pytest.approx(4.0 * before) for before, later in pairwise(rest))
    assert 1e-6 * rest[-2] < trial.ENOUGH <= 1e-6 * rest[-1]


def test_few_merges_show_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Below 20 in the longest try, expected or come, laws say how many the whole has."""
    world = of("1000 day", **{"training.inner_steps": 10_000})
    law = forecast(world)
    spans = like(monkeypatch, merges=0.0, seconds=1e-2)
    tried = forecast(world, tries=True)
    assert law.merges * spans[-1] / (1000 * DAY) < FEW
    assert tried.merges == pytest.approx(law.merges)


@pytest.mark.parametrize("ever", [0.0, 1.0])
def test_what_merged_once_may_do_so_again(ever: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the last try had no more, one in four tries more; never where none was seen."""
    spans: list[float] = []

    def tried(world: Any, name: str, span: float) -> Try:
        spans.append(span)
        return Try(span, 1e-6 * span, span, span, ever)

    monkeypatch.setattr(trial, "_try", tried)
    monkeypatch.setattr(compiling, "here", lambda: True)
    found = forecast(of("1000 day"), tries=True)
    further = (1000 * DAY - spans[-1]) / (spans[-1] - spans[-2])
    assert found.merges == pytest.approx(ever * (1.0 + further / 4.0))


def test_what_counts_no_merges_shows_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """Laws say how many an own method has that does not tell."""
    world = of()
    like(monkeypatch, merges=None)
    assert forecast(world, tries=True).merges == pytest.approx(forecast(world).merges)


def test_a_goal_is_come_to_as_fast_as_in_tries(monkeypatch: pytest.MonkeyPatch) -> None:
    """At 1000 tokens a second, a hundred million of them take 100,000 s."""
    like(monkeypatch, tokens=1000.0, seconds=1e-5)
    tried = forecast(of("10 day", **{"training.tokens": 1e8}), tries=True)
    assert tried.seconds - tried.once == pytest.approx(0.01 + 1e-5 * 1e5)


@pytest.mark.parametrize("failures", [0.0, 1.0])
def test_a_history_that_most_are_not_like_shows_no_steps(
    failures: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One in which something failed, where little is expected to: laws say what the others do."""

    def tried(world: Any, name: str, span: float) -> Try:
        return Try(span, 0.02, 4.0, 4.0, 0.0, failures=failures)

    monkeypatch.setattr(trial, "_try", tried)
    monkeypatch.setattr(compiling, "here", lambda: True)
    world = of("10 min", **{"failures.chip_mtbi": "1000 h"})
    law = forecast(world)
    assert law.strikes < 1.0
    steps = law.steps if failures else 4 * 4.0
    assert forecast(world, tries=True).steps == pytest.approx(steps)


def test_what_ends_in_a_try_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many tokens were to be had: a goal may be counted otherwise."""

    def tried(world: Any, name: str, span: float) -> Try:
        return Try(100.0, 0.02, 100.0, 1.0, 40.0, ended=True)

    monkeypatch.setattr(trial, "_try", tried)
    monkeypatch.setattr(compiling, "here", lambda: True)
    found = forecast(of("10 day", **{"training.tokens": 1e9}), tries=True)
    assert found.merges == 40.0
    assert found.seconds - found.once == pytest.approx(0.02)


def test_steps_that_came_to_nothing_are_steps() -> None:
    """They are simulated and trained: a job that saves nothing takes many for a few."""
    changes = {"duration": "4 h", "failures.chip_mtbi": "80 h", "checkpoint.policy": "none"}
    world = scenario("", changes).choose(["data_parallel"])
    result = simulate(world.for_method("data_parallel"), "data_parallel")
    lost = result.accounts["wasted_progress"] / result.accounts["productive"]
    assert lost > 1.0
    assert forecast(world, tries=True).steps == pytest.approx(result.steps * (1 + lost), rel=0.5)


def test_a_mistake_in_a_try_is_left_to_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """The forecast is that of the laws."""

    def mistaken(*_: Any) -> Try:
        raise InputError("own.py:1: wrong")

    monkeypatch.setattr(trial, "_try", mistaken)
    assert forecast(of(), tries=True) == forecast(of())


def test_what_is_tried_whole_is_known() -> None:
    """A run that is over within its first tries comes to what they came to."""
    world = of("10 min")
    came = simulate(world.for_method(METHOD), METHOD).extra["merge_count"]
    assert forecast(world, tries=True).merges == came


def test_nothing_is_tried_while_machine_code_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """What takes long by hand says nothing of what the whole will take."""
    like(monkeypatch)
    monkeypatch.setattr(compiling, "here", lambda: False)
    assert forecast(of(), tries=True) == forecast(of())


@pytest.mark.slow
def test_rounds_that_end_no_more_are_seen() -> None:
    """On hardware that is never all there, where the laws reckon on a tenth of its time."""
    changes = {
        "duration": "4e6 s",
        "seed": 963,
        "network.bandwidth": "0.796 Gbit/s",
        "training.step_time": "5.95 s",
        "failures.chip_mtbi": "1.05e6 s",
        "restart.spares": 1,
    }
    world = ddsim.load("covenant72b", changes).choose([METHOD])
    came = simulate(world.for_method(METHOD), METHOD).extra["merge_count"]
    assert not 1 / 3 < forecast(world).merges / came < 3
    assert 1 / 3 < forecast(world, tries=True).merges / came < 3


@pytest.mark.parametrize(
    ("seconds", "tries"), [(1.0, [False]), (30.0, [False, True]), (1e6, [False])]
)
def test_what_is_near_a_minute_or_an_hour_is_tried(
    seconds: float, tries: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Below a sixth of one and above six of the other no time is spent on that."""
    asked: list[bool] = []

    def foretold(world: Any, units: Any = None, *, tries: bool = False) -> Forecast:
        asked.append(tries)
        return Forecast(1.0, 1.0, 1.0, seconds, 1e6)

    monkeypatch.setattr("ddsim.forecast.forecast", foretold)
    monkeypatch.setattr(consent, "agree", lambda *_, **__: None)
    consent.before_running(of(), 1, 1, given=True)
    assert asked == tries


@pytest.mark.parametrize("span", [1.0, 300.0, 3e4, 1e7])
def test_parts_are_there_at_first(span: float) -> None:
    """The mean over a span of the chance that a part is up, by the sum of small steps."""
    rate, away = 1 / 2000.0, 1000.0
    steps = 20_000
    times = [(step + 0.5) / steps * span for step in range(steps)]
    lasting = 1 / (1 + rate * away)
    up = [lasting + (1 - lasting) * exp(-(rate + 1 / away) * time) for time in times]
    assert there(rate, away, span) == pytest.approx(sum(up) / steps, rel=1e-3)


def test_a_short_run_is_struck_before_much_is_away() -> None:
    """A minute of 1.2 million chips, each back only after hours."""
    changes = {"duration": "1 min", "failures.chip_mtbi": "3e6 s", "failures.repair": "2.35e4 s"}
    world = ddsim.load("goodput_vs_chips", changes).choose(["data_parallel"])
    (came,) = ddsim.run(world, replications=5).results
    assert 1 / 3 < forecast(world).strikes / came.failures < 3
