"""The same scenario and seed give the same bytes, whatever else is asked for beside them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from replicated import METHODS

import ddsim

SCENARIO = """\
duration: 20 min
seed: 11
methods:
  - data_parallel: {checkpoint.policy: fixed, checkpoint.interval: 2 min, checkpoint.save: 5 s}
  - elastic_data_parallel
  - diloco
  - streaming_diloco
  - decoupled_diloco: {training.quorum: 2}
model: {parameters: 1e9, layers: 24}
training: {step_time: 1 s, payload_bits: 4}
cluster: {chips: 64, chips_per_slice: 4, learners: 4, jitter: 0.05}
network:
  regions: [north, east, south, west]
  bandwidth: 10 Gbit/s
  latency: 20 ms
  links:
    - {between: [north, east], bandwidth: 7 Gbit/s, latency: 50 ms}
failures:
  chip_mtbi: 3 h
  repair: {lognormal: {median: 2 min, sigma: 0.8}}
restart: {time: 20 s, spares: 1}
chaos:
  - {at: 5 min, fault: kill, target: unit 1, for: 3 min}
  - {at: 9 min, fault: throttle, target: south, to: 200 Mbit/s, for: 1 min}
  - {at: 12 min, fault: cut, target: north-east, for: 30 s}
"""
UNTIMED = ("elapsed_s", "version")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A scenario with everything in it that is drawn, and every kind of fault."""
    file = tmp_path / "everything.yaml"
    file.write_text(SCENARIO, encoding="utf-8")
    return file


def lasting(document: dict[str, Any]) -> bytes:
    """The document's JSON without what the simulator's own speed and version decide."""
    results = [{k: v for k, v in item.items() if k not in UNTIMED} for item in document["results"]]
    kept = {key: value for key, value in document.items() if key not in UNTIMED}
    return json.dumps({**kept, "results": results}).encode()


def alone(document: dict[str, Any]) -> bytes:
    """The same without the ratio, which is to another method."""
    results = [{k: v for k, v in item.items() if k != "ratio"} for item in document["results"]]
    return lasting({**document, "results": results})


def run(path: Path, *methods: str, **options: Any) -> dict[str, Any]:
    """The document of a run of these methods, or of all, with what it leaves out."""
    results = ddsim.run(ddsim.load(path), methods or None, **options)
    return results.to_dict(beside=True)


@pytest.mark.slow
def test_a_rerun_gives_the_same_bytes(path: Path) -> None:
    """The same file, read and run twice."""
    assert lasting(run(path)) == lasting(run(path))


@pytest.mark.slow
def test_another_seed_gives_another_result(path: Path) -> None:
    """The seed is not for show: every method meets other failures."""
    one, other = run(path, seed=1), run(path, seed=2)
    for mine, theirs in zip(one["results"], other["results"], strict=True):
        assert mine["goodput"] != theirs["goodput"]


@pytest.mark.slow
def test_the_order_of_methods_does_not_matter(path: Path) -> None:
    """Results stand in the registry's order, with the same numbers."""
    assert lasting(run(path, *METHODS)) == lasting(run(path, *reversed(METHODS)))


@pytest.mark.slow
@pytest.mark.parametrize("left_out", METHODS)
def test_adding_a_method_changes_no_others_numbers(path: Path, left_out: str) -> None:
    """All methods meet the same history, whoever else meets it."""
    full = run(path)
    others = [name for name in METHODS if name != left_out]
    full["results"] = [item for item in full["results"] if item["method"] != left_out]
    assert alone(run(path, *others)) == alone(full)


@pytest.mark.slow
def test_settings_of_one_method_change_no_others_numbers(path: Path) -> None:
    """Not even its own failures: those of the others are drawn apart from it."""
    plain = run(path)
    scenario = ddsim.load(path, {"methods": [*METHODS[:-1], {METHODS[-1]: {"training.quorum": 4}}]})
    changed = ddsim.run(scenario.choose(METHODS)).to_dict(beside=True)
    assert [item["method"] for item in changed["results"]] == list(METHODS)
    assert alone({"results": plain["results"][1:4]}) == alone({"results": changed["results"][1:4]})
    assert plain["results"][4]["merge_uptime"] != changed["results"][4]["merge_uptime"]


@pytest.mark.slow
def test_two_jobs_give_the_bytes_of_one(path: Path) -> None:
    """The number of worker processes changes nothing, the mean of replications included."""
    methods = ("data_parallel", "decoupled_diloco")
    alone = run(path, *methods, replications=3)
    shared = run(path, *methods, replications=3, jobs=2)
    assert lasting(alone) == lasting(shared)


@pytest.mark.slow
def test_replications_are_a_histories_own(path: Path) -> None:
    """A replication is another history; more of them leave the first as it is."""
    scenario = ddsim.load(path)
    one = ddsim.run(scenario, ["diloco"])["diloco"]
    three = ddsim.run(scenario, ["diloco"], replications=3)["diloco"]
    assert three.timeline == one.timeline
    assert three.goodput != one.goodput


@pytest.mark.slow
def test_another_process_gives_the_same_bytes(path: Path) -> None:
    """No result hangs on how Python hashes text, which differs from process to process."""
    printed = [
        subprocess.run(
            [sys.executable, "-m", "ddsim", "run", str(path), "--json"],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert lasting(json.loads(printed[0])) == lasting(json.loads(printed[1]))
