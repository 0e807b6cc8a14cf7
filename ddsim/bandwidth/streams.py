"""Utilization over what makes a stream slow: the round trip, the loss, and how many there are."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ddsim.bandwidth.model import LONG_RUN, Reading, StepModel
from ddsim.bandwidth.solve import utilization
from ddsim.theory import tcp

FloatArray = NDArray[np.float64]

MOST_STREAMS = 1 << 16
"""Beyond so many streams a target counts as out of reach."""


def with_streams(
    model: StepModel,
    streams: int,
    congestion: tcp.Congestion = "cubic",
    window: float = tcp.DEFAULT_WINDOW,
    loss: float = 0.0,
    mtu: float = tcp.MTU,
) -> StepModel:
    """The step model with so many streams at its round trip, in place of an efficiency."""
    return replace(
        model,
        streams=streams,
        stream_rate=tcp.stream_rate(model.round_trip, congestion, window, loss, mtu),
        first_window=tcp.first_window(1, mtu),
        efficiency=1.0 - loss,
    )


def over_round_trips(
    method: str,
    model: StepModel,
    gbps: float,
    round_trips: Sequence[float],
    streams: int,
    congestion: tcp.Congestion = "cubic",
    loss: float = 0.0,
) -> FloatArray:
    """Compute utilization at each round trip (s), over so many streams of Linux's window."""
    there = [replace(model, latency=round_trip / 2.0) for round_trip in round_trips]
    made = [with_streams(each, streams, congestion, loss=loss) for each in there]
    return np.array([float(utilization(method, each, gbps)) for each in made])


def over_losses(
    method: str,
    model: StepModel,
    gbps: float,
    losses: Sequence[float],
    streams: int,
    congestion: tcp.Congestion = "cubic",
) -> FloatArray:
    """Compute utilization at each loss, over so many streams of Linux's window."""
    made = [with_streams(model, streams, congestion, loss=loss) for loss in losses]
    return np.array([float(utilization(method, each, gbps)) for each in made])


def least_streams(
    method: str,
    model: StepModel,
    target: float,
    gbps: float = math.inf,
    reading: Reading = LONG_RUN,
) -> int | None:
    """The least number of streams, like the model's, that reach a utilization; None where none do.

    gbps: nominal bandwidth of a site; links without limit unless given.
    """

    def reaches(streams: int) -> bool:
        with_them = replace(model, streams=streams)
        return float(utilization(method, with_them, gbps, reading)) >= target

    if not reaches(MOST_STREAMS):
        return None
    low, high = 0, 1
    while not reaches(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reaches(middle) else (middle, high)
    return high
