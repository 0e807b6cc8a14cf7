"""Whom silent corruption reaches through merges, and to which saves it takes them back."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from test_corruption import ONCE, world

from ddsim.engine.kept import START, KeptStates, last_common
from ddsim.engine.run import Run
from ddsim.methods.spreading import Spread
from ddsim.world.cluster import build
from ddsim.world.corruptions import corruptions
from ddsim.world.strike import Strike


class Followed:
    """Learners whose corruption is followed, and who is asked to go back."""

    def __init__(self) -> None:
        scenario = world(failures__causes=[ONCE], duration="20000 s")
        self.run = Run(scenario, build(scenario), [], 0)
        body = SimpleNamespace(lost=False)
        learner = SimpleNamespace(body=body, lost_hardware=False, steps=0)
        self.learners: Any = [learner] * 3
        self.gone_back: list[int] = []
        self.spread = Spread(self)
        self.strike = next(corruptions(scenario, self.run.cluster, 0, screened=False))
        assert self.strike.since is not None
        self.run.clock.run(self.strike.since + 1)

    def corrupted(self, strike: Strike) -> None:
        """Nobody trains a model on it."""

    def listen(self, on: bool) -> None:
        """Everything is told anyway."""

    def hear(self) -> None:
        """It is told at once."""

    def go_back(self, strike: Strike, concerned: list[int], steps: list[int]) -> None:
        """Note who is to go back."""
        self.gone_back = concerned

    @property
    def corrupt(self) -> int:
        """The learner that is struck."""
        return self.strike.unit


@pytest.fixture
def followed() -> Followed:
    """Three learners, one of them corrupt."""
    return Followed()


def others(followed: Followed) -> list[int]:
    """The learners that are not struck."""
    return [m for m in range(3) if m != followed.corrupt]


def test_what_nobody_has_merged_takes_nobody_else_back(followed: Followed) -> None:
    """The learner's answer was in no merge, and a merge of others is none of it."""
    spread, (one, other) = followed.spread, others(followed)
    spread.gave(followed.corrupt, 4)
    spread.gave(one, 5)
    spread.merged(5, 5, [0], [one])
    spread.received(other, 5)
    assert not spread.noticed(followed.strike)
    assert followed.gone_back == []


def test_who_receives_a_corrupt_merge_is_corrupt(followed: Followed) -> None:
    """One that has received none of it stays as it is."""
    spread, (one, _) = followed.spread, others(followed)
    spread.gave(followed.corrupt, 4)
    spread.merged(4, 4, [0], [followed.corrupt])
    spread.received(one, 4)
    assert spread.noticed(followed.strike)
    assert followed.gone_back == sorted([followed.corrupt, one])


def test_who_has_received_it_spreads_it(followed: Followed) -> None:
    """By another fragment, too."""
    spread, (one, other) = followed.spread, others(followed)
    spread.gave(followed.corrupt, 4)
    spread.merged(4, 4, [0], [followed.corrupt])
    spread.received(one, 4)
    spread.gave(one, 5)
    spread.merged(5, 5, [1], [one, other])
    spread.received(other, 5)
    assert spread.noticed(followed.strike)
    assert followed.gone_back == [0, 1, 2]


def test_a_merge_into_a_corrupt_fragment_is_corrupt(followed: Followed) -> None:
    """Though all that is merged is clean: the fragment was not."""
    spread, (one, other) = followed.spread, others(followed)
    spread.gave(followed.corrupt, 4)
    spread.merged(4, 4, [0], [followed.corrupt])
    spread.gave(one, 28)
    spread.merged(28, 28, [0], [one])
    spread.received(other, 28)
    assert spread.noticed(followed.strike)
    assert followed.gone_back == sorted([followed.corrupt, other])


def test_a_learner_that_begins_anew_from_what_is_clean_is_clean(followed: Followed) -> None:
    """Nothing corrupt had been merged."""
    spread, (one, _) = followed.spread, others(followed)
    spread.rejoined(followed.corrupt, one, 3)
    spread.gave(followed.corrupt, 4)
    spread.merged(4, 4, [0], [followed.corrupt])
    assert not spread.noticed(followed.strike)


def test_a_learner_that_begins_anew_from_a_corrupt_merge_is_corrupt(followed: Followed) -> None:
    """Whosever moments it has."""
    spread, (one, other) = followed.spread, others(followed)
    spread.gave(followed.corrupt, 4)
    spread.merged(4, 4, [0], [followed.corrupt])
    spread.rejoined(other, one, 4)
    assert spread.noticed(followed.strike)
    assert followed.gone_back == sorted([followed.corrupt, other])


def saves(*complete: int, last_only: bool = False) -> KeptStates[int]:
    """The saves of a learner, each named for when it is complete."""
    kept = KeptStates[int](1000, last_only=last_only)
    for at in complete:
        kept.add(at, at, at)
    return kept


def test_each_goes_back_to_the_save_that_it_had_at_the_corruption() -> None:
    """Its own last one, when all have one by then."""
    kept = [saves(100, 200, 300), saves(150, 250, 350)]
    instant = last_common(kept, 260, 400)
    assert [each.at(instant, 400) for each in kept] == [200, 250]


@pytest.mark.parametrize("late", [saves(), saves(270), saves(200, 300, last_only=True)])
def test_all_begin_anew_where_one_had_no_save(late: KeptStates[int]) -> None:
    """None at all, none yet, or none any more: in memory only the last is kept."""
    kept = [saves(100, 200, 300), late]
    instant = last_common(kept, 260, 400)
    assert instant == START
    assert [each.at(instant, 400) for each in kept] == [None, None]
