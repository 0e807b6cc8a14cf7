"""The room that the protocol has: buffers are emptied, rooms grow, nothing is written beyond."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from naive.case import Case
from naive.random_cases import random_case
from naive_cases import run_engine
from protocol_runs import (
    METHODS,
    as_machine_code,
    assert_same,
    by_hand,
    little_room,
    of_case,
    of_world,
)
from protocol_state import bare
from protocol_worlds import HANDED_OVER, WORLDS

from ddsim.engine.clock import Rank
from ddsim.methods.local import arrays
from ddsim.methods.local import protocol as k
from ddsim.world import instants

ALONE = {**WORLDS["an hour alone"], "training.below_quorum": "step_on", "duration": "75 min"}


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("method", METHODS)
def test_full_buffers_are_emptied(method: str, seed: int) -> None:
    """Where they hold little more than one instant brings, nothing is lost or counted twice."""
    case = random_case(seed, method)
    much = of_case(case)
    with little_room():
        assert_same(of_case(case), much)


def test_full_buffers_are_emptied_where_a_tape_is_kept() -> None:
    """In the order in which it all happened."""
    case = random_case(3, "decoupled_diloco")
    much = run_engine(case, taped=True).run.tape
    with little_room():
        assert run_engine(case, taped=True).run.tape == much


@pytest.mark.parametrize("most", [2, 64])
@pytest.mark.parametrize("seed", range(4))
def test_rooms_grow(most: int, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A learner that steps on alone gets further ahead of the last merge than there were rows."""
    case = replace(
        random_case(seed, "decoupled_diloco"), below_quorum="step_on", overlap_steps=3 + 30 * seed
    )
    roomy = of_case(case)
    monkeypatch.setattr(arrays, "MOST_AT_FIRST", most)
    assert of_case(case) == roomy


def test_rooms_grow_with_the_slots_they_are_for() -> None:
    """Notes that had room for many merges get room for those of as many more slots, not twice."""
    state = bare()
    state.number[k.NOTES] = 1
    roomy = state._replace(notes=np.zeros((20_000, 4), np.int64), weights=np.zeros((20_000, 2)))
    for rows in (2 * len(state.slot), 4 * len(state.slot)):
        roomy = arrays.grown(roomy)
        assert len(roomy.slot) == rows
    added = 3 * len(state.slot) * state.carried.shape[2]
    assert len(roomy.notes) == len(roomy.weights) == 20_000 + added
    assert len(roomy.ages) == len(state.ages) + added


def test_who_is_not_heard_needs_no_room() -> None:
    """It answers no slot, and is at most as far as the others once it is heard again."""
    state = bare()
    state.learner[0, k.COUNT] = 2 * len(state.slot)
    assert k.crowded(state)
    state.learner[0, k.HEARD] = 0
    assert not k.crowded(state)


@pytest.mark.slow
def test_a_learner_alone_is_given_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """An hour of slots without a quorum, in 64 rows that become as many as they have to be."""
    grown: list[int] = []
    grow = arrays.grown

    def noted(state: k.State) -> k.State:
        grown.append(2 * len(state.slot))
        return grow(state)

    with as_machine_code():
        roomy = of_world(ALONE, "decoupled_diloco")
        monkeypatch.setattr(arrays, "MOST_AT_FIRST", 64)
        monkeypatch.setattr(arrays, "grown", noted)
        assert of_world(ALONE, "decoupled_diloco") == roomy
    assert grown
    assert grown[-1] >= 3600


def narrow_cases() -> list[Case]:
    """Random cases with periods of one step to three, so that fragments are many a slot."""
    return [
        replace(random_case(seed, METHODS[seed % 3]), inner_steps=1 + seed % 4)
        for seed in range(60)
    ]


@pytest.mark.slow
def test_nothing_is_written_beyond_an_array(monkeypatch: pytest.MonkeyPatch) -> None:
    """By hand that would be an error; machine code takes the same course with as little room."""
    monkeypatch.setattr(arrays, "MOST_AT_FIRST", 8)
    for case in narrow_cases():
        with by_hand(), little_room():
            expected = of_case(case)
        with as_machine_code(), little_room():
            assert_same(of_case(case), expected)
    for settings in (HANDED_OVER["a policy"], HANDED_OVER["lost replicas"]):
        with as_machine_code(), little_room():
            of_world(settings, "decoupled_diloco")


def test_what_is_repeated_is_the_same_there() -> None:
    """numba notices no change in another file, so that constants are written down twice."""
    ranks = (Rank.STEP_END, Rank.LAST_BIT, Rank.CLOSE, Rank.ARRIVAL, Rank.NEXT)
    assert ranks == (k.STEP_END, k.LAST_BIT, k.CLOSE, k.ARRIVAL, k.NEXT)
    assert (k.NEVER, k.SECOND) == (instants.NEVER, instants.SECOND)
