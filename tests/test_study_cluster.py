"""A live Dask cluster: who may work, and what is said when it goes away."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from study_case import small

import ddsim
from ddsim import sources
from ddsim.study import StudyError, cluster

distributed = pytest.importorskip("distributed", reason="dask is not installed")

SLOW = """
import time
from ddsim import method
from ddsim.methods.elastic_data_parallel import ElasticDataParallel

@method("slow")
class Slow(ElasticDataParallel):
    def start(self):
        time.sleep(0.1)
        return super().start()
"""
VARY = {"elastic.upscale": [f"{seconds} s" for seconds in range(1, 7)]}
SOON = 10.0


class Cluster:
    """A scheduler and its workers, each a process of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        file = folder / "scheduler.json"
        self.scheduler = self._start("scheduler", "--port", "0", "--scheduler-file", str(file))
        until(lambda: file.is_file() and file.read_text())
        self.address = str(json.loads(file.read_text())["address"])

    def worker(self, path: Path | None = None) -> subprocess.Popen[bytes]:
        """Start a worker in a folder of its own; what `path` holds it imports first."""
        more = {} if path is None else {"PYTHONPATH": str(path)}
        return self._start("worker", self.address, "--no-nanny", "--nthreads", "1", **more)

    def workers(self, number: int) -> None:
        """Wait until there are so many."""
        with distributed.Client(self.address, set_as_default=False) as client:
            until(lambda: len(client.nthreads()) == number)

    def _start(self, what: str, *arguments: str, **more: str) -> subprocess.Popen[bytes]:
        where = self.folder / "elsewhere"
        where.mkdir(exist_ok=True)
        command = [sys.executable, "-m", f"distributed.cli.dask_{what}", *arguments]
        with (self.folder / f"{what}.log").open("ab") as log:
            return subprocess.Popen(
                [*command, "--no-dashboard"],
                cwd=where,
                env=os.environ | more,
                stdout=log,
                stderr=log,
            )


def until(there: Callable[[], object]) -> None:
    """Wait for something for half a minute at most."""
    end = time.monotonic() + 30.0
    while not there():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A scheduler without workers."""
    made = Cluster(tmp_path_factory.mktemp("cluster"))
    try:
        yield made
    finally:
        made.scheduler.kill()
        made.scheduler.wait()


def study(folder: Path, address: str, **options: object) -> ddsim.Study:
    """A study of slow runs on the cluster, kept in a folder."""
    if not (folder / "slow.py").exists():
        (folder / "slow.py").write_text(SLOW)
    scenario = small(folder, "python: [slow.py]\n").choose(["slow"])
    where = {"executor": "dask", "scheduler": address} | options
    return ddsim.sweep(scenario, VARY, replications=2, out=folder / "out", **where)  # type: ignore[arg-type]


def refused(folder: Path, address: str) -> str:
    """What is said, and soon."""
    started = time.monotonic()
    with pytest.raises(StudyError) as caught:
        study(folder, address)
    assert time.monotonic() - started < SOON
    return str(caught.value)


def lost(folder: Path, live: Cluster, victim: subprocess.Popen[bytes]) -> str:
    """What is said when a process is killed in the middle of a study, and soon; nothing is lost."""
    (folder / "slow.py").write_text(SLOW)
    moments: list[float] = []

    def kill() -> None:
        until(lambda: list((folder / "out" / "cells").glob("*.csv")))
        victim.kill()
        victim.wait()
        moments.append(time.monotonic())

    killer = threading.Thread(target=kill)
    killer.start()
    with pytest.raises(StudyError) as caught:
        study(folder, live.address)
    killer.join()
    assert time.monotonic() - moments[0] < SOON
    assert 0 < len(ddsim.Study.load(folder / "out").done) < len(VARY["elastic.upscale"])
    return str(caught.value)


@pytest.mark.slow
def test_no_workers_are_said_at_once(live: Cluster, tmp_path: Path) -> None:
    """With the command that starts one."""
    assert f"has no workers; start some first: dask worker {live.address}" in refused(
        tmp_path, live.address
    )


@pytest.mark.slow
def test_a_wrong_address_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One at which nothing listens, and one that is none."""
    monkeypatch.setattr(cluster, "_PATIENCE", 0.5)
    assert "no Dask scheduler at tcp://127.0.0.1:9: " in refused(tmp_path, "tcp://127.0.0.1:9")
    for none in ("here://there", "nonsense"):
        assert f"no Dask scheduler at {none}: " in refused(tmp_path, none)


@pytest.mark.slow
def test_workers_unlike_this_process_get_no_work(live: Cluster, tmp_path: Path) -> None:
    """One whose ddsim has another source file, and one without any; the file may lie elsewhere."""
    other = tmp_path / "other"
    shutil.copytree(sources.HOME, other / "ddsim", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(sources.HOME.parent / "scenarios", other / "ddsim" / "scenarios")
    with (other / "ddsim" / "users.py").open("a") as file:
        file.write("# another\n")
    none = tmp_path / "none"
    none.mkdir()
    (none / "ddsim.py").write_text("raise ImportError('not installed here')\n")
    for path, said in ((other, "has other sources of ddsim"), (none, "has no ddsim")):
        worker = live.worker(path)
        try:
            live.workers(1)
            assert said in refused(tmp_path, live.address)
        finally:
            worker.kill()
            worker.wait()
            live.workers(0)
    assert not list((tmp_path / "out").glob("cells/*"))


@pytest.mark.slow
def test_a_cluster_that_goes_away_is_said(
    live: Cluster,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its last worker, then its scheduler; what was done is kept, and ends as the local study."""
    monkeypatch.setattr(cluster, "_PATIENCE", 3.0)
    worker = live.worker()
    live.workers(1)
    assert "has lost its last worker" in lost(tmp_path, live, worker)
    worker = live.worker()
    live.workers(1)
    shutil.rmtree(tmp_path / "out")
    said = lost(tmp_path, live, live.scheduler)
    assert f"the Dask scheduler at {live.address} is gone" in said
    assert "what was done before is kept" in said
    assert "Traceback" not in capfd.readouterr().err
    worker.kill()
    worker.wait()
    study(tmp_path, live.address, executor="local", scheduler=None)
    alone = tmp_path / "alone"
    scenario = small(tmp_path, "python: [slow.py]\n").choose(["slow"])
    ddsim.sweep(scenario, VARY, replications=2, out=alone)
    names = ("cells.csv", "losses.csv", "replications.csv")
    assert [(tmp_path / "out" / name).read_bytes() for name in names] == [
        (alone / name).read_bytes() for name in names
    ]
