"""Outer gradients in few bits: what is left of a tensor after it was sent."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import ClassVar, Literal, TypeVar

import numpy as np

from ddsim.learning.errors import LearningError
from ddsim.learning.gaussian import gaussian_levels
from ddsim.learning.problem import Array
from ddsim.registry import Registry
from ddsim.users import mistake

Rounding = Literal["nearest", "stochastic"]

WHOLE = 32
"""Bits from which on a number is sent as it is."""


class Quantizer(ABC):
    """Levels that a number is sent as one of, and the scale of a block of numbers.

    A subclass registered with `quantizer(name)` is what `learning.quantization.quantizer` names; it
    is made for a number of bits, `fewest` to `most`. Numbers that are 0 stay 0, whether or not that
    is a level.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    fewest: ClassVar[int] = 1
    most: ClassVar[int] = 16

    def __init__(self, bits: int) -> None:
        self.bits = bits

    @abstractmethod
    def levels(self) -> Array:
        """Return all levels for a scale of 1, from the lowest to the highest."""

    def scale(self, blocks: Array) -> Array:
        """Return the scale of each row of numbers, 0 for one of zeros, for nearest levels."""
        return self.widest(blocks)

    def widest(self, blocks: Array) -> Array:
        """Return the scales with which the largest magnitude of a row is the highest level."""
        scales: Array = np.abs(blocks).max(axis=1) / self.sorted_levels[-1]
        return scales

    def nearest(self, x: Array) -> Array:
        """Return the level nearest to each of scaled numbers."""
        levels = self.sorted_levels
        found: Array = levels[np.searchsorted((levels[1:] + levels[:-1]) / 2.0, x)]
        return found

    def stochastic(self, x: Array, uniform: Array) -> Array:
        """Return for each number one of the levels beside it, by a uniform draw: it in the mean."""
        levels = self.sorted_levels
        x = np.clip(x, levels[0], levels[-1])
        below = np.clip(np.searchsorted(levels, x, side="right") - 1, 0, len(levels) - 2)
        share = (x - levels[below]) / (levels[below + 1] - levels[below])
        found: Array = levels[below + (uniform < share)]
        return found

    @cached_property
    def sorted_levels(self) -> Array:
        """The levels, once they have been looked at; LearningError for such as cannot be."""
        try:
            levels = np.asarray(self.levels(), float)
        except BaseException as error:
            raise LearningError(f"quantizer {self.name}: its levels: {mistake(error)}") from error
        ordered = levels.ndim == 1 and len(levels) > 1 and bool((np.diff(levels) > 0.0).all())
        if not ordered or not np.isfinite(levels).all() or levels[-1] <= 0.0:
            found = f"quantizer {self.name}: its levels at {self.bits} bits are {levels}"
            raise LearningError(f"{found}, not finite numbers in rising order, the last above 0")
        return levels


Q = TypeVar("Q", bound=type[Quantizer])
QUANTIZERS: Registry[type[Quantizer]] = Registry(
    "quantizer", attribute="name", unknown=LearningError
)

names = QUANTIZERS.names
"""Names of all quantizers."""

get = QUANTIZERS.get
"""Return the quantizer of that name; LearningError where there is none."""


def quantizer(name: str) -> Callable[[Q], Q]:
    """Register a class as the quantizer of that name; ValueError if another has it."""
    return QUANTIZERS.register(name)


def widths() -> dict[str, tuple[int, int]]:
    """Return the fewest and the most bits of each quantizer, by name."""
    return {name: (kind.fewest, kind.most) for name, kind in QUANTIZERS.items()}


@quantizer("uniform")
class Uniform(Quantizer):
    """The 2^bits - 1 evenly spaced levels between -max and max of the magnitudes, 0 among them.

    One bit: the sign times the mean magnitude (arXiv 1802.04434).
    """

    summary = "evenly spaced levels up to the largest magnitude; the mean magnitude at 1 bit"
    most = WHOLE - 1

    def levels(self) -> Array:
        """Return whole numbers, of which one is as much as the scale."""
        return np.array([-1.0, 1.0]) if self.bits == 1 else np.arange(-self._top, self._top + 1.0)

    def scale(self, blocks: Array) -> Array:
        """Return the distance between levels, which at 1 bit is to 0."""
        if self.bits == 1:
            means: Array = np.abs(blocks).mean(axis=1)
            return means
        return self.widest(blocks)

    def widest(self, blocks: Array) -> Array:
        """Return the largest magnitude over the number of levels above 0."""
        scales: Array = np.abs(blocks).max(axis=1) / self._top
        return scales

    def nearest(self, x: Array) -> Array:
        """Return the nearest level, the even one of two."""
        return np.sign(x) if self.bits == 1 else np.rint(x)

    def stochastic(self, x: Array, uniform: Array) -> Array:
        """Return the whole number below or above."""
        if self.bits == 1:
            return super().stochastic(x, uniform)
        below = np.floor(x)
        rounded: Array = below + (uniform < x - below)
        return rounded

    @property
    def _top(self) -> int:
        return max(1, (1 << (self.bits - 1)) - 1)


@quantizer("float")
class Float(Quantizer):
    """A sign and an exponent without a mantissa: 0 and powers of 2 down from the largest magnitude.

    Four bits are E3M0, three bits of exponent: 1, 1/2, ... 1/64, as outer gradients were sent in
    Streaming DiLoCo (arXiv 2501.18512).
    """

    summary = "a sign and an exponent, no mantissa: E3M0 at 4 bits"
    fewest, most = 2, 8

    def levels(self) -> Array:
        """Return 0 and both signs of the powers; the least exponent stands for 0."""
        powers = 2.0 ** -np.arange(2 ** (self.bits - 1) - 1.0)
        return np.concatenate([-powers, [0.0], powers[::-1]])


@quantizer("gaussian")
class Gaussian(Quantizer):
    """The levels with the least mean square error for a Gaussian (Lloyd and Max).

    The scale is the root mean square of a block, whose numbers are taken to have mean 0.
    """

    summary = "the best levels for a Gaussian (Lloyd-Max), by the root mean square"

    def levels(self) -> Array:
        """Return 2^bits levels for a standard deviation of 1."""
        return gaussian_levels(2**self.bits)

    def scale(self, blocks: Array) -> Array:
        """Return root mean squares."""
        squares = np.mean(blocks * blocks, axis=1, dtype=np.float64)
        scales: Array = np.sqrt(squares).astype(blocks.dtype)
        return scales


@quantizer("sign")
class Sign(Quantizer):
    """The sign, times what gives a block the norm that it had."""

    summary = "the sign alone, with a scale that keeps the norm"
    most = 1

    def levels(self) -> Array:
        """Return both signs."""
        return np.array([-1.0, 1.0])

    def scale(self, blocks: Array) -> Array:
        """Return root mean squares of what is not 0."""
        squares = np.sum(blocks * blocks, axis=1, dtype=np.float64)
        count = np.maximum(1, np.count_nonzero(blocks, axis=1))
        scales: Array = np.sqrt(squares / count).astype(blocks.dtype)
        return scales


@dataclass(frozen=True)
class Coding:
    """How a tensor is sent: a quantizer by name, bits of a number, rounding, numbers that share
    a scale (None: the whole tensor).

    Rounded stochastically, scales are such that no number lies beyond the last level: what is sent
    is the tensor in the mean.
    """

    quantizer: str = "uniform"
    bits: int = WHOLE
    rounding: Rounding = "nearest"
    block: int | None = None

    @property
    def draws(self) -> bool:
        """Whether random numbers are needed."""
        return self.bits < WHOLE and self.rounding == "stochastic"

    def scales(self, size: int) -> int:
        """Return how many scales go with a tensor of so many numbers."""
        return 0 if self.bits >= WHOLE else -(-size // (self.block or max(1, size)))

    def sent(self, tensor: Array, rng: np.random.Generator | None = None) -> Array:
        """Return a tensor as its receiver sees it; `rng` is for stochastic rounding."""
        if self.bits >= WHOLE or not tensor.size:
            return tensor
        flat = tensor.reshape(-1)
        uniform = rng.random(flat.size) if rng is not None and self.draws else None
        length = min(self.block or flat.size, flat.size)
        whole = flat.size // length * length
        seen = np.empty_like(flat)
        for start, end, width in ((0, whole, length), (whole, flat.size, flat.size - whole)):
            if end > start:
                rows = flat[start:end].reshape(-1, width)
                draws = None if uniform is None else uniform[start:end].reshape(-1, width)
                seen[start:end] = self._rows(rows, draws).reshape(-1)
        return seen.reshape(tensor.shape)

    def _rows(self, rows: Array, draws: Array | None) -> Array:
        kind = get(self.quantizer)
        try:
            rule = _made(kind, self.bits)
            scales = (rule.scale(rows) if draws is None else rule.widest(rows)).astype(rows.dtype)
            scales = np.where(scales > 0.0, scales, 0.0)[:, None]
            x = np.divide(rows, scales, out=np.zeros_like(rows), where=scales > 0.0)
            levels = rule.nearest(x) if draws is None else rule.stochastic(x, draws)
            seen: Array = levels.astype(rows.dtype, copy=False) * scales
        except LearningError:
            raise
        except BaseException as error:
            raise LearningError(f"quantizer {self.quantizer}: {mistake(error)}") from error
        seen[rows == 0.0] = 0.0
        return seen


@lru_cache(maxsize=64)
def _made(kind: type[Quantizer], bits: int) -> Quantizer:
    if not kind.fewest <= bits <= kind.most:
        takes = f"{kind.fewest} to {kind.most} bits"
        raise LearningError(f"quantizer {kind.name} takes {takes}, not {bits}")
    return kind(bits)
