"""What is sent side by side is recorded in the order of time, whoever knows of it when."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddsim.engine.meter import Meter, Piece, side_by_side
from ddsim.engine.reduction import Pipe, Stretch
from ddsim.engine.steady import Steady
from ddsim.engine.step import Step
from ddsim.world.instants import NEVER, ticks
from ddsim.world.ring import Ring
from ddsim.world.timeline import Timeline


def ring(rate: float = 10.0) -> Ring:
    """Two units in two regions, on one link each way."""
    return Ring(2, ("a", "b"), ("up:a",), Timeline.constant(rate), 0, 1.0, (1.0,))


RINGS = [ring(), ring()]
times = st.integers(0, 20).map(ticks)
pieces = st.lists(
    st.tuples(times, times, st.integers(1, 9).map(float), st.sampled_from(RINGS)).map(
        lambda p: (min(p[0], p[1]), max(p[0], p[1]), p[2], p[3])
    ),
    max_size=12,
)


@given(pieces)
def test_pieces_side_by_side_keep_their_bits_and_overlap_no_more(given: list[Piece]) -> None:
    """Each ring carries what it did, in stretches that follow each other."""
    cut = list(side_by_side(given))
    for one in RINGS:
        sent = sum(carried.get(one, 0.0) for _, _, carried in cut)
        assert sent == pytest.approx(sum(bits for _, _, bits, other in given if other is one))
    assert all(start <= stop < NEVER for start, stop, _ in cut)
    assert all(before[1] <= after[0] for before, after in pairwise(cut))


def test_a_queue_and_a_flow_at_once_are_no_burst() -> None:
    """A stretch that is recorded once it is over, beside a flow that was recorded before."""
    meter, one = Meter(), ring()
    pipe = Pipe(one, meter)
    assert pipe.send([(0, 80.0)], 0) == [ticks(8)]
    meter.record_all(ticks(3), ticks(6), {one: 15.0})
    pipe.send([(ticks(9), 10.0)], ticks(9))
    pipe.close(ticks(20))
    assert meter.bits == pytest.approx(80.0 + 15.0 + 10.0)
    assert meter.peak == pytest.approx(10.0 + 5.0)


def test_two_queues_are_no_burst() -> None:
    """Rings of other members take their turns, and each tells when it sends again."""
    meter = Meter()
    first, second = Pipe(ring(), meter), Pipe(ring(), meter)
    first.send([(ticks(0), 50.0)], ticks(0))
    second.send([(ticks(5), 50.0)], ticks(5))
    second.send([(ticks(20), 50.0)], ticks(20))
    first.send([(ticks(30), 50.0)], ticks(30))
    first.close(ticks(40))
    second.close(ticks(40))
    assert meter.bits == pytest.approx(200.0)
    assert meter.peak == pytest.approx(10.0)


def test_what_steps_send_waits_for_the_saves_between_them() -> None:
    """Two steps of a tenth of a second, then a save: of each second two tenths are busy."""
    meter, step = Meter(), ticks(0.1)
    Steady(meter).record([(0, step, 1.0)], 0, step, 20, ring(), run=2, pause=ticks(0.8))
    assert meter.bits == pytest.approx(20.0)
    assert meter.peak == pytest.approx(2.0)
    meter.record(ticks(10), ticks(11), 3.0, ring())
    assert meter.peak == pytest.approx(3.0)


def asked(length: float, count: int, run: int, pause: float) -> list[Any]:
    """What a meter is asked to repeat of steps from 1,000 s on that send in their last tenth."""
    calls: list[Any] = []
    meter: Any = SimpleNamespace(repeat=lambda *given: calls.append(given[:3]))
    last: Stretch = (ticks(0.9 * length), ticks(length), 1.0)
    steps = ticks(1000.0), ticks(length), count
    Steady(meter).record([last], *steps, ring(), run, ticks(pause))
    Steady(meter).record([], *steps, ring(), run, ticks(pause))
    return calls


def test_a_pause_that_comes_often_stands_behind_every_run() -> None:
    """Two steps of ten seconds and five of a save, three times."""
    stretches = [(ticks(1009), ticks(1010), 1.0), (ticks(1019), ticks(1020), 1.0)]
    assert asked(10.0, 6, 2, 5.0) == [(stretches, ticks(25), 3)]


@pytest.mark.parametrize(
    ("length", "run", "pause", "kept"),
    [
        (10.0, 9, 5.0, True),
        (10.0, 10, 5.0, False),
        (60.0, 2, 5.0, False),
        (0.01, 1024, 5.0, True),
        (0.01, 1025, 5.0, False),
        (10.0, 2, 0.0, False),
    ],
)
def test_a_pause_that_comes_seldom_is_left_out(
    length: float, run: int, pause: float, kept: bool
) -> None:
    """More than a hundred seconds apart, or so many steps that to tell each would take long."""
    [(stretches, period, count)] = asked(length, 2 * run, run, pause)
    assert len(stretches) == (run if kept else 1)
    assert isinstance(count, int)
    assert (period, count) == (
        (ticks(length) * run + ticks(pause), 2) if kept else (ticks(length), 2 * run)
    )


def layered(line: Timeline, releases: list[int], bits: float = 2.0) -> Step:
    """A step of one unit, with a second's way; what its layers send leaves at `releases`."""
    away = Ring(2, ("a", "b"), ("up:a",), line, ticks(1), 1.0, (1.0,))
    return Step([0], 0, [0], [1.0], away, bits, [ticks(t) for t in releases], (0,), 0, [0.0])


def test_a_steady_step_lasts_until_its_last_layer_has_arrived() -> None:
    """Two layers of two bits at a bit a second, from 1 s on, and a second's way; or its compute."""
    steady, step = Steady(Meter()), layered(Timeline.constant(1.0), [1, 2])
    busy = [(ticks(1), ticks(5), 4.0)]
    assert steady.step(step, ticks(2), 0) == (ticks(6), busy)
    assert steady.step(step, ticks(8), 0) == (ticks(8), busy)
    assert steady.step(layered(Timeline.constant(1.0), [0]), 0, 0)[0] == ticks(3)
    for longest in (0, ticks(2)):
        assert steady.step(layered(Timeline.constant(1.0), []), longest, 0) == (longest, [])


def test_what_is_known_of_a_step_is_of_its_bits_layers_and_rate() -> None:
    """With another of these it is another; a rate is that at the step's beginning."""
    line = Timeline.of(1.0, [(ticks(9), 2.0)])
    steady = Steady(Meter())
    asked_for = [
        (layered(line, [1, 2]), 0, 6),
        (layered(line, [1, 2]), 8, 6),
        (layered(line, [1, 2]), 9, 4),
        (layered(line, [2]), 0, 5),
        (layered(line, [1, 2], 3.0), 0, 8),
    ]
    for step, now, lasts in asked_for * 2:
        assert steady.step(step, ticks(2), ticks(now))[0] == ticks(lasts)
