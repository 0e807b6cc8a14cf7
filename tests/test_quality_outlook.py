"""What tokens are worth as intervals: both ends by hand, targets at the edges, no number lost."""

from __future__ import annotations

import re
from itertools import pairwise
from math import isfinite

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ddsim.quality import Batch, Ends, Outlook, PowerLaw, critical_batch, make
from ddsim.quality.penalty import penalty

LAW = PowerLaw(E=1.0, A=0.0, alpha=1.0, B=100.0, beta=0.5)
"""L = 1 + 100 / sqrt(D): 10^4 tokens make 2 nats, 10^6 make 1.1."""


def outlook(**changes: object) -> Outlook:
    """Two learners that lose 0 to 10% and overwrite what counts fully or not at all."""
    values = {"learners": 2, "batch": None, "penalty": Ends(1.0, 1.1), **changes}
    return Outlook(law=LAW, parameters=1e9, **values)  # type: ignore[arg-type]


def test_both_ends_and_the_mean_of_each_factor_by_hand() -> None:
    """10^4 tokens, half of them merged: 10^4, 7,500 and 5,000 count, at 1, 1.05 and 1.1."""
    found = outlook().loss(1e4, 0.5)
    by_hand = (2.0, 1.05 * (1 + 100 / 7500**0.5), 1.1 * (1 + 100 / 5000**0.5))
    assert found == pytest.approx(by_hand, rel=1e-12)


def test_hours_at_both_ends_by_hand() -> None:
    """To 2 nats, at 1,000 tokens an hour of which half are merged."""
    found = outlook().spent_to(2.0, 10.0, 1e4, 0.5)
    needed = [(100 / (2.0 / factor - 1)) ** 2 for factor in (1.0, 1.05, 1.1)]
    counted = (1000, 750, 500)
    by_hand = [tokens / rate for tokens, rate in zip(needed, counted, strict=True)]
    assert found == pytest.approx(by_hand, rel=1e-12)


def test_a_target_at_the_floor_is_never_reached() -> None:
    """At its worse end the penalty lifts the floor, so that an interval may end nowhere."""
    assert outlook().spent_to(1.0, 1.0, 1e4, 1.0) == (None, None, None)
    between = outlook().spent_to(1.08, 1.0, 1e4, 1.0)
    assert between.low is not None
    assert between.mid is not None
    assert between.high is None


@pytest.mark.parametrize(
    ("target", "said"),
    [
        (0.9, "is not above 1, the floor of power_law for 1B parameters: no tokens"),
        (1.04, "is not above 1.05, the floor .* where 2 learners are taken to lose 5%"),
        (1.5, None),
    ],
)
def test_what_cannot_be_reached_is_said_in_words(target: float, said: str | None) -> None:
    """Below the law's floor, or only below what the penalty leaves of it."""
    found = outlook().unreachable(target)
    assert found is None if said is None else re.search(said, str(found))


def test_a_target_above_the_start_costs_nothing() -> None:
    """It is reached before the first step."""
    assert outlook().spent_to(10.4, 1.0, 1e4, 1.0) == (0.0, 0.0, 0.0)
    assert outlook().spent_to(11.0, 1.0, 0.0, 0.0) == (0.0, 0.0, 0.0)
    assert outlook().loss(0.0, 1.0) == (10.4, 10.4, 10.4)


def test_nothing_that_counts_comes_to_no_target() -> None:
    """Where all was overwritten, the worse end has made no progress at all."""
    assert outlook().spent_to(2.0, 1.0, 1e4, 0.0).high is None


def test_one_learner_takes_tokens_over_tokens_per_hour() -> None:
    """Without a batch's cost exactly that; with it times 1 + B / B_crit at the target."""
    alone = outlook(learners=1, penalty=Ends(1.0, 1.0))
    hours = LAW.tokens(1e9, 2.0) / (5e3 / 7.0)
    assert alone.spent_to(2.0, 7.0, 5e3, 1.0) == pytest.approx((hours,) * 3, rel=1e-15)
    batched = outlook(learners=1, penalty=Ends(1.0, 1.0), batch=Batch(3e6))
    more = hours * (1 + 3e6 / critical_batch(2.0))
    assert batched.spent_to(2.0, 7.0, 5e3, 1.0) == pytest.approx((more,) * 3, rel=1e-15)


def test_a_batch_of_ones_own_critical_size_doubles_the_tokens() -> None:
    """1 + B / B = 2."""
    batched = outlook(penalty=Ends(1.0, 1.0), batch=Batch(5e6, critical=5e6))
    assert batched.cases[0].tokens_to(2.0) == pytest.approx(2e4, rel=1e-12)


def test_warnings_name_each_law_that_is_stretched() -> None:
    """405B is beyond all of them, 1B beyond none."""
    law = make("chinchilla_besiroglu", {})
    large = Outlook(law, 405e9, 4, Batch(1e6), penalty("published", 405e9, 4))
    said = list(large.warnings())
    assert len(said) == 3
    assert said[0] == "chinchilla_besiroglu was fitted to 70M to 16B parameters, not to 405B"
    small = Outlook(law, 1e9, 4, Batch(1e6), penalty("published", 1e9, 4))
    assert list(small.warnings()) == []


NUMBERS = st.floats(1e-3, 1e15)
SHARES = st.floats(0.0, 1.0)


@settings(max_examples=60, deadline=None)
@given(
    parameters=st.floats(1.0, 1e13),
    learners=st.integers(1, 64),
    batch=st.none() | st.floats(1.0, 1e9),
    tokens=st.floats(0.0, 1e20),
    share=SHARES,
    target=st.floats(1e-6, 20.0),
)
def test_no_number_is_ever_lost(
    parameters: float,
    learners: int,
    batch: float | None,
    tokens: float,
    share: float,
    target: float,
) -> None:
    """Ends in order, finite or none, whatever is asked; a lower loss is never cheaper."""
    law = make("chinchilla_besiroglu", {})
    lost = penalty("published", parameters, learners)
    size = None if batch is None else Batch(batch)
    one = Outlook(law, parameters, learners, size, lost)
    for found in (one.loss(tokens, share), one.spent_to(target, 1.0, tokens, share)):
        known = [value for value in found if value is not None]
        assert all(map(isfinite, known))
        assert list(found) == [*known, *[None] * (3 - len(known))]
        assert all(a <= b * (1 + 1e-9) for a, b in pairwise(known))
    for case in one.cases:
        higher, lower = case.tokens_to(target), case.tokens_to(0.9 * target)
        assert lower is None or (higher is not None and higher <= lower * (1 + 1e-6))


@settings(max_examples=60, deadline=None)
@given(tokens=st.floats(1e9, 1e16), batch=st.none() | st.floats(1.0, 1e8))
def test_the_loss_after_the_tokens_to_a_loss_is_that_loss(
    tokens: float, batch: float | None
) -> None:
    """In both directions, with a batch that costs tokens and without."""
    size = None if batch is None else Batch(batch)
    law = make("chinchilla_besiroglu", {})
    case = Outlook(law, 1e10, 4, size, penalty("published", 1e10, 4)).cases[1]
    loss = case.loss_after(tokens)
    again = case.tokens_to(loss)
    if loss < case.start:
        assert again == pytest.approx(tokens, rel=1e-5)
