"""What leaves at which step: the layers that a method sends, and the bits of each."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ddsim.bandwidth.model import Reading, StepModel, is_data_parallel

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Parcel:
    """Layers that one step sends, in the order of their backward pass, last layer first.

    bits: of each layer on the wire, one row each.
    """

    layers: NDArray[np.int64]
    bits: FloatArray

    @property
    def total(self) -> float:
        """All bits of the parcel."""
        return float(self.bits.sum())


@dataclass(frozen=True, slots=True)
class Schedule:
    """A periodic plan: what step s = 1, 2, ... sends, if anything, and when it is needed.

    cycle: steps after which the plan repeats. delay: whole steps between sending and need.
    """

    cycle: int
    delay: int
    parcel: Callable[[int], Parcel | None]

    def bits_per_cycle(self) -> float:
        """Bits on the wire in one cycle, per site and direction."""
        parcels = (self.parcel(step) for step in range(1, self.cycle + 1))
        return sum(parcel.total for parcel in parcels if parcel is not None)


def schedule(method: str, model: StepModel, reading: Reading) -> Schedule:
    """The plan of `method`."""
    if is_data_parallel(method):
        whole = _whole(method, model)
        return Schedule(1, 0, lambda step: whole)
    if method == "diloco":
        whole = _whole(method, model)
        rounds = model.inner_steps
        return Schedule(rounds, 0, lambda step: whole if step % rounds == 0 else None)
    if reading.period is None:
        return _staggered(method, model)
    return _in_turn(method, model, reading.period)


def _staggered(method: str, model: StepModel) -> Schedule:
    """Fragment p at the steps s with s mod H = floor(p H / P)."""
    due: dict[int, list[int]] = {}
    for p in range(model.fragments):
        due.setdefault(p * model.inner_steps // model.fragments, []).append(p)
    parcels = {offset: _fragments(method, model, which) for offset, which in due.items()}
    rounds = model.inner_steps
    return Schedule(rounds, model.overlap_steps, lambda step: parcels.get(step % rounds))


def _in_turn(method: str, model: StepModel, period: int) -> Schedule:
    """Fragments 0, 1, ... in turn, at the steps 1, 1 + period, ..."""
    parcels = [_fragments(method, model, [p]) for p in range(model.fragments)]

    def parcel(step: int) -> Parcel | None:
        turn, off = divmod(step - 1, period)
        return None if off else parcels[turn % len(parcels)]

    return Schedule(period * model.fragments, model.overlap_steps, parcel)


def _whole(method: str, model: StepModel) -> Parcel:
    bits = model.wire_bits(method) / model.layers
    layers = np.arange(model.layers, 0, -1, dtype=np.int64)
    return Parcel(layers, np.full(model.layers, bits))


def _fragments(method: str, model: StepModel, which: list[int]) -> Parcel:
    """Fragments of equal size; fragment p holds every P-th layer from layer p + 1 on."""
    size = model.wire_bits(method) / model.fragments
    bits = np.zeros(model.layers + 1)
    for p in which:
        held = np.arange(p + 1, model.layers + 1, model.fragments)
        bits[held] = size / held.size
    layers = np.flatnonzero(bits)[::-1].astype(np.int64)
    return Parcel(layers, bits[layers])
