"""The clock counts whole nanoseconds: conversions, the horizon, ties and short steps."""

from __future__ import annotations

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ddsim
from ddsim import methods
from ddsim.engine.clock import Clock, Rank, StandstillError, Wake
from ddsim.engine.course import SlowRun
from ddsim.scenario import Known, Scenario, read_text, validate
from ddsim.world.instants import NEVER, SECOND, Ticks, later, seconds, ticks
from ddsim.world.pace import Pace
from ddsim.world.timeline import Timeline

TEXT = """\
methods: [data_parallel]
model: {parameters: 1e9, layers: 4}
training: {step_time: 1 s, inner_steps: 8, fragments: 2, overlap_steps: 2}
cluster: {chips: 8, chips_per_slice: 2, learners: 2}
"""
ROUND = {"0.1 s": ("100 s", 999), "1 s": ("1000 s", 999), "0.3 s": ("30 s", 99)}


def scenario(method: str, **settings: object) -> Scenario:
    """Two equal units that never fail, with links without limit."""
    named = {key.replace("__", "."): value for key, value in settings.items()}
    text = read_text(TEXT, "clock.yaml").with_overrides({"methods": [method], **named})
    return validate(text, Known(methods=methods.names()))


@given(st.integers(0, 10**15))
def test_ticks_and_seconds_are_each_others_inverse(length: int) -> None:
    """For every whole number of nanoseconds up to 11 days; so no result loses an instant."""
    assert ticks(seconds(length)) == length


def test_ticks_round_to_the_nearest_half_to_even() -> None:
    """What is positive is at least one; what never ends is NEVER, and so is what lies beyond."""
    assert [ticks(n * 0.5e-9) for n in (0, 1, 2, 3, 5)] == [0, 1, 1, 2, 2]
    assert ticks(1e-15) == 1
    assert ticks(inf) == ticks(1e10) == NEVER
    assert seconds(NEVER) == inf
    assert later(NEVER - 1, 1) == later(5, NEVER) == NEVER


def test_only_ints_are_scheduled() -> None:
    """Anything else would turn SimPy's clock into a float."""
    with pytest.raises(AssertionError, match="Python's int"):
        Clock().after(1.0, Rank.NEXT, print)  # type: ignore[arg-type]


def test_what_lies_at_never_does_not_happen() -> None:
    """Nor what would lie beyond; the clock then has nothing to do."""
    clock = Clock()
    clock.after(1, Rank.NEXT, lambda wake: clock.after(NEVER - 1, Rank.NEXT, print))
    clock.run(NEVER)
    assert (clock.now, clock.events) == (1, 1)


@pytest.mark.parametrize("method", methods.names())
@pytest.mark.parametrize("step", ROUND)
def test_a_step_that_ends_at_the_horizon_does_not_count(method: str, step: str) -> None:
    """So that round steps give one fewer than fit, for every method."""
    duration, expected = ROUND[step]
    one = scenario(method, training__step_time=step, duration=duration)
    assert ddsim.run(one).results[0].steps == expected


@pytest.mark.parametrize("method", methods.names())
def test_all_times_multiplied_change_nothing_but_the_time(method: str) -> None:
    """By 1.1, a kill among them: ties stay ties, goodput and merges are the same."""
    kill = {"fault": "kill", "target": "unit 1/slice 0"}
    one, longer = (
        ddsim.run(
            scenario(
                method,
                duration=f"{200 * by} s",
                training__step_time=f"{by} s",
                failures__detection=f"{2 * by} s",
                elastic__downscale=f"{by} s",
                elastic__upscale=f"{by} s",
                restart__time=f"{3 * by} s",
                chaos=[{**kill, "at": f"{50 * by} s", "for": f"{20 * by} s"}],
            )
        ).results[0]
        for by in (1.0, 1.1)
    )
    assert one.steps == longer.steps
    assert one.goodput == pytest.approx(longer.goodput, rel=1e-9)
    assert [m.learners for m in one.merges] == [m.learners for m in longer.merges]


def test_jittered_steps_are_whole() -> None:
    """The draw rounds to the nearest nanosecond, and a Python int comes out."""
    import numpy as np

    pace = Pace(1000, 0.3, np.random.default_rng(1))
    drawn = [pace.of(turn) for turn in range(2000)]
    assert {type(compute) for compute in drawn} == {int}
    assert min(drawn) >= 100
    assert sum(drawn) / 2000 == pytest.approx(1000, abs=5 * 300 / 2000**0.5)


def test_slow_steps_end_where_they_would_one_by_one() -> None:
    """At 0.6 of the speed ten ticks take 16.67: each step rounds on its own."""
    slow = SlowRun(100, 0, 0.6, [10, 20, 30, 35])
    assert [slow.when(bound) for bound in (10, 20, 30)] == [117, 134, 151]
    assert slow.ends == 159
    assert [slow.at(now) for now in (100, 110, 117, 120, 159)] == [0, 6, 10, 12, 35]
    assert [slow.pass_to(now) for now in (116, 134, 134, 159)] == [0, 2, 0, 2]


def test_bits_end_at_the_nearest_nanosecond_after_the_last_change() -> None:
    """10 bits at 3 bit/s take 3.33 s; at 6 bit/s from 1 s on, 1 s and 1.17 more."""
    assert Timeline.constant(3.0).finish(5, 10.0) == 5 + 3_333_333_333
    assert Timeline.of(3.0, [(SECOND, 6.0)]).finish(0, 10.0) == SECOND + 1_166_666_667
    assert Timeline.constant(1e12).finish(5, 1.0) == 6
    assert Timeline.constant(inf).finish(5, 10.0) == 5
    assert Timeline.constant(0.0).finish(5, 10.0) == NEVER


def test_a_run_of_short_steps_says_what_rounding_does() -> None:
    """Below a millisecond, in the results and so in what is printed; not from there on."""
    short = scenario("diloco", training__step_time="0.0003 s", duration="1 s")
    said = ddsim.run(short).results[0].extra["rounding"]
    assert said.startswith("steps of 300 us: ")
    assert said.endswith("by 0.00017%")
    plain = scenario("diloco", training__step_time="0.001 s", duration="1 s")
    assert "rounding" not in ddsim.run(plain).results[0].extra


def chain(clock: Clock, count: int) -> list[Ticks]:
    """Let so many events follow one another at 1 ns, with no delay, and then one at 2 ns."""
    called: list[Ticks] = []

    def again(wake: Wake) -> None:
        called.append(clock.now)
        if len(called) < count:
            clock.after(0, Rank.NEXT, again)
        elif len(called) == count:
            clock.after(1, Rank.NEXT, again)

    clock.after(1, Rank.NEXT, again)
    return called


@pytest.mark.parametrize("followed", [False, True])
@pytest.mark.parametrize("until", [NEVER, SECOND])
def test_what_comes_again_at_once_without_an_end_stops_the_run(
    followed: bool, until: Ticks, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After as many events as are too many at one instant, at most twice as many."""
    monkeypatch.setattr("ddsim.engine.clock.STILL", 100)
    clock = Clock()
    if followed:
        clock.follow(lambda instant, rank: True)
    called = chain(clock, 10**9)
    with pytest.raises(StandstillError, match="100 events at 1e-09 s of simulated time"):
        clock.run(until)
    assert 100 <= len(called) <= 200


def test_many_events_at_one_instant_are_no_standstill(monkeypatch: pytest.MonkeyPatch) -> None:
    """While they end, the run goes on; and it takes no event of its own to look."""
    monkeypatch.setattr("ddsim.engine.clock.STILL", 100)
    clock = Clock()
    called = chain(clock, 100)
    clock.run(SECOND)
    assert called == [1] * 100 + [2]
    assert clock.events == 101
