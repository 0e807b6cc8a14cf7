"""Closed forms of utilization against the recurrence and the published tables."""

import numpy as np
import pytest

from ddsim.bandwidth.model import Reading, StepModel
from ddsim.bandwidth.solve import utilization
from ddsim.bandwidth.tables import published_grid, published_row
from ddsim.reference import Row, rows
from ddsim.theory import stepping

GBPS = np.logspace(-2, 4, 61)
MODELS = [
    StepModel(1e9, 24, 0.1, 100, 8, 1, 16, 4, 2),
    StepModel(12e9, 40, 0.87, 24, 20, 2, 16, 16, 4),
    StepModel(1e9, 2, 1.0, 10, 2, 0, 8, 16, 3),
    StepModel(1e9, 1, 1.0, 10, 1, 0, 16, 16, 2),
]


@pytest.mark.parametrize(("sites", "factor"), [(1, 0.0), (2, 1.0), (4, 1.5), (1000, 1.998)])
def test_ring_factor(sites: int, factor: float) -> None:
    """2 (M - 1) / M: nothing alone, the payload once for two, twice for many."""
    assert stepping.ring_factor(sites) == pytest.approx(factor, rel=1e-12)


@pytest.mark.parametrize("model", MODELS, ids=range(len(MODELS)))
def test_data_parallel_is_exact(model: StepModel) -> None:
    """Closed form and recurrence agree at every bandwidth."""
    closed = stepping.data_parallel_utilization(
        GBPS * 1e9,
        bits=model.gradient_bits * model.parameters,
        step_time=model.step_time,
        layers=model.layers,
        sites=model.datacenters,
    )
    assert closed == pytest.approx(utilization("data_parallel", model, GBPS), rel=1e-9)


@pytest.mark.parametrize("model", MODELS, ids=range(len(MODELS)))
def test_diloco_is_exact(model: StepModel) -> None:
    """Closed form and recurrence agree at every bandwidth."""
    closed = stepping.diloco_utilization(
        GBPS * 1e9,
        bits=model.payload_bits * model.parameters,
        step_time=model.step_time,
        layers=model.layers,
        inner_steps=model.inner_steps,
        sites=model.datacenters,
    )
    assert closed == pytest.approx(utilization("diloco", model, GBPS), rel=1e-9)


@pytest.mark.parametrize("period", [1, 2, 3, 7])
@pytest.mark.parametrize("overlap", [0, 1, 2, 5])
def test_decoupled_is_exact_without_latency(period: int, overlap: int) -> None:
    """One fragment every k steps, awaited tau boundaries later."""
    model = StepModel(1e9, 6, 1.0, 6 * period, 6, overlap, 16, 8, 3)
    closed = stepping.decoupled_utilization(
        GBPS * 1e9,
        bits=model.payload_bits * model.parameters,
        step_time=model.step_time,
        fragments=model.fragments,
        overlap_steps=overlap,
        period=period,
        sites=model.datacenters,
    )
    ours = utilization("decoupled_diloco", model, GBPS, Reading(period=period))
    assert closed == pytest.approx(ours, rel=1e-9)


def test_streaming_window_of_three_layers() -> None:
    """T (tau + 0.6111 - 0.2778 / P), less the piece of tau steps that is not computed."""
    layers, fragments, piece = 24, 8, 0.1 / 72
    window = stepping.streaming_window(
        71 * piece, layers=layers, fragments=fragments, overlap_steps=1
    )
    assert window == pytest.approx(0.1 * (1 + 0.6111 - 0.2778 / 8) - piece, abs=1e-5)


STREAMING = [
    row
    for row in rows("streaming_diloco_bandwidth_table4")
    if row["method"].startswith("Streaming")
]


@pytest.mark.parametrize("row", STREAMING, ids=lambda r: f"{r['model']} {r['method']}")
def test_streaming_reaches_the_published_utilizations_within_a_grid_step(row: Row) -> None:
    """Over the published bandwidths the closed form's requirement lies within one step."""
    read = published_row(row)
    model, grid = read.model, published_grid()
    assert read.reading.period is not None
    closed = stepping.streaming_utilization(
        grid * 1e9,
        bits=model.payload_bits * model.parameters,
        step_time=model.step_time,
        layers=model.layers,
        fragments=model.fragments,
        overlap_steps=model.overlap_steps,
        period=read.reading.period,
    )
    exact = utilization(read.method, model, grid, read.reading)
    for target in (0.5, 0.8, 0.9, 0.95):
        apart = int(np.argmax(closed >= target)) - int(np.argmax(exact >= target))
        assert abs(apart) <= 1
