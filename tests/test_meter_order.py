"""What is sent side by side is recorded in the order of time, whoever knows of it when."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddsim.engine.meter import Meter, Piece, side_by_side
from ddsim.engine.reduction import Pipe
from ddsim.engine.steady import Steady
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
