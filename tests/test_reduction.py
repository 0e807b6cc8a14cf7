"""What gradients put on a link, layer by layer: when each has gone, and the stretches of it."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from ddsim.engine.meter import Meter
from ddsim.engine.reduction import Pipe, Stretch, drain, drain_over, pieces, record
from ddsim.engine.step import Step, whole_times
from ddsim.world.instants import NEVER, SECOND, ticks
from ddsim.world.ring import Ring
from ddsim.world.slow_start import IDLE, Connection, SlowStart
from ddsim.world.timeline import Timeline

STEADY = Timeline.constant(1e9)
SLOW = SlowStart(ticks(0.060), 116_800.0)


def ring(line: Timeline, slow_start: SlowStart | None = None) -> Ring:
    """Two regions, and one link between them."""
    return Ring(2, ("a", "b"), ("up:a",), line, 0, 1.0, (1.0,), slow_start=slow_start)


def test_what_goes_back_to_back_is_one_stretch() -> None:
    """Of three items of a second each the second waits for the first, and the third comes later."""
    items = [(0, 2e9), (SECOND // 2, 2e9), (3 * SECOND, 2e9)]
    passed, stretches = drain(items, Timeline.constant(2e9), 0)
    assert passed == [SECOND, 2 * SECOND, 4 * SECOND]
    assert stretches == [(0, 2 * SECOND, 4e9), (3 * SECOND, 4 * SECOND, 2e9)]


def item_by_item(
    items: list[tuple[int, float]], line: Timeline
) -> tuple[list[int], list[Stretch], Connection]:
    """Where slow start says that each item ends, and what of it goes when."""
    connection, free, passed = IDLE, 0, []
    stretches: list[Stretch] = []
    for release, bits in items:
        start = max(release, free)
        course = SLOW.course(line, connection, start, bits)
        free, connection = course.end, course.connection
        passed.append(free)
        stretches.append((start, course.opened, course.slowly))
        stretches.append((course.opened, free, bits - course.slowly))
    return passed, [part for part in stretches if part[1] > part[0]], connection


@pytest.mark.parametrize("seed", range(20))
def test_items_go_over_connections_one_by_one(seed: int) -> None:
    """As slow start has each; those that touch and go at the rate are one stretch of it."""
    draw = random.Random(seed)
    line = Timeline.of(1e9, [(2 * SECOND, 2.5e8), (4 * SECOND, 0.0), (5 * SECOND, 1e9)])
    now, items = 0, []
    for _ in range(30):
        now += draw.choice([0, ticks(0.01), ticks(0.05), ticks(0.1), ticks(0.7)])
        items.append((now, draw.choice([2e6, 2e6, 5e7, 4e8])))
    passed, stretches, connection = drain_over(ring(line, SLOW), items, line, 0, IDLE)
    ends, parts, left = item_by_item(items, line)
    assert (passed, connection) == (ends, left)
    assert sum(end - start for start, end, _ in stretches) == sum(e - s for s, e, _ in parts)
    assert len({start for start, _, _ in stretches}) == len(stretches) < len(parts)
    for start, end, bits in stretches:
        within = [part[2] for part in parts if start <= part[0] and part[1] <= end]
        assert bits == pytest.approx(sum(within))


def test_layers_that_touch_are_one_stretch_on_open_connections() -> None:
    """The first starts slowly, the rest of it and the two that follow go at the rate."""
    items = [(0, 1e9), (0, 1e8), (0, 1e8), (10 * SECOND, 1e3)]
    passed, stretches, _ = drain_over(ring(STEADY, SLOW), items, STEADY, 0, IDLE)
    opened = stretches[0][1]
    assert [(start, end) for start, end, _ in stretches[1:2]] == [(opened, passed[2])]
    assert sum(bits for _, _, bits in stretches[:2]) == pytest.approx(1.2e9)
    assert stretches[2][0] == 10 * SECOND


def test_layers_leave_later_by_what_a_step_has_become_slower() -> None:
    """At half speed from 2 of 4 s on: what was to leave at 3 s leaves at 4 s, the rest stands."""
    step = Step([0], 0, [4], [1.0], ring(STEADY), 1.0, [1, 3, 4], (0,), 0, [0.0], done=2)
    step.repace([0.5], max)
    assert (step.times, step.releases) == ([6], [1, 4, 6])
    over = replace(step, done=6)
    over.repace([1.0], max)
    assert (over.times, over.releases) == ([6], [1, 4, 6])


def test_a_layer_that_meets_a_change_of_the_rate_touches_the_one_before() -> None:
    """Three on an open connection; at half the rate from 2 s on the last ends at 2.8 s."""
    line = Timeline.of(1e9, [(2 * SECOND, 5e8)])
    open_since = Connection(last=-1)
    items = [(0, 4e8), (0, 8e8), (0, 12e8)]
    passed, stretches, _ = drain_over(ring(line, SLOW), items, line, 0, open_since)
    assert passed == [2 * SECOND // 5, 6 * SECOND // 5, 14 * SECOND // 5]
    assert stretches == [(0, 14 * SECOND // 5, 24e8)]


def test_who_waits_for_its_data_is_slowed_from_there_on() -> None:
    """The slowest unit computes from 40 to 60, at half speed until 80; layers follow it alone."""
    data, times, releases = [40, 0], [60, 30], [20, 50, 60]
    step = Step(data, 0, times, [1.0, 1.0], ring(STEADY), 1.0, releases, (0, 1), 0, [0.0], done=20)
    step.repace([0.5, 1.0], max)
    assert (step.times, step.releases) == ([80, 30], [20, 60, 80])


def test_what_slow_start_lets_through_is_a_stretch_of_its_own() -> None:
    """However little: a quarter of a bit, then half a one; then a window lasts a round trip."""
    slow = SlowStart(SECOND, 0.25)
    line = Timeline.constant(1.0)
    items = [(0, 2.0), (0, 1.0), (5 * SECOND, 0.25)]
    passed, stretches, _ = drain_over(ring(line, slow), items, line, 0, IDLE)
    assert passed == [ticks(3.25), ticks(4.25), ticks(5.25)]
    assert stretches == [
        (0, 2 * SECOND, 0.75),
        (2 * SECOND, ticks(4.25), 2.25),
        (5 * SECOND, ticks(5.25), 0.25),
    ]


RISING = Timeline.of(1.0, [(2 * SECOND, 10.0)])


@pytest.mark.parametrize(
    ("until", "found"),
    [
        (0, []),
        (1, [(0, 1, 1.0)]),
        (2, [(0, 2, 2.0)]),
        (3, [(0, 2, 2.0), (2, 3, 10.0)]),
        (4, [(0, 2, 2.0), (2, 4, 20.0)]),
        (9, [(0, 2, 2.0), (2, 4, 20.0)]),
    ],
)
def test_a_stretch_is_cut_where_its_rate_changes(
    until: int, found: list[tuple[int, int, float]]
) -> None:
    """22 bits in 4 s, at ten times the rate from 2 s on, as far as they have gone."""
    cut = list(pieces((0, 4 * SECOND, 22.0), ring(RISING), until * SECOND))
    assert cut == [(start * SECOND, end * SECOND, bits) for start, end, bits in found]


@pytest.mark.parametrize(("until", "found"), [(3, []), (4, [1.0]), (5, [1.0])])
def test_a_burst_has_gone_once_its_instant_has_come(until: int, found: list[float]) -> None:
    """At once and as a whole."""
    cut = pieces((4, 4, 1.0), ring(Timeline.constant(float("inf"))), until)
    assert [bits for _, _, bits in cut] == found


def test_a_stretch_that_never_ends_has_sent_what_the_link_let_through() -> None:
    """Two bits of ten before the link is cut for good, with slow start or without."""
    line = Timeline.of(1.0, [(2 * SECOND, 0.0)])
    for slow in (None, SLOW):
        cut = list(pieces((0, NEVER, 10.0), ring(line, slow), 5 * SECOND))
        assert cut == [(0, 2 * SECOND, 2.0), (2 * SECOND, 5 * SECOND, 0.0)]


def test_what_starts_slowly_is_spread_by_the_rate_of_its_link() -> None:
    """2.2 bits where 22 could pass, so a tenth of each; evenly on a link without limit."""
    slowly = list(pieces((0, 4 * SECOND, 2.2), ring(RISING, SLOW), NEVER))
    assert [bits for _, _, bits in slowly] == pytest.approx([0.2, 2.0])
    line = Timeline.constant(float("inf"))
    assert list(pieces((0, 4 * SECOND, 8.0), ring(line, SLOW), SECOND)) == [(0, SECOND, 2.0)]


@pytest.mark.parametrize(
    ("stretches", "bits", "peak"),
    [
        ([(ticks(1), ticks(1), 3.0), (ticks(1.5), ticks(1.5), 4.0)], 7.0, 7.0),
        ([(ticks(1), ticks(1), 3.0), (ticks(3), ticks(3), 4.0)], 3.0, 3.0),
        ([(ticks(0), ticks(4), 22.0)], 2.0, 1.0),
        ([(ticks(0), ticks(1), 1.0), (ticks(1.5), ticks(1.5), 4.0)], 5.0, 4.5),
    ],
)
def test_what_has_gone_by_then_is_recorded(
    stretches: list[Stretch], bits: float, peak: float
) -> None:
    """Bursts and what takes its time, up to 2 s."""
    meter = Meter()
    record(meter, stretches, ring(RISING), 2 * SECOND)
    assert (meter.bits, meter.peak) == (bits, peak)


def test_what_crosses_no_link_is_there_at_its_release() -> None:
    """And leaves nothing behind; across links it takes its bits and the way."""
    here = Ring(2, ("a",), (), STEADY, SECOND)
    meter = Meter()
    assert Pipe(here, meter).send([(3, 1e9), (5, 1e9)], 0) == [3, 5]
    assert meter.bits == 0.0
    away = replace(ring(Timeline.constant(1.0)), latency=SECOND, share=0.5)
    assert Pipe(away, Meter()).send([(0, 4.0), (0, 2.0)], 0) == [3 * SECOND, 4 * SECOND]


@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("span", [-7, -1, 0, 1, 2, 4, 5, 6, 9, 10, 11, 12])
def test_a_length_fits_in_as_often_as_its_ends_do(span: int, exclusive: bool) -> None:
    """At the end of the span too, unless that is excluded; never less than not at all."""
    ends = range(5, span if exclusive else span + 1, 5)
    assert whole_times(span, 5, exclusive) == len(ends)
