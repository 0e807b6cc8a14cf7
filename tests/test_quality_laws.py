"""Laws from tokens to loss: published points, what they say of compute, one's own class."""

from __future__ import annotations

from math import exp, inf

import pytest

from ddsim import quality
from ddsim.quality import Gap, Law, critical_batch, level, predicted_gap
from ddsim.quality.fitting import fit_tokens
from ddsim.quality.penalty import by_size, joint, joint_loss, penalty
from ddsim.quality.sensitivity import compute_ratio, loss_along
from ddsim.reference import rows

SIZES = {"35M": 35e6, "100M": 100e6, "200M": 200e6, "300M": 300e6, "500M": 500e6}
METHODS = ("DiLoCo H=30", "Streaming FP4 H=30", "Streaming FP4 H=100")
BASE = "Data-Parallel"


@pytest.mark.parametrize(
    ("learners", "loss"), [(1, 2.291), (2, 2.309), (4, 2.328), (8, 2.346)], ids="M={}".format
)
def test_identity_the_joint_law_gives_its_hand_worked_points(learners: int, loss: float) -> None:
    """2.4B parameters, to printed rounding: arithmetic alone, no prediction."""
    assert joint_loss(2.4e9, learners) == pytest.approx(loss, abs=5e-4)


def table_5() -> dict[tuple[str, str], float]:
    """Losses of arXiv 2501.18512 Table 5, by size and method."""
    table = rows("losses_streaming_table5")
    return {(row["model"], row["method"]): float(row["eval_loss_nats"]) for row in table}


def gap(size: str, method: str) -> float:
    """The printed gap to data-parallel."""
    return table_5()[size, method] - table_5()[size, BASE]


def misses(guess: dict[tuple[str, str], float]) -> list[float]:
    """By how much a guess misses each of the nine gaps that are held back."""
    return [abs(value - gap(*place)) for place, value in guess.items()]


def by_shape() -> dict[tuple[str, str], float]:
    """The gaps of the larger models, by the shape and one level a method from the two smallest."""
    losses = table_5()
    found = {}
    for method in METHODS:
        seen = [Gap(SIZES[s], losses[s, BASE], gap(s, method)) for s in ("35M", "100M")]
        own = level(seen, 2)
        for size in ("200M", "300M", "500M"):
            found[size, method] = predicted_gap(own, SIZES[size], losses[size, BASE], 2)
    return found


def test_gaps_of_larger_models_follow_from_the_two_smallest() -> None:
    """Each of the nine within 0.012 nats, 0.006 in the mean; a gap carries 0.01 of rounding."""
    missed = misses(by_shape())
    assert len(missed) == 9
    assert max(missed) <= 0.012
    assert sum(missed) / 9 <= 0.006


@pytest.mark.parametrize("naive", ["none", "constant", "carried over"])
def test_gaps_by_shape_beat_a_naive_guess(naive: str) -> None:
    """No gap at all, one for all, and each method's at 100M carried over."""
    ours = by_shape()
    guess = {
        (size, method): {"none": 0.0, "constant": 0.015}.get(naive, gap("100M", method))
        for size, method in ours
    }
    assert sum(misses(ours)) < sum(misses(guess))


@pytest.mark.parametrize(
    ("parameters", "saved", "costs"), [(2e9, 21, 27), (12e9, 32, 51), (100e9, 52, 134)]
)
def test_a_hundredth_of_the_loss_is_much_compute(parameters: float, saved: int, costs: int) -> None:
    """By the Besiroglu constants, along D = 20 N: accepting 1% more saves, making up 1% costs."""
    law = quality.make("chinchilla_besiroglu", {})
    accepted, made_up = (compute_ratio(law, parameters, ratio) for ratio in (1.01, 1 / 1.01))
    assert round(100 * (1 - accepted)) == saved
    assert round(100 * (made_up - 1)) == costs


def test_absolute_losses_do_not_carry_over() -> None:
    """At 35M both of Chinchilla's laws say 4.17 where another data set gave 3.51."""
    for name in ("chinchilla_hoffmann", "chinchilla_besiroglu"):
        assert loss_along(quality.make(name, {}), 35e6) == pytest.approx(4.17, abs=0.01)
    assert table_5()["35M", BASE] == 3.51


def test_the_penalty_begins_at_none() -> None:
    """Two fits that differ, a table that fades, and one where two learners do as well as one."""
    assert joint(2) == pytest.approx(1.008, abs=1e-4)
    assert by_size(35e6, 2) > joint(2) > by_size(500e6, 2)
    assert penalty("published", 35e6, 2) == (1.0, by_size(35e6, 2))
    assert penalty("published", 8e9, 2) == (1.0, joint(2))
    assert penalty("published", 8e9, 1) == (1.0, 1.0)
    losses = {
        (row["tokens"], row["method"]): float(row["eval_loss_nats"])
        for row in rows("losses_streaming_table1")
    }
    for tokens in ("25B", "100B", "250B"):
        assert losses[tokens, "Streaming DiLoCo FP4"] <= losses[tokens, BASE]


@pytest.mark.parametrize("name", ["chinchilla_hoffmann", "chinchilla_besiroglu"])
def test_tokens_undo_the_loss(name: str) -> None:
    """In closed form and by bisection alike; nothing reaches the floor."""
    law = quality.make(name, {})
    for tokens in (1e6, 1e9, 1e13):
        loss = law.loss(1e9, tokens)
        assert law.tokens(1e9, loss) == pytest.approx(tokens, rel=1e-9)
        assert Law.tokens(law, 1e9, loss) == pytest.approx(tokens, rel=1e-9)
    assert law.tokens(1e9, law.floor(1e9)) == inf == Law.tokens(law, 1e9, law.floor(1e9))


def test_the_critical_batch_grows_as_the_loss_falls() -> None:
    """2e8 tokens over L^(1 / 0.21): 7.4 million at 2 nats."""
    assert critical_batch(2.0) == pytest.approx(2e8 / 2 ** (1 / 0.21))
    assert critical_batch(2.0) == pytest.approx(7.37e6, rel=1e-3)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "needs E, A, alpha, B and beta"),
        ({"E": 1, "A": 0, "alpha": 1, "B": 0, "beta": 1}, "B is 0; a number above 0"),
        ({"F": 1}, "takes E, A, alpha, B or beta"),
    ],
)
def test_constants_of_ones_own_are_looked_at(options: dict[str, float], said: str) -> None:
    """What is missing, out of range or not known is named."""
    with pytest.raises(ValueError, match=said):
        quality.make("power_law", options)


def test_a_fit_finds_the_constants_of_a_curve() -> None:
    """Of exact losses: floor, exponent and what the law says beyond the points."""
    law = quality.PowerLaw(E=1.2, A=0.0, alpha=1.0, B=300.0, beta=0.3)
    tokens = [1e6 * 2**power for power in range(8)]
    found = fit_tokens(tokens, [law.loss(1.0, count) for count in tokens])
    assert found.floor(1.0) == pytest.approx(1.2, abs=1e-3)
    assert found.loss(1.0, 1e9) == pytest.approx(law.loss(1.0, 1e9), rel=1e-3)
    with pytest.raises(ValueError, match="four points"):
        fit_tokens(tokens[:3], [3.0, 2.0, 1.5])


class Falling(Law):
    """A law of a user's own that says no more than its loss."""

    name = "falling"

    def loss(self, parameters: float, tokens: float) -> float:
        """Fall from 5 towards 1."""
        return 1.0 + 4.0 * exp(-tokens / 1e9)


def test_a_law_of_ones_own_need_only_say_its_loss() -> None:
    """Its floor and its tokens follow."""
    law = Falling()
    assert law.floor(1e9) == 1.0
    assert law.loss(1e9, law.tokens(1e9, 2.0)) == pytest.approx(2.0, rel=1e-12)
    assert law.tokens(1e9, 6.0) == 1.0
