"""What `check` accepts runs to an end, and what `--resolved` prints of it gives the same bytes."""

from __future__ import annotations

import json
import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_scenarios import scenarios
from scenario_text import problems_of, scenario

import ddsim
from ddsim.scenario import Scenario, ScenarioError, read_text, validate

EXAMPLES = int(os.environ.get("DDSIM_ACCEPTED", "20"))
"""Scenarios to draw; 2,000 take half an hour, by hand."""

ODD: dict[str, st.SearchStrategy[Any]] = {
    "cluster.chips": st.integers(1, 60),
    "cluster.chips_per_slice": st.integers(1, 40),
    "cluster.slices_per_rack": st.integers(1, 9),
    "cluster.speed_spread": st.floats(0, 0.3),
    "cluster.delay": st.sampled_from(["0.1 s", {"exponential": {"mean": "0.2 s"}}]),
    "training.compression": st.sampled_from([1, 2, 8]),
    "training.syncer": st.sampled_from(["replicas", "partitioned", "central"]),
    "training.syncer_time": st.sampled_from(["0 s", "0.3 s"]),
    "training.tokens": st.sampled_from([1, 50, 1e9]),
    "network.efficiency": st.floats(0.1, 1.0),
    "network.ring_timeout": st.sampled_from(["never", "2 s"]),
    "restart.spares": st.integers(0, 9),
    "restart.time": st.sampled_from(["0 s", "3 s", {"lognormal": {"mean": "3 s", "sigma": 1}}]),
    "checkpoint.asynchronous": st.booleans(),
    "duration": st.sampled_from(["1 us", "1 s", "33.3 s"]),
}


@st.composite
def oddities(draw: st.DrawFn) -> dict[str, Any]:
    """A few values on top of a scenario, which may not fit it."""
    names = draw(st.lists(st.sampled_from(sorted(ODD)), max_size=4, unique=True))
    return {name: draw(ODD[name]) for name in names}


def bytes_of(world: Scenario) -> str:
    """The results of a run, without what the simulator's own speed decides."""
    document = ddsim.run(world).to_dict()
    for item in document["results"]:
        del item["elapsed_s"]
    return json.dumps(document, allow_nan=False)


def again(world: Scenario) -> Scenario:
    """The scenario that `--resolved` prints, read again."""
    return validate(read_text(world.resolved(), "resolved.yaml"))


@pytest.mark.parametrize("spares", [0, 2])
@pytest.mark.parametrize(("chips", "size"), [(17, 5), (31, 8), (31, 10)])
def test_units_smaller_than_a_slice_are_one(chips: int, size: int, spares: int) -> None:
    """Where chips do not divide evenly; spares are as large as the largest slice."""
    shape = {"cluster.chips": chips, "cluster.chips_per_slice": size, "restart.spares": spares}
    world = scenario("", shape | {"duration": "20 s"})
    assert all(unit.chips_per_slice <= unit.chips for unit in world.units())
    assert again(world) == world
    assert bytes_of(again(world)) == bytes_of(world)


def test_spares_of_two_sizes_are_refused() -> None:
    """Of units with more than one slice each."""
    units = [{"chips": 8, "chips_per_slice": 4}, {"chips": 8, "chips_per_slice": 2}]
    cluster = {"cluster": {"units": units}, "restart.spares": 1}
    assert "slices of 2 and 4 chips" in problems_of("", cluster)


@pytest.mark.slow
@given(scenarios(deep=True), oddities())
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
def test_what_is_accepted_runs_and_so_does_what_it_resolves_to(
    text: str, odd: dict[str, Any]
) -> None:
    """Whatever was drawn, as long as `check` accepts it."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "drawn.yaml"
        path.write_text(text, encoding="utf-8")
        try:
            world = ddsim.load(path, odd)
        except ScenarioError:
            return
        second = again(world)
        assert second.resolved() == world.resolved()
        assert bytes_of(second) == bytes_of(world)
