"""Every command and every piece of code in docs/studies.md works."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command_line import ddsim

PAGE = (Path(__file__).parent.parent / "docs" / "studies.md").read_text(encoding="utf-8")
FILE = re.compile(r"<!-- file: (\S+) -->\n```yaml\n(.*?)```", re.DOTALL)
STUDY = re.compile(r"<!-- yaml -->\n```yaml\n(.*?)```", re.DOTALL)
CODE = re.compile(r"<!-- python -->\n```python\n(.*?)```", re.DOTALL)
COMMANDS = [
    line for block in re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL) for line in block.splitlines()
]
ADDRESS = "tcp://10.0.0.5:8786"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the page's scenario in it, to work in."""
    for name, text in FILE.findall(PAGE):
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def scheduler() -> Iterator[str]:
    """The address of a cluster, in place of the page's."""
    distributed = pytest.importorskip("distributed", reason="dask is not installed")
    options: dict[str, Any] = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": ":0"}
    with distributed.LocalCluster(processes=True, **options) as cluster:
        yield cluster.scheduler_address


def run(command: str) -> str:
    """Run a command of the page, in this process alone where it does not say."""
    program, *arguments = shlex.split(command)
    assert program == "ddsim"
    more = ["--jobs", "1"] if arguments[0] in ("sweep", "plan") else []
    ran = ddsim(*arguments, *more)
    assert ran.code == 0, ran.err
    return ran.out


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
def test_commands_work_in_their_order() -> None:
    """Each as it stands on the page."""
    assert len(COMMANDS) > 10
    for command in COMMANDS:
        if "dask" not in command:
            assert run(command)


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
def test_the_command_for_a_cluster_works(scheduler: str) -> None:
    """With the address of a real one."""
    (command,) = [item for item in COMMANDS if ADDRESS in item]
    assert run(command.replace(ADDRESS, scheduler))
    assert Path("out/dask/cells.csv").is_file()


@pytest.mark.slow
def test_the_study_in_a_scenario_works(folder: Path) -> None:
    """Two bandwidths, and spares for one method alone."""
    (text,) = STUDY.findall(PAGE)
    path = folder / "my_run.yaml"
    path.write_text(path.read_text() + text)
    printed = run("ddsim sweep my_run.yaml --replications 1")
    assert "8 cells" in printed


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
def test_the_code_works(capsys: pytest.CaptureFixture[str]) -> None:
    """It prints both tables."""
    (code,) = CODE.findall(PAGE)
    exec(compile(code, "studies.md", "exec"), {"__name__": "page"})
    assert "variance_cut" in capsys.readouterr().out
