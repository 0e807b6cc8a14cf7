"""Calling ddsim from Python and from a folder of one's own."""

from __future__ import annotations

from pathlib import Path

import pytest

import ddsim

TEXT = """\
duration: 10 min
methods: [diloco, decoupled_diloco]
model: {parameters: 1e9, layers: 24}
training: {step_time: 1 s}
cluster: {chips: 16, chips_per_slice: 4, learners: 2}
"""
EVENTS = "0,add,i-1\n0,add,i-2\n0,add,i-3\n60000,remove,i-1\n"


@pytest.mark.slow
def test_run_takes_a_file_or_a_name(tmp_path: Path) -> None:
    """As well as a scenario that was loaded."""
    file = tmp_path / "mine.yaml"
    file.write_text(TEXT)
    loaded = ddsim.run(ddsim.load(file)).results
    for given in (file, str(file)):
        found = ddsim.run(given).results
        assert [r.accounts for r in found] == [r.accounts for r in loaded]


def test_what_is_wrong_can_be_caught(tmp_path: Path) -> None:
    """Under a name that the package gives."""
    with pytest.raises(ddsim.ScenarioError, match="no file"):
        ddsim.run(tmp_path / "nothing.yaml")


def test_progress_names_what_is_under_way(tmp_path: Path) -> None:
    """And ends with all that there is."""
    file = tmp_path / "mine.yaml"
    file.write_text(TEXT)
    told: list[tuple[int, int, str]] = []
    ddsim.run(file, progress=lambda *what: told.append(what))
    assert told == [(0, 2, "diloco"), (1, 2, "decoupled_diloco"), (2, 2, "decoupled_diloco")]


def test_a_trace_is_found_where_one_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A shipped scenario has a folder of its own, in which nobody puts a trace."""
    (tmp_path / "ev.csv").write_text(EVENTS)
    monkeypatch.chdir(tmp_path)
    scenario = ddsim.load("spot_trace", {"trace.file": "ev.csv"})
    assert scenario.trace.file is not None
    assert scenario.trace.file.path == str(tmp_path / "ev.csv")


def test_results_say_in_a_line_what_came_out(tmp_path: Path) -> None:
    """A shell shows that, not a page of fields."""
    file = tmp_path / "mine.yaml"
    file.write_text(TEXT)
    assert repr(ddsim.run(file, seed=7)) == (
        "<Results of mine, seed 7: merged goodput diloco 1.000, decoupled_diloco 1.000>"
    )
