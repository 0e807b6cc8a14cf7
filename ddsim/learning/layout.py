"""Where every tensor stands in one flat vector, fragment by fragment."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from ddsim.engine.fragments import pack_greedily
from ddsim.learning.errors import LearningError
from ddsim.learning.problem import Array, Tensors


@dataclass(frozen=True)
class Layout:
    """Tensors in the order of the flat vector; a fragment is one stretch of it.

    `spans` has each tensor's stretch, `fragments` each fragment's, `members` the tensors in it.
    """

    shapes: dict[str, tuple[int, ...]]
    spans: dict[str, slice]
    fragments: tuple[slice, ...]
    members: tuple[tuple[str, ...], ...]
    size: int

    @classmethod
    def of(cls, tensors: Tensors, fragments: int) -> Layout:
        """Lay tensors out in so many fragments."""
        if not tensors:
            raise LearningError("a problem without parameters")
        shapes = {name: np.shape(value) for name, value in tensors.items()}
        members = pack_greedily({name: prod(shape) for name, shape in shapes.items()}, fragments)
        spans: dict[str, slice] = {}
        stretches = []
        at = 0
        for group in members:
            begin = at
            for name in group:
                spans[name] = slice(at, at + prod(shapes[name]))
                at = spans[name].stop
            stretches.append(slice(begin, at))
        return cls(shapes, spans, tuple(stretches), members, at)

    def views(self, flat: Array) -> dict[str, Array]:
        """Return each tensor as a view of the flat vector, or of a stack of them."""
        lead = flat.shape[:-1]
        return {
            name: flat[..., self.spans[name]].reshape((*lead, *shape))
            for name, shape in self.shapes.items()
        }

    def flatten(self, tensors: Tensors, out: Array) -> None:
        """Write tensors, or stacks of them, into a flat vector or a stack of them."""
        for name, span in self.spans.items():
            value = np.asarray(tensors[name])
            out[..., span] = value.reshape((*out.shape[:-1], span.stop - span.start))

    def matrices(self, dtype: Any = np.float32) -> Array:
        """Return 1 where a tensor has two axes or more, 0 elsewhere: what weight decay acts on."""
        mask = np.zeros(self.size, dtype)
        for name, span in self.spans.items():
            mask[span] = float(len(self.shapes[name]) > 1)
        return mask
