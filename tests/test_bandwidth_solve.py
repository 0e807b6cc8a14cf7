"""Utilization and required bandwidth: what holds for every method."""

import dataclasses
import math
from collections.abc import Callable

import numpy as np
import pytest

from ddsim.bandwidth.model import METHODS, Reading, StepModel, table_reading
from ddsim.bandwidth.solve import required, utilization

MODEL = StepModel(12e9, 48, 0.87, 24, 24, 2, 16, 4, 4)
SLOW = dataclasses.replace(MODEL, latency=0.03, efficiency=0.8)
GBPS = np.logspace(-2, 4, 121)
TARGETS = (0.05, 0.5, 0.8, 0.9, 0.95, 0.99)


@pytest.mark.parametrize("model", [MODEL, SLOW], ids=["ideal", "slow"])
@pytest.mark.parametrize("method", METHODS)
def test_required_bandwidth_just_reaches_its_target(method: str, model: StepModel) -> None:
    """Utilization at the root is the target."""
    for target, gbps in required(method, model, TARGETS).items():
        if math.isfinite(gbps):
            assert float(utilization(method, model, gbps)) == pytest.approx(target, rel=1e-9)
        else:
            assert float(utilization(method, model, math.inf)) < target


@pytest.mark.parametrize("method", METHODS)
def test_more_bandwidth_never_hurts(method: str) -> None:
    """Utilization rises with bandwidth from almost nothing to 1."""
    curve = utilization(method, MODEL, GBPS)
    assert np.all(np.diff(curve) >= -1e-12)
    assert curve[0] < 0.01
    assert curve[-1] > 0.99


@pytest.mark.parametrize("method", ["diloco", "streaming_diloco", "decoupled_diloco"])
def test_unlimited_bandwidth_is_no_network(method: str) -> None:
    """Without latency nothing is left to wait for."""
    assert float(utilization(method, MODEL, math.inf)) == pytest.approx(1.0, rel=1e-12)


def test_latency_alone_keeps_data_parallel_waiting() -> None:
    """Each step pays the 2 (M - 1) phases of one collective."""
    value = float(utilization("data_parallel", SLOW, math.inf))
    assert value == pytest.approx(0.87 / (0.87 + 6 * 0.03), rel=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_one_site_needs_no_bandwidth(method: str) -> None:
    """A ring of one sends nothing."""
    alone = dataclasses.replace(MODEL, datacenters=1)
    assert required(method, alone, (0.99,)) == {0.99: 0.0}
    assert float(utilization(method, alone, 1e-6)) == 1.0


@pytest.mark.parametrize("method", METHODS)
def test_bandwidth_scales_with_bits_and_with_the_ring(method: str) -> None:
    """Twice the parameters on 3 sites in place of 2 need 2 x 4/3 of the bandwidth."""
    two = dataclasses.replace(MODEL, datacenters=2)
    more = dataclasses.replace(MODEL, datacenters=3, parameters=24e9)
    assert required(method, more, (0.8,))[0.8] == pytest.approx(
        required(method, two, (0.8,))[0.8] * 8 / 3, rel=1e-9
    )


@pytest.mark.parametrize("method", METHODS)
def test_efficiency_is_a_smaller_link(method: str) -> None:
    """With 80% of the nominal rate the nominal rate has to be 1.25 times as large."""
    leaky = dataclasses.replace(MODEL, efficiency=0.8)
    assert required(method, leaky, (0.9,))[0.9] == pytest.approx(
        required(method, MODEL, (0.9,))[0.9] * 1.25, rel=1e-9
    )


@pytest.mark.parametrize("method", METHODS)
def test_scaling_all_times_changes_nothing(method: str) -> None:
    """Ten times the step at a tenth of the bandwidth is the same utilization."""
    slow = dataclasses.replace(MODEL, step_time=8.7)
    assert utilization(method, slow, GBPS / 10) == pytest.approx(
        utilization(method, MODEL, GBPS), rel=1e-9
    )


def test_decoupled_without_overlap_is_a_blocking_send() -> None:
    """tau = 0, K = M, P = 1: a round of H steps, then the whole payload."""
    model = StepModel(1e9, 8, 1.0, 10, 1, 0, 16, 16, 2)
    blocking = utilization("diloco", model, GBPS, Reading(release="end_of_step"))
    assert utilization("decoupled_diloco", model, GBPS) == pytest.approx(blocking, rel=1e-9)


def test_streaming_is_thinnest_and_data_parallel_widest() -> None:
    """At every target: streaming, then diloco, then data-parallel."""
    needs = [required(m, MODEL, TARGETS) for m in ("streaming_diloco", "diloco", "data_parallel")]
    for target in TARGETS:
        ordered = [need[target] for need in needs]
        assert ordered == sorted(ordered)


def test_a_run_that_awaits_nothing_needs_no_bandwidth() -> None:
    """What is due only after the last step is not waited for."""
    model = StepModel(1e9, 9, 1.0, 10, 3, 50, 16, 16, 2)
    assert required("streaming_diloco", model, (0.9,), table_reading(10, 3)) == {0.9: 0.0}


def test_curve_has_the_shape_of_its_bandwidths() -> None:
    """A number gives a number, a table a table."""
    assert utilization("diloco", MODEL, 5.0).shape == ()
    assert utilization("diloco", MODEL, [[1.0, 2.0], [3.0, 4.0]]).shape == (2, 2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: utilization("fedavg", MODEL, 1.0), "fedavg.*those that have one: data_parallel"),
        (lambda: utilization("diloco", MODEL, 0.0), "gbps"),
        (lambda: required("diloco", MODEL, (1.0,)), r"target utilization is 1\.0"),
        (lambda: StepModel(1e9, 4, 1.0, fragments=5), "fragments is 5; at most one per layer"),
        (lambda: StepModel(1e9, 4, 0.0, fragments=1), r"step_time is 0\.0"),
        (lambda: StepModel(1e9, 4, 1.0, fragments=1, overlap_steps=-1), "overlap_steps is -1"),
        (lambda: StepModel(1e9, 4, 1.0, fragments=1, efficiency=1.1), r"efficiency is 1\.1"),
        (lambda: Reading(period=0), "period is 0"),
    ],
)
def test_wrong_input_is_named(call: Callable[[], object], message: str) -> None:
    """The message says which value was refused."""
    with pytest.raises(ValueError, match=message):
        call()
