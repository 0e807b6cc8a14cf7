"""The folder of a study: whole at every moment, resumable, and no one else's."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from command_line import ddsim
from study_case import small, small_file, tables_of

import ddsim as package
from ddsim.loading import load_text
from ddsim.study import Study, StudyError, kept, sweeping
from ddsim.study.store import Store

VARY = {"elastic.upscale": ["1 s", "20 s"]}


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished study."""
    folder = tmp_path_factory.mktemp("kept")
    package.sweep(small(folder), VARY, replications=3, out=folder / "out")
    return folder / "out"


@pytest.fixture
def out(finished: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copytree(finished, tmp_path / "out"))


def everything(folder: Path) -> dict[str, bytes]:
    """Every file's bytes, the lock apart."""
    files = [path for path in folder.rglob("*") if path.is_file() and path.name != ".lock"]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def change_manifest(folder: Path, **values: Any) -> None:
    """Write other values into it."""
    path = folder / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


def test_it_says_what_was_asked_and_with_what(finished: Path) -> None:
    """Scenario, seed, version and environment stand beside the numbers."""
    manifest = json.loads((finished / "manifest.json").read_text())
    assert manifest["version"] == package.__version__
    assert manifest["seed"] == 0
    assert {"python", "numpy", "scipy", "simpy"} <= set(manifest["environments"][0])
    assert (
        package.load(finished / "scenario.yaml").resolved()
        == (finished / "scenario.yaml").read_text()
    )


def test_the_tables_load_straight_into_pandas(finished: Path) -> None:
    """A row a cell, a row a replication; the numbers are those of the study."""
    study = Study.load(finished)
    read = pd.read_csv(finished / "cells.csv")
    pd.testing.assert_frame_equal(read, study.summary(), check_dtype=False, rtol=0, atol=0)
    assert len(pd.read_csv(finished / "replications.csv")) == 4 * 3
    assert list(read["elastic.upscale [s]"]) == [1.0, 1.0, 20.0, 20.0]


def test_parquet_holds_the_same(finished: Path) -> None:
    """Where pyarrow is installed."""
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    one, other = (pd.read_parquet(finished / "cells.parquet"), pd.read_csv(finished / "cells.csv"))
    pd.testing.assert_frame_equal(one, other, check_dtype=False, rtol=0, atol=0)


def test_no_table_holds_a_time_of_the_wall_clock(finished: Path) -> None:
    """What a run took stands in timings.csv alone."""
    for path in finished.glob("*.csv"):
        assert ("elapsed" in path.read_text()) == (path.name == "timings.csv")


def test_a_finished_study_is_not_run_again(out: Path, tmp_path: Path) -> None:
    """The same command simulates nothing and leaves the same files."""
    before = everything(out)
    package.sweep(small(tmp_path), VARY, replications=3, out=out)
    assert everything(out) == before


def test_a_finished_study_is_read_and_not_laid_out(
    out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither its cells' scenarios nor its rows: thousands of cells take a second."""
    whole = package.sweep(small(tmp_path), VARY, replications=3)
    monkeypatch.setattr(sweeping, "build", None)
    monkeypatch.setattr(kept, "read_cells", None)
    again = package.sweep(small(tmp_path), VARY, replications=3, out=out)
    for name in ("cells", "differences", "losses"):
        assert again.tables()[name] == whole.tables()[name]
    assert again.measured == whole.measured


def test_tables_of_other_rows_are_made_anew(out: Path) -> None:
    """Whatever is kept beside rows that have changed since."""
    before = Study.load(out).summary()["goodput"][0]
    cell = out / "cells" / "000000.csv"
    shutil.copy(out / "cells" / "000001.csv", cell)
    assert Study.load(out).summary()["goodput"][0] != before
    (out / "tables.json").write_text("[]")
    assert len(Study.load(out).summary()) == 4


def test_a_cell_that_is_missing_or_broken_is_done_again(out: Path, tmp_path: Path) -> None:
    """Half a file counts as none."""
    before = tables_of(out)
    (out / "cells" / "000001.csv").unlink()
    half = out / "cells" / "000002.csv"
    half.write_bytes(half.read_bytes()[:-40])
    assert len(Study.load(out).done) == 2
    package.sweep(small(tmp_path), VARY, replications=3, out=out)
    assert tables_of(out) == before


def test_drafts_of_a_killed_process_are_cleared_away(out: Path, tmp_path: Path) -> None:
    """They are no one's any more."""
    (out / "cells" / ".000001.csv.4711").write_text("half")
    package.sweep(small(tmp_path), VARY, replications=3, out=out)
    assert not list((out / "cells").glob(".*"))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--set", "restart.time=70 s"], "another scenario, which differs in restart.time"),
        (["--seed", "7"], "differs in seed"),
        (["--method", "data_parallel"], "another scenario, which differs in methods"),
        (["--vary", "elastic.upscale=1 s,30 s"], "varies something else"),
        (["--vary", "elastic.downscale=1 s,20 s"], "varies something else (elastic.upscale"),
    ],
)
def test_another_study_is_refused(
    out: Path, tmp_path: Path, arguments: list[str], said: str
) -> None:
    """Exit 2, what differs, what to do; the folder stays as it is."""
    before = everything(out)
    same = ["--vary", "elastic.upscale=1 s,20 s"]
    asked = arguments if "--vary" in arguments else [*arguments, *same]
    ran = ddsim("sweep", small_file(tmp_path), *asked, "--jobs", 1, "--out", out)
    assert ran.code == 2
    assert said in ran.err
    assert "another --out" in ran.err
    assert everything(out) == before


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"format": 0}, "a store of format 0"),
        ({"format": 99}, "reads format 2"),
        ({"version": "0.0.1"}, "a study of ddsim 0.0.1"),
        ({"what": "something"}, "not the manifest of a study"),
    ],
)
def test_a_store_of_another_version_is_left_as_it_is(
    out: Path, tmp_path: Path, changed: dict[str, Any], said: str
) -> None:
    """Older or newer: refused, with a way out."""
    change_manifest(out, **changed)
    before = everything(out)
    ran = ddsim("sweep", small_file(tmp_path), "--vary", "elastic.upscale=1 s,20 s", "--out", out)
    assert ran.code == 2
    assert said in ran.err
    assert everything(out) == before


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    """Nothing is put among files that are not a study's."""
    out = tmp_path / "out"
    out.mkdir()
    (out / "thesis.tex").write_text("years of work")
    with pytest.raises(StudyError, match=r"thesis\.tex"):
        package.sweep(small(tmp_path), VARY, replications=1, out=out)
    assert everything(out) == {"thesis.tex": b"years of work"}


def test_a_file_in_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    """--out wants a folder."""
    with pytest.raises(StudyError, match="a file"):
        package.sweep(small(tmp_path), VARY, replications=1, out=small_file(tmp_path))


def test_two_processes_do_not_write_one_study(out: Path, tmp_path: Path) -> None:
    """The second is told so."""
    pytest.importorskip("fcntl")
    scenario = small(tmp_path)
    manifest = json.loads((out / "manifest.json").read_text())
    first = Store(out, scenario.resolved(), manifest)
    first.open()
    try:
        with pytest.raises(StudyError, match="another process is writing"):
            package.sweep(scenario, VARY, replications=4, out=out)
    finally:
        first.close()


def limited() -> None:
    """Let no file grow beyond a few hundred bytes, as on a disk that is almost full."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (400, resource.RLIM_INFINITY))


def run(folder: Path, out: Path, **options: Any) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own."""
    command = [sys.executable, "-m", "ddsim", "sweep", str(small_file(folder)), "--jobs", "1"]
    command += ["--replications", "4", "--vary", "elastic.upscale=1 s,20 s", "--out", str(out)]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


@pytest.mark.slow
def test_a_full_disk_damages_nothing(out: Path, tmp_path: Path) -> None:
    """Exit 1, what could not be written and why; every file is the old one, and whole."""
    before = everything(out)
    ran = run(tmp_path, out, preexec_fn=limited)
    assert ran.returncode == 1
    assert ran.stderr.startswith(f"cannot write {out}")
    assert "File too large" in ran.stderr
    assert "4 cells" in ran.stderr
    assert "Traceback" not in ran.stderr
    assert everything(out) == before
    again = run(tmp_path, out)
    assert again.returncode == 0
    assert len(Study.load(out).rows[0]) == 4


@pytest.mark.slow
def test_a_read_only_folder_is_said_before_anything_runs(tmp_path: Path) -> None:
    """Exit 1 with the folder and the reason."""
    out = tmp_path / "out"
    out.mkdir(mode=0o555)
    if os.access(out, os.W_OK):  # to root only a file system is read-only
        out = Path("/sys/ddsim_study")
    ran = run(tmp_path, out)
    assert ran.returncode == 1
    assert ran.stderr.startswith(f"cannot write {out}")
    assert "Traceback" not in ran.stderr
    assert ran.stdout == ""


def test_a_study_of_runs_without_an_end_can_be_read_again(tmp_path: Path) -> None:
    """Though no number says how many failures are expected in one."""
    to = "training: {step_time: 1 s, tokens: 100}\nduration: never\nfailures: {chip_mtbi: 1 yr}\n"
    text = f"model: {{parameters: 1e9, layers: 8}}\n{to}cluster: {{chips: 8, learners: 2}}\n"
    study = package.sweep(load_text(text), methods=["data_parallel"], out=tmp_path / "kept")
    again = Study.load(tmp_path / "kept")
    assert [cell.chance for cell in again.cells] == [cell.chance for cell in study.cells]
