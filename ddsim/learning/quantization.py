"""Outer gradients in few bits: what is left of a tensor after it was sent."""

from __future__ import annotations

import numpy as np

from ddsim.learning.problem import Array


def quantized(tensor: Array, bits: int) -> Array:
    """Return a tensor as its receiver sees it, with one scale for the whole tensor.

    Two bits and more: the nearest of the 2^bits - 1 evenly spaced levels between -max and max
    of its magnitudes, 0 among them. One bit: the sign times the mean magnitude
    (arXiv 1802.04434). 32 bits and more: the tensor itself.
    """
    if bits >= 32:
        return tensor
    size = np.abs(tensor)
    if bits == 1:
        signed: Array = np.where(tensor < 0, -size.mean(), size.mean())
        return signed.astype(tensor.dtype, copy=False)
    levels = 2 ** (bits - 1) - 1
    scale = size.max(initial=0.0) / levels
    if not scale > 0.0:
        return np.zeros_like(tensor)
    rounded = np.empty_like(tensor)
    np.rint(tensor / scale, out=rounded)
    rounded *= scale
    return rounded
