"""Copies of state between learners: from whom they come, when they are there, who begins anew."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from ddsim.engine.clock import Clock, Rank, Wake
from ddsim.engine.copies import Copies, Copy
from ddsim.engine.meter import Meter
from ddsim.engine.transfers import Fabric
from ddsim.world.instants import seconds, ticks
from ddsim.world.ring import Ring
from ddsim.world.timeline import Timeline

BITS = 10.0
FROM = {"near": 1, "far": 3}
"""Seconds that a message takes from each region to `home`."""
NEAR = (1, 6, 15, 20)
"""When the link of the near one is cut and mended, by turns."""


class Bench:
    """A learner 0 at home, peers 1, 2, ... elsewhere; each region's link carries a bit a second."""

    def __init__(
        self,
        regions: list[str],
        lines: dict[str, Timeline] | None = None,
        bits: float = BITS,
        unlimited: bool = False,
    ) -> None:
        self.clock, self.meter = Clock(), Meter()
        self.lines = {region: Timeline.constant(1.0) for region in FROM} | (lines or {})
        self.live = list(range(len(regions) + 1))
        self.begun: list[tuple[float, int]] = []
        self.done: list[tuple[float, int, float, float]] = []
        self.alone: list[float] = []
        network: Any = SimpleNamespace(
            unlimited=unlimited, transfer=self.transfer, distance=self.distance
        )
        self.copies = Copies(
            self.clock,
            Fabric(self.clock, self.lines, self.meter),
            network,
            ["home", *regions],
            bits=bits,
            timeout=ticks(5),
            peers=lambda: self.live,
            done=self.note,
            alone=lambda _: self.alone.append(self.now),
            begun=lambda copy: self.begun.append((self.now, copy.peer)),
        )

    @property
    def now(self) -> float:
        """Seconds since the start."""
        return seconds(self.clock.now)

    def distance(self, there: str, here: str) -> int:
        """What a message takes."""
        assert here == "home"
        return 0 if there == here else ticks(FROM[there])

    def transfer(self, there: str, here: str) -> Ring:
        """The way of a copy."""
        rate, latency = self.lines[there], self.distance(there, here)
        return Ring(2, (there, here), (there,), rate, latency, 1.0, (1.0,), recovery=True)

    def note(self, copy: Copy) -> None:
        """When a copy is there, of whom, as of when, and what was sent for it in all."""
        self.done.append((self.now, copy.peer, seconds(copy.since), copy.sent))

    def lose(self, at: float, learner: int) -> None:
        """Let a learner be lost."""

        def lost(wake: Wake) -> None:
            self.live.remove(learner)
            self.copies.lost(learner)

        self.clock.after(ticks(at), Rank.STRIKE, lost)

    def run(self) -> None:
        """Begin a copy to learner 0 at once, and let all happen."""
        self.copies.begin(0)
        self.clock.run(ticks(100))


@pytest.mark.parametrize(
    ("regions", "peer", "there"),
    [(["far", "near", "near"], 2, 11.0), (["far", "far"], 1, 13.0), (["near", "home"], 2, 0.0)],
)
def test_a_copy_comes_from_the_nearest_peer(regions: list[str], peer: int, there: float) -> None:
    """The first on a tie; its bits, and then the way; from within the region at once."""
    bench = Bench(regions)
    bench.run()
    assert bench.begun == [(0.0, peer)]
    assert bench.done == [(there, peer, 0.0, BITS if there else 0.0)]
    assert not bench.copies.under_way


def test_a_peer_that_nothing_reaches_is_passed_over() -> None:
    """Its link is cut when the copy begins, so that one farther off is asked."""
    bench = Bench(["near", "far"], {"near": Timeline.of(0.0, [(ticks(2), 1.0)])})
    bench.run()
    assert bench.done == [(13.0, 2, 0.0, BITS)]


def test_a_copy_whose_peer_is_lost_begins_anew_with_another() -> None:
    """After 4 of its 10 bits; those count as sent for it."""
    bench = Bench(["near", "far"])
    bench.lose(4.0, 1)
    bench.run()
    assert bench.begun == [(0.0, 1), (4.0, 2)]
    assert bench.done == [(17.0, 2, 4.0, 14.0)]
    assert bench.meter.bits == 10.0  # of the busier link


def test_a_copy_whose_last_bit_is_out_arrives_without_its_peer() -> None:
    """The peer is lost while the last bit is on its way."""
    bench = Bench(["near", "far"])
    bench.lose(10.5, 1)
    bench.run()
    assert bench.done == [(11.0, 1, 0.0, BITS)]


@pytest.mark.parametrize(("at", "sent"), [(4.0, 4.0), (10.5, 10.0)])
def test_a_copy_to_a_learner_that_is_lost_never_comes(at: float, sent: float) -> None:
    """Whether its bits are under way or out; no more of them are sent."""
    bench = Bench(["near"])
    bench.lose(at, 0)
    bench.run()
    assert (bench.done, bench.copies.under_way, bench.meter.bits) == ([], {}, sent)


def test_nobody_left_to_copy_from_is_told() -> None:
    """The only peer is lost with the copy under way; a learner is no peer of its own."""
    bench = Bench(["near"])
    bench.lose(4.0, 1)
    bench.run()
    assert (bench.alone, bench.done, bench.copies.under_way) == ([4.0], [], {})


def test_a_copy_that_is_stuck_begins_anew_with_another() -> None:
    """Cut off from 3 s on, it is given up at 8 s, with three bits sent."""
    bench = Bench(["near", "far"], {"near": Timeline.of(1.0, [(ticks(3), 0.0), (ticks(7.5), 1.0)])})
    bench.run()
    assert bench.done == [(11.0 + 4.5, 1, 0.0, BITS)]  # it came back within the timeout
    bench = Bench(["near", "far"], {"near": Timeline.of(1.0, [(ticks(3), 0.0)])})
    bench.run()
    assert bench.begun == [(0.0, 1), (8.0, 2)]
    assert bench.done == [(21.0, 2, 8.0, 13.0)]


def test_who_was_stuck_is_asked_again_once_all_have_been() -> None:
    """Not before another, though it is nearer and something reaches it once more; and so on."""
    lines = {
        "near": Timeline.of(1.0, [(ticks(t), 1.0 - turn % 2) for turn, t in enumerate(NEAR, 1)]),
        "far": Timeline.of(1.0, [(ticks(8), 0.0), (ticks(19), 1.0)]),
    }
    bench = Bench(["near", "far"], lines)
    bench.run()
    assert bench.begun == [(0.0, 1), (6.0, 2), (13.0, 1), (20.0, 2)]
    assert bench.done == [(33.0, 2, 20.0, 15.0)]


@pytest.mark.parametrize(
    ("bits", "regions", "unlimited", "free"),
    [
        (10.0, ["near"], False, False),
        (1.0, ["near", "far"], False, False),
        (0.0, ["near"], False, True),
        (10.0, ["home"], False, True),
        (10.0, ["near"], True, True),
    ],
)
def test_copies_are_free_where_nothing_holds_them_up(
    bits: float, regions: list[str], unlimited: bool, free: bool
) -> None:
    """Without bits, within one region, or over links that have no limit."""
    assert Bench(regions, bits=bits, unlimited=unlimited).copies.free is free
