"""Learning rates of their own: what each method of a scenario trains best with, searched for."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ddsim.learning import LearningError
from ddsim.learning.search import Search, Which, search_all, upto
from ddsim.learning.setup import config_of, seeds_of
from ddsim.loading import load
from ddsim.simulation import simulate

if TYPE_CHECKING:
    from ddsim.progress import Progress
    from ddsim.scenario import Scenario

PATHS: dict[Which, str] = {
    "outer": "learning.outer.learning_rate",
    "inner": "learning.inner.learning_rate",
}
"""Where a scenario has each rate."""


_LEAST = (
    'add one, such as "learning: {problem: language_model, batch_size: 64, '
    'inner: {learning_rate: 0.01}}"; ddsim list problems has others'
)


@dataclass(frozen=True)
class OwnRates:
    """The rates found for a method, and the searches that they come from."""

    method: str
    searches: tuple[Search, ...]

    @property
    def changes(self) -> dict[str, float]:
        """What a scenario says of them, by path."""
        return {PATHS[one.which]: one.rate for one in self.searches}

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        searches = [
            {
                "which": one.which,
                "rates": list(one.rates),
                "losses": [list(each) for each in one.losses],
                "parabola": None if one.parabola is None else list(one.parabola),
                "rate": one.rate,
                "open": one.open,
            }
            for one in self.searches
        ]
        return {"method": self.method, "changes": self.changes, "searches": searches}


def search_rates(
    scenario: Scenario | str | os.PathLike[str],
    methods: Sequence[str] | None = None,
    share: float = 0.25,
    seeds: int = 1,
    which: Sequence[Which] = ("outer", "inner"),
    progress: Progress | None = None,
) -> list[OwnRates]:
    """Search for the learning rates that suit each method of a scenario, or those named.

    A method is trained on the first `share` of its run, its schedule stretched over that, at rates
    around the scenario's (`ddsim.learning.search`), one rate after the other; a job that merges
    nothing has no outer one. The `seeds` are none that the run itself trains with. `progress` is
    told of the methods that are done. Raises LearningError where there is nothing to train.
    """
    if isinstance(scenario, str | os.PathLike):
        scenario = load(scenario)
    if scenario.learning.problem is None:
        raise LearningError(
            f"{scenario.name}: nothing to train: it has no learning section; {_LEAST}"
        )
    if not 0.0 < share <= 1.0 or seeds < 1:
        raise LearningError("rates are searched on a share of the run above 0, up to 1, and a seed")
    names = list(methods) if methods is not None else [item.name for item in scenario.methods]
    scenario.choose(names)  # refused before the first search, not after it
    found = []
    for done, name in enumerate(names):
        if progress is not None:
            progress(done, len(names), name)
        settled = scenario.choose([name]).for_method(name)
        found.append(OwnRates(name, tuple(_searched(settled, name, share, seeds, which))))
    if progress is not None:
        progress(len(names), len(names), names[-1])
    return found


def _searched(
    scenario: Scenario, name: str, share: float, seeds: int, which: Sequence[Which]
) -> list[Search]:
    result = simulate(scenario.with_({"learning": {}}), name, tape=True, timeline=False)
    if not result.tapes:
        raise LearningError(f"method {name} keeps no tape of its steps: it cannot train a model")
    (recording,) = result.tapes
    end = share * recording.end
    tape = upto(recording.events, end)
    merges = any(type(event).__name__ == "Merge" for event in tape)
    wanted = [one for one in which if one == "inner" or merges]
    first = seeds_of(scenario, 0)[0] + scenario.learning.seeds * _APART
    _, searches = search_all(
        tape, config_of(scenario, name), wanted, range(first, first + seeds), end=end
    )
    return searches


_APART = 10_000
"""Replications between the seeds of a run and those of its search."""
