"""Max-min fair sharing: what it must satisfy on any links, and against filling over time."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ddsim.engine.clock import Clock, Rank
from ddsim.engine.meter import Meter
from ddsim.engine.sharing import fair_rates
from ddsim.engine.transfers import Fabric, Sharing, Transfer
from ddsim.world.instants import seconds, ticks
from ddsim.world.ring import Ring
from ddsim.world.timeline import Timeline, carried, lowest

LINKS = [f"link {index}" for index in range(6)]
CAPACITIES = st.one_of(st.just(0.0), st.floats(0.01, 1e3), st.just(math.inf))
ROUTES = st.lists(
    st.lists(st.sampled_from(LINKS), min_size=1, max_size=4, unique=True), min_size=1, max_size=12
)
TOLERANCE = 1e-9


@st.composite
def shared(draw: st.DrawFn) -> tuple[list[list[str]], dict[str, float], list[list[float]]]:
    """Routes, capacities, and what each route takes of its links."""
    routes = draw(ROUTES)
    capacity = {link: draw(CAPACITIES) for link in LINKS}
    weights = st.sampled_from([0.5, 1.0, 1.0, 2.0, 3.0])
    return routes, capacity, [[draw(weights) for _ in route] for route in routes]


def used(routes: list[list[str]], loads: list[list[float]], rates: list[float]) -> dict[str, float]:
    """What each link carries."""
    carried = dict.fromkeys(LINKS, 0.0)
    for route, weights, rate in zip(routes, loads, rates, strict=True):
        for link, load in zip(route, weights, strict=True):
            carried[link] += load * rate
    return carried


@pytest.mark.slow
@settings(max_examples=300, deadline=None, derandomize=True)
@given(shared())
def test_no_link_carries_more_than_it_can(
    case: tuple[list[list[str]], dict[str, float], list[list[float]]],
) -> None:
    """Whatever the routes and what they take."""
    routes, capacity, loads = case
    carried = used(routes, loads, fair_rates(routes, capacity, loads))
    for link, bits in carried.items():
        assert bits <= capacity[link] * (1 + TOLERANCE) or capacity[link] == math.inf


@settings(max_examples=100, deadline=None, derandomize=True)
@given(shared())
def test_every_transfer_has_a_full_link_on_which_none_is_faster(
    case: tuple[list[list[str]], dict[str, float], list[list[float]]],
) -> None:
    """Its bottleneck: so that no bandwidth is left lying, and none could be shared more evenly."""
    routes, capacity, loads = case
    rates = fair_rates(routes, capacity, loads)
    carried = used(routes, loads, rates)
    for route, rate in zip(routes, rates, strict=True):
        limited = [link for link in route if capacity[link] < math.inf]
        if not limited:
            assert rate == math.inf
            continue
        assert any(
            carried[link] >= capacity[link] * (1 - TOLERANCE)
            and all(
                other <= rate * (1 + TOLERANCE)
                for path, other in zip(routes, rates, strict=True)
                if link in path
            )
            for link in limited
        )


@settings(max_examples=50, deadline=None, derandomize=True)
@given(shared(), st.randoms(use_true_random=False))
def test_rates_do_not_depend_on_the_order_of_transfers(
    case: tuple[list[list[str]], dict[str, float], list[list[float]]], shuffle: random.Random
) -> None:
    """Named in another order, each has the rate that it had."""
    routes, capacity, loads = case
    order = list(range(len(routes)))
    shuffle.shuffle(order)
    before = fair_rates(routes, capacity, loads)
    after = fair_rates([routes[i] for i in order], capacity, [loads[i] for i in order])
    assert after == pytest.approx([before[i] for i in order], rel=1e-9)


@dataclass
class Flow:
    """A transfer of the calculation that the fabric is held to."""

    start: float
    bits: float
    route: list[str]
    end: float = math.inf


def filled(routes: list[list[str]], capacity: dict[str, float]) -> list[float]:
    """Rates by raising all of them together in small exact turns, one full link a turn."""
    rates = [0.0] * len(routes)
    growing = set(range(len(routes)))
    spare = dict(capacity)
    while growing:
        count = {link: sum(link in routes[i] for i in growing) for link in spare}
        rise = min(spare[link] / count[link] for link in spare if count[link])
        full = {link for link in spare if count[link] and spare[link] / count[link] <= rise}
        for i in growing:
            rates[i] += rise
        for link in spare:
            spare[link] = 0.0 if link in full else spare[link] - rise * count[link]
        growing -= {i for i in growing if full & set(routes[i])}
    return rates


def filled_over_time(flows: list[Flow], lines: dict[str, Timeline]) -> None:
    """Set the end of each flow, from one change of any kind to the next."""
    left = {id(flow): flow.bits for flow in flows}
    now = 0.0
    while any(flow.end == math.inf for flow in flows):
        here = [flow for flow in flows if flow.start <= now and flow.end == math.inf]
        capacity = {link: line.at(ticks(now)) for link, line in lines.items()}
        rates = filled([flow.route for flow in here], capacity)
        ends = [
            now + left[id(flow)] / rate for flow, rate in zip(here, rates, strict=True) if rate > 0
        ]
        starts = [flow.start for flow in flows if flow.start > now]
        then = min(
            [*ends, *starts, *(seconds(line.next_change(ticks(now))) for line in lines.values())]
        )
        for flow, rate in zip(here, rates, strict=True):
            left[id(flow)] -= rate * (then - now)
            if left[id(flow)] <= 1e-9 * flow.bits:
                flow.end = then
        now = then


def ring_over(route: list[str], lines: dict[str, Timeline]) -> Ring:
    """What the fabric takes for a route."""
    ones = (1.0,) * len(route)
    rate = lowest(lines[link] for link in route)
    return Ring(2, tuple(route), tuple(route), rate, 0, 1.0, ones)


@pytest.mark.parametrize("seed", range(12))
def test_random_starts_and_ends_match_filling_over_time(seed: int) -> None:
    """40 transfers over 6 links that change and fail: each ends when the calculation says."""
    draw = random.Random(seed)
    lines = {
        link: Timeline.of(
            draw.uniform(1, 10),
            [
                (ticks(round(t + draw.random(), 9)), draw.choice([0.0, 2.0, 7.5]))
                for t in range(0, 60, 6)
            ]
            + [(ticks(70), 5.0)],
        )
        for link in LINKS
    }
    flows = [
        Flow(
            round(draw.uniform(0, 40), 9),
            draw.uniform(1, 30),
            draw.sample(LINKS, draw.randint(1, 3)),
        )
        for _ in range(40)
    ]
    filled_over_time(flows, lines)
    clock, meter = Clock(), Meter()
    fabric = Fabric(clock, lines, meter)
    ends: dict[int, float] = {}
    for index, flow in enumerate(flows):

        def begin(wake: object, index: int = index, flow: Flow = flow) -> None:
            fabric.send(
                flow.bits,
                ring_over(flow.route, lines),
                lambda: ends.update({index: seconds(clock.now)}),
            )

        clock.after(ticks(flow.start), Rank.NEXT, begin)
    clock.run(ticks(1e6))
    assert [ends[i] for i in range(len(flows))] == pytest.approx([f.end for f in flows], rel=1e-7)
    carried = {use["link"]: use["bytes"] * 8 for use in meter.links(1e6, {})}
    for link in LINKS:
        bits = sum(flow.bits for flow in flows if link in flow.route)
        assert sum(v for name, v in carried.items() if link in name) == pytest.approx(bits)


def test_an_end_at_the_same_rate_stands() -> None:
    """However often what is left is reckoned anew, in floats that hold it to 128 bits."""
    ring = ring_over(["link"], {"link": Timeline.constant(3e9)})
    transfer = Transfer(1e18, ring, lambda: None)
    transfer.go_on(0, 3e9, None)
    end = transfer.end
    for turn in range(1, 11):
        transfer.left -= carried(3e9, 1)
        transfer.go_on(turn, 3e9, None)
        assert transfer.end == end


@pytest.mark.slow
def test_a_thousand_transfers_on_fifty_links_all_end() -> None:
    """All bits arrive, and rates are reckoned once a start, an end or a change."""
    draw = random.Random(3)
    lines = {f"link {i}": Timeline.constant(draw.uniform(1e9, 1e10)) for i in range(50)}
    clock, meter = Clock(), Meter()
    fabric = Fabric(clock, lines, meter)
    ended: list[float] = []
    for _ in range(1000):
        ring = ring_over(draw.sample(sorted(lines), 3), lines)
        fabric.send(draw.uniform(1e9, 1e11), ring, lambda: ended.append(seconds(clock.now)))
    clock.run(ticks(1e6))
    assert len(ended) == 1000
    assert clock.events <= 2000


def test_a_transfer_follows_a_change_of_its_link_at_once() -> None:
    """10 bits at 1 bit/s, from 4 s on at 3: the last passes at 6 s."""
    lines = {"a": Timeline.of(1.0, [(ticks(4), 3.0)])}
    clock = Clock()
    ended: list[float] = []
    Fabric(clock, lines, Meter()).send(
        10.0, ring_over(["a"], lines), lambda: ended.append(seconds(clock.now))
    )
    clock.run(ticks(100))
    assert ended == [6.0]


def test_a_transfer_that_is_stuck_is_given_up_after_its_timeout() -> None:
    """The timeout counts from the last bit; what has moved stays counted, the rest is not sent."""
    lines = {"a": Timeline.of(1.0, [(ticks(4), 0.0), (ticks(5), 1.0), (ticks(6), 0.0)])}
    clock, meter = Clock(), Meter()
    given_up: list[float] = []
    transfer = Fabric(clock, lines, meter).send(
        10.0,
        ring_over(["a"], lines),
        lambda: pytest.fail("it ended"),
        timeout=ticks(3),
        given_up=lambda: given_up.append(seconds(clock.now)),
    )
    clock.run(ticks(100))
    assert given_up == [9.0]
    assert (transfer.sent, transfer.left) == (5.0, 5.0)
    assert meter.bits == 5.0


def test_a_cancelled_transfer_leaves_its_share_to_the_others() -> None:
    """Two share 2 bit/s; one is cancelled at 3 s; the other has 2 bit/s from then on."""
    lines = {"a": Timeline.constant(2.0)}
    clock = Clock()
    fabric = Fabric(clock, lines, Meter())
    ended: list[float] = []
    ring = ring_over(["a"], lines)
    fabric.send(9.0, ring, lambda: ended.append(seconds(clock.now)))
    other = fabric.send(9.0, ring, lambda: pytest.fail("it ended"))
    clock.after(ticks(3), Rank.NEXT, lambda wake: fabric.cancel(other))
    clock.run(ticks(100))
    assert ended == [6.0]
    assert other.sent == 3.0


def test_without_loads_a_route_takes_its_rate_of_each_link() -> None:
    """Two share the thin link, and the third has what they leave of the other."""
    rates = fair_rates([["thin"], ["thin", "wide"], ["wide"]], {"thin": 10.0, "wide": 100.0})
    assert rates == [5.0, 5.0, 95.0]


def test_loads_are_of_the_links_that_stand_at_their_place() -> None:
    """What a route takes twice of a link leaves the others less of it; what it takes nothing of,
    nothing.
    """
    capacity = {"thin": 3.0, "wide": 10.0}
    routes = [["thin", "wide"], ["wide"]]
    assert fair_rates(routes, capacity, [[1.0, 2.0], [1.0]]) == [3.0, 4.0]
    assert fair_rates(routes, capacity, [[1.0, 0.0], [1.0]]) == [3.0, 10.0]
    assert fair_rates([["thin", "wide"]], capacity, [[1.0, 0.0]]) == [3.0]
    with pytest.raises(ValueError, match="zip"):
        fair_rates(routes, capacity, [[1.0], [1.0]])


def test_who_crosses_unlimited_links_alone_has_no_limit() -> None:
    """Whoever else does, and however many there are."""
    capacity = {"free": math.inf, "open": math.inf, "thin": 2.0}
    rates = fair_rates([["free", "open"], ["open"], ["open", "thin"]], capacity)
    assert rates == [math.inf, math.inf, 2.0]


@pytest.mark.parametrize("loads", [(1.0,), (0.3, 0.6)])
def test_who_takes_next_to_nothing_is_not_lost_in_rounding(loads: tuple[float, ...]) -> None:
    """Loads beside which its own is less than a rounding leave it what they do not take."""
    own = [f"own {place}" for place in range(len(loads))]
    capacity = {"wide": 1e3, **dict.fromkeys(own, 1.0)}
    routes = [*([link, "wide"] for link in own), ["wide"]]
    rates = fair_rates(routes, capacity, [*([1.0, load] for load in loads), [1e-18]])
    assert rates[:-1] == [1.0] * len(loads)
    assert rates[-1] == pytest.approx((1e3 - sum(loads)) / 1e-18)


def test_who_gets_less_leaves_the_rest_to_others_and_is_reckoned_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two on 10 bit/s; what is known of them is kept for so many cases and then begun anew."""
    reckoned: list[object] = []

    def counted(*given: Any) -> list[float]:
        reckoned.append(given)
        return fair_rates(*given)

    monkeypatch.setattr("ddsim.engine.transfers.fair_rates", counted)
    monkeypatch.setattr("ddsim.engine.transfers._KEPT", 3)
    lines = {"a": Timeline.constant(10.0)}
    sharing = Sharing([ring_over(["a"], lines)] * 2, lines, 0)
    assert sharing.rates == [5.0, 5.0]
    found = {1: [1.0, 9.0], 2: [2.0, 8.0], 3: [3.0, 7.0], 4: [4.0, 6.0]}
    counts = []
    for least in (1, 2, 3, 1, 2, 3, 4, 1, 4):
        assert sharing.beside({0: float(least)}) == found[least]
        counts.append(len(reckoned) - 1)
    assert counts == [1, 2, 3, 3, 3, 3, 4, 5, 5]
