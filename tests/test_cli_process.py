"""The process of a command: signals, streams that are closed, what the environment says."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from interruption import commands, ended, members, watched
from study_case import small_file

from ddsim.results import Results

INT, TERM, HUP = signal.SIGINT, signal.SIGTERM, signal.SIGHUP


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder to work in."""
    return tmp_path_factory.mktemp("place")


@pytest.fixture(scope="module")
def listed(place: Path) -> dict[str, list[str]]:
    """The commands, by name."""
    return commands(place)


@pytest.mark.parametrize(
    ("name", "number", "after"),
    [
        pytest.param("run --jobs", INT, 1.5, marks=pytest.mark.slow),
        pytest.param("trace", INT, 1.0, marks=pytest.mark.slow),
        pytest.param("report", TERM, 0.8, marks=pytest.mark.slow),
        pytest.param("run", TERM, 2.0, marks=pytest.mark.slow),
        pytest.param("run --jobs", TERM, 4.0, marks=pytest.mark.slow),
        pytest.param("sweep", HUP, 3.0, marks=pytest.mark.slow),
        pytest.param("plan", TERM, 4.0, marks=pytest.mark.slow),
        pytest.param("reproduce", HUP, 4.0, marks=pytest.mark.slow),
    ],
)
def test_a_signal_ends_everything_soon(
    name: str, number: int, after: float, listed: dict[str, list[str]], place: Path
) -> None:
    """Within two seconds the command and its workers are gone, and nothing is half written."""
    found = ended(listed[name], number, after, place)
    assert found.well, found


@pytest.mark.slow
def test_workers_end_with_a_parent_that_is_killed(
    listed: dict[str, list[str]], place: Path
) -> None:
    """Even where nobody could tell them."""
    command = [sys.executable, "-m", "ddsim", *listed["run --jobs"]]
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True
    )
    deadline = time.monotonic() + 30
    while len(members(process.pid)) < 4 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert len(members(process.pid)) >= 4  # its own, the server's and two workers' at least
    process.kill()
    assert watched(process, place).left == []


@pytest.mark.slow
def test_what_the_caller_ignores_stays_ignored(tmp_path: Path) -> None:
    """As with nohup: the terminal goes away, the run goes on."""
    command = f"trap '' HUP; exec {sys.executable} -m ddsim run {small_file(tmp_path)} --set "
    process = subprocess.Popen(
        [*("sh", "-c"), f"{command} 'duration=2 day' --out {tmp_path / 'out'}"],
        stdout=subprocess.DEVNULL,
    )
    time.sleep(1.0)
    process.send_signal(HUP)
    assert process.wait() == 0
    assert Results.load(tmp_path / "out").scenario == "small"


def shell(line: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a line of shell, in which $ddsim is the command."""
    variables = os.environ | {"ddsim": f"{sys.executable} -m ddsim"} | environment
    return subprocess.run(["sh", "-c", line], capture_output=True, text=True, env=variables)


@pytest.mark.slow
@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_closed_streams_cost_no_result(closed: str, tmp_path: Path) -> None:
    """What would be printed goes nowhere; files are written as ever."""
    ran = shell(f"$ddsim run {small_file(tmp_path)} --out {tmp_path / 'out'} {closed}")
    assert (ran.returncode, ran.stderr.count("\n")) == (0, 0 if "2>" in closed else 1)
    assert Results.load(tmp_path / "out").scenario == "small"


@pytest.mark.slow
def test_messages_that_nobody_can_have_cost_no_result(tmp_path: Path) -> None:
    """Tables are printed and the result is whole, though stderr is full."""
    ran = shell(f"$ddsim run {small_file(tmp_path)} --out {tmp_path / 'out'} 2>/dev/full")
    assert ran.returncode == 0
    assert "share of all chip-time" in ran.stdout


@pytest.mark.slow
def test_a_full_stdout_is_said() -> None:
    """In one line, with exit 1."""
    ran = shell("$ddsim list methods >/dev/full")
    assert (ran.returncode, ran.stderr) == (1, "ddsim: stdout: No space left on device\n")


@pytest.mark.slow
def test_an_unknown_window_system_is_of_no_matter(tmp_path: Path) -> None:
    """Figures of a command are files."""
    line = f"$ddsim run {small_file(tmp_path)} -q --out {tmp_path / 'out'}"
    assert shell(line, MPLBACKEND="nonsense").returncode == 0
    assert (tmp_path / "out" / "goodput.png").is_file()


@pytest.mark.slow
def test_without_a_compiler_steps_are_taken_by_hand() -> None:
    """NUMBA_DISABLE_JIT asks for that, also where a run is long enough to be compiled."""
    line = "$ddsim run four_regions_12b --set 'duration=90 min' --method diloco -q"
    assert shell(line, NUMBA_DISABLE_JIT="1").returncode == 0
