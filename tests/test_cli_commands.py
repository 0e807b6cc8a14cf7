"""`ddsim init`, `check`, `list` and `bandwidth`."""

import json
from pathlib import Path

import pytest
from command_line import ddsim

from ddsim.cli.list import TOPICS
from ddsim.loading import load


@pytest.fixture
def starter(tmp_path: Path) -> Path:
    """The starter scenario."""
    path = tmp_path / "starter.yaml"
    assert ddsim("init", path).code == 0
    return path


def test_starter_scenario_is_valid(starter: Path) -> None:
    """What `init` writes, `check` accepts."""
    ran = ddsim("check", starter)
    assert (ran.code, ran.out) == (0, f"{starter}: valid\n")


@pytest.mark.slow
def test_starter_scenario_runs_every_method(starter: Path) -> None:
    """What `init` writes, `run` runs, with all five methods."""
    ran = ddsim("run", starter, "--set", "duration=2 h", "--json")
    assert ran.code == 0
    assert len(json.loads(ran.out)["results"]) == 5


def test_init_keeps_what_is_there(starter: Path) -> None:
    """A file that is there is replaced only with `--force`."""
    starter.write_text("mine")
    ran = ddsim("init", starter)
    assert (ran.code, starter.read_text()) == (2, "mine")
    assert ddsim("init", starter, "--force").code == 0
    assert starter.read_text() != "mine"


def test_init_has_a_name_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without FILE it writes scenario.yaml."""
    monkeypatch.chdir(tmp_path)
    assert ddsim("init").code == 0
    assert (tmp_path / "scenario.yaml").is_file()


def test_resolved_scenario_is_the_same_scenario(starter: Path, tmp_path: Path) -> None:
    """`check --resolved` prints a scenario that resolves to itself, overrides included."""
    first = ddsim("check", starter, "--resolved", "--set", "network.latency=40 ms")
    again = tmp_path / "again.yaml"
    again.write_text(first.out)
    assert load(again).network.latency == pytest.approx(0.04)
    assert ddsim("check", again, "--resolved").out == first.out


def test_schema_is_json_and_needs_no_scenario() -> None:
    """`check --schema` prints a JSON Schema that knows the sections."""
    ran = ddsim("check", "--schema")
    assert ran.code == 0
    assert {"training", "network", "failures"} <= set(json.loads(ran.out)["properties"])


def test_list_has_every_topic() -> None:
    """Without a topic, all topics are listed."""
    ran = ddsim("list")
    assert ran.code == 0
    assert all(f"{topic}\n" in ran.out or f"{topic} " in ran.out for topic in TOPICS)


def test_listed_scenarios_are_valid() -> None:
    """Every scenario that is listed can be named."""
    ran = ddsim("list", "scenarios", "--json")
    names = json.loads(ran.out)["scenarios"]
    assert {"four_regions_12b", "chaos_drill"} <= set(names)
    for name in names:
        assert ddsim("check", name).code == 0


def test_listed_entries_say_what_they_are() -> None:
    """Nothing is listed without a word about it."""
    ran = ddsim("list", "--json")
    for entries in json.loads(ran.out).values():
        assert all(
            about if isinstance(about, dict) else about.strip() for about in entries.values()
        )


def test_metrics_have_heading_unit_and_direction() -> None:
    """What a column is called, what it counts in, and whether more of it is better."""
    listed = json.loads(ddsim("list", "metrics", "--json").out)["metrics"]
    assert listed["merged_goodput"] == {
        "heading": "merged goodput",
        "unit": "share",
        "direction": "higher",
    }
    assert listed["usd_per_billion_merged_tokens"]["direction"] == "lower"


def test_list_keeps_the_registrys_order() -> None:
    """Methods stand in the order in which results stand."""
    names = list(json.loads(ddsim("list", "methods", "--json").out)["methods"])
    assert names[:5] == [
        "data_parallel",
        "elastic_data_parallel",
        "diloco",
        "streaming_diloco",
        "decoupled_diloco",
    ]


def test_bandwidth_document(starter: Path) -> None:
    """`bandwidth --json` has, for each method, what each target needs and the curve."""
    ran = ddsim("bandwidth", starter, "--target", "0.5,0.9", "--json", "--method", "diloco")
    assert ran.code == 0
    document = json.loads(ran.out)
    assert set(document) == {"convention", "results"}
    (item,) = document["results"]
    assert item["method"] == "diloco"
    assert list(item["required_gbps"]) == ["0.5", "0.9"]
    assert item["required_gbps"]["0.5"] < item["required_gbps"]["0.9"]
    assert all(len(point) == 2 for point in item["curve"])


def test_bandwidth_tables(starter: Path) -> None:
    """Both tables have every method, and the convention stands last."""
    ran = ddsim("bandwidth", starter, "--datacenters", 2)
    assert ran.code == 0
    assert ran.out.count("decoupled_diloco") >= 2
    assert "2(M-1)/M" in ran.out.splitlines()[-1]


def test_bandwidth_of_a_method_that_is_not_there_is_exit_2(starter: Path) -> None:
    """An unknown method is the user's input."""
    ran = ddsim("bandwidth", starter, "--method", "dilco")
    assert (ran.code, ran.out) == (2, "")
    assert "dilco" in ran.err
