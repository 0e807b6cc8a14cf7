"""A goal that cannot be reached ends the run, with the reason; what others did is kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command_line import ddsim as command
from scenario_text import LEAST, scenario

import ddsim
from ddsim.loading import load_text
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
    """After three years, where failures are too few to tell from."""
    often = {"name": "crash", "domain": "job", "mtbi": "2 days", "repair": "0 s"}
    (result,) = run(
        "data_parallel",
        failures__causes=[often],
        training__tokens=1e8,
        checkpoint={"policy": "none"},
    ).results
    assert "nothing was kept for three years: failures take back what it does" in reason(result)


def without_saves(mtbi: str, **settings: Any) -> MethodResult:
    """A job of 100 steps of a second that begins anew after every crash."""
    crash = {"name": "crash", "domain": "job", "mtbi": mtbi, "repair": "0 s"}
    never = {"policy": "none"}
    tokens = 100 * scenario("").training.tokens_per_step
    given = {"failures__causes": [crash], "checkpoint": never, "training__tokens": tokens}
    (result,) = run("data_parallel", **given, restart__time="0 s", **settings).results
    return result


def test_a_job_that_keeps_nothing_ends_after_a_thousand_failures() -> None:
    """None of a thousand stretches came half way."""
    result = without_saves("5 s")
    assert "it keeps nothing: every failure takes back all work" in reason(result)
    assert "there were 1,000 of them, and the furthest that it came is 0." in reason(result)
    assert result.wall_clock_s < YEAR / 12


def test_a_job_that_keeps_nothing_goes_on_while_it_may_come_there() -> None:
    """One stretch in some thousand is long enough."""
    assert without_saves("16 s").goal == "reached"


@pytest.mark.slow
@pytest.mark.parametrize("away", [False, True])
def test_a_loss_for_which_nothing_is_merged_any_more_ends_the_run(away: bool) -> None:
    """Where what is overwritten counts nothing, and all links are cut before enough was merged.

    While a unit is away it may still come back to others in its region, for a year.
    """
    cut = [{**CUT[0], "target": f"region {number}"} for number in range(4)]
    lost = [{"fault": "kill", "target": "unit 0", "at": "2 h", "for": "100 day"}] if away else []
    settings = {
        "duration": "never",
        "model": {"parameters": 8e9, "layers": 32},
        "network.bandwidth": "10 Gbit/s",
        "training": {"step_time": "60 s", "tokens_per_step": 4e6, "loss": 2.1, "quorum": 4},
        "quality": {"law": "chinchilla_besiroglu", "overwritten": 0},
        "chaos": [*({**one, "at": "1 h"} for one in cut), *lost],
    }
    (result,) = ddsim.run(load_text(LEAST, settings), ["decoupled_diloco"]).results
    assert "nothing was merged for two months: all links between regions" in reason(result)
    assert (result.wall_clock_s > 100 * 86400) == away
    assert result.wall_clock_s < YEAR / 2


def test_a_duration_is_kept_to_where_nothing_is_kept() -> None:
    """Who asks for three hours gets them."""
    assert without_saves("5 s", duration="3 h").wall_clock_s == 10800.0


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
