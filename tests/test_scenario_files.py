"""The files that a scenario names: read once, when it is loaded."""

import os
import pickle
from pathlib import Path

import pytest

import ddsim
from ddsim.scenario import Scenario, ScenarioError
from ddsim.scenario.files import Files

TEXT = """\
model: {parameters: 1e9, layers: 24}
training: {step_time: 1 s}
cluster: {chips: 8, learners: 2, chips_per_slice: 1}
duration: 10 min
methods: [data_parallel, diloco: {training.inner_steps: 8}]
network: {trace: wan.csv}
trace: {file: nodes.csv}
"""


@pytest.fixture
def loaded(tmp_path: Path) -> Scenario:
    """A scenario with a trace of its links and one of its nodes, both gone since."""
    (tmp_path / "traced.yaml").write_text(TEXT)
    (tmp_path / "wan.csv").write_text("0,1e9\n60,2e9\n")
    (tmp_path / "nodes.csv").write_text("0,8\n60000,6\n120000,7\n")
    scenario = ddsim.load(tmp_path / "traced.yaml")
    for name in ("wan.csv", "nodes.csv"):
        (tmp_path / name).unlink()
    return scenario


def test_what_a_file_says_is_part_of_the_scenario(loaded: Scenario, tmp_path: Path) -> None:
    """Rates of the links, and nodes over time, beside the paths that a resolved scenario names."""
    link = loaded.network.regions["region 0"].trace
    nodes = loaded.trace.file
    assert link is not None
    assert nodes is not None
    assert link.rates == ((0.0, 1e9), (60.0, 2e9))
    assert (nodes.times, nodes.counts, nodes.end) == ((0.0, 60.0, 120.0), (8, 6, 7), 120.0)
    assert (link.path, nodes.path) == (str(tmp_path / "wan.csv"), str(tmp_path / "nodes.csv"))


def test_a_scenario_needs_its_files_no_more(
    loaded: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Changed, settled for a method, in another process and folder, it says the same."""
    monkeypatch.chdir(os.sep)
    copy = pickle.loads(pickle.dumps(loaded))
    assert copy == loaded
    for made in (loaded.with_({"seed": 2}), copy.with_({"seed": 2}), copy.for_method("diloco")):
        assert made.trace == loaded.trace
        assert made.network == loaded.network
    assert ddsim.run(copy).results[0].accounts == ddsim.run(loaded).results[0].accounts


def test_scenarios_differ_by_what_their_files_say(loaded: Scenario, tmp_path: Path) -> None:
    """Loading again reads again."""
    (tmp_path / "wan.csv").write_text("0,1e9\n60,2e9\n")
    (tmp_path / "nodes.csv").write_text("0,8\n60000,6\n120000,7\n")
    assert ddsim.load(tmp_path / "traced.yaml") == loaded
    (tmp_path / "wan.csv").write_text("0,1e9\n60,3e9\n")
    assert ddsim.load(tmp_path / "traced.yaml") != loaded


def test_a_faulty_trace_of_nodes_is_found_beside_all_else(tmp_path: Path) -> None:
    """With its file and line, at the place of the scenario that names it."""
    (tmp_path / "traced.yaml").write_text(TEXT.replace("10 min", "10"))
    (tmp_path / "wan.csv").write_text("0,1e9\n")
    (tmp_path / "nodes.csv").write_text("0,8\n60000,six\n120000,7\n")
    with pytest.raises(ScenarioError) as failure:
        ddsim.load(tmp_path / "traced.yaml")
    duration, trace = failure.value.problems
    assert duration.path == "duration"
    assert (trace.path, trace.line) == ("trace.file", 7)
    assert "nodes.csv:2: " in trace.found


def test_a_file_is_read_once(tmp_path: Path) -> None:
    """Whoever asks again gets what was made of it."""
    (tmp_path / "a.txt").write_text("one")
    files = Files(str(tmp_path))
    path = files.find("a.txt")
    assert files.read(path, "text", Path.read_text) == "one"
    path.unlink()
    assert files.find("a.txt") == path
    assert files.read(path, "text", Path.read_text) == "one"
