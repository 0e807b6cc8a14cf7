"""What a worker does: some replications of one cell, as rows of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from ddsim.loading import run_new_files
from ddsim.results.metrics import OWN, values
from ddsim.simulation import simulate
from ddsim.world.streams import stream

if TYPE_CHECKING:
    from ddsim.results import MethodResult
    from ddsim.scenario import Scenario

Row = dict[str, float | None]
"""The numbers of one replication by column; None where a method has no such quantity."""

METRICS = OWN
"""Columns of every table, before the accounts and the sampled inputs."""

ACCOUNT, SAMPLED = "account:", "input:"
"""How the columns of accounts (shares of all chip-time) and of sampled inputs begin."""


@dataclass(frozen=True)
class Task:
    """Replications `start` to before `stop` of a cell, whose scenario is settled for its method.

    `python` are the scenario's Python files, absolute: a worker may stand in another folder.
    """

    cell: int
    method: str
    scenario: Scenario
    start: int
    stop: int
    python: tuple[Path, ...] = ()


@dataclass(frozen=True)
class Batch:
    """What a task gave: a row a replication in order, and the seconds that the task took."""

    rows: Sequence[Row]
    elapsed: float


def work(task: Task) -> Batch:
    """Simulate the task's replications."""
    started = perf_counter()
    run_new_files(task.python)
    rows = [
        row_of(sampled(task.scenario, replication), task.method, replication)
        for replication in range(task.start, task.stop)
    ]
    return Batch(rows, perf_counter() - started)


def sampled(scenario: Scenario, replication: int) -> tuple[Scenario, Row]:
    """The scenario of one replication, and what was drawn for its uncertain inputs.

    Each input has a random stream of its own, so that all cells of a study draw the same
    quantiles, and adding an input moves no other.
    """
    if not scenario.uncertain:
        return scenario, {}
    overrides: dict[str, object] = {}
    drawn: Row = {}
    for item in scenario.uncertain:
        quantile = float(stream(scenario.seed, "uncertain", item.path, replication).random())
        overrides[item.path] = item.value(quantile)
        drawn[f"{SAMPLED}{item.path}"] = item.number(quantile)
    return scenario.with_(overrides), drawn


def row_of(drawn: tuple[Scenario, Row], method: str, replication: int) -> Row:
    """Simulate one replication and return its numbers."""
    scenario, inputs = drawn
    result = simulate(scenario, method, replication, timeline=False)
    return numbers_of(result) | inputs


def numbers_of(result: MethodResult) -> Row:
    """The numbers of a result: `METRICS`, then the accounts."""
    accounts = {f"{ACCOUNT}{name}": float(share) for name, share in result.accounts.items()}
    return values(result) | accounts
