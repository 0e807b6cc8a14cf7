"""What is printed fits the width that it is told, whatever the command and the scenario."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import ddsim
from study_case import small, small_file

import ddsim as package
from ddsim import study
from ddsim.cli import cli
from ddsim.cli.bandwidth import show_bandwidth
from ddsim.cli.compare import show_comparison
from ddsim.cli.plan import show_plan
from ddsim.cli.run_report import show_run
from ddsim.cli.study_report import show_study
from ddsim.cli.words import fraction
from ddsim.scenario import shipped

COMMANDS = cli.list_commands(None)  # type: ignore[arg-type]
SHORT = {"duration": "30 s", "chaos": [], "learning": {}}


def too_wide(text: str, width: int) -> list[str]:
    """The lines beyond a width, but those of a single path or word."""
    return [line for line in text.splitlines() if len(line) > width and " " in line.strip()]


@pytest.mark.parametrize("command", [(), *[(name,) for name in COMMANDS]])
def test_help_fits_a_usual_terminal(
    command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Examples too, which are not folded."""
    monkeypatch.setenv("COLUMNS", "80")
    assert too_wide(ddsim(*command, "--help").out, 80) == []


@pytest.mark.parametrize("name", shipped.names())
def test_every_shipped_scenario_fits(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What a run and the bandwidths of it print, in 80 columns and in 40."""
    scenario = package.load(name, SHORT)
    results, needed = package.run(scenario), package.required_bandwidth(scenario, targets=(0.5,))
    for width in (80, 40):
        monkeypatch.setenv("COLUMNS", str(width))
        show_run(results)
        show_bandwidth(needed)
        said = capsys.readouterr().out
        assert too_wide(said, width) == []
        assert all(fraction(item.merged_goodput) in said for item in results.results)


@pytest.mark.slow
def test_studies_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Cells, differences, causes, inputs, plans and what changed, in 80 columns and in 40."""
    often = {"failures.chip_mtbi": "1 day", "duration": "5 min", "prices.chip_hour": "2 USD"}
    scenario = small(tmp_path).with_(often)
    vary = {"elastic.downscale": ["1 s", "30 s"], "training.payload_bits": [4, 16]}
    swept = study.sweep(scenario, vary, replications=2, out=tmp_path / "out")
    compared = study.compare(tmp_path / "out", tmp_path / "out")
    alone = scenario.choose(["elastic_data_parallel"])
    planned = study.plan(alone, vary, replications=2)
    unsure = alone.with_({"elastic.upscale": {"low": "5 s", "high": "30 s"}})
    explained = study.sweep(unsure, replications=2, why=True, tornado=True)
    for width in (80, 40):
        monkeypatch.setenv("COLUMNS", str(width))
        show_study(swept)
        show_study(explained)
        show_plan(planned)
        show_comparison(compared)
        said = capsys.readouterr().out
        assert too_wide(said, width) == []
        assert said.count("30 s") > 8


@pytest.mark.parametrize(
    "arguments",
    [
        ("list", "scenarios"),
        ("list", "metrics"),
        ("reproduce", "--list"),
        ("run", "no_such_scenario.yaml"),
        ("run", "four_regions_12b", "--set", "training.quorum=9", "--set", "training.grace=-1"),
        ("sweep", "four_regions_12b", "--most", 5),
    ],
)
@pytest.mark.parametrize("width", [80, 40])
def test_lists_and_mistakes_fit(
    arguments: tuple[object, ...], width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What there is, and what was wrong."""
    monkeypatch.setenv("COLUMNS", str(width))
    ran = ddsim(*arguments)
    assert too_wide(ran.out + ran.err, width) == []


def test_nothing_is_folded_where_there_is_no_width(tmp_path: Path) -> None:
    """Who reads it by lines, such as grep, finds a row and a sentence in one."""
    ran = ddsim("run", small_file(tmp_path), "--replications", 2)
    row = next(line for line in ran.out.splitlines() if line.startswith("data_parallel "))
    assert len(row.split()) > 8
