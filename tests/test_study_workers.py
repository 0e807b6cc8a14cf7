"""Workers die; the study goes on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from study_case import small, small_file, tables_of

import ddsim
from ddsim.study import StudyError
from ddsim.workers.dispatch import ATTEMPTS

# A method that kills its worker, the first time that a history is met (or each time).
MORTAL = """
import os, signal
from pathlib import Path
from ddsim import method
from ddsim.methods.elastic_data_parallel import ElasticDataParallel

@method("mortal")
class Mortal(ElasticDataParallel):
    def start(self):
        bodies = Path(__file__).parent / "bodies"
        ALWAYS = {always}
        victim = self.run.scenario.elastic.upscale == {victim}
        if victim and (ALWAYS or not bodies.exists()):
            with bodies.open("a") as file:
                file.write("x")
            os.kill(os.getpid(), signal.SIGKILL)
        with (Path(__file__).parent / "runs").open("a") as file:
            file.write(f"{{self.run.scenario.elastic.upscale:g}}\\n")
        return super().start()
"""
VARY = {"elastic.upscale": ["1 s", "2 s", "3 s", "4 s", "5 s", "6 s"]}


def mortal(folder: Path, *, always: bool = False, victim: float = 3.0) -> Any:
    """The scenario with that method, whose victim is the value of one cell."""
    (folder / "mortal.py").write_text(MORTAL.format(always=always, victim=victim))
    scenario = small(folder, "python: [mortal.py]\n")
    return scenario.choose(["mortal"])


def runs(folder: Path) -> dict[str, int]:
    """How many runs began, by cell."""
    lines = (folder / "runs").read_text().split()
    return {value: lines.count(value) for value in dict.fromkeys(lines)}


@pytest.mark.slow
def test_a_killed_process_costs_its_own_cell(tmp_path: Path) -> None:
    """Its task is done again; no other replication is simulated twice."""
    scenario = mortal(tmp_path)
    study = ddsim.sweep(scenario, VARY, replications=2, jobs=2)
    assert (tmp_path / "bodies").read_text() == "x"
    assert [len(study.rows[cell.index]) for cell in study.cells] == [2] * 6
    assert runs(tmp_path) == {str(value): 2 for value in range(1, 7)}


def test_a_cell_that_kills_every_worker_is_named(tmp_path: Path) -> None:
    """After some workers the study gives up on it, and keeps what was done."""
    scenario = mortal(tmp_path, always=True, victim=6.0)
    out = tmp_path / "out"
    with pytest.raises(StudyError, match=r"elastic\.upscale=6 s: 3 workers died"):
        ddsim.sweep(scenario, VARY, replications=1, jobs=2, out=out)
    assert (tmp_path / "bodies").read_text() == "x" * ATTEMPTS
    assert len(ddsim.Study.load(out).done) >= 3


@pytest.mark.slow
def test_a_killed_dask_worker_costs_its_own_cell(tmp_path: Path) -> None:
    """Dask starts another and does its tasks again."""
    distributed = pytest.importorskip("distributed", reason="dask is not installed")
    scenario = mortal(tmp_path)
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with distributed.LocalCluster(processes=True, **options) as cluster:
        study = ddsim.sweep(
            scenario, VARY, replications=2, executor="dask", scheduler=cluster.scheduler_address
        )
    assert (tmp_path / "bodies").read_text() == "x"
    assert [len(study.rows[cell.index]) for cell in study.cells] == [2] * 6


def test_any_executor_of_the_standard_interface_will_do(tmp_path: Path) -> None:
    """A user's own gets the tasks, and its owner closes it."""
    with ThreadPoolExecutor(2) as pool:
        ddsim.sweep(small(tmp_path), VARY, replications=2, out=tmp_path / "a", executor=pool)
        assert pool.submit(int, "1").result() == 1
    ddsim.sweep(small(tmp_path), VARY, replications=2, out=tmp_path / "b")
    assert tables_of(tmp_path / "a") == tables_of(tmp_path / "b")


class Quitter(Executor):
    """Cancels what it is given."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.cancel()
        future.set_running_or_notify_cancel()
        return future


def test_an_executor_that_gives_up_is_said(tmp_path: Path) -> None:
    """As when a scheduler goes away."""
    with pytest.raises(StudyError, match="gave its tasks up"):
        ddsim.sweep(small(tmp_path), VARY, replications=1, executor=Quitter())


class Interrupted(Executor):
    """Raises as Ctrl-C does, at the third task."""

    def __init__(self) -> None:
        self.left = 2

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        if not self.left:
            os.kill(os.getpid(), signal.SIGINT)
        self.left -= 1
        future: Future[Any] = Future()
        future.set_result(fn(*args, **kwargs))
        return future


@pytest.mark.slow
def test_an_interrupted_study_goes_on(tmp_path: Path) -> None:
    """What was done before Ctrl-C is kept, and the store can be read meanwhile."""
    out = tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        ddsim.sweep(small(tmp_path), VARY, replications=2, out=out, executor=Interrupted())
    begun = ddsim.Study.load(out)
    assert 0 < len(begun.done) < len(begun.cells)
    ddsim.sweep(small(tmp_path), VARY, replications=2, out=out)
    ddsim.sweep(small(tmp_path), VARY, replications=2, out=tmp_path / "whole")
    assert tables_of(out) == tables_of(tmp_path / "whole")


@pytest.mark.slow
def test_ctrl_c_leaves_with_130_and_says_how_to_go_on(tmp_path: Path) -> None:
    """The command ends soon, its workers with it, and names itself as the way on."""
    out = tmp_path / "out"
    values = ",".join(f"{value} s" for value in range(1, 200))
    command = [sys.executable, "-m", "ddsim", "sweep", str(small_file(tmp_path)), "--jobs", "2"]
    command += ["--vary", f"elastic.upscale={values}", "--replications", "50", "--out", str(out)]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    deadline = time.monotonic() + 120
    while not list(out.glob("cells/*.csv")) and time.monotonic() < deadline:
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all of the group
    printed, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert printed == ""
    assert f"of 398 cells are in {out}. To go on: ddsim sweep" in said
    assert f"--out {out}" in said
    assert "Traceback" not in said
    assert 0 < len(ddsim.Study.load(out).done) < 398


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"executor": "dask"}, "--scheduler"),
        ({"executor": "dask", "scheduler": "tcp://127.0.0.1:9"}, "no Dask scheduler at"),
        ({"executor": "slurm"}, 'no executor "slurm"; there are local and dask'),
        ({"metric": "goodness"}, 'no metric "goodness"; there are merged_goodput'),
        ({"half_width": "-1%"}, "such as 0.5%"),
        ({"tornado": True}, "the scenario has none"),
    ],
)
def test_what_cannot_be_had_is_said(
    tmp_path: Path, arguments: dict[str, Any], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each with what there is instead."""
    if arguments.get("scheduler"):
        pytest.importorskip("distributed", reason="dask is not installed")
        monkeypatch.setattr("ddsim.study.cluster._PATIENCE", 0.5)
    with pytest.raises(StudyError, match=said):
        ddsim.sweep(small(tmp_path), VARY, replications=1, **arguments)
