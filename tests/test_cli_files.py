"""What commands read and write, whatever stands under the names that users give."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import devices
import pytest
from command_line import ddsim
from study_case import SMALL, small_file

from ddsim.results import Results
from ddsim.scenario.errors import MOST_SAID


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A saved result."""
    folder = tmp_path_factory.mktemp("saved")
    assert ddsim("run", small_file(folder), "--out", folder / "out").code == 0
    return folder / "out"


@pytest.mark.slow
def test_a_report_goes_through_a_link(saved: Path, tmp_path: Path) -> None:
    """The file that it names is written, and the link stays."""
    (tmp_path / "link.html").symlink_to(tmp_path / "target.html")
    assert ddsim("report", saved, "--out", tmp_path / "link.html").code == 0
    assert (tmp_path / "link.html").is_symlink()
    assert (tmp_path / "target.html").read_text().rstrip().endswith("</html>")


@pytest.mark.slow
def test_a_report_onto_a_full_device_names_it(saved: Path, tmp_path: Path) -> None:
    """The device stays one."""
    full = devices.full(tmp_path)
    ran = ddsim("report", saved, "--out", full)
    assert (ran.code, ran.out) == (1, "")
    assert ran.err == f"ddsim: {full}: No space left on device\n"
    assert stat.S_ISCHR(full.stat().st_mode)


@pytest.mark.slow
def test_a_report_into_a_pipe_without_a_reader_is_refused(saved: Path, tmp_path: Path) -> None:
    """And the pipe stays one."""
    os.mkfifo(tmp_path / "pipe")
    ran = ddsim("report", saved, "--out", tmp_path / "pipe")
    assert ran.code == 1
    assert f"{tmp_path / 'pipe'}: a pipe that nobody reads from" in ran.err
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


@pytest.mark.parametrize("command", ["run", "sweep", "plot", "reproduce"])
def test_what_is_no_folder_is_refused_at_once(command: str, saved: Path, tmp_path: Path) -> None:
    """A pipe, a file, a dangling link: named, exit 2, and as they were."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("nowhere")
    given = {"run": small_file(tmp_path), "sweep": small_file(tmp_path), "plot": saved}
    for name in ("pipe", "link"):
        subject = given.get(command, "isolation")
        vary = ["--vary", "elastic.upscale=1 s"] if command == "sweep" else []
        ran = ddsim(command, subject, *vary, "--out", tmp_path / name)
        assert (ran.code, ran.out) == (2, ""), (name, ran)
        assert str(tmp_path / name) in ran.err
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    assert (tmp_path / "link").is_symlink()
    assert not (tmp_path / "nowhere").exists()


def test_a_folder_that_cannot_be_written_is_said_before_the_simulation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As root may write anywhere, the system's answer is made up."""
    monkeypatch.setattr("os.access", lambda path, mode: not mode & os.W_OK)
    monkeypatch.setattr("ddsim.simulation.run", None)
    ran = ddsim("run", small_file(tmp_path), "--out", tmp_path / "out")
    assert ran.code == 2
    assert f"{tmp_path / 'out'}: cannot be written" in ran.err


def test_a_full_disk_leaves_the_earlier_result(
    saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No file of it is lost or changed when the last one finds no room."""
    folder = tmp_path / "out"
    results = Results.load(saved)
    results.save(folder)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    write = Path.write_bytes

    def cramped(path: Path, content: bytes) -> int:
        if path.name.startswith(".results.json"):
            raise OSError(28, "No space left on device", str(path))
        return write(path, content)

    monkeypatch.setattr(Path, "write_bytes", cramped)
    ran = ddsim("run", small_file(tmp_path), "--seed", "5", "--out", folder)
    assert (ran.code, ran.err) == (1, f"ddsim: {folder}/results.json: No space left on device\n")
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.slow
def test_results_are_saved_before_tables_are_printed(tmp_path: Path) -> None:
    """A reader that leaves at the first line leaves a whole result."""
    scenario, out = small_file(tmp_path), tmp_path / "out"
    command = [sys.executable, "-m", "ddsim", "run", str(scenario), "--out", str(out)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.close()
    process.communicate()
    assert Results.load(out).scenario == "small"
    assert (out / "goodput.png").is_file()


@pytest.mark.slow
def test_a_scenario_may_come_through_a_pipe(tmp_path: Path) -> None:
    """A named one, or stdin."""
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_text, args=(SMALL,))
    writer.start()
    assert ddsim("check", tmp_path / "pipe").out == f"{tmp_path / 'pipe'}: valid\n"
    writer.join()
    command = [sys.executable, "-m", "ddsim", "check", "/dev/stdin"]
    ran = subprocess.run(command, input=SMALL, capture_output=True, text=True)
    assert ran.stdout == "/dev/stdin: valid\n"


@pytest.mark.slow
def test_a_trace_may_come_through_stdin(tmp_path: Path) -> None:
    """Like that of a file."""
    command = [sys.executable, "-m", "ddsim", "trace", "/dev/stdin", "--json"]
    rows = "lifetime_s\n" + "".join(f"{100 + index}\n" for index in range(20))
    ran = subprocess.run(command, input=rows, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr


def test_a_trace_of_a_link_is_no_stream(tmp_path: Path) -> None:
    """It has to be there for whoever repeats the run: a pipe is refused, not waited for."""
    os.mkfifo(tmp_path / "pipe")
    path = small_file(tmp_path, "network: {links: [{from: a, to: b, trace: pipe}]}\n")
    began = time.monotonic()
    ran = ddsim("check", path)
    assert time.monotonic() - began < 5
    assert ran.code == 2


def test_a_scenario_of_gigabytes_is_refused_unread(tmp_path: Path) -> None:
    """Its size says enough."""
    path = tmp_path / "large.yaml"
    with path.open("wb") as file:
        file.truncate(3_000_000_000)
    ran = ddsim("check", path)
    assert ran.code == 2
    assert "3000000000 bytes; at most 4000000 bytes" in ran.err


@pytest.mark.slow
def test_thousands_of_unknown_keys_end_with_the_first(tmp_path: Path) -> None:
    """In the order of the file, and how many more there are."""
    path = small_file(tmp_path, "".join(f"key_{index}: 1\n" for index in range(5_000)))
    began = time.monotonic()
    ran = ddsim("check", path)
    assert time.monotonic() - began < 20
    lines = ran.err.splitlines()
    assert ran.code == 2
    assert len(lines) == MOST_SAID + 1
    assert ["key_0: unknown key" in lines[0], "key_1: unknown key" in lines[1]] == [True, True]
    assert lines[-1] == f"and {5_000 - MOST_SAID} more"


@pytest.mark.slow
def test_a_list_of_a_million_numbers_is_given_up_early(tmp_path: Path) -> None:
    """At the first value too many, not at the end of the text."""
    path = small_file(tmp_path, f"big: [{','.join(['1'] * 1_000_000)}]\n")
    began = time.monotonic()
    ran = ddsim("check", path)
    assert time.monotonic() - began < 20
    assert ran.code == 2
    assert "more than 50000 values" in ran.err


def test_half_a_character_is_refused_before_the_run(tmp_path: Path) -> None:
    """A surrogate, which no file can hold, is named like any other mistake."""
    path = tmp_path / "half.yaml"
    path.write_text(SMALL.replace("name: small", 'name: "a\\ud800b"'))
    ran = ddsim("run", path)
    assert (ran.code, ran.out) == (2, "")
    assert r'1:7: name: "a\ud800b"; a name: whole characters' in ran.err


@pytest.mark.slow
def test_names_of_files_need_not_be_text(tmp_path: Path) -> None:
    """Bytes that are no UTF-8 go in and come out again."""
    path = os.fsencode(tmp_path) + b"/a\xff.yaml"
    with open(path, "w") as file:
        file.write(SMALL.replace("name: small\n", ""))
    out = os.fsencode(tmp_path) + b"/out\xff"
    command = [sys.executable, "-m", "ddsim"]
    ran = subprocess.run([*command, b"run", path, b"--out", out], capture_output=True)
    assert ran.returncode == 0, ran.stderr
    ran = subprocess.run([*command, b"plot", out], capture_output=True)
    assert out + b"/goodput.png\n" in ran.stdout, ran.stderr
