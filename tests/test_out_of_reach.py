"""A goal that cannot be reached ends the run, with the reason; what others did is kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command_line import ddsim as command
from scenario_text import scenario

import ddsim
from ddsim.results import MethodResult, Results

EVER = {"duration": "never", "training.tokens": 1e3}
YEAR = 31_557_600.0
METHODS = ("data_parallel", "diloco", "streaming_diloco", "decoupled_diloco")


def kill(*targets: str) -> list[dict[str, str]]:
    """Units that are gone for good after 5 s."""
    return [{"at": "5 s", "fault": "kill", "target": unit, "for": "never"} for unit in targets]


ALL = kill("unit 0", "unit 1", "unit 2", "unit 3")
CUT = [{"at": "5 s", "fault": "cut", "target": "region 1", "for": "never"}]


def run(*methods: str, **settings: Any) -> Results:
    """Four units without failures, to a thousand tokens, however long that takes."""
    named = {name.replace("__", "."): value for name, value in settings.items()}
    return ddsim.run(scenario("", {**EVER, **named}), methods)


def reason(result: MethodResult) -> str:
    """Why a goal is out of reach."""
    assert isinstance(result.goal, dict)
    return str(result.goal["unreachable"])


@pytest.mark.parametrize("method", METHODS)
def test_hardware_that_never_comes_back_ends_the_run(method: str) -> None:
    """A year after the last of it went."""
    (result,) = run(method, chaos=ALL).results
    assert "its hardware does not come back" in reason(result)
    assert YEAR <= result.wall_clock_s <= 1.2 * YEAR


@pytest.mark.parametrize("method", ["data_parallel", "diloco"])
def test_a_link_cut_for_good_ends_the_run(method: str) -> None:
    """Of whoever waits for what is to cross it."""
    network = {"bandwidth": "1 Gbit/s"}
    (result,) = run(method, chaos=CUT, network=network, training__inner_steps=2).results
    assert "it waits for bytes that do not get through" in reason(result)


def test_who_reaches_the_goal_keeps_its_result() -> None:
    """An elastic job goes on without what a rigid one cannot do without."""
    rigid, elastic = run("data_parallel", "elastic_data_parallel", chaos=kill("unit 0")).results
    assert "does not come back" in reason(rigid)
    assert elastic.goal == "reached"
    assert elastic.tokens == pytest.approx(1e3, rel=0.01)


@pytest.mark.slow
def test_work_that_is_always_taken_back_ends_the_run() -> None:
    """A job that needs an hour without a failure, of which it has one every ten minutes."""
    often = {"name": "crash", "domain": "job", "mtbi": "1 day", "repair": "0 s"}
    (result,) = run(
        "data_parallel",
        failures__causes=[often],
        training__tokens=1e8,
        checkpoint={"policy": "none"},
    ).results
    assert "nothing was kept for three years: failures take back what it does" in reason(result)


def test_a_duration_that_ends_first_is_said_with_what_was_done() -> None:
    """The run is whole, its goal is not reached."""
    (result,) = run("data_parallel", duration="100 s", training__tokens=1e8).results
    assert "tokens in 0.02778 h" in reason(result)
    assert result.wall_clock_s == 100.0


def test_without_a_goal_there_is_none() -> None:
    """Neither reached nor out of reach."""
    (result,) = ddsim.run(scenario("", {"duration": "100 s"}), ["data_parallel"]).results
    assert result.goal is None


def test_the_exit_code_says_whether_any_method_reaches_it(tmp_path: Path) -> None:
    """0 while one does, else 1; the document has both."""
    path = tmp_path / "goal.yaml"
    chaos = kill("unit 0")
    path.write_text(scenario("", {**EVER, "chaos": chaos}).resolved())

    def ran(*methods: str) -> tuple[int, list[Any]]:
        chosen = [word for name in methods for word in ("--method", name)]
        found = command("run", path, "--json", *chosen)
        return found.code, [item["goal"] for item in json.loads(found.out)["results"]]

    code, goals = ran("data_parallel", "elastic_data_parallel")
    assert (code, goals[1]) == (0, "reached")
    code, (goal,) = ran("data_parallel")
    assert (code, list(goal)) == (1, ["unreachable"])
