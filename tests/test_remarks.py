"""What is said of a scenario before it runs, and of a result after."""

from __future__ import annotations

from math import exp, sqrt
from pathlib import Path
from typing import Any

import pytest
from command_line import ddsim as command
from scenario_text import scenario as least

import ddsim
from ddsim.methods.lockstep_job import LockstepJob
from ddsim.remarks import remarks
from ddsim.scenario import Scenario, read_text, validate
from ddsim.simulation import simulate
from ddsim.world.causes import part_failures
from ddsim.world.instants import ticks

DAY = 86400.0
GUIDE = (Path(__file__).parent.parent / "docs" / "guide.md").read_text(encoding="utf-8")
TEXT = """\
duration: 30 day
methods: [data_parallel, elastic_data_parallel]
model: {parameters: 1e9, layers: 24}
training: {step_time: 1 min}
cluster: {chips: 8, chips_per_slice: 8}
network: {regions: [east]}
failures: {detection: 10 s}
"""
STRANDED: dict[str, object] = {
    "methods": [{"data_parallel": {"checkpoint.policy": "in_memory"}}],
    "training.step_time": "2 s",
    "cluster.chips": 4096,
    "failures.chip_mtbi": f"{4096 * 10} min",
    "failures.repair": "20 min",
    "restart.time": "30 s",
}


def world(**settings: object) -> Scenario:
    """The scenario with these settings, whose keys have __ for dots."""
    named = {key.replace("__", "."): value for key, value in settings.items()}
    return validate(read_text(TEXT, "said.yaml").with_overrides(named))


def wearing(**more: Any) -> list[dict[str, Any]]:
    """A cause with lives of a day on average, whose hazard grows with the square of the age."""
    lives = {"weibull": {"shape": 3, "mean": "1 day"}}
    return [{"name": "wear", "domain": "slice", "lifetime": lives, "replace": False, **more}]


def struck(scenario: Scenario) -> int:
    """How often the scenario's only cause strikes its only part."""
    (cause,) = scenario.failures.causes
    failures = part_failures(cause, 1, scenario, 0)
    return sum(failure.time < ticks(scenario.duration) for failure in failures)


def test_strikes_on_what_is_not_replaced_are_told_beforehand() -> None:
    """That many, and their number is what it is said to be."""
    scenario = world(failures__causes=wearing())
    (said,) = remarks(scenario)
    assert said == (
        "cause wear: what is not replaced goes on at its age, so that about 15,900 strikes are to "
        "be expected in 30 day, against 30 with `replace: true`"
    )
    week = world(failures__causes=wearing(), duration="7 day")
    assert "about 241 strikes" in remarks(week)[0]
    assert struck(week) == pytest.approx(241, abs=5 * sqrt(241))


@pytest.mark.parametrize(
    "other",
    [
        {"replace": True},
        {"domain": "job"},
        {"lifetime": {"exponential": {"mean": "1 day"}}},
        {"lifetime": {"weibull": {"shape": 0.7, "mean": "1 day"}}},
    ],
)
def test_nothing_is_said_of_as_many_strikes_as_usual(other: dict[str, Any]) -> None:
    """What is renewed, or ages without getting worse, is struck no oftener."""
    assert remarks(world(failures__causes=wearing(**other))) == []


@pytest.mark.parametrize("replace", [True, False])
def test_the_process_of_a_job_is_new_after_its_failure(replace: bool) -> None:
    """Once that is detected: a life of a day and ten seconds after another, whatever `replace`."""
    scenario = world(failures__causes=wearing(domain="job", replace=replace), duration="2000 day")
    spread = 0.3635 * sqrt(2000)  # of a life, as a share of its mean
    expected = 2000 * DAY / (DAY + 10) + (0.3635**2 - 1) / 2
    assert abs(struck(scenario) - expected) < 5 * spread


def test_spares_without_failures_are_told() -> None:
    """Software and slow hardware leave every slice where it is."""
    causes = [
        {"name": "crash", "domain": "job", "mtbi": "1 day"},
        {"name": "heat", "domain": "slice", "mtbi": "1 day", "slow_to": 0.5},
        {"name": "hang", "domain": "slice", "mtbi": "1 day", "replace": False},
        {"name": "spot", "domain": "slice", "mtbi": "1 day", "unallocated": True},
    ]
    (said,) = remarks(world(restart__spares=2, failures__causes=causes))
    assert said == (
        "restart.spares: 2 stand idle throughout: nothing fails that has to be replaced"
    )


def test_spares_that_no_method_uses_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Such as those beside a method of one's own that has hardware of its own."""
    monkeypatch.setattr(LockstepJob, "uses_spares", False)
    scenario = world(restart__spares=1, failures__chip_mtbi="1 yr")
    assert remarks(scenario) == [
        "restart.spares: 1 stands idle throughout: data_parallel puts none in and "
        "elastic_data_parallel puts none in"
    ]


def test_nothing_is_said_of_spares_that_some_method_uses() -> None:
    """One method, and one failure, are enough."""
    kill = {"at": "1 h", "fault": "kill", "target": "unit 0/slice 0"}
    spared = [{"data_parallel": {"restart.spares": 1}}, "elastic_data_parallel"]
    assert remarks(world(methods=spared, failures__chip_mtbi="1 yr")) == []
    assert remarks(world(restart__spares=1, chaos=[kill], chaos_only=True)) == []


@pytest.mark.parametrize("name", ["check", "run"])
def test_commands_say_it(name: str, tmp_path: Path) -> None:
    """On stderr, unless they are to be quiet."""
    path = tmp_path / "said.yaml"
    path.write_text(TEXT + "restart: {spares: 2}\n")
    short = ["--set", "duration=1 h"]
    assert "restart.spares: 2 stand idle" in command(name, str(path), *short).err
    assert "idle" not in command(name, str(path), *short, "-q").err


@pytest.mark.parametrize("age", ["runs", "stops"])
def test_the_guide_has_what_a_stranded_job_comes_to(age: str) -> None:
    """It runs while nothing has failed for 1,240 s, or stands for as long after each failure."""
    struck = (10 + 1200 + 30) / 600  # detection, repair and restart over the mean time between
    goodput = exp(-struck) if age == "runs" else 1 / (1 + struck)
    assert f"{goodput:.2f} with `{age}`" in GUIDE
    scenario = world(**STRANDED, failures__age_while_down=age, duration="10 day")
    (result,) = ddsim.run(scenario, replications=4).results
    assert result.goodput == pytest.approx(goodput, abs=0.025)  # 5 standard errors
    (said,) = result.remarks
    assert said.startswith("data_parallel is stranded for ")


def test_a_tenth_of_the_time_is_not_long_to_be_stranded() -> None:
    """With spares nobody waits for a repair."""
    scenario = world(**STRANDED, restart__spares=8, duration="10 day")
    result = simulate(scenario, "data_parallel")
    assert result.remarks == []


def test_methods_without_a_name_are_the_default_ones() -> None:
    """What `methods:` with nothing after it says, as to what runs."""
    empty = least("methods:\n")
    assert list(remarks(empty)) == list(remarks(least()))
