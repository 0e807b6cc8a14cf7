"""A link's load: the busiest second and the distribution of all of them."""

from __future__ import annotations

import random

import numpy as np
import pytest

from ddsim.engine.load import Load
from ddsim.engine.meter import Meter
from ddsim.world.instants import SECOND, ticks
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


def busiest(parts: list[tuple[float, float, float]]) -> float:
    """The most bits of any second that begins or ends where a rate changes, up to the last."""
    times = np.array([t for start, end, _ in parts for t in (start, end)])
    sent = np.cumsum([x for _, _, bits in parts for x in (0.0, bits)])
    ends = np.concatenate([times, times + 1.0])
    ends = ends[ends <= times[-1]]
    return float((np.interp(ends, times, sent) - np.interp(ends - 1.0, times, sent)).max())


@pytest.mark.parametrize("seed", range(5))
def test_the_busiest_second_of_stretches(seed: int) -> None:
    """After each of them, long ones and short, with gaps and without."""
    parts = [(start / 3, end / 3, bits) for start, end, bits in stretches(seed, 150)]
    parts = [(0.0, 0.1, 1.0), *((start + 0.1, end + 0.1, bits) for start, end, bits in parts)]
    load = Load()
    for known, part in enumerate(parts, 1):
        load.record(*in_ticks(part))
        assert load.peak == pytest.approx(busiest(parts[:known]), rel=1e-6)


def of(*parts: tuple[float, float, float]) -> Load:
    """A load that has carried these, in seconds."""
    load = Load()
    for part in parts:
        load.record(*in_ticks(part))
    return load


def test_bursts_a_second_apart_are_in_no_second_together() -> None:
    """Those closer together are."""
    assert of((0.5, 0.5, 3.0), (1.5, 1.5, 4.0)).peak == 4.0
    assert of((0.5, 0.5, 3.0), (1.4, 1.4, 4.0), (1.4, 1.4, 1.0)).peak == 8.0


@pytest.mark.parametrize(
    ("share", "until", "bits"),
    [(0.99, 3, 2.0), (0.7, 3, 2.0), (0.6, 3, 1.0), (0.1, 3, 1.0), (0.75, 12, 0.0), (0.76, 12, 1.0)],
)
def test_a_quantile_is_what_so_many_seconds_had_at_most(
    share: float, until: int, bits: float
) -> None:
    """Of seconds of 1, 2 and 1 bits, of which the last is not over; the others had none."""
    assert of((0.5, 2.5, 4.0)).quantile(share, until) == bits


def test_a_run_of_less_than_a_second_is_one() -> None:
    """What it carried is what its second had."""
    assert of((0.0, 0.2, 5.0)).quantile(0.5, 0.2) == 5.0
    assert of().quantile(0.5, 0.2) == 0.0


def loads_of(load: Load, until: int) -> list[float]:
    """What each second had, the most first."""
    return [load.quantile(1.0 - (rank + 0.5) / until, until) for rank in range(until)]


def test_each_second_has_what_falls_into_it() -> None:
    """Bursts, stretches that end or begin within, and less than a bit; at a border the later."""
    load = of((0.2, 0.2, 0.25), (0.9, 0.9, 0.5), (2.1, 2.1, 4.0), (2.6, 2.6, 1.0), (2.7, 4.2, 1.5))
    assert loads_of(load, 7) == [5.3, 1.0, 0.75, 0.2, 0.0, 0.0, 0.0]
    assert loads_of(of((0.0, 1.0, 3.0), (1.5, 3.0, 3.0)), 5) == [3.0, 2.0, 1.0, 0.0, 0.0]


def test_a_second_without_bits_has_none() -> None:
    """Though something is said to go on in it."""
    assert loads_of(of((0.0, 3.5, 0.0)), 4) == [0.0] * 4


@pytest.mark.parametrize("bits", [123_456.0, 12.3456, 1.23456, 0.0123456])
def test_loads_are_told_to_four_digits(bits: float) -> None:
    """Of large ones and of small ones."""
    assert of((0.0, 0.5, bits)).quantile(0.5, 1.0) == float(f"{bits:.4g}")


@pytest.mark.parametrize("count", [1, 2, 3])
def test_few_periods_are_what_they_are_one_by_one(count: int) -> None:
    """For what comes just behind them too."""
    part = (0.1, 0.4, 3.0)
    load = Load()
    load.repeat([in_ticks(part)], ticks(0.5), count)
    parts = [(0.5 * turn + 0.1, 0.5 * turn + 0.4, 3.0) for turn in range(count)]
    after = (0.5 * count, 0.5 * count + 0.5, 2.0)
    load.record(*in_ticks(after))
    assert load.peak == pytest.approx(busiest([*parts, after]))
    assert loads_of(load, 3) == loads_of(of(*parts, after), 3)


class Told(Load):
    """A load that counts what it is told."""

    __slots__ = ("told",)

    def record(self, start: int, end: int, bits: float) -> None:
        """Count it."""
        self.told = getattr(self, "told", 0) + 1
        super().record(start, end, bits)


@pytest.mark.parametrize(
    ("period", "count", "told"),
    [(SECOND // 2, 9, 3), (5 * SECOND, 9, 2), (5 * SECOND, 1, 1), (SECOND // 1000, 999, 64)],
)
def test_periods_are_told_one_by_one_for_a_second_and_one_more(
    period: int, count: int, told: int
) -> None:
    """But no more than 64 of them."""
    load = Told()
    load.repeat([(0, 0, 1.0)], period, count)
    assert (load.told, load.bits) == (told, count)


def test_periods_that_are_not_told_count_in_their_seconds() -> None:
    """400 of half a second, of half a bit each: two hundred seconds of a bit."""
    load = Load()
    load.repeat([(0, ticks(0.1), 0.5)], ticks(0.5), 400)
    assert [load.quantile(1.0 - loaded / 250, 250) for loaded in (199, 201)] == [1.0, 0.0]
    assert (load.peak, load.bits) == (1.0, 200.0)


def test_what_follows_short_periods_within_their_second_is_of_it() -> None:
    """A hundred of a millisecond, of a bit each, the last 36 sampled; then 50 bits."""
    load = Load()
    load.repeat([(0, 0, 1.0)], ticks(0.001), 100)
    load.record(ticks(0.5), ticks(0.6), 50.0)
    assert (load.quantile(0.95, 1.0), load.quantile(0.0, 1.0)) == (114.0, 114.0)


def test_what_follows_many_periods_stands_where_they_end() -> None:
    """In seconds of its own: 8 bits each, from a quarter of one on."""
    load = Load()
    load.repeat([(0, ticks(0.1), 1.0)], ticks(0.5), 400)
    load.repeat([(ticks(200), ticks(200.25), 0.25)], ticks(0.25), 5)
    load.record(ticks(201.25), ticks(202), 6.0)
    load.record(ticks(202), ticks(203), 8.0)
    assert load.peak == 8.0
    assert loads_of(load, 250)[:2] == [8.0, 6.25]
