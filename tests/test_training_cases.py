"""The package trains as the naive trainer does, which was written from the words alone."""

from collections import Counter

import pytest
from training_cases import METHODS, SAME, apart, case, dropped

from ddsim.engine.tape import Answer


@pytest.mark.parametrize("number", [*range(2 * len(METHODS)), 109])
def test_training_agrees_with_the_naive_trainer(number: int) -> None:
    """All parameters, merged and learners' own, on a random run and random settings."""
    assert apart(case(number)) < SAME


def test_answers_too_late_are_on_the_tape_and_nobody_answers_a_slot_twice() -> None:
    """A learner whose own step reaches a closed slot answers it, unless it had done so behind."""
    tape = case(30).tape
    answers = Counter((event.slot, event.learner) for event in tape if isinstance(event, Answer))
    assert dropped(tape) > 20
    assert set(answers.values()) == {1}
