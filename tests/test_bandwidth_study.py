"""Studies of several methods, from numbers and from scenarios."""

import json
from types import SimpleNamespace
from typing import Any

import pytest

from ddsim.bandwidth import (
    METHODS,
    StepModel,
    bandwidth_study,
    every_method,
    pure_compute,
    required,
    required_bandwidth,
)

MODEL = StepModel(12e9, 48, 0.87, 24, 24, 2, 16, 4, 4)


def scenario(**training: Any) -> Any:
    """The least that a study reads."""
    settings = {
        "step_time": 0.87,
        "inner_steps": 24,
        "fragments": 24,
        "overlap_steps": 2,
        "gradient_bits": 16,
        "payload_bits": 4,
    }
    return SimpleNamespace(
        model=SimpleNamespace(parameters=12e9, layers=48),
        training=SimpleNamespace(**(settings | training)),
        cluster=SimpleNamespace(learners=4),
    )


def test_scenario_gives_what_its_numbers_give() -> None:
    """A scenario and a step model of the same numbers lead to one study."""
    ours = required_bandwidth(scenario())
    assert ours.to_dict() == bandwidth_study(every_method(MODEL)).to_dict()


def test_document_is_plain_and_complete() -> None:
    """Convention, and per method the targets by name and the curve as pairs."""
    document = json.loads(
        json.dumps(required_bandwidth(scenario(), targets=(0.5, 0.95)).to_dict(), allow_nan=False)
    )
    assert [result["method"] for result in document["results"]] == list(METHODS)
    for result in document["results"]:
        assert list(result["required_gbps"]) == ["0.5", "0.95"]
        assert {len(point) for point in result["curve"]} == {2}


def test_target_out_of_reach_is_null() -> None:
    """JSON knows no infinity."""
    slow = scenario()
    slow.network = SimpleNamespace(latency=0.05, efficiency=1.0)
    document = required_bandwidth(slow, (0.95,), methods=["data_parallel"]).to_dict()
    assert document["results"][0]["required_gbps"] == {"0.95": None}


def test_convention_names_bits_factor_and_side() -> None:
    """What a reader needs to compare with another calculator."""
    text = required_bandwidth(scenario(), methods=["data_parallel", "decoupled_diloco"]).convention
    for part in ("per site", "2(M-1)/M = 1.5", "data_parallel 16", "decoupled_diloco 4", "nominal"):
        assert part in text


def test_what_is_left_out_of_it_is_said() -> None:
    """Steps that wait for data would make every method need less, and look worse."""
    waiting = scenario()
    assert "cluster.delay" not in required_bandwidth(waiting, (0.5,)).convention
    waiting.cluster.delay = object()
    assert "cluster.delay) is left out" in required_bandwidth(waiting, (0.5,)).convention


def test_datacenters_replace_the_learners() -> None:
    """Two sites need 1 / 1.5 of what four need."""
    four, two = (required_bandwidth(scenario(), (0.5,), m, ["diloco"]) for m in (None, 2))
    assert two.results[0].required_gbps[0.5] == pytest.approx(
        four.results[0].required_gbps[0.5] / 1.5, rel=1e-9
    )


def test_results_stand_in_the_registrys_order() -> None:
    """Whatever the order of the names."""
    study = required_bandwidth(scenario(), methods=["decoupled_diloco", "data_parallel"])
    assert [result.method for result in study.results] == ["data_parallel", "decoupled_diloco"]


def test_network_and_a_methods_own_settings_count() -> None:
    """Efficiency raises the nominal need; a method may send other bits than the rest."""
    plain, own = scenario(), scenario()
    own.network = SimpleNamespace(latency=0.0, efficiency=0.5)
    own.methods = (SimpleNamespace(name="diloco"), SimpleNamespace(name="streaming_diloco"))
    wide = scenario(payload_bits=8)
    wide.network = own.network
    own.for_method = lambda name: wide if name == "diloco" else own
    got = {r.method: r.required_gbps[0.8] for r in required_bandwidth(own, (0.8,)).results}
    base = {r.method: r.required_gbps[0.8] for r in required_bandwidth(plain, (0.8,)).results}
    assert got == {
        "diloco": pytest.approx(4 * base["diloco"], rel=1e-9),
        "streaming_diloco": pytest.approx(2 * base["streaming_diloco"], rel=1e-9),
    }


def test_published_reading_prints_a_published_row() -> None:
    """The 1B row of Streaming DiLoCo with one step of overlap and 4 bits, from a scenario."""
    plan = scenario(step_time=pure_compute(0.1, 24), inner_steps=100, fragments=8, overlap_steps=1)
    plan.model = SimpleNamespace(parameters=1e9, layers=24)
    study = required_bandwidth(plan, datacenters=2, methods=["streaming_diloco"], as_published=True)
    assert list(study.results[0].required_gbps.values()) == [0.4, 0.9, 1.7, 2.0, 3.0]


def test_frames_are_tidy() -> None:
    """One row per method and target; one per method and bandwidth."""
    study = required_bandwidth(scenario(), (0.5, 0.9), gbps=[1.0, 10.0], methods=["diloco"])
    assert study.to_frame()["required_gbps"].tolist() == list(
        required("diloco", MODEL, (0.5, 0.9)).values()
    )
    assert study.curve_frame().columns.tolist() == ["method", "gbps", "utilization"]
    assert study.curve_frame()["gbps"].tolist() == [1.0, 10.0]


def test_missing_step_time_is_asked_for() -> None:
    """Neither the scenario nor the caller gives one: the message names the field."""
    with pytest.raises(ValueError, match=r"training\.step_time is not given"):
        required_bandwidth(scenario(step_time=None))
    study = required_bandwidth(scenario(step_time=None), (0.5,), step_time=0.87)
    assert study.results[0].required_gbps == required("data_parallel", MODEL, (0.5,))


def test_built_units_and_regions_come_first() -> None:
    """The slowest unit sets the pace, each unit is a site, the longest latency counts."""
    plan = scenario(step_time=None)
    plan.units = lambda: [SimpleNamespace(step_time=t) for t in (0.8, 0.87, 0.5)]
    plan.regions = lambda: {n: SimpleNamespace(latency=t) for n, t in (("a", 0.01), ("b", 0.02))}
    model = required_bandwidth(plan, (0.5,)).results[0].model
    assert (model.step_time, model.datacenters, model.latency) == (0.87, 3, 0.02)


def test_unknown_method_is_refused() -> None:
    """Names without a step model are an error that lists those that have one."""
    with pytest.raises(ValueError, match="async_sgd"):
        required_bandwidth(scenario(), methods=["async_sgd"])
