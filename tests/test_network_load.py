"""A link's load: the busiest second and the distribution of all of them."""

from __future__ import annotations

import random

import numpy as np
import pytest

from ddsim.engine.load import Load
from ddsim.engine.meter import Meter
from ddsim.world.instants import ticks
from ddsim.world.ring import Ring
from ddsim.world.timeline import Timeline


def stretches(seed: int, count: int) -> list[tuple[float, float, float]]:
    """Random stretches (start, end, bits) one after another."""
    draw = random.Random(seed)
    now, made = 0.0, []
    for _ in range(count):
        start = now + draw.choice([0.0, draw.expovariate(2.0)])
        now = start + draw.expovariate(1.0)
        made.append((start, now, draw.uniform(0, 100)))
    return made


def in_ticks(part: tuple[float, float, float]) -> tuple[int, int, float]:
    """A stretch on the clock."""
    start, end, bits = part
    return ticks(start), ticks(end), bits


def seconds_of(parts: list[tuple[float, float, float]], until: int) -> np.ndarray:
    """Bits of each second."""
    times = np.array([t for start, end, _ in parts for t in (start, end)])
    sent = np.cumsum([x for _, _, bits in parts for x in (0.0, bits)])
    at = np.interp(np.arange(until + 1), times, sent, left=0.0)
    return np.diff(at)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("share", [0.5, 0.9, 0.99])
def test_quantiles_are_those_of_the_seconds(seed: int, share: float) -> None:
    """To four digits, and to the second beside."""
    parts = stretches(seed, 3000)
    until = int(parts[-1][1])
    load = Load()
    for part in parts:
        load.record(*in_ticks(part))
    seconds = np.sort(seconds_of(parts, until))
    place, found = int(share * until), load.quantile(share, until)
    assert seconds[place - 2] * (1 - 1e-3) <= found <= seconds[place + 2] * (1 + 1e-3)


@pytest.mark.parametrize("period", [0.07, 0.5, 1.3, 12.0])
def test_repeated_periods_have_the_quantiles_of_written_out_ones(period: float) -> None:
    """Within what sampling the seconds of a period costs."""
    parts = [(0.1 * period, 0.3 * period, 5.0), (0.3 * period, 0.4 * period, 1.0)]
    count = int(4000 / period)
    one, other = Load(), Load()
    one.repeat([in_ticks(part) for part in parts], ticks(period), count)
    for turn in range(count):
        for start, end, bits in parts:
            other.record(*in_ticks((start + turn * period, end + turn * period, bits)))
    assert one.bits == pytest.approx(other.bits)
    assert one.peak == pytest.approx(other.peak, rel=0.05)
    for share in (0.5, 0.99):
        ours, theirs = one.quantile(share, 4000), other.quantile(share, 4000)
        assert ours == pytest.approx(theirs, rel=0.02, abs=0.02 * other.peak)


def ring(*links: str, load: float = 1.0) -> Ring:
    """An exchange over links."""
    line = Timeline.constant(1.0)
    return Ring(2, links, links, line, 0, 1.0, (load,) * len(links))


def test_links_part_when_an_exchange_crosses_some_of_them() -> None:
    """Each keeps what it had, and has its own from then on."""
    meter = Meter()
    all_three, two = ring("up:a", "up:b", "up:c"), ring("up:a", "up:b", load=2.0)
    meter.record(0, ticks(10), 10.0, all_three)
    meter.record_all(ticks(10), ticks(20), {all_three: 10.0, two: 5.0})
    meter.record(ticks(20), ticks(21), 3.0, two)
    bits = {use["link"]: use["bytes"] * 8 for use in meter.links(21.0, {})}
    assert bits == {"a": 36.0, "b": 36.0, "c": 20.0}
    peaks = {use["link"]: use["peak_gbps"] * 1e9 for use in meter.links(21.0, {})}
    assert peaks == pytest.approx({"a": 6.0, "b": 6.0, "c": 1.0})


@pytest.mark.parametrize("seed", range(5))
def test_the_busiest_second_of_bursts(seed: int) -> None:
    """Bits sent at one instant each: the peak is the most that any second before a burst has."""
    draw = random.Random(seed)
    times = np.cumsum([draw.choice([0.0, draw.expovariate(4.0)]) for _ in range(400)])
    bits = [draw.uniform(1, 100) for _ in times]
    load = Load()
    for time, sent in zip(times.tolist(), bits, strict=True):
        load.record(ticks(time), ticks(time), sent)
    inside = (times > times[:, None] - 1.0) & (times <= times[:, None])
    assert load.peak == pytest.approx((inside * np.array(bits)).sum(axis=1).max(), rel=1e-9)
    assert load.bits == pytest.approx(sum(bits), rel=1e-9)


@pytest.mark.parametrize("count", [500, 3000])
def test_the_busiest_second_of_many_short_periods(count: int) -> None:
    """Of a millisecond each: all of them, or as many as a second holds."""
    load = Load()
    load.repeat([(ticks(2e-4), ticks(5e-4), 7.0)], ticks(1e-3), count)
    assert load.bits == pytest.approx(7.0 * count)
    assert load.peak == pytest.approx(7.0 * min(count, 1000), rel=1e-9)
