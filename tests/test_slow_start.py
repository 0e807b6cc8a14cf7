"""Exchanges whose connections are idle start slowly: by hand, on the clock, in the protocol."""

from __future__ import annotations

import random
from math import inf

import numpy as np
import pytest
from protocol_runs import assert_same, by_hand, of_world
from protocol_worlds import STREAMS

from ddsim.engine.clock import Clock, Rank
from ddsim.engine.meter import Meter
from ddsim.engine.transfers import Fabric
from ddsim.methods.local import protocol as k
from ddsim.methods.local.replicated import ReplicatedUpdates
from ddsim.theory import tcp
from ddsim.world.instants import NEVER, SECOND, ticks
from ddsim.world.ring import Ring
from ddsim.world.slow_start import IDLE, Connection, SlowStart
from ddsim.world.timeline import Timeline

GIGA = 1e9
TRIP = ticks(0.060)
FIRST = tcp.first_window()
SLOW = SlowStart(TRIP, FIRST)
STEADY = Timeline.constant(GIGA)


@pytest.mark.parametrize("bits", [100_000.0, 116_801.0, 1e6, 5e7, 8e9])
def test_an_idle_connection_takes_as_long_as_the_closed_form_says(bits: float) -> None:
    """From within the first window to long after the start."""
    course = SLOW.course(STEADY, IDLE, SECOND, bits)
    expected = tcp.slow_start_time(bits, GIGA, 0.060, FIRST)
    assert course.end - SECOND == pytest.approx(expected * SECOND, abs=2)
    assert course.left == 0.0


def test_back_to_back_exchanges_start_slowly_once() -> None:
    """The second goes at the rate, and both take what one of their size does."""
    first = SLOW.course(STEADY, IDLE, 0, 4e9)
    second = SLOW.course(STEADY, first.connection, first.end, 4e9)
    assert second.end - first.end == 4 * SECOND
    assert second.end == pytest.approx(SLOW.course(STEADY, IDLE, 0, 8e9).end, abs=2)


def test_a_connection_is_idle_a_round_trip_after_its_last_bit() -> None:
    """Before that something of it is still in flight."""
    first = SLOW.course(STEADY, IDLE, 0, 4e9)
    warm = SLOW.course(STEADY, first.connection, first.end + TRIP - 1, 1e9)
    idle = SLOW.course(STEADY, first.connection, first.end + TRIP, 1e9)
    assert warm.slowly == 0.0
    assert idle.slowly > 0.0


def test_a_link_that_was_cut_starts_slowly_again() -> None:
    """What is left goes as on an idle connection from the end of the cut on."""
    cut = Timeline.of(GIGA, [(2 * SECOND, 0.0), (5 * SECOND, GIGA)])
    before = SLOW.course(STEADY, IDLE, 0, 4e9, until=2 * SECOND)
    expected = tcp.slow_start_time(before.left, GIGA, 0.060, FIRST)
    end = SLOW.course(cut, IDLE, 0, 4e9).end
    assert end == pytest.approx(5 * SECOND + expected * SECOND, abs=2)


def test_looking_on_the_way_changes_nothing() -> None:
    """Courses cut at any instants end where one does."""
    line = Timeline.of(GIGA, [(SECOND, 3 * GIGA), (2 * SECOND, 0.0), (3 * SECOND, GIGA)])
    whole = SLOW.course(line, IDLE, 0, 5e9).end
    course = SLOW.course(line, IDLE, 0, 5e9, until=7)
    for until in (TRIP, TRIP + 11, SECOND, 2 * SECOND + 3, 3 * SECOND + TRIP // 2, NEVER):
        course = SLOW.course(line, course.connection, course.end, course.left, until)
    assert course.end == pytest.approx(whole, abs=3)


@pytest.mark.parametrize("until", [TRIP // 2, 5 * TRIP + 11, NEVER])
def test_what_is_known_of_idle_connections_is_their_course(until: int) -> None:
    """At a rate that stays an exchange fares alike whenever it begins."""
    for start in (0, 7, 3 * SECOND):
        end = start + until if until < NEVER else NEVER
        expected = SLOW.course(STEADY, IDLE, start, 8e9, end)
        assert SLOW.steadily(GIGA, IDLE, start, 8e9, end) == expected


def test_bits_that_no_link_ever_carries_never_pass() -> None:
    """A cut without an end."""
    assert SLOW.course(Timeline.of(GIGA, [(SECOND, 0.0)]), IDLE, 0, 5e9).end == NEVER


def _state(line: Timeline, connection: Connection) -> k.State:
    """What the protocol's rule for links looks at, and nothing else."""
    time, real = np.zeros(k.TIMES, np.int64), np.zeros(k.REALS)
    time[k.ROUND_TRIP], real[k.FIRST_WINDOW] = SLOW.round_trip, SLOW.first
    real[k.WINDOW], real[k.ROOM], time[k.ROUND_ENDS], time[k.LAST_OUT] = connection
    nothing = dict.fromkeys(k.State._fields, np.zeros(0))
    known = {
        "time": time,
        "real": real,
        "link_from": np.array(line.times, np.int64),
        "link_rate": np.array(line.values),
    }
    state = k.State(**{**nothing, **known})
    return k.State._make(memoryview(array) for array in state)  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", range(40))
def test_the_protocol_sends_as_the_world_does(seed: int) -> None:
    """The same ends and the same connections after each of a few exchanges on a changing link."""
    draw = random.Random(seed)
    times = sorted(draw.randrange(1, 10 * SECOND) for _ in range(4))
    rates = [draw.choice([0.0, 1e8, GIGA, 2e10, inf]) for _ in times]
    line = Timeline.of(GIGA, [*zip(times, rates, strict=True), (20 * SECOND, GIGA)])
    connection, now = IDLE, draw.randrange(SECOND)
    state = _state(line, connection)
    for _ in range(6):
        bits = 10 ** draw.uniform(3.0, 9.5)
        course = SLOW.course(line, connection, now, bits)
        assert k.passes(state, now, bits) == course.end
        assert state.real[k.SLOWLY] == pytest.approx(course.slowly)
        connection = course.connection
        assert state.real[k.WINDOW] == connection.window
        assert state.time[k.LAST_OUT] == connection.last
        now = course.end + draw.choice([0, 0, TRIP // 3, 2 * TRIP])


def _ring(*links: str, most: float = inf) -> Ring:
    line = Timeline.constant(min(GIGA, most))
    ones = (1.0,) * len(links)
    return Ring(2, ("a", "b"), links, line, 0, 1.0, ones, most=most, slow_start=SLOW, shared=STEADY)


def _ends(sends: list[tuple[int, float, Ring]]) -> list[int]:
    """Ends of transfers (start, bits, ring) over one fabric of links of 1 Gbit/s."""
    clock, meter = Clock(), Meter()
    names = {link for _, _, ring in sends for link in ring.links}
    fabric = Fabric(clock, dict.fromkeys(names, STEADY), meter)
    ends = [0] * len(sends)

    def begin(turn: int, bits: float, ring: Ring) -> None:
        def done() -> None:
            ends[turn] = clock.now

        fabric.send(bits, ring, done)

    for turn, (start, bits, ring) in enumerate(sends):
        clock.after(start, Rank.ARRIVAL, lambda wake: begin(*wake.given), (turn, bits, ring))
    clock.run(100 * SECOND)
    return ends


def test_a_transfer_on_the_clock_starts_slowly() -> None:
    """Alone on its link it takes what the closed form says; the next, back to back, does not."""
    ring = _ring("l")
    alone = _ends([(0, 8e9, ring)])[0]
    assert alone == SLOW.course(STEADY, IDLE, 0, 8e9).end
    assert _ends([(0, 8e9, ring), (alone, 1e9, ring)])[1] == alone + SECOND


def test_a_share_never_exceeds_what_the_streams_get() -> None:
    """Half of the link, and the rest is the other's."""
    thin, wide = _ring("l", most=2.5e8), _ring("l")
    first, second = _ends([(0, 1e9, thin), (0, 3e9, wide)])
    assert first == pytest.approx(4 * SECOND + 0.25 * SECOND, abs=0.2 * SECOND)
    assert second == pytest.approx(4 * SECOND + 0.25 * SECOND, abs=0.2 * SECOND)


def test_what_slow_start_leaves_goes_to_others() -> None:
    """Beside one that starts, another gets more than half of the link."""
    one, other = _ring("l"), _ring("l")
    alone = SLOW.course(STEADY, IDLE, 0, 4e9).end
    begun = 2 * SECOND
    end = _ends([(0, 4e9, one), (begun, 4e9, other)])[0]
    halves = begun + 2 * (alone - begun)
    assert alone < end < halves - 0.2 * SECOND


@pytest.mark.parametrize("world", ["streams that rest between exchanges", "streams that are cut"])
def test_exchanges_on_the_clock_are_those_of_the_protocol(
    world: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever carries them: the protocol, or transfers that share the links with others."""
    settings = {**STREAMS[world], "failures.chip_mtbi": "never", "duration": "8 min"}
    catching_up = ReplicatedUpdates.catching_up

    def hand_over(self: ReplicatedUpdates) -> None:
        catching_up(self)
        self.state.number[k.OUTSIDE] = 1

    with by_hand():
        inside = of_world(settings, "decoupled_diloco")
        monkeypatch.setattr(ReplicatedUpdates, "catching_up", hand_over)
        assert_same(of_world(settings, "decoupled_diloco"), inside)
