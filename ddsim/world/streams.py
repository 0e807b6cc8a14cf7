"""Named random streams: the same name gives the same numbers, whatever else is drawn."""

from __future__ import annotations

from hashlib import sha256

import numpy as np


def stream(seed: int, *name: str | int) -> np.random.Generator:
    """Return the generator that belongs to `name` under `seed`.

    Each part of the name becomes one word of numpy's spawn key, so that streams of different
    names are independent and none moves when another is added.
    """
    key = tuple(int.from_bytes(sha256(repr(part).encode()).digest()[:4], "big") for part in name)
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key))
