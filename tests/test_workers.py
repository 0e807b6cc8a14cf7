"""The one pool of processes, under `run --jobs` as under a study."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from study_case import small
from test_study_workers import mortal

import ddsim
from ddsim.workers.dispatch import ATTEMPTS, WorkersError, dispatch
from ddsim.workers.lanes import process_lanes


def own_process(_: int) -> int:
    """The process that a task runs in."""
    return os.getpid()


def processes_of(tasks: int, jobs: int) -> set[int]:
    """The worker processes that so many tasks were done in."""
    found: set[int] = set()

    def take(_: int, process: int) -> tuple[int, ...]:
        found.add(process)
        return ()

    with process_lanes(jobs) as lanes:
        dispatch(lanes, range(tasks), own_process, take, str)
        begun = {
            process
            for lane in lanes
            for process in getattr(lane._executor, "_processes", None) or ()
        }
    assert found <= begun
    return begun


@pytest.mark.slow
def test_there_are_never_more_workers_than_tasks() -> None:
    """However many are allowed."""
    assert len(processes_of(2, jobs=8)) == 2
    assert len(processes_of(5, jobs=2)) == 2


@pytest.mark.slow
def test_a_run_goes_on_when_a_worker_dies(tmp_path: Path) -> None:
    """Its replication is done again, and the results are those of one process."""
    scenario = mortal(tmp_path, victim=10.0)
    results = ddsim.run(scenario, replications=3, jobs=2)
    assert (tmp_path / "bodies").read_text() == "x"
    alone = ddsim.run(scenario, replications=3)
    assert results.results[0].goodput == alone.results[0].goodput


def test_a_run_that_kills_every_worker_names_the_method(tmp_path: Path) -> None:
    """After some workers it gives up."""
    scenario = mortal(tmp_path, always=True, victim=10.0)
    with pytest.raises(WorkersError, match=r"method mortal: 3 workers died"):
        ddsim.run(scenario, jobs=2)
    assert (tmp_path / "bodies").read_text() == "x" * ATTEMPTS


def test_progress_of_workers_counts_up_to_all(tmp_path: Path) -> None:
    """Each call says how many are done, of how many, and which was last."""
    told: list[tuple[int, int, str]] = []
    ddsim.run(small(tmp_path), replications=2, jobs=2, progress=lambda *state: told.append(state))
    assert [done for done, _, _ in told] == [1, 2, 3, 4]
    assert {total for _, total, _ in told} == {4}
    assert {name for _, _, name in told} == {"data_parallel", "elastic_data_parallel"}
