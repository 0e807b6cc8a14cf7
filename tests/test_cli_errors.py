"""Exit codes and messages."""

import subprocess
import sys
from pathlib import Path

import pytest
from command_line import ddsim

import ddsim as package
from ddsim.errors import DdsimError, InputError
from ddsim.learning import LearningError
from ddsim.logs import TraceError
from ddsim.registry import UnknownNameError
from ddsim.scenario import ScenarioError
from ddsim.study import StoreError, StudyError
from ddsim.world.distributions import DistributionError


def raising(error: BaseException) -> object:
    """A function that raises `error` whatever it is called with."""

    def run(*_: object, **__: object) -> None:
        raise error

    return run


@pytest.fixture
def starter(tmp_path: Path) -> Path:
    """A scenario that is right."""
    path = tmp_path / "starter.yaml"
    assert ddsim("init", path).code == 0
    return path


def test_version_is_printed() -> None:
    """`--version` prints the version and ends with 0."""
    ran = ddsim("--version")
    assert (ran.code, ran.out) == (0, f"ddsim, version {package.__version__}\n")


@pytest.mark.parametrize("command", ["init", "run", "bandwidth", "plot", "check", "list"])
def test_help_has_an_example(command: str) -> None:
    """Every `--help` shows how the command is called."""
    ran = ddsim(command, "--help")
    assert ran.code == 0
    assert f"  ddsim {command}" in ran.out.partition("Example:")[2]


@pytest.mark.parametrize(
    "arguments",
    [
        ["rnu"],
        ["run"],
        ["run", "x", "--seed", "-1"],
        ["run", "x", "--seed", "1.5"],
        ["run", "x", "--replications", "0"],
        ["run", "x", "--jobs", "0"],
        ["run", "x", "--set", "network.bandwidth"],
        ["run", "x", "--set", "=3"],
        ["bandwidth", "x", "--target", "0.5,half"],
        ["bandwidth", "x", "--target", "1.5"],
        ["bandwidth", "x", "--datacenters", "0"],
        ["check"],
        ["list", "chip"],
        ["reproduce", "--list", "extra"],
        ["check", "x", "--schema"],
        ["plot", "nowhere"],
        ["init", "nowhere/file.yaml"],
    ],
)
def test_wrong_usage_is_exit_2(arguments: list[str]) -> None:
    """A wrong option or argument is exit 2, a message on stderr, and nothing on stdout."""
    ran = ddsim(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert "Error: " in ran.err
    assert "Traceback" not in ran.err


def test_a_wrong_scenario_is_exit_2(tmp_path: Path) -> None:
    """All problems of a scenario are said, each with file, line and field, without a traceback."""
    path = tmp_path / "wrong.yaml"
    assert ddsim("init", path).code == 0
    text = path.read_text().replace("seed: 1", "sede: 1")
    path.write_text(text.replace("latency: 30 ms", "latency: 30 GB"))
    ran = ddsim("run", path)
    assert (ran.code, ran.out) == (2, "")
    lines = ran.err.splitlines()
    assert len(lines) == 2
    assert all(line.startswith(f"{path}:") for line in lines)
    assert "network.latency" in ran.err
    assert "sede" in ran.err


def test_a_wrong_override_is_exit_2(starter: Path) -> None:
    """What `--set` gets wrong is the user's input like the file."""
    ran = ddsim("check", starter, "--set", "network.bandwidth=5 GB")
    assert (ran.code, ran.out) == (2, "")
    assert "network.bandwidth" in ran.err


@pytest.mark.parametrize("option", ["--set", "--vary"])
def test_a_value_that_was_not_quoted_is_shown_quoted(option: str) -> None:
    """A quantity's unit is an argument of its own without."""
    ran = ddsim("sweep", "spot_trace", option, "network.bandwidth=2", "Gbit/s")
    assert (ran.code, ran.out) == (2, "")
    assert f'is quoted: {option} "network.bandwidth=2 Gbit/s"' in ran.err
    assert "quoted" not in ddsim("sweep", "spot_trace", option, "seed=2", "-q", "extra").err


def test_a_folder_of_results_is_no_result(tmp_path: Path) -> None:
    """Those that it holds are named; of a reproduction its page."""
    for name in ("b", "a"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "results.json").write_text("{}")
    ran = ddsim("report", tmp_path)
    assert ran.code == 2
    assert f"{tmp_path}: no results.json there, but in {tmp_path}/a and {tmp_path}/b" in ran.err
    (tmp_path / "gallery.html").write_text("")
    assert "a reproduction, whose page is gallery.html" in ddsim("report", tmp_path).err


def test_an_unknown_method_is_exit_2(starter: Path) -> None:
    """A method that is not registered is named, and the nearest one suggested."""
    ran = ddsim("run", starter, "--method", "dilco")
    assert (ran.code, ran.out) == (2, "")
    assert "dilco" in ran.err
    assert 'did you mean "diloco"?' in ran.err


def test_an_unknown_reproduction_is_exit_2(tmp_path: Path) -> None:
    """The nearest one is suggested, nothing is simulated, and no folder made."""
    ran = ddsim("reproduce", "goodputt", "--out", tmp_path / "out")
    assert not (tmp_path / "out").exists()
    assert (ran.code, ran.out) == (2, "")
    assert 'unknown reproduction "goodputt"; did you mean "goodput"?' in ran.err


def test_anything_else_is_exit_1_in_one_line(
    starter: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error of our own is one line on stderr."""
    monkeypatch.setattr("ddsim.simulation.run", raising(RuntimeError("no\nsuch luck")))
    ran = ddsim("run", starter)
    assert (ran.code, ran.out, ran.err) == (1, "", "ddsim: RuntimeError: no\n")


@pytest.mark.parametrize("arguments", [["-v", "run"], ["run", "-v"]])
def test_verbose_shows_the_traceback(
    arguments: list[str], starter: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With `-v`, before or after the command, there is a traceback."""
    monkeypatch.setattr("ddsim.simulation.run", raising(RuntimeError("here")))
    ran = ddsim(*arguments, starter)
    assert ran.code == 1
    assert "Traceback" in ran.err


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        (InputError, 2),
        (ScenarioError, 2),
        (StudyError, 2),
        (TraceError, 2),
        (LearningError, 2),
        (DistributionError, 2),
        (UnknownNameError, 2),
        (StoreError, 1),
    ],
)
def test_an_error_for_a_person_says_how_the_command_ends(
    kind: type[DdsimError], code: int, starter: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its message stands alone, and the exit code is its own."""
    error = kind.__new__(kind)
    Exception.__init__(error, "what was found; what is allowed")
    monkeypatch.setattr("ddsim.simulation.run", raising(error))
    ran = ddsim("run", starter)
    assert (ran.code, ran.out, ran.err) == (code, "", "what was found; what is allowed\n")


def test_an_interrupt_is_exit_130(starter: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C ends with 130 and one word."""
    monkeypatch.setattr("ddsim.simulation.run", raising(KeyboardInterrupt()))
    ran = ddsim("run", starter)
    assert ran.code == 130
    assert ran.err.split() == ["interrupted"]


@pytest.mark.slow
def test_a_reader_that_leaves_is_no_traceback() -> None:
    """When what reads stdout is gone, nothing is said."""
    listing = subprocess.Popen(
        [sys.executable, "-m", "ddsim", "list", "distributions"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert listing.stdout is not None
    assert listing.stderr is not None
    listing.stdout.close()
    message = listing.stderr.read()
    listing.stderr.close()
    assert (listing.wait(), message) == (1, "")
