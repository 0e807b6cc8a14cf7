"""The vectorised recurrences against naive ones, step by step and in the long run."""

import numpy as np
import pytest
from bandwidth_naive import decoupled, lock_step

from ddsim.bandwidth.decoupled import DecoupledRun
from ddsim.bandwidth.model import Reading, StepModel
from ddsim.bandwidth.recurrence import LockStepRun
from ddsim.bandwidth.schedule import schedule
from ddsim.bandwidth.solve import utilization

MODELS = [
    StepModel(1e9, 6, 1.0, 12, 4, 2, 16, 4, 4),
    StepModel(1e9, 7, 0.3, 5, 7, 1, 8, 16, 3, latency=0.02),
    StepModel(2e9, 12, 2.0, 30, 5, 0, 16, 16, 2),
    StepModel(1e9, 3, 0.5, 8, 3, 11, 16, 8, 5, latency=0.1),
    StepModel(1e9, 1, 1.0, 4, 1, 1, 16, 32, 2),
]
READINGS = [Reading(), Reading(release="end_of_step"), Reading(period=3)]
FACTORS = np.array([0.2, 0.5, 0.9, 1.1, 2.0, 7.0, 60.0])


def rates(method: str, model: StepModel) -> np.ndarray:
    """Bits per second around the rate at which the link is just kept busy."""
    rounds = 1 if method == "data_parallel" else model.inner_steps
    return FACTORS * model.wire_bits(method) / rounds / model.step_time


@pytest.mark.parametrize("reading", READINGS, ids=["staggered", "end_of_step", "in_turn"])
@pytest.mark.parametrize("model", MODELS, ids=range(len(MODELS)))
@pytest.mark.parametrize("method", ["data_parallel", "diloco", "streaming_diloco"])
def test_lock_step_ends_every_step_with_the_naive_model(
    method: str, model: StepModel, reading: Reading
) -> None:
    """All bandwidths at once give the step ends of each alone."""
    rate = rates(method, model)
    run = LockStepRun(model, schedule(method, model, reading), rate, reading.release)
    ends = []
    for _ in range(100):
        run.advance()
        ends.append(run.now)
    for column, each in enumerate(rate):
        alone = lock_step(method, model, float(each), 100, reading)
        assert np.array(ends)[:, column] == pytest.approx(alone, rel=1e-9)


@pytest.mark.parametrize("model", MODELS, ids=range(len(MODELS)))
def test_decoupled_ends_every_step_with_the_naive_model(model: StepModel) -> None:
    """Transfers that share the link, waits at boundaries, updates in order."""
    rate = rates("decoupled_diloco", model)
    run = DecoupledRun(model, schedule("decoupled_diloco", model, Reading()), rate)
    ends = []
    for _ in range(100):
        run.advance()
        ends.append(run.now)
    for column, each in enumerate(rate):
        alone = decoupled(model, float(each), 100)
        assert np.array(ends)[:, column] == pytest.approx(alone, rel=1e-7)


@pytest.mark.parametrize("model", MODELS, ids=range(len(MODELS)))
@pytest.mark.parametrize("method", ["data_parallel", "diloco", "streaming_diloco"])
@pytest.mark.slow
def test_long_run_is_the_pace_of_late_steps(method: str, model: StepModel) -> None:
    """Utilization of the long run, against steps far from the start, within 0.1 points."""
    rate = rates(method, model)
    early, late = 40 * model.inner_steps, 240 * model.inner_steps
    ours = utilization(method, model, rate / 1e9)
    for value, each in zip(ours, rate, strict=True):
        ends = lock_step(method, model, float(each), late, Reading())
        pace = (ends[late - 1] - ends[early - 1]) / (late - early)
        assert value == pytest.approx(model.step_time / pace, abs=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS, ids=range(len(MODELS)))
def test_long_run_of_decoupled_is_the_pace_of_late_steps(model: StepModel) -> None:
    """The same for learners on their own clocks."""
    rate = rates("decoupled_diloco", model)
    early, late = 40 * model.inner_steps, 340 * model.inner_steps
    ours = utilization("decoupled_diloco", model, rate / 1e9)
    for value, each in zip(ours, rate, strict=True):
        ends = decoupled(model, float(each), late)
        pace = (ends[late - 1] - ends[early - 1]) / (late - early)
        assert value == pytest.approx(model.step_time / pace, abs=1e-3)
