"""Races between candidates whose truth is known: how often "95% sure" is right, and what it takes.

`python tests/races.py` prints the table for 600 races of every kind; a test runs fewer.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from ddsim.study.racing import Race
from ddsim.study.work import Row
from ddsim.world.chance import Chance

CANDIDATES, SPREADS, REPLICATIONS = (9, 20), (0.0, 0.5, 1.0), (6, 20)
SURE = 0.95


@dataclass(frozen=True)
class Tally:
    """Of `races`: in how many it was sure, in how many of these the best was best, runs a race."""

    races: int
    sure: int
    right: int
    runs: float
    exhaustive: int

    @property
    def words(self) -> str:
        """The tally in a line."""
        return (
            f"{self.sure} of {self.races} sure at 95%, {self.right} of these right; "
            f"{self.runs:.0f} runs of {self.exhaustive}"
        )


def raced(candidates: int, spread: float, replications: int, races: int) -> Tally:
    """Races of normal histories of standard deviation 1, and candidates' means that far apart."""
    rng = np.random.default_rng([24, candidates, int(10 * spread), replications])
    sure = right = runs = 0
    for _ in range(races):
        means = rng.normal(0.0, spread, candidates) if spread else np.zeros(candidates)
        values = means[:, None] + rng.normal(0.0, 1.0, (candidates, replications))
        race = race_of(values)
        runs += sum(race.met.values())
        if race.sure >= SURE:
            sure += 1
            right += bool(means[race.best] == means.max())
    return Tally(races, sure, right, runs / races, candidates * replications)


def race_of(values: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> Race:
    """The race of candidates that are given with all their histories, a row each."""
    rows: dict[int, list[Row]] = {
        number: [{"steps": value, "failures": 1.0} for value in line]
        for number, line in enumerate(values.tolist())
    }
    race = Race(rows, dict.fromkeys(rows, Chance(1.0)), "steps", values.shape[1])
    race.run(lambda _numbers, _histories: None)
    return race


def main(arguments: Sequence[str]) -> None:
    """Print the table."""
    races = int(arguments[0]) if arguments else 600
    for candidates, spread, replications in product(CANDIDATES, SPREADS, REPLICATIONS):
        kind = f"{candidates} candidates, spread {spread:g}, {replications} replications"
        print(f"{kind}: {raced(candidates, spread, replications, races).words}")  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1:])
