"""What a run's merges were like: ages of fragments, lags, steps and tokens, as distributions."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, TypedDict

from ddsim.engine.tally import Spread, Tally
from ddsim.world.instants import SECOND, Ticks, seconds

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from ddsim.world.timeline import Timeline

GIGA = 1e9
MOST_SPELLS = 24


class Spell(TypedDict):
    """A time in which exchanges could move the same, `gbps` on every hop (None: no limit).

    `merges` arrived in it; `longest_fragment_age_s` is the longest that a fragment had then gone
    without an update.
    """

    start_s: float
    end_s: float
    gbps: float | None
    merges: int
    longest_fragment_age_s: float


class MergeLog:
    """The merges of a run, summed up as they come; `rate` is what an exchange moves, in bit/s.

    It takes ticks and tells seconds.
    """

    def __init__(self, fragments: int, rate: Timeline) -> None:
        self._ages = Tally()
        self._lags = Tally()
        self._steps = Tally()
        self._tokens = Tally()
        self._arrived: list[Ticks] = [0] * fragments
        self._rate = rate
        self._start: Ticks = 0
        self._end = rate.next_change(0)
        self._merges = 0
        self._longest: Ticks = 0
        self._spells: list[Spell] = []

    def add_all(
        self,
        *,
        lags: Mapping[int, int],
        steps: Mapping[int, int],
        tokens: NDArray[np.float64],
        merges: int,
        ages: NDArray[np.int64],
        arrived: list[Ticks],
        times: int = 1,
    ) -> None:
        """Take in all that closed and arrived since the last time, so many times; within a spell.

        Of each fragment of an answer, `lags` say how many slots before the latest merge lay the one
        that it was based on, and `steps` how many it carried (the achieved H): how often which came
        up. `tokens` has each merge's; `merges` is how many arrived, `ages` has each fragment's
        then, and `arrived` when each did last.
        """
        for value, count in lags.items():
            self._lags.add(value, times * count)
        for value, count in steps.items():
            self._steps.add(value, times * count)
        self._tokens.add_all(tokens, times)
        self._ages.add_all(ages / SECOND, times)
        self._arrived = arrived
        self._merges += times * merges
        self._longest = max(self._longest, int(ages.max(initial=0)))

    def pass_to(self, time: Ticks) -> None:
        """Let the spells end that are over at that time."""
        while time >= self._end:
            self._next_spell(self._end)

    def _next_spell(self, end: Ticks) -> None:
        if len(self._spells) < MOST_SPELLS:
            rate = self._rate.at(self._start)
            age = end - min(self._arrived)
            spell = Spell(
                start_s=seconds(self._start),
                end_s=seconds(end),
                gbps=None if rate == inf else rate / GIGA,
                merges=self._merges,
                longest_fragment_age_s=seconds(max(self._longest, age)),
            )
            self._spells.append(spell)
        self._start = end
        self._end = self._rate.next_change(end)
        self._merges = 0
        self._longest = 0

    def spells(self, horizon: Ticks) -> list[Spell]:
        """Return the times between changes of bandwidth up to the end of the run, if few."""
        self.pass_to(horizon - 1)
        self._next_spell(horizon)
        return self._spells if 1 < len(self._spells) < MOST_SPELLS else []

    def spreads(self, late_answers: Iterable[int]) -> dict[str, Spread]:
        """Return all distributions by name; those of nothing are left out.

        `late_answers` are every learner's.
        """
        late = Tally()
        for count in late_answers:
            late.add(count)
        spreads = {
            "fragment_age_s": self._ages.spread(),
            "base_version_lag_slots": self._lags.spread(),
            "achieved_inner_steps": self._steps.spread(),
            "tokens_per_merge": self._tokens.spread(),
            "late_answers_per_learner": late.spread(),
        }
        return {name: spread for name, spread in spreads.items() if spread is not None}
