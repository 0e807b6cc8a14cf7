"""One measurement for all: processor time, against SimPy's own timeouts in the same run."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from pathlib import Path
from time import process_time
from typing import Any

import pytest
import simpy
from performance_page import PAGE, Row, page

BARE = 50_000
ROUNDS = 5
_ROWS = pytest.StashKey[list[Row]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let the page be written."""
    parser.addoption("--write", action="store_true", help=f"renew {PAGE.name} in docs/")


def pytest_configure(config: pytest.Config) -> None:
    """Begin without rows."""
    config.stash[_ROWS] = []


def spent(work: Callable[[], object]) -> float:
    """Return the processor's seconds that some work takes."""
    started = process_time()
    work()
    return process_time() - started


def bare_timeouts() -> None:
    """Let a SimPy process wait, and nothing else."""

    def waits(env: simpy.Environment) -> Generator[simpy.Event, object, None]:
        for _ in range(BARE):
            yield env.timeout(1)

    env = simpy.Environment()
    env.process(waits(env))
    env.run()


class Measure:
    """Measures by turns, so that what else the machine does meets all alike; takes the minima."""

    def __init__(self, rows: list[Row]) -> None:
        self._rows = rows

    def by_turns(self, *works: Callable[[], object], rounds: int = ROUNDS) -> list[float]:
        """Return the least seconds that each took, and first those of one bare timeout."""
        for work in works:
            work()
        taken = [[spent(work) for work in (bare_timeouts, *works)] for _ in range(rounds)]
        bare, *least = (min(column) for column in zip(*taken, strict=True))
        return [bare / BARE, *least]

    def say(self, part: str, case: str, found: str, target: str = "") -> None:
        """Add a row to the page."""
        self._rows.append(Row(part, case, found, target))


@pytest.fixture
def measure(request: pytest.FixtureRequest) -> Measure:
    """What measures, and keeps what is found for the page."""
    return Measure(request.config.stash[_ROWS])


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Print the rows, and write the page where that is asked for."""
    rows = config.stash[_ROWS]
    for row in rows:
        terminalreporter.write_line(f"{row.part}: {row.case}: {row.found} (wanted: {row.target})")
    if config.getoption("--write"):
        PAGE.write_text(page(rows, PAGE.read_text(encoding="utf-8")), encoding="utf-8")
        sys.stderr.write(f"wrote {Path(PAGE).name}\n")
