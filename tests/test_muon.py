"""Muon: orthogonal momentum for matrices, AdamW for the rest."""

import numpy as np
import pytest

from ddsim.learning.config import InnerConfig
from ddsim.learning.layout import Layout
from ddsim.learning.muon import COEFFICIENTS, ROUNDS, orthogonal
from ddsim.learning.problem import make

SHAPES = [(8, 8), (32, 64), (64, 12), (1, 5)]


def by_singular_values(matrix: np.ndarray) -> np.ndarray:
    """The same polynomial, of each singular value alone."""
    a, b, c = COEFFICIENTS
    left, values, right = np.linalg.svd(matrix, full_matrices=False)
    values /= np.linalg.norm(values)
    for _ in range(ROUNDS):
        values = a * values + b * values**3 + c * values**5
    product: np.ndarray = (left * values) @ right
    return product


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("dtype", "near"), [(np.float64, 1e-10), (np.float32, 2e-4)])
def test_newton_schulz_does_to_singular_values_what_its_polynomial_says(
    shape: tuple[int, int], dtype: type, near: float
) -> None:
    """Singular vectors stay, for tall matrices and wide ones."""
    matrix: np.ndarray = np.random.default_rng(0).standard_normal(shape).astype(dtype)
    found = orthogonal(matrix)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, by_singular_values(matrix.astype(float)), atol=near)


@pytest.mark.parametrize("spread", [1.0, 10.0, 100.0])
def test_newton_schulz_is_near_the_orthogonal_factor_of_the_svd(spread: float) -> None:
    """Singular values between 0.68 and 1.21 where U V^T has 1, whatever they were."""
    rng = np.random.default_rng(1)
    left, right = (np.linalg.qr(rng.standard_normal((24, 24)))[0] for _ in range(2))
    found = orthogonal(left * np.geomspace(1.0, 1.0 / spread, 24) @ right)
    inside = left.T @ found @ right.T
    np.testing.assert_allclose(inside, np.diag(np.diag(inside)), atol=1e-10)
    assert 0.68 < np.diag(inside).min() <= np.diag(inside).max() < 1.21


def test_nothing_stays_nothing() -> None:
    """A matrix of zeros has no direction."""
    np.testing.assert_array_equal(orthogonal(np.zeros((3, 4))), np.zeros((3, 4)))


@pytest.mark.slow
def test_muon_leaves_vectors_embeddings_and_heads_to_adamw() -> None:
    """Their steps are AdamW's to the last bit, those of matrices are of AdamW's length."""
    problem = make("language_model", {"evaluated": 64})
    tensors = problem.initial(np.random.default_rng(0))
    layout = Layout.of(tensors, 3)
    rng = np.random.default_rng(1)
    gradients = rng.standard_normal((3, layout.size)).astype(np.float32)
    kept = (*problem.embeddings, *problem.heads)
    found = {}
    for name in ("adamw", "muon"):
        inner = InnerConfig(name, weight_decay=0.1).make(layout, kept)
        x, moments = np.ones(layout.size, "f4"), np.zeros((2, layout.size), "f4")
        for count, gradient in enumerate(gradients, start=1):
            inner.step(x, gradient, moments, count, 0.01)
        found[name] = layout.views(x)
    for name, shape in layout.shapes.items():
        other, own = found["adamw"][name], found["muon"][name]
        if len(shape) == 1 or name in ("embedding", "head"):
            np.testing.assert_array_equal(own, other)
        else:
            assert 0.1 < np.std(own) / np.std(other) < 1.0
