"""Problems: their gradients, their noise, their data."""

from functools import cache
from hashlib import sha256
from itertools import product
from math import log, prod
from random import Random
from typing import Any

import numpy as np
import pytest

from ddsim.learning import (
    InnerConfig,
    LearningConfig,
    OuterConfig,
    Schedule,
    Shard,
    even,
    lockstep,
    replay,
    text,
)
from ddsim.learning.problem import Problem, StackedProblem, make, names, options_of
from ddsim.learning.quadratic import NoisyQuadratic
from ddsim.learning.replay import Replay
from ddsim.learning.text import ALPHABET, documents
from ddsim.learning.text_floor import _expanded, text_floor

PROBLEMS = ("language_model", "noisy_quadratic", "linear_regression", "softmax_regression", "mlp")
SHARDS = [Shard(), Shard(1, 4, True)]


def started(problem: Problem, seed: int = 1) -> dict[str, Any]:
    """Parameters in float64 somewhere near where training begins, in general position."""
    rng = np.random.default_rng(seed)
    return {
        name: value + 0.05 * rng.standard_normal(value.shape)
        for name, value in problem.initial(rng).items()
    }


@pytest.mark.parametrize("shard", SHARDS)
@pytest.mark.parametrize("name", PROBLEMS)
def test_gradients_agree_with_finite_differences(name: str, shard: Shard) -> None:
    """Along random directions within each tensor the loss changes as the gradient says."""
    problem = make(name, {})
    rng = np.random.default_rng(2)
    at = started(problem)
    batch = problem.batch(rng, 16, shard)
    _, gradient = problem.gradient(at, batch)
    size = 1e-6
    for tensor, value in at.items():
        direction = rng.standard_normal(value.shape)
        losses = [
            problem.gradient(at | {tensor: value + sign * size * direction}, batch)[0]
            for sign in (1.0, -1.0)
        ]
        slope = (losses[0] - losses[1]) / (2 * size)
        assert slope == pytest.approx(np.sum(gradient[tensor] * direction), rel=1e-4, abs=1e-7)


@pytest.mark.parametrize("name", PROBLEMS)
def test_learners_side_by_side_are_as_alone(name: str) -> None:
    """What is computed for several learners at once is for each, bit for bit, as by itself."""
    problem = make(name, {})
    assert isinstance(problem, StackedProblem)
    rng = np.random.default_rng(3)
    rows = [
        {name: value.astype(np.float32) for name, value in started(problem, seed).items()}
        for seed in range(5)
    ]
    batches = [problem.batch(rng, 12, Shard()) for _ in rows]
    stacked = {name: np.stack([row[name] for row in rows]) for name in rows[0]}
    losses, together = problem.gradients(stacked, batches)
    for index, (row, batch) in enumerate(zip(rows, batches, strict=True)):
        loss, alone = problem.gradient(row, batch)
        assert loss == losses[index]
        for tensor, value in alone.items():
            np.testing.assert_array_equal(value, together[tensor][index])


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_gradient_is_float32_where_parameters_are(name: str) -> None:
    """Nothing on the way makes it wider."""
    problem = make(name, {})
    rng = np.random.default_rng(0)
    at = {key: np.asarray(value, np.float32) for key, value in problem.initial(rng).items()}
    _, gradient = problem.gradient(at, problem.batch(rng, 8, Shard()))
    assert {value.dtype for value in gradient.values()} == {np.dtype(np.float32)}


def test_all_problems_are_registered() -> None:
    """A scenario can name each."""
    assert set(PROBLEMS) <= set(names())


def test_options_are_the_constructor_s() -> None:
    """The random stream is not one of them."""
    assert options_of("linear_regression") == ("features", "examples", "noise")


def test_the_language_model_has_tensors_enough_for_24_fragments() -> None:
    """And its embedding is one of them."""
    problem = make("language_model", {})
    tensors = problem.initial(np.random.default_rng(0))
    assert len(tensors) >= 24
    assert set(problem.embeddings) <= set(tensors)


def test_the_text_is_always_the_same() -> None:
    """A few hundred kB in a small alphabet, made from nothing but the standard generator."""
    text = "".join(documents())
    assert set(text) <= set(ALPHABET)
    assert 250_000 < len(text) < 400_000
    assert sha256(text.encode()).hexdigest()[:16] == DIGEST


DIGEST = "d8f8e2f38064bd3f"


def plain(steps: int, rate: float, **options: Any) -> LearningConfig:
    """SGD at a constant rate on the quadratic, one learner."""
    return LearningConfig(
        "noisy_quadratic",
        **even(1, 4),
        options=options,
        inner=InnerConfig("sgd"),
        schedule=Schedule(rate, "constant", 0.0),
    )


def test_sgd_without_noise_follows_the_closed_form() -> None:
    """(x - optimum) shrinks by 1 - rate x curvature at every step."""
    rate, steps = 0.3, 50
    run = Replay(lockstep.data_parallel(1, steps), plain(steps, rate, noise=0.0), 0)
    problem = run.problem
    assert isinstance(problem, NoisyQuadratic)
    run.run()
    shrink = (1.0 - rate * problem.curvature.astype(float)) ** steps
    found = np.concatenate([run.layout.views(run.job.parameters)[f"x{i}"] for i in range(24)])
    np.testing.assert_allclose(found, problem.optimum * (1.0 - shrink), atol=1e-5)


@pytest.mark.slow
def test_sgd_with_noise_has_the_loss_of_the_closed_form() -> None:
    """E (x - optimum)^2 = s^(2k) x0^2 + rate^2 variance (1 - s^(2k)) / (1 - s^2), in the mean."""
    rate, steps, seeds = 0.3, 60, 100
    config = plain(steps, rate, noise=1.0)
    curves = replay(lockstep.data_parallel(1, steps), config, range(seeds))
    problem = make("noisy_quadratic", {"noise": 1.0})
    assert isinstance(problem, NoisyQuadratic)
    curvature = problem.curvature.astype(float)
    shrink = 1.0 - rate * curvature
    kept = shrink ** (2 * steps)
    noise = rate**2 * (1.0 / 4) * (1.0 - kept) / (1.0 - shrink**2)
    expected = 0.5 * np.sum(curvature * (kept * problem.optimum.astype(float) ** 2 + noise))
    losses = np.array([curve.final_loss for curve in curves])
    error = losses.std(ddof=1) / np.sqrt(seeds)
    assert abs(losses.mean() - expected) < 5 * error
    assert error < 0.05 * expected


@pytest.mark.parametrize("learners", [1, 2, 8])
def test_averaging_learners_divides_the_noise_of_the_gradient(learners: int) -> None:
    """One step of M learners from the optimum leaves a variance of rate^2 variance / (b M)."""
    rate, batch, seeds = 0.5, 4, 60
    config = LearningConfig(
        "noisy_quadratic",
        **even(learners, batch),
        inner=InnerConfig("sgd"),
        schedule=Schedule(rate, "constant", 0.0),
        outer=OuterConfig(1.0, 0.0),
    )
    moved = []
    for tape in (lockstep.diloco(learners, 1, 1), lockstep.data_parallel(learners, 1)):
        rows = []
        for seed in range(seeds):
            run = Replay(tape, config, seed)
            run.run()
            rows.append(run.parameters.copy())
        moved.append(np.array(rows))
    np.testing.assert_allclose(moved[0], moved[1], atol=1e-6)
    variances = moved[1].var(axis=0, ddof=1)
    expected = rate**2 / (batch * learners)
    error = expected * np.sqrt(2.0 / (seeds - 1) / variances.size)
    assert abs(variances.mean() - expected) < 5 * error


def test_skewed_optima_average_to_the_optimum() -> None:
    """What the shards add to the gradients adds up to nothing."""
    problem = make("noisy_quadratic", {"noise": 0.0, "skew": 2.0})
    shifts = [problem.batch(np.random.default_rng(0), 1, Shard(i, 8, True)) for i in range(8)]
    assert np.abs(shifts[0]).max() > 0.5
    np.testing.assert_allclose(np.mean(shifts, axis=0), 0.0, atol=1e-6)


@pytest.mark.parametrize("name", ["softmax_regression", "mlp"])
def test_a_skewed_shard_sees_few_classes(name: str) -> None:
    """Four learners share the eight classes out."""
    problem = make(name, {})
    rng = np.random.default_rng(0)
    assert len(set(problem.batch(rng, 500, Shard(0, 4, False))[1])) == 8
    assert len(set(problem.batch(rng, 500, Shard(0, 4, True))[1])) < 6


@pytest.mark.parametrize(
    "name",
    ["linear_regression", "softmax_regression", pytest.param("mlp", marks=pytest.mark.slow)],
)
def test_training_lowers_the_loss(name: str) -> None:
    """Data-parallel steps of AdamW learn something of every data set."""
    config = LearningConfig(name, **even(2, 32), schedule=Schedule(0.01))
    (curve,) = replay(lockstep.data_parallel(2, 200), config)
    assert curve.final_loss < 0.8 * curve.initial_loss


@pytest.mark.slow
def test_the_floor_is_what_the_true_model_of_the_text_has() -> None:
    """Drawn sentences cost, in the mean, what the grammar says; words of two kinds included."""
    assert text_floor() == pytest.approx(0.8364, abs=1e-4)
    chances: dict[tuple[str, ...], float] = {}
    for kinds, chance in _expanded("sentence"):
        chances[kinds] = chances.get(kinds, 0.0) + chance
    assert sum(chances.values()) == pytest.approx(1.0)
    shared, words = text.vocabulary(Random(text.SEED), text.TOPICS)
    nats = letters = 0.0
    topic = of_topic = 0
    for document in text.documents():
        nats += _cost(document, shared, words, words[topic], chances)
        letters += len(document)
        of_topic += len(document)
        if of_topic >= 300_000 / text.TOPICS:
            topic, of_topic = topic + 1, 0
    assert topic == text.TOPICS
    assert nats / letters == pytest.approx(text_floor(), rel=0.005)


def _cost(
    document: str,
    shared: text.Words,
    words: list[text.Words],
    own: text.Words,
    chances: dict[tuple[str, ...], float],
) -> float:
    """Nats of a document: minus the logarithms of how likely its sentences are."""

    @cache
    def word(kind: str, found: str) -> float:
        if kind == "name":
            return _names(found)
        if kind in shared:
            return shared[kind].count(found) / len(shared[kind])
        mine = own[kind].count(found) / len(own[kind])
        theirs = sum(other[kind].count(found) / len(other[kind]) for other in words) / len(words)
        return (1 - text.BORROWED) * mine + text.BORROWED * theirs

    cost = 0.0
    for sentence in document.rstrip(".\n").split(". "):
        parts = sentence.split(" ")
        ways = (kinds for kinds in chances if len(kinds) == len(parts))
        likely = sum(chances[kinds] * prod(map(word, kinds, parts)) for kinds in ways)
        cost -= log(max(likely, 1e-300))
    return cost


@cache
def _names(found: str, syllables: int = 3) -> float:
    """How likely a name is, over all ways to part it into syllables."""
    if not syllables:
        return float(not found)
    total = 0.0
    onsets = [onset for onset in text.ONSETS if found.startswith(onset)]
    for onset, vowel in product(onsets, text.VOWELS):
        if found.startswith(onset + vowel):
            for coda in text.CODAS:
                if found.startswith(begin := onset + vowel + coda):
                    total += _names(found[len(begin) :], syllables - 1) / len(text.CODAS)
    return total / len(text.ONSETS) / len(text.VOWELS)
