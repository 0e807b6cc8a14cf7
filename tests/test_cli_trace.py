"""`ddsim trace`: what a log says, how it is fitted, and what a scenario makes of it."""

import json
from pathlib import Path

import numpy as np
import pytest
from command_line import ddsim

from ddsim.loading import load
from ddsim.scenario import shipped

TRACE = Path(str(shipped.folder())) / "spot_trace.csv"
REST = """
duration: 10 day
model: {parameters: 1e9, layers: 24}
training: {step_time: 1 min}
cluster: {chips: 64, chips_per_slice: 8, learners: 4}
"""


def test_a_trace_is_summed_up_fitted_and_turned_into_a_scenario() -> None:
    """The three parts stand in the document, and only it on stdout."""
    ran = ddsim("trace", TRACE, "--json")
    document = json.loads(ran.out)
    assert (ran.code, list(document)) == (0, ["summary", "fit", "snippet"])
    assert document["summary"]["peak"] == 32
    aic = [item["aic"] for item in document["fit"]["fits"]]
    assert aic == sorted(aic)
    assert len(aic) == 6


def test_a_table_says_the_same() -> None:
    """Without --json people read it."""
    ran = ddsim("trace", TRACE)
    assert ran.code == 0
    for text in ("node_events", "best first", "exponential", "failures:", "# trace:"):
        assert text in ran.out


@pytest.mark.parametrize("early", [0.5, 1.0])
def test_the_snippet_of_a_table_of_lifetimes_is_part_of_a_scenario(
    tmp_path: Path, early: float
) -> None:
    """Whatever family fits best, mixtures included, the snippet loads."""
    rng = np.random.default_rng(5)
    lives = np.concatenate([rng.weibull(early, 300) * 60.0, 9e4 * rng.weibull(9.0, 300)])
    table = tmp_path / "lives.csv"
    table.write_text("lifetime_s\n" + "".join(f"{life + 1e-3}\n" for life in lives))
    document = json.loads(ddsim("trace", table, "--json").out)
    assert document["fit"]["fits"][0]["kind"] == "mixture"
    file = tmp_path / "scenario.yaml"
    file.write_text(REST + document["snippet"])
    (cause,) = load(file).failures.causes
    assert cause.lifetime is not None
    assert cause.lifetime.kind == "mixture"


def test_what_was_mended_is_said_on_stderr(tmp_path: Path) -> None:
    """Rows out of order are put in order, and it says so."""
    file = tmp_path / "events.csv"
    file.write_text("60000,add,b\n0,add,a\n120000,remove,a\n")
    ran = ddsim("trace", file)
    assert ran.code == 0
    assert "line" in ran.err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("some,thing,else\n1,2,3,4\n", "unknown kind of trace"),
        ("0,remove,node1\n60000,remove,node1\n", "no node ever comes"),
        ("", "odd.csv"),
    ],
)
def test_a_file_that_is_no_trace_is_the_users_input(tmp_path: Path, text: str, said: str) -> None:
    """One message with the file and what is allowed, exit code 2."""
    file = tmp_path / "odd.csv"
    file.write_text(text)
    ran = ddsim("trace", file)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err


def test_a_trace_that_a_scenario_cannot_replay_is_the_users_input(tmp_path: Path) -> None:
    """A table of lifetimes has no number of nodes over time."""
    table = tmp_path / "lives.csv"
    table.write_text("lifetime_s\n10\n20\n")
    ran = ddsim("run", "spot_trace", "--set", f"trace.file={table}")
    assert ran.code == 2
    assert "can be replayed" in ran.err


def test_help_gives_an_example() -> None:
    """As every command does."""
    ran = ddsim("trace", "--help")
    assert (ran.code, "Example" in ran.out) == (0, True)


def test_fewer_nodes_than_failed_are_refused(tmp_path: Path) -> None:
    """Rates by node would be too high."""
    log = tmp_path / "failures.csv"
    rows = [f"2026-01-0{day}T00:00:00Z,node{day},gpu" for day in (1, 2, 3)]
    log.write_text("time,node,cause\n" + "\n".join(rows) + "\n")
    ran = ddsim("trace", log, "--nodes", 2)
    assert ran.code == 2
    assert "failures of 3 nodes" in ran.err
    assert "at least 3 nodes" in ran.err
