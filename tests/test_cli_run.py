"""`ddsim run`: what it asks of the simulation, and what it prints and saves."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from command_line import ddsim
from sample_results import comparison, record

from ddsim.cli.run_report import show_run
from ddsim.loading import load
from ddsim.results import Results


@pytest.mark.parametrize(
    ("duration", "ends", "said"),
    [
        (86400.0, (3600.0, 5400.0), "to its goal in 1 h to 1.5 h, 1 day at most"),
        (float("inf"), (5400.0, 5400.0), "to its goal in 1.5 h, seed"),
    ],
)
def test_what_ends_at_its_goal_is_headed_by_when_it_did(
    duration: float,
    ends: tuple[float, float],
    said: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """And by the duration only as what it might have taken."""
    rows = [
        replace(record(name), goal="reached", wall_clock_s=end)
        for name, end in zip(("data_parallel", "decoupled_diloco"), ends, strict=True)
    ]
    show_run(replace(comparison(), duration_s=duration, results=rows))
    assert said in capsys.readouterr().out.splitlines()[0]


@pytest.mark.parametrize(("failures", "expected"), [(0, 0.42), (1, 0.42), (0, 0.001)])
def test_a_run_that_met_no_failure_says_how_many_were_to_be_expected(
    failures: int, expected: float, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where there were some to be expected: without, its goodput looks as if they cost nothing."""
    show_run(replace(comparison(), results=[replace(record(), failures=failures)]), expected)
    said = "no failure struck, where 0.42 are to be expected" in capsys.readouterr().out
    assert said == (failures == 0 and expected > 0.1)


class Simulation:
    """Stands in for the simulation: remembers how it was called, returns what it was given."""

    def __init__(self) -> None:
        self.results = comparison()
        self.scenario: Any = None
        self.called: dict[str, Any] = {}

    def __call__(self, scenario: Any, **options: Any) -> Results:
        self.scenario, self.called = scenario, options
        return self.results


def squeezed(text: str) -> str:
    """The text with one blank wherever there are several."""
    return re.sub(" +", " ", text)


@pytest.fixture
def simulation(monkeypatch: pytest.MonkeyPatch) -> Simulation:
    """The simulation, replaced."""
    fake = Simulation()
    monkeypatch.setattr("ddsim.simulation.run", fake)
    return fake


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    """A scenario to name; what the replaced simulation returns does not depend on it."""
    path = tmp_path / "scenario.yaml"
    assert ddsim("init", path).code == 0
    return path


def test_options_reach_the_simulation(simulation: Simulation, scenario: Path) -> None:
    """Methods, seed and overrides change the scenario; replications and jobs are handed on."""
    options = ["--method", "diloco", "--method", "data_parallel", "--seed", 5]
    options += ["--replications", 3, "--jobs", 2, "--set", "network.latency=1 s"]
    ran = ddsim("run", scenario, *options)
    assert ran.code == 0, ran.err
    assert callable(simulation.called.pop("progress"))
    assert simulation.called == {
        "replications": 3,
        "jobs": 2,
        "tape": False,
        "timeline": True,
        "every_slot": False,
        "log": False,
    }
    assert {spec.name for spec in simulation.scenario.methods} == {"diloco", "data_parallel"}
    assert simulation.scenario.seed == 5
    assert simulation.scenario.network.latency == 1.0


def test_nothing_given_leaves_it_to_the_scenario(simulation: Simulation, scenario: Path) -> None:
    """Without options the scenario's methods and seed hold."""
    ddsim("run", scenario)
    assert len(simulation.scenario.methods) == 5
    assert simulation.scenario.seed == 1


def test_json_is_the_document_and_nothing_else(simulation: Simulation, scenario: Path) -> None:
    """With `--json` stdout is one document and stderr is silent."""
    ran = ddsim("run", scenario, "--json")
    assert json.loads(ran.out) == simulation.results.to_dict()
    assert ran.err == ""


@pytest.mark.usefixtures("simulation")
def test_table_compares_the_methods(scenario: Path) -> None:
    """The first table has a line a method, in the order of the results."""
    lines = ddsim("run", scenario).out.splitlines()
    assert lines[0] == "sample: 10 h, seed 7, one failure history"
    assert lines[2].split("  ")[0] == "method"
    assert squeezed(lines[3]) == "data_parallel 0.300 1x 0.300 - 1.000 0.970 30 M 1.5 4"
    line = "decoupled_diloco 0.882 2.93x 0.900 0.980 1.000 0.970 88 M 1.5 4"
    assert squeezed(lines[4]) == line


@pytest.mark.usefixtures("simulation")
def test_accounts_that_are_empty_are_left_out(scenario: Path) -> None:
    """The second table has the accounts in which there is anything."""
    out = ddsim("run", scenario).out
    assert "\nfailed_hardware 0.5250 0.0750\n" in squeezed(out)
    assert "restart" not in out


def test_tiny_shares_are_not_shown_as_nothing(simulation: Simulation, scenario: Path) -> None:
    """A share that rounding would hide is marked; what is exactly nothing is 0."""
    tiny = record("diloco", accounts={"productive": 1.0, "restart": 1e-7})
    none = record("data_parallel", accounts={"productive": 1.0})
    simulation.results = replace(simulation.results, results=[none, tiny])
    assert "\nrestart 0 <0.0001\n" in squeezed(ddsim("run", scenario).out)


def test_convention_is_said_once_for_those_that_share_it(
    simulation: Simulation, scenario: Path
) -> None:
    """The last lines say what the WAN columns count."""
    assert ddsim("run", scenario).out.endswith("\nWAN in Gbit/s: 4 bits, ring\n")
    other = replace(simulation.results.results[0], wan=record().wan | {"convention": "16 bits"})
    simulation.results = replace(simulation.results, results=[other, simulation.results.results[1]])
    last = ddsim("run", scenario).out.splitlines()[-2:]
    assert last == [
        "WAN in Gbit/s, data_parallel: 16 bits",
        "WAN in Gbit/s, decoupled_diloco: 4 bits, ring",
    ]


def test_without_data_parallel_there_is_no_ratio(simulation: Simulation, scenario: Path) -> None:
    """The column of ratios exists when there is something to compare with."""
    assert "ratio" in ddsim("run", scenario).out
    simulation.results = replace(simulation.results, results=[record()])
    assert "ratio" not in ddsim("run", scenario).out


def test_replications_show_their_interval(simulation: Simulation, scenario: Path) -> None:
    """With replications merged goodput and goodput have their intervals beside them."""
    mean = record(merged_share=0.5, goodput_ci95=(0.88, 0.92), merged_goodput_ci95=(0.42, 0.48))
    simulation.results = replace(comparison(4), results=[mean])
    out = ddsim("run", scenario).out
    assert "mean of 4 failure histories" in out
    assert "0.450 +/- 0.030  0.900 +/- 0.020" in out


@pytest.mark.usefixtures("simulation")
def test_plain_output_is_never_cut(scenario: Path) -> None:
    """Where no width is given a row is one line, and no line ends in blanks."""
    out = ddsim("run", scenario).out
    assert "\ndecoupled_diloco 0.882 2.93x 0.900 " in squeezed(out)
    assert all(line == line.rstrip() for line in out.splitlines())
    assert out.isascii()


@pytest.mark.slow
def test_out_saves_results_and_figures(
    simulation: Simulation, scenario: Path, tmp_path: Path
) -> None:
    """`--out` leaves results that load again and the figures, and says so on stderr."""
    folder = tmp_path / "new" / "out"
    ran = ddsim("run", scenario, "--out", folder)
    assert ran.code == 0
    assert Results.load(folder) == simulation.results
    assert (folder / "scenario.yaml").read_text() == simulation.results.resolved
    assert {path.name for path in folder.glob("*.png")} == {"goodput.png", "timeline.png"}
    assert "goodput.png" in ran.err


def test_out_saves_the_scenario_that_ran(
    simulation: Simulation, scenario: Path, tmp_path: Path
) -> None:
    """The saved scenario, loaded, is the one that ran, with what the options changed."""
    simulation.results = replace(simulation.results, resolved="")
    ddsim("run", scenario, "--seed", 5, "--method", "diloco", "--out", tmp_path)
    assert load(tmp_path / "scenario.yaml") == simulation.scenario


@pytest.mark.slow
@pytest.mark.usefixtures("simulation")
def test_quiet_says_nothing_on_stderr(scenario: Path, tmp_path: Path) -> None:
    """With `-q`, before or after the command, stderr is empty; the result is printed."""
    for arguments in (["-q", "run", scenario], ["run", "-q", scenario]):
        ran = ddsim(*arguments, "--out", tmp_path / "out")
        assert ran.err == ""
        assert "decoupled_diloco" in ran.out


@pytest.mark.usefixtures("simulation")
def test_verbose_says_what_it_cost(scenario: Path) -> None:
    """With `-v` stderr has the events and the seconds of each method."""
    assert "decoupled_diloco: 120 events in 0.01 s" in ddsim("run", "-v", scenario).err


@pytest.mark.slow
@pytest.mark.usefixtures("simulation")
def test_plot_draws_a_saved_result_again(scenario: Path, tmp_path: Path) -> None:
    """`ddsim plot` prints the paths of the figures, beside the result or where `--out` says."""
    folder = tmp_path / "out"
    ddsim("run", scenario, "--out", folder)
    ran = ddsim("plot", folder, "--format", "svg")
    assert ran.out.split() == [f"{folder}/goodput.svg", f"{folder}/timeline.svg"]
    ran = ddsim("plot", folder / "results.json", "--out", tmp_path / "other")
    assert [Path(line).parent for line in ran.out.split()] == [tmp_path / "other"] * 2


def test_plot_of_what_is_not_a_result_is_exit_2(tmp_path: Path) -> None:
    """A folder without a result, or with a broken one, is the user's input."""
    assert ddsim("plot", tmp_path).code == 2
    (tmp_path / "results.json").write_text("{}")
    ran = ddsim("plot", tmp_path)
    assert ran.code == 2
    assert "results.json" in ran.err


@pytest.mark.slow
def test_what_an_earlier_run_left_is_replaced_and_that_is_said(tmp_path: Path) -> None:
    """Whole, and not in silence."""
    command = ("run", "four_regions_12b", "--set", "duration=10 min", "--out", tmp_path / "out")
    first, second = (ddsim(*command, "--method", name) for name in ("diloco", "data_parallel"))
    assert "in place of" not in first.err
    assert "in place of what an earlier run left" in second.err
    saved = json.loads((tmp_path / "out" / "results.json").read_text())
    assert [item["method"] for item in saved["results"]] == ["data_parallel"]
