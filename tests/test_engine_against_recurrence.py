"""The engine without failures against the step model's recurrence."""

from __future__ import annotations

from typing import Any

import pytest
from scenario_text import scenario

import ddsim
from ddsim.bandwidth import METHODS, StepModel, reading_of, step_model, utilization
from ddsim.scenario import Scenario

EARLY, LATE = 40, 160
"""Rounds after which the start is forgotten, and at which the comparison ends."""

CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "ring": ("latency: 0 s", {}),
    "latency": ("latency: 300 ms, efficiency: 0.8", {"training.fragments": 5}),
    "fixed cost": ("latency: 5 ms, sync_cost: 0.3 s", {"training.overlap_steps": 1}),
    "parameter server": ("collective: parameter_server, latency: 10 ms", {}),
    "streams": ("latency: 50 ms, tcp: {streams: 3, loss: 1e-5}", {}),
    "end of step": ("latency: 10 ms", {"training.release": "end_of_step"}),
}
BOTH = [
    pytest.param(method, case, marks=[] if case == "ring" else [pytest.mark.slow])
    for method in METHODS
    for case in CASES
    if case != "streams" or method in ("data_parallel", "streaming_diloco", "decoupled_diloco")
]
FACTORS = (0.3, 0.8, 1.1, 2.5, 12.0)
FEWER = {"streams": (0.8, 2.5)}


def made(network: str, overrides: dict[str, Any]) -> Scenario:
    """Four units of one region each, 6 layers, 12 steps of 1 s a round, 6 fragments."""
    settings = {
        "model.layers": 6,
        "training.inner_steps": 12,
        "training.fragments": 6,
        "training.payload_bits": 8,
        **overrides,
    }
    return scenario(f"network: {{bandwidth: 1 Gbit/s, {network}}}\n", settings)


def busy(plan: Scenario, method: str, duration: float) -> float:
    """Productive seconds of a run."""
    result = ddsim.run(plan.with_({"duration": f"{duration} s"}), [method])[method]
    return result.accounts["productive"] * duration


def engine_utilization(plan: Scenario, method: str, pace: float) -> float:
    """Share of the time between two ends of rounds, `pace` seconds long, in which units compute."""
    early, late = EARLY * pace, LATE * pace
    return (busy(plan, method, late) - busy(plan, method, early)) / (late - early)


def critical(method: str, model: StepModel) -> float:
    """Gbit/s at which the link is just kept busy."""
    rounds = 1 if "data_parallel" in method else model.inner_steps
    return model.wire_bits(method) / rounds / model.step_time / model.efficiency / 1e9


@pytest.mark.slow
@pytest.mark.parametrize(("method", "case"), BOTH)
def test_utilization_is_the_recurrences_within_a_tenth_of_a_point(method: str, case: str) -> None:
    """At five bandwidths around the one that just suffices, over whole rounds far from the start.

    Decoupled's own recurrence releases bytes at the end of a step; the lock-step methods by layer
    unless the case says otherwise.
    """
    network, overrides = CASES[case]
    plan = made(network, overrides)
    model = step_model(plan)
    reading = reading_of(plan, method)
    for factor in FEWER.get(case, FACTORS):
        gbps = factor * critical(method, model)
        wanted = float(utilization(method, model, gbps, reading))
        at = plan.with_({"network.bandwidth": f"{gbps * 1e9} bit/s"})
        pace = model.inner_steps * model.step_time / wanted
        assert engine_utilization(at, method, pace) == pytest.approx(wanted, abs=1e-3)
