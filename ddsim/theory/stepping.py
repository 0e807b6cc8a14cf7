"""Compute utilization of a step as a closed form of bandwidth.

The step: L layers, pure compute T_c (`step_time`) in 3L - 1 equal pieces d, forward first, then
backward by activations and by parameters from the last layer down; a layer's reduction goes onto
a first-in-first-out link once its backward is done and is needed by the same layer's forward
(tau + 1) steps later. C is the time of all bits on the link, ring factor included; no latency.
`rate` is bits per second of one site in each direction, a number or an array.

Data-parallel and DiLoCo are exact in the long run. Streaming puts the mean fragment in place of
each one. They go with the simulator behind Table 4 of arXiv 2501.18512 and Table 5 of 2502.12996.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ddsim.theory._checks import not_negative, positive

FloatArray = NDArray[np.float64]


def ring_factor(sites: int) -> float:
    """Bits that each site of a ring all-reduce sends per bit of payload: 2 (M - 1) / M."""
    if sites < 1:
        raise ValueError(f"sites is {sites!r}; a ring has at least 1")
    return 2.0 * (sites - 1) / sites


def data_parallel_utilization(
    rate: ArrayLike, *, bits: float, step_time: float, layers: int, sites: int = 2
) -> FloatArray:
    """Utilization when every layer is reduced at every step.

    T_c / max(T_c + max(C/L, 2C/L - d), Ld + 2d + C): the last, the last but one, or the first
    layer released is the one that the step waits for. bits: of the whole gradient.
    """
    whole = _seconds(rate, bits, sites)
    return step_time / (step_time + _tail(whole, step_time, layers))


def diloco_utilization(
    rate: ArrayLike,
    *,
    bits: float,
    step_time: float,
    layers: int,
    inner_steps: int,
    sites: int = 2,
) -> FloatArray:
    """Utilization when all layers are reduced after every `inner_steps` steps: one tail a round."""
    positive(inner_steps=inner_steps)
    whole = _seconds(rate, bits, sites)
    work = inner_steps * step_time
    return work / (work + _tail(whole, step_time, layers))


def streaming_window(step_time: float, *, layers: int, fragments: int, overlap_steps: int) -> float:
    """Mean time from a fragment's first release to its gate, in seconds.

    Fragment i of P holds the layers i, i + P, ..., i + (q - 1) P with q = L / P. Its last layer is
    released (2 (i + (q - 1) P) - 3) d before the end of the step, and its first is needed
    (i - 1) d into the step after `overlap_steps` more. With q = 3 the mean over i is
    T (tau + 0.6111 - 0.2778 / P), T = 3 L d.
    """
    positive(step_time=step_time, layers=layers, fragments=fragments)
    not_negative(overlap_steps=overlap_steps)
    piece = step_time / (3 * layers - 1)
    lead = 1.5 * (fragments + 1) + 2.0 * (layers - fragments) - 4.0
    return overlap_steps * step_time + lead * piece


def streaming_utilization(
    rate: ArrayLike,
    *,
    bits: float,
    step_time: float,
    layers: int,
    fragments: int,
    overlap_steps: int,
    period: float,
    sites: int = 2,
) -> FloatArray:
    """Utilization when one fragment leaves every `period` steps, in the long run.

    k T_c / max(k T_c + max(0, C/P - W), C/P): what does not fit into the window W stalls the step,
    and the link carries no more than it can. bits: of all fragments together.
    """
    positive(period=period)
    window = streaming_window(
        step_time, layers=layers, fragments=fragments, overlap_steps=overlap_steps
    )
    each = _seconds(rate, bits, sites) / fragments
    work = period * step_time
    return work / np.maximum(work + np.maximum(0.0, each - window), each)


def decoupled_utilization(
    rate: ArrayLike,
    *,
    bits: float,
    step_time: float,
    fragments: int,
    overlap_steps: int,
    period: float,
    sites: int = 2,
) -> FloatArray:
    """Utilization of equal learners on their own clocks, one fragment every `period` steps.

    Bits leave at the end of a step and are awaited `overlap_steps` boundaries later:
    k T_c / max(k T_c, C/P + max(0, k - tau) T_c). Exact for whole periods without latency.
    """
    positive(step_time=step_time, fragments=fragments, period=period)
    each = _seconds(rate, bits, sites) / fragments
    work = period * step_time
    return work / np.maximum(work, each + max(0.0, period - overlap_steps) * step_time)


def _seconds(rate: ArrayLike, bits: float, sites: int) -> FloatArray:
    """Time of `bits` of payload on the link."""
    not_negative(bits=bits)
    rates = np.asarray(rate, dtype=np.float64)
    if not np.all(rates > 0):
        raise ValueError("rate has to be above 0 everywhere")
    return np.asarray(bits * ring_factor(sites) / rates, dtype=np.float64)


def _tail(whole: FloatArray, step_time: float, layers: int) -> FloatArray:
    """Seconds by which the reduction of all layers outlasts the step that releases them."""
    positive(step_time=step_time)
    if layers < 1:
        raise ValueError(f"layers is {layers!r}; a model has at least 1")
    piece = step_time / (3 * layers - 1)
    last = whole / layers
    if layers == 1:
        return last
    tail = np.maximum(last, 2.0 * last - piece)
    return np.asarray(np.maximum(tail, whole - (2 * layers - 3) * piece), dtype=np.float64)
