"""What is said of settings: when saves are, what nobody reads, saves that leave no time."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import ddsim as command
from study_case import small, small_file

import ddsim
from ddsim.remarks import _BUILT_IN, _READERS, remarks, saves_in_use
from ddsim.scenario import shipped
from ddsim.theory import optimal_interval

SAVES = {"checkpoint.save": "1 min", "failures.chip_mtbi": "100 day", "methods": ["data_parallel"]}
OTHER: dict[str, object] = {
    "training.inner_steps": 7,
    "training.payload_bits": 3,
    "training.overlap_steps": 1,
    "training.quorum": 2,
    "training.grace": 0.1,
    "training.apply": "at_tau",
    "training.below_quorum": "step_on",
    "training.syncer": "central",
    "training.syncer_time": "1 s",
    "training.mixing": 0.5,
    "training.on_failure": "drop",
    "training.gradient_bits": 8,
    "elastic.downscale": "99 s",
    "elastic.upscale": "99 s",
}
"""A value of each setting that is not the usual one; policies want replicas."""


@pytest.mark.parametrize("method", _BUILT_IN)
def test_what_a_method_is_said_not_to_read_changes_nothing(method: str, tmp_path: Path) -> None:
    """All of it at once, with failures, against the same run without."""
    assert {*OTHER, "training.policy"} == set(_READERS)
    often = {"failures.chip_mtbi": "1 day", "duration": "10 min", "methods": [method]}
    scenario = small(tmp_path).with_(often)
    unread = {path: value for path, value in OTHER.items() if method not in _READERS[path]}
    one, other = (ddsim.run(item)[method] for item in (scenario, scenario.with_(unread)))
    assert (one.accounts, one.tokens_merged, one.wan) == (
        other.accounts,
        other.tokens_merged,
        other.wan,
    )
    (said,) = [line for line in remarks(scenario.with_(unread)) if "read by none" in line]
    assert all(path in said for path in unread)


def test_an_interval_beside_a_policy_that_works_one_out_is_said(tmp_path: Path) -> None:
    """Nobody believes that it was heard; with a fixed policy it is."""
    given = small(tmp_path).with_(SAVES | {"checkpoint.interval": "5 min"})
    optimal = given.with_({"checkpoint.policy": "optimal"})
    (said,) = [line for line in remarks(optimal) if "interval" in line]
    assert said.endswith("(data_parallel): checkpoint.interval; checkpoint.policy is optimal")
    assert not any(
        "interval" in line for line in remarks(given.with_({"checkpoint.policy": "fixed"}))
    )


def test_what_the_file_says_for_methods_that_were_not_chosen_is_not_told() -> None:
    """But what was set along with the choice is, where none of the chosen reads it."""
    scenario = ddsim.load("four_regions_12b")
    assert not any("read by none" in line for line in remarks(scenario.choose(["data_parallel"])))
    chosen = ddsim.load("four_regions_12b", {"training.grace": 0.5}).choose(["data_parallel"])
    (said,) = [line for line in remarks(chosen) if "read by none" in line]
    assert said.endswith("(data_parallel): training.grace")


def test_a_resolved_scenario_says_what_the_scenario_says(tmp_path: Path) -> None:
    """Everything stands in it, most of it as it would be anyway."""
    scenario = small(tmp_path)
    again = tmp_path / "again.yaml"
    again.write_text(scenario.resolved())
    assert remarks(ddsim.load(str(again))) == remarks(scenario)


@pytest.mark.parametrize(("policy", "share"), [("optimal", 1.0), ("young", 2.0), ("daly", 2.0)])
def test_the_interval_in_use_is_said(policy: str, share: float, tmp_path: Path) -> None:
    """In the tables, the document and the resolved scenario, also where it was worked out."""
    settings = [f"--set={path}={value}" for path, value in SAVES.items() if path != "methods"]
    arguments = (small_file(tmp_path), *settings, f"--set=checkpoint.policy={policy}")
    words = saves_in_use(ddsim.load(str(arguments[0]), {}).choose(["data_parallel"]))
    assert words == ["data_parallel saves after every step (checkpoint.policy in_memory)"]
    resolved = command("check", *arguments, "--resolved").out
    assert "# elastic_data_parallel saves every " in resolved
    result = ddsim.run(small(tmp_path).with_(SAVES | {"checkpoint.policy": policy}))
    found = result.to_dict()["results"][0]["checkpoint"]
    best = optimal_interval(100 * 86400.0 / 256, 60.0)
    assert best / share <= found["interval_s"] <= best * share * (1 + 1e-9)


def test_a_save_in_memory_that_leaves_no_time_is_said(tmp_path: Path) -> None:
    """It follows every step, whatever it takes."""
    scenario = small(tmp_path).with_({"checkpoint.save": "5 min"}).choose(["data_parallel"])
    (said,) = [line for line in remarks(scenario) if "in_memory" in line]
    assert "each of 5 min holds up steps of 2 s: at most 0.0066 of the time is left" in said


@pytest.mark.parametrize("name", shipped.names())
def test_shipped_scenarios_set_nothing_in_vain(name: str) -> None:
    """As they are shipped, with the methods that they name."""
    assert not any("read by none" in line for line in remarks(ddsim.load(name)))
