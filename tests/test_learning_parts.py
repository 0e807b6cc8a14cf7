"""Layout, inner optimizers and schedules."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddsim.engine.fragments import pack_greedily
from ddsim.learning.inner import AdamW, Momentum, Schedule
from ddsim.learning.layout import Layout


def best_packing(sizes: list[int], fragments: int) -> int:
    """Weight of the heaviest fragment in the best of all packings."""
    return min(
        max(
            sum(size for size, at in zip(sizes, places, strict=True) if at == fragment)
            for fragment in range(fragments)
        )
        for places in product(range(fragments), repeat=len(sizes))
    )


@given(st.lists(st.integers(1, 20), min_size=1, max_size=7), st.integers(1, 3))
def test_greedy_packing_is_at_most_four_thirds_of_the_best(sizes: list[int], count: int) -> None:
    """Graham's bound for largest first, lightest fragment."""
    named = {f"t{index}": size for index, size in enumerate(sizes)}
    packed = pack_greedily(named, count)
    assert sorted(name for group in packed for name in group) == sorted(named)
    heaviest = max(sum(named[name] for name in group) for group in packed)
    assert 3 * heaviest <= 4 * best_packing(sizes, count)


def test_a_fragment_is_one_stretch_of_the_flat_vector() -> None:
    """Stretches follow each other without gaps, their tensors inside."""
    rng = np.random.default_rng(0)
    tensors = {f"t{index}": rng.standard_normal((index + 1, 3)) for index in range(7)}
    layout = Layout.of(tensors, 3)
    assert [stretch.start for stretch in layout.fragments[1:]] == [
        stretch.stop for stretch in layout.fragments[:-1]
    ]
    assert layout.fragments[-1].stop == layout.size == sum(t.size for t in tensors.values())
    flat = np.empty((2, layout.size))
    layout.flatten({name: np.stack([value, -value]) for name, value in tensors.items()}, flat)
    for name, view in layout.views(flat[0]).items():
        np.testing.assert_array_equal(view, tensors[name])


def test_views_are_of_the_flat_vector_itself() -> None:
    """What is written to a view is in the vector, and in a stack of them."""
    layout = Layout.of({"a": np.zeros((2, 2)), "b": np.zeros(3)}, 2)
    flat = np.zeros((4, layout.size))
    layout.views(flat)["a"][2] = 1.0
    assert flat.sum() == flat[2].sum() == 4.0


def test_more_fragments_than_tensors_leave_some_empty() -> None:
    """An empty fragment is an empty stretch."""
    layout = Layout.of({"a": np.zeros(3)}, 4)
    assert sum(stretch.start == stretch.stop for stretch in layout.fragments) == 3


def test_adamw_is_as_published() -> None:
    """Moments with bias correction; decay apart from the gradient, on matrices alone."""
    rng = np.random.default_rng(0)
    decayed = np.array([1.0, 0.0], np.float32)
    rule = AdamW(0.9, 0.99, 1e-8, 0.1, decayed)
    x = np.array([1.0, -2.0], np.float32)
    moments = np.zeros((2, 2), np.float32)
    y, m, v = x.astype(float), np.zeros(2), np.zeros(2)
    for count in range(1, 20):
        g = rng.standard_normal(2).astype(np.float32)
        rule.step(x, g, moments, count, 0.05)
        m, v = 0.9 * m + 0.1 * g, 0.99 * v + 0.01 * g**2
        move = m / (1 - 0.9**count) / (np.sqrt(v / (1 - 0.99**count)) + 1e-8)
        y = y - 0.05 * 0.1 * decayed * y - 0.05 * move
        np.testing.assert_allclose(x, y, rtol=1e-4)


def test_momentum_is_the_heavy_ball() -> None:
    """v = m v + g, x = x - rate v."""
    x, moments = np.zeros(1, np.float32), np.zeros((1, 1), np.float32)
    for count in (1, 2):
        Momentum(0.5).step(x, np.ones(1, np.float32), moments, count, 0.1)
    assert x[0] == pytest.approx(-0.1 - 0.15)


@pytest.mark.parametrize("decay", ["cosine", "linear"])
def test_a_schedule_rises_and_falls_over_the_tokens(decay: str) -> None:
    """From 0 to the rate in the warm-up, then down to the final share."""
    assert decay in ("cosine", "linear")
    schedule = Schedule(2.0, "cosine" if decay == "cosine" else "linear", 0.1, 0.25)
    assert schedule.at(0.0) == 0.0
    assert schedule.at(0.05) == pytest.approx(1.0)
    assert schedule.at(0.1) == pytest.approx(2.0)
    assert schedule.at(0.55) == pytest.approx(0.5 * (2.0 + 0.5))
    assert schedule.at(1.0) == pytest.approx(0.5)
