"""Merges, and the outer step."""

import numpy as np
import pytest

from ddsim.learning.config import OuterConfig
from ddsim.learning.keeper import Keeper
from ddsim.learning.layout import Layout
from ddsim.learning.merging import Merging, radial_directional, weighted_mean


def updates(count: int, size: int = 20_000, seed: int = 0) -> list[np.ndarray]:
    """Nearly orthogonal updates."""
    rng = np.random.default_rng(seed)
    return list(rng.standard_normal((count, size)).astype(np.float32))


def norm(vector: np.ndarray) -> float:
    """Its length."""
    return float(np.linalg.norm(vector))


@pytest.mark.parametrize("count", [2, 4, 8, 16])
def test_radial_directional_keeps_the_norm_that_the_mean_shrinks(count: int) -> None:
    """Of nearly orthogonal updates the plain mean is 1/sqrt(M) as long, this one as long."""
    parts = updates(count)
    length = np.mean([norm(part) for part in parts])
    ones = [1.0] * count
    assert norm(radial_directional(parts, ones)) == pytest.approx(length, rel=1e-5)
    assert norm(weighted_mean(parts, ones)) == pytest.approx(length / np.sqrt(count), rel=0.03)


def test_radial_directional_of_equal_directions_is_the_mean() -> None:
    """Updates that differ in length alone have a mean that keeps the norm already."""
    (one,) = updates(1)
    parts, weights = [one, 3 * one], [2.0, 1.0]
    merged = radial_directional(parts, weights)
    np.testing.assert_allclose(merged, weighted_mean(parts, weights), rtol=1e-5)


def test_radial_directional_points_along_the_mean_of_unit_vectors() -> None:
    """A long update has no more say in the direction than a short one."""
    parts = [np.array([10.0, 0.0], np.float32), np.array([0.0, 1.0], np.float32)]
    merged = radial_directional(parts, [1.0, 1.0])
    np.testing.assert_allclose(merged, 5.5 / np.sqrt(2) * np.ones(2), rtol=1e-5)


def test_where_directions_cancel_it_is_the_plain_mean() -> None:
    """There is no direction to keep a norm in."""
    parts = [np.array([1.0, 0.0], np.float32), np.array([-3.0, 0.0], np.float32)]
    np.testing.assert_allclose(radial_directional(parts, [1.0, 1.0]), [-1.0, 0.0])


def test_a_tensor_of_one_element_takes_the_sign_that_weighs_more() -> None:
    """Its directions are signs: all magnitudes count towards the length, whatever their sign."""
    parts = [np.array([value], np.float32) for value in (3.0, -1.0, 0.5)]
    merged = radial_directional(parts, [1.0, 1.0, 2.0])
    np.testing.assert_allclose(merged, [(3.0 + 1.0 + 2 * 0.5) / 4], rtol=1e-6)
    np.testing.assert_allclose(weighted_mean(parts, [1.0, 1.0, 2.0]), [0.75], rtol=1e-6)


@pytest.mark.parametrize("merge", [weighted_mean, radial_directional])
def test_no_update_at_all_merges_to_none(merge: object) -> None:
    """Zeros, with whatever weights, are zeros."""
    assert callable(merge)
    zeros = [np.zeros(3, np.float32)] * 2
    np.testing.assert_array_equal(merge(zeros, [0.0, 0.0]), np.zeros(3))


def test_a_weight_of_zero_leaves_an_update_out() -> None:
    """The absent have no say."""
    one, other = updates(2)
    for merge in (weighted_mean, radial_directional):
        np.testing.assert_allclose(merge([one, other], [2.0, 0.0]), one, rtol=1e-5, atol=1e-6)


def test_embeddings_are_averaged_plainly() -> None:
    """A radial-directional merge leaves the tensors that the problem names to the mean."""
    rng = np.random.default_rng(0)
    tensors = {name: np.zeros(1000, np.float32) for name in ("embedding", "other")}
    layout = Layout.of(tensors, 1)
    keeper = Keeper(
        OuterConfig(1.0, 0.0, "radial_directional"), layout, ["embedding"], np.zeros(2000, "f4"), 4
    )
    drawn = rng.standard_normal((4, 2000)).astype(np.float32)
    keeper.merge(1, (0,), {index: {0: row} for index, row in enumerate(drawn)}, [1.0] * 4)
    merged = layout.views(keeper.parameters)
    lengths = {name: norm(merged[name]) / np.sqrt(1000) for name in merged}
    assert lengths["embedding"] == pytest.approx(0.5, rel=0.1)
    assert lengths["other"] == pytest.approx(1.0, rel=0.1)


def test_the_outer_step_is_nesterov_s() -> None:
    """v = m v + g; x = x - rate (g + m v)."""
    layout = Layout.of({"x": np.zeros(1)}, 1)
    keeper = Keeper(OuterConfig(0.5, 0.8), layout, [], np.zeros(1, "f4"), 1)
    x = v = 0.0
    for slot, g in enumerate([1.0, -0.5, 2.0], start=1):
        keeper.merge(slot, (0,), {0: {0: keeper.parameters - np.float32(g)}}, [1.0])
        v = 0.8 * v + g
        x -= 0.5 * (g + 0.8 * v)
        assert keeper.parameters[0] == pytest.approx(x, rel=1e-6)


def test_the_outer_rate_follows_the_job() -> None:
    """It warms up, then falls with the share of the job's tokens that is done."""
    layout = Layout.of({"x": np.zeros(1)}, 1)
    config = OuterConfig(0.5, 0.0, decay="linear", warmup=0.2, final=0.1)
    keeper = Keeper(config, layout, [], np.zeros(1, "f4"), 1)
    for slot, (progress, rate) in enumerate([(0.1, 0.25), (0.2, 0.5), (0.6, 0.275), (1.0, 0.05)]):
        before = keeper.parameters[0]
        keeper.merge(slot, (0,), {0: {0: keeper.parameters - 1}}, [1.0], progress)
        assert before - keeper.parameters[0] == pytest.approx(rate, rel=1e-5)


def test_a_merge_without_answers_changes_nothing() -> None:
    """Its result is the fragment as it was."""
    layout = Layout.of({"x": np.zeros(3)}, 1)
    keeper = Keeper(OuterConfig(), layout, [], np.arange(3, dtype=np.float32), 2)
    keeper.merge(1, (0,), {}, [])
    np.testing.assert_array_equal(keeper.results[1][0], [0.0, 1.0, 2.0])


@pytest.mark.parametrize("rule", [weighted_mean, radial_directional])
def test_weights_count_by_their_shares(rule: Merging) -> None:
    """Also where all of them are less than 1; those of nothing are equal, one update is its own."""
    parts = updates(3, size=50)
    merged = rule(parts, [0.1, 0.2, 0.3])
    np.testing.assert_allclose(merged, rule(parts, [1.0, 2.0, 3.0]), rtol=1e-5)
    np.testing.assert_allclose(rule(parts, [0.0] * 3), rule(parts, [1.0] * 3), rtol=1e-5)
    np.testing.assert_allclose(rule(parts[:1], [0.5]), parts[0], rtol=1e-5)


@pytest.mark.parametrize("rule", [weighted_mean, radial_directional])
def test_every_update_has_a_weight(rule: Merging) -> None:
    """One too few is a mistake."""
    with pytest.raises(ValueError, match="zip"):
        rule(updates(3, size=5), [1.0, 1.0])


def test_directions_cancel_below_the_bound_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """At the bound itself there is still one, in which the mean of norms is kept."""
    parts = [np.array([1.0]), np.array([-2.0])]
    for bound, merged in ((0.5, 0.75 + 0.25 * 2.0), (0.6, 0.75 - 0.25 * 2.0)):
        monkeypatch.setattr("ddsim.learning.merging.CANCELLED", bound)
        assert radial_directional(parts, [3.0, 1.0]).tolist() == [merged]
