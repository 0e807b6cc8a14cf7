"""Random tables of whole hours, fitted: `python tests/rounded_lives.py --cases 2000 [--seed N]`.

Each has 5 to 12 lives of 1 to 24 hours. Prints how many ended in an error, and how many had a fit.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np

from ddsim.logs import FitReport, Spells, fit_spells


def tables(cases: int, seed: int) -> Iterator[Spells]:
    """So many tables of lives, in seconds, all ended."""
    rng = np.random.default_rng(seed)
    for _ in range(cases):
        hours = rng.integers(1, 25, rng.integers(5, 13)).astype(np.float64)
        yield Spells(hours * 3_600.0, np.ones(len(hours), dtype=np.bool_))


def reports(cases: int, seed: int) -> list[FitReport]:
    """What is said of each; raises the first error."""
    return [fit_spells(spells) for spells in tables(cases, seed)]


def main() -> None:
    """Count errors over many tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    errors = fitted = 0
    for spells in tables(given.cases, given.seed):
        try:
            fitted += bool(fit_spells(spells).fits)
        except Exception as error:
            errors += 1
            print(f"{spells.durations / 3_600.0}: {type(error).__name__}: {error}")  # noqa: T201
    print(f"{given.cases} tables: {errors} errors, {fitted} with fits")  # noqa: T201


if __name__ == "__main__":
    main()
