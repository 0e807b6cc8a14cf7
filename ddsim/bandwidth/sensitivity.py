"""How much faster one method is than another, over what is uncertain about links and steps."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ddsim.bandwidth.model import StepModel
from ddsim.bandwidth.solve import utilization

FloatArray = NDArray[np.float64]


def speed_ratio(
    model: StepModel,
    gbps: ArrayLike,
    method: str = "decoupled_diloco",
    base: str = "data_parallel",
) -> FloatArray:
    """How many times as many steps `method` takes as `base` in the same time, without failures.

    gbps: nominal bandwidths of a site; the result has their shape. Both compute equally long a
    step, so that it is the ratio of their utilizations.
    """
    return np.asarray(
        utilization(method, model, gbps) / utilization(base, model, gbps), dtype=np.float64
    )


def speed_ratios(
    model: StepModel,
    gbps: ArrayLike,
    step_times: Sequence[float],
    payload_bits: Sequence[float],
) -> dict[tuple[float, float], FloatArray]:
    """Speed ratios of Decoupled DiLoCo to data-parallel over bandwidths.

    Keys are (bits per parameter of outer gradients, seconds of compute of a step); each value has
    the shape of `gbps`.
    """
    return {
        (bits, seconds): speed_ratio(replace(model, payload_bits=bits, step_time=seconds), gbps)
        for bits in payload_bits
        for seconds in step_times
    }
