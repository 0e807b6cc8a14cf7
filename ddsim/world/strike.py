"""A failure, as it stands in a history."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Strike(NamedTuple):
    """One failure: at `time`, the slices of these indices in unit `unit` go down.

    They are noticed after `detection` seconds and are back `repair` seconds later, unless a
    method puts spares in their place. `cause` names what struck.
    """

    time: float
    unit: int
    slices: Sequence[int]
    detection: float
    repair: float
    cause: str
