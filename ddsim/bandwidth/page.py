"""The bucket model of the interactive DiLoCo bandwidth page (arthurdouillard.com).

Forward takes a third of the step, backward the rest; what is sent leaves in equal buckets through
the backward pass onto a first-in-first-out link. Each synchronization stalls by what it outlasts
its deadline, and none knows of another: coarser than the layer recurrence, and its own published
curve.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ddsim.theory.stepping import ring_factor

FloatArray = NDArray[np.float64]


def page_utilization(
    gbps: ArrayLike,
    *,
    parameters: float,
    step_time: float,
    bits: float = 16.0,
    sites: int = 2,
    buckets: int = 128,
    period: float = 1.0,
    fragments: int = 1,
    overlap_steps: int = 0,
    steps: int | None = None,
) -> FloatArray:
    """Utilization at each bandwidth, in the shape of `gbps`.

    period: steps between two synchronizations, which may be a fraction (H / P). 1 is data-parallel,
        H diloco.
    fragments: parts of the model, of which each synchronization sends one.
    overlap_steps: steps that may pass after the one that sends.
    steps: length of the run, in which floor(steps / period) synchronizations fit; None for the
        long run.
    """
    rate = np.asarray(gbps, dtype=np.float64) * 1e9
    bucket = bits * parameters * ring_factor(sites) / fragments / buckets / rate
    index = np.arange(buckets).reshape((-1,) + (1,) * rate.ndim)
    released = step_time / 3.0 + (index + 1) / buckets * 2.0 * step_time / 3.0
    # the last bucket ends after the latest of: any bucket's release, then all from it on
    finish = (released + (buckets - index) * bucket).max(axis=0)
    stall = np.maximum(0.0, finish - (overlap_steps + 1) * step_time)
    syncs_per_step = 1.0 / period if steps is None else int(steps / period) / steps
    return np.asarray(step_time / (step_time + syncs_per_step * stall), dtype=np.float64)


def published_page(gbps: ArrayLike) -> Mapping[str, FloatArray]:
    """The page's own setting: 10B parameters, 1 s steps, 16 bits, two sites, 2,000 steps.

    diloco has H = 30; streaming_diloco H = 100, P = 16 and so a fragment every 6.25 steps, tau = 1.
    """

    def setting(period: float, fragments: int, overlap_steps: int) -> FloatArray:
        return page_utilization(
            gbps,
            parameters=10e9,
            step_time=1.0,
            period=period,
            fragments=fragments,
            overlap_steps=overlap_steps,
            steps=2000,
        )

    return {
        "data_parallel": setting(1.0, 1, 0),
        "diloco": setting(30.0, 1, 0),
        "streaming_diloco": setting(100.0 / 16.0, 16, 1),
    }
