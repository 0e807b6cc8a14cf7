"""When the curve has steps: at each instant those that the accounts have as productive by then."""

from typing import Any

import pytest

from ddsim.learning import InnerConfig, LearningConfig, replay
from ddsim.loading import load_text
from ddsim.simulation import simulate

METHODS = [
    "data_parallel",
    "elastic_data_parallel",
    "diloco",
    "streaming_diloco",
    "decoupled_diloco",
]
POLICIES: dict[str, dict[str, object]] = {
    "none": {"policy": "none"},
    "fixed": {"policy": "fixed", "interval": "7 s", "save": "1.3 s"},
    "by steps": {"policy": "fixed", "interval": "3 steps", "save": "1.3 s"},
    "young": {"policy": "young", "save": "0.7 s"},
    "in_memory": {"policy": "in_memory", "save": "0.9 s"},
    "asynchronous": {"policy": "fixed", "interval": "5 s", "save": "4 s", "asynchronous": True}
    | {"stall": "0.6 s"},
}
FAILURES: dict[str, dict[str, object]] = {
    "no failures": {},
    "slices fail": {"failures": {"chip_mtbi": "40 min", "repair": "8 s", "detection": "1 s"}},
    "a unit is lost": {"chaos": [{"at": "9 s", "fault": "kill", "target": "unit 1", "for": "9 s"}]},
}
DURATION = 60.7  # no step ends at a point of the curve
POINTS = 3
STEP, CHIPS, SLICES, LEARNERS = 1.0, 64, 8, 4


def world(policy: str, failures: str) -> Any:
    """Four units of two slices, with this much going wrong and saved."""
    text = "\n".join(
        (
            "model: {parameters: 1e9, layers: 24}",
            "training: {step_time: 1 s, inner_steps: 4, fragments: 4, tokens_per_step: 64}",
            "network: {bandwidth: unlimited}",
            f"duration: {DURATION} s",
            f"cluster: {{chips: {CHIPS}, chips_per_slice: 8, learners: {LEARNERS}}}",
            "elastic: {downscale: 1.1 s, upscale: 1.7 s}",
            "restart: {time: 4.3 s, spares: 0}",
        )
    )
    return load_text(text, {"checkpoint": POLICIES[policy], **FAILURES[failures]})


@pytest.mark.parametrize(
    "failures",
    [pytest.param(n, marks=[] if FAILURES[n] else pytest.mark.slow) for n in FAILURES],
)
@pytest.mark.parametrize(
    "policy",
    [
        pytest.param(n, marks=pytest.mark.slow if n in ("by steps", "asynchronous") else [])
        for n in POLICIES
    ],
)
@pytest.mark.parametrize("method", METHODS)
def test_the_curve_has_what_a_run_up_to_then_has_done(
    method: str, policy: str, failures: str
) -> None:
    """Steps, tokens and, but for the steps in progress, productive chip-seconds."""
    scenario = world(policy, failures).for_method(method)
    (recording,) = simulate(scenario, method, tape=True).tapes
    config = LearningConfig(
        "noisy_quadratic",
        tokens=(64.0 / LEARNERS,) * LEARNERS,
        batches=(1,) * LEARNERS,
        fragments=4,
        options={"dimensions": 8, "tensors": 4},
        inner=InnerConfig("sgd"),
        evaluations=POINTS,
    )
    (curve,) = replay(recording.events, config, end=recording.end)
    for point in curve.points[1:]:
        until = simulate(scenario.with_({"duration": f"{point.time!r} s"}), method)
        assert point.steps == pytest.approx(until.steps)
        assert point.tokens == pytest.approx(until.tokens)
        share = until.accounts["productive"]
        productive = share * CHIPS * point.time / STEP  # steps of a chip, each a token
        changes = SLICES * until.failures  # chips that came or went in mid-step
        in_progress = CHIPS + 2 * changes
        assert -changes - 1e-6 <= productive - point.tokens < in_progress
