"""The same tables, whoever did the work and however often it was interrupted."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from study_case import small, small_file, tables_of

import ddsim
from ddsim.study.store import read_cells

VARY = {"failures.chip_mtbi": ["5 day", "50 day"], "elastic.downscale": ["1 s", "30 s"]}


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The study as one process makes it."""
    folder = tmp_path_factory.mktemp("alone")
    ddsim.sweep(small(folder), VARY, replications=6, out=folder / "out", why=True)
    return folder / "out"


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """A local Dask cluster of two worker processes."""
    distributed = pytest.importorskip("distributed", reason="dask is not installed")
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with distributed.LocalCluster(processes=True, **options) as started:
        yield started


@pytest.mark.slow
def test_two_processes_give_the_same_bytes(alone: Path, tmp_path: Path) -> None:
    """Tables and cells do not depend on who simulated what."""
    ddsim.sweep(small(tmp_path), VARY, replications=6, out=tmp_path / "out", why=True, jobs=2)
    assert tables_of(tmp_path / "out") == tables_of(alone)
    assert (tmp_path / "out" / "why.csv").read_bytes() == (alone / "why.csv").read_bytes()


@pytest.mark.slow
def test_a_dask_cluster_gives_the_same_bytes(alone: Path, tmp_path: Path, cluster: Any) -> None:
    """Two Dask workers, reached through the address of their scheduler."""
    address = cluster.scheduler_address
    ddsim.sweep(
        small(tmp_path),
        VARY,
        replications=6,
        out=tmp_path / "out",
        why=True,
        executor="dask",
        scheduler=address,
    )
    assert tables_of(tmp_path / "out") == tables_of(alone)


@pytest.mark.slow
def test_replications_in_two_goes_give_the_same_bytes(alone: Path, tmp_path: Path) -> None:
    """A study with more replications goes on from those that there are."""
    for replications in (2, 6):
        ddsim.sweep(
            small(tmp_path), VARY, replications=replications, out=tmp_path / "out", why=True
        )
    assert tables_of(tmp_path / "out") == tables_of(alone)


@pytest.mark.slow
def test_killed_ten_times_no_cell_is_lost_and_none_twice(tmp_path: Path) -> None:
    """kill -9 at random moments, then the same command again: the tables of a run at peace."""
    scenario = small_file(tmp_path)
    values = ",".join(f"{days} day" for days in range(10, 30))
    command = [sys.executable, "-m", "ddsim", "sweep", str(scenario), "--replications", "12"]
    command += ["--vary", f"failures.chip_mtbi={values}", "--jobs", "2", "--quiet"]
    peace, war = tmp_path / "peace", tmp_path / "war"
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    started = time.monotonic()
    subprocess.run([*command, "--out", str(peace)], check=True, **quiet)
    took = time.monotonic() - started
    moments = random.Random(11)
    found: dict[int, int] = {}
    kills = 0
    while kills < 10:
        process = subprocess.Popen([*command, "--out", str(war)], **quiet)
        try:
            process.wait(moments.uniform(0.1, 0.7) * took)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
        process.wait()
        kills += 1
        if (war / "cells").is_dir():
            cells = {index: len(rows) for index, rows in read_cells(war).items()}
            assert found.items() <= cells.items()
            assert set(cells.values()) <= {12}
            found = cells
    subprocess.run([*command, "--out", str(war)], check=True, **quiet)
    assert tables_of(war) == tables_of(peace)
    assert len(read_cells(war)) == 40
    assert not list(war.rglob(".*.csv.*"))
