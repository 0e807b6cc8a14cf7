"""The package trains as the naive trainer does, which was written from the words alone."""

import pytest
from training_cases import METHODS, SAME, apart, case


@pytest.mark.parametrize("number", range(2 * len(METHODS)))
def test_training_agrees_with_the_naive_trainer(number: int) -> None:
    """All parameters, merged and learners' own, on a random run and random settings."""
    assert apart(case(number)) < SAME
