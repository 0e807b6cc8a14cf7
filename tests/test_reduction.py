"""What gradients put on a link, layer by layer: when each has gone, and the stretches of it."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from ddsim.engine.meter import Meter
from ddsim.engine.reduction import (
    Pipe,
    Stretch,
    drain,
    drain_over,
    pieces,
    record,
    release_shares,
)
from ddsim.engine.step import Step, whole_times
from ddsim.world.instants import NEVER, SECOND, ticks
from ddsim.world.ring import Ring
from ddsim.world.slow_start import IDLE, Connection, Course, SlowStart
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


VARYING = Timeline.of(1e9, [(2 * SECOND, 2.5e8), (4 * SECOND, 0.0), (5 * SECOND, 1e9)])


def random_items(seed: int) -> list[tuple[int, float]]:
    """Thirty, from close together to far apart."""
    draw = random.Random(seed)
    now, items = 0, []
    for _ in range(30):
        now += draw.choice([0, ticks(0.01), ticks(0.05), ticks(0.1), ticks(0.7)])
        items.append((now, draw.choice([2e6, 2e6, 5e7, 4e8])))
    return items


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


@pytest.mark.parametrize(
    ("layers", "shares"), [(1, (1.0,)), (2, (4 / 5, 1.0)), (3, (5 / 8, 7 / 8, 1.0))]
)
def test_layers_leave_after_their_backward_by_parameters(
    layers: int, shares: tuple[float, ...]
) -> None:
    """Of two layers: two forward, then the second's backward by activations and by parameters."""
    assert release_shares(layers) == shares


@pytest.mark.parametrize("seed", range(20))
def test_items_go_over_connections_one_by_one(seed: int) -> None:
    """As slow start has each; those that touch and go at the rate are one stretch of it."""
    items = random_items(seed)
    passed, stretches, connection = drain_over(ring(VARYING, SLOW), items, VARYING, 0, IDLE)
    ends, parts, left = item_by_item(items, VARYING)
    assert (passed, connection) == (ends, left)
    assert sum(end - start for start, end, _ in stretches) == sum(e - s for s, e, _ in parts)
    assert len({start for start, _, _ in stretches}) == len(stretches) < len(parts)
    for start, end, bits in stretches:
        within = [part[2] for part in parts if start <= part[0] and part[1] <= end]
        assert bits == pytest.approx(sum(within))


@pytest.mark.parametrize("seed", range(10))
def test_what_goes_in_two_parts_goes_as_it_does_at_once(seed: int) -> None:
    """Wherever it is parted: connections that are not open yet are taken up as they stand."""
    items, over = random_items(seed), ring(VARYING, SLOW)
    whole = drain_over(over, items, VARYING, 0, IDLE)
    for cut in range(1, len(items)):
        first, begun, connection = drain_over(over, items[:cut], VARYING, 0, IDLE)
        assert connection == item_by_item(items[:cut], VARYING)[2]
        rest, ended, connection = drain_over(over, items[cut:], VARYING, first[-1], connection)
        assert (first + rest, connection) == (whole[0], whole[2])
        assert sum(bits for _, _, bits in begun + ended) == pytest.approx(sum(b for _, b in items))


@pytest.mark.parametrize(("early", "slowly"), [(0, True), (1, False)])
def test_an_item_starts_slowly_a_round_trip_after_the_last_bit(early: int, slowly: bool) -> None:
    """Not a tick earlier: then it goes at the rate, all of it."""
    items = [(0, 1e9), (SECOND + SLOW.round_trip - early, 1e9)]
    passed, stretches, _ = drain_over(ring(STEADY, SLOW), items, STEADY, 0, Connection(last=-1))
    assert passed[0] == SECOND
    assert (passed[1] > items[1][0] + SECOND) is slowly
    assert len(stretches) == (3 if slowly else 2)


def test_what_goes_before_connections_are_open_is_apart() -> None:
    """Two small items that touch, both within the first window."""
    line = Timeline.constant(10.0)
    small = ring(line, SlowStart(SECOND, 4.0))
    _, stretches, connection = drain_over(small, [(0, 1.0), (0, 1.0)], line, 0, IDLE)
    assert stretches == [(0, ticks(0.1), 1.0), (ticks(0.1), ticks(0.2), 1.0)]
    assert connection.window == 4.0


def test_connections_over_a_dead_link_stay_as_they_are() -> None:
    """What is sent from the beginning on never passes."""
    dead, before = Timeline.constant(0.0), Connection(last=-1)
    found = drain_over(ring(dead, SLOW), [(0, 1.0)], dead, 0, before)
    assert found == ([NEVER], [(0, NEVER, 1.0)], before)


class Asked(SlowStart):
    """Slow start that knows when it was asked."""

    starts: list[int] = []  # noqa: RUF012  # a frozen dataclass has no other place

    def course(
        self,
        rate: Timeline,
        connection: Connection,
        start: int,
        bits: float,
        until: int = NEVER,
    ) -> Course:
        """Note the start."""
        self.starts.append(start)
        return super().course(rate, connection, start, bits, until)


def test_open_connections_cost_next_to_nothing() -> None:
    """Slow start is asked of the first of many items, and of what meets a change of the rate."""
    Asked.starts.clear()
    half = SECOND // 2
    line = Timeline.of(1e9, [(5 * half, 5e8), (11 * half, 1e9)])
    items = [(0, 5e8)] * 10
    slow = Asked(SLOW.round_trip, SLOW.first)
    passed, _, _ = drain_over(ring(line, slow), items, line, 0, Connection(last=-1))
    assert passed == [half * n for n in (1, 2, 3, 4, 5, 7, 9, 11, 12, 13)]
    assert Asked.starts == []
    line = Timeline.of(1e9, [(9 * half // 2, 5e8)])
    drain_over(ring(line, slow), items, line, 0, Connection(last=-1))
    assert Asked.starts == [4 * half]


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
    line = Timeline.of(2e9, [(2 * SECOND, 1e9)])
    open_since = Connection(last=-1)
    items = [(0, 8e8), (0, 16e8), (0, 24e8)]
    passed, stretches, _ = drain_over(ring(line, SLOW), items, line, 0, open_since)
    assert passed == [2 * SECOND // 5, 6 * SECOND // 5, 14 * SECOND // 5]
    assert stretches == [(0, 14 * SECOND // 5, 48e8)]


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
    cut = list(pieces((3 * SECOND, 7 * SECOND, 8.0), ring(line, SLOW), 4 * SECOND))
    assert cut == [(3 * SECOND, 4 * SECOND, 2.0)]


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


def test_a_pipe_goes_on_where_its_connections_stand() -> None:
    """Items that are sent one by one go as they do together, slowly at first."""
    items = random_items(3)
    pipe = Pipe(replace(ring(VARYING, SLOW), share=1.0), Meter())
    passed = [time for item in items for time in pipe.send([item], item[0])]
    assert passed == drain_over(ring(VARYING, SLOW), items, VARYING, 0, IDLE)[0]


def test_a_pipe_tells_what_has_gone_when_it_sends_again() -> None:
    """Four seconds of a bit each, then two that others have laid out; whole stretches alone."""
    meter = Meter()
    pipe = Pipe(replace(ring(Timeline.constant(1.0)), share=1.0), meter)
    for now, known in [(0, 0.0), (3, 0.0), (8, 8.0)]:
        pipe.send([(now * SECOND, 4.0)], now * SECOND)
        assert meter.bits == known
    pipe.has_sent([(12 * SECOND, 14 * SECOND, 2.0)], 12 * SECOND)
    assert meter.bits == 12.0
    pipe.close(13 * SECOND)
    assert meter.bits == 13.0


def test_beside_others_a_pipe_tells_all_up_to_now() -> None:
    """What is under way too, so that both stand in the order of time; and at the end."""
    meter = Meter()
    one, other = (Pipe(replace(ring(Timeline.constant(1.0)), share=1.0), meter) for _ in range(2))
    one.send([(0, 4.0)], 0)
    other.send([(SECOND, 4.0)], SECOND)
    assert meter.bits == 1.0
    one.has_sent([], 3 * SECOND)
    assert meter.bits == 5.0
    other.close(4 * SECOND)
    assert meter.bits == 7.0


def test_what_a_pipe_has_given_it_knows_no_more() -> None:
    """Five bits, taken up to 2 s, to their end, and then nothing."""
    pipe = Pipe(replace(ring(Timeline.constant(1.0)), share=1.0), Meter())
    pipe.send([(SECOND, 5.0)], 0)
    taken = [[piece[:3] for piece in pipe.take(until * SECOND)] for until in (1, 3, 6, 9)]
    assert taken == [[], [(SECOND, 3 * SECOND, 2.0)], [(3 * SECOND, 6 * SECOND, 3.0)], []]


@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("span", [-7, -1, 0, 1, 2, 4, 5, 6, 9, 10, 11, 12])
def test_a_length_fits_in_as_often_as_its_ends_do(span: int, exclusive: bool) -> None:
    """At the end of the span too, unless that is excluded; never less than not at all."""
    ends = range(5, span if exclusive else span + 1, 5)
    assert whole_times(span, 5, exclusive) == len(ends)
