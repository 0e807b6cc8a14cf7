"""Slow start for many bandwidths at once."""

import numpy as np
from numpy.typing import NDArray

from ddsim.bandwidth.model import StepModel

FloatArray = NDArray[np.float64]

_TIE = 1e-9  # of a round trip: sums of times differ by rounding


class Connections:
    """The connections that exchanges are sent over, one entry for each bandwidth.

    They are idle a round trip after their last bit, and then start with `first` bits in a round
    trip, twice as many in each that follows, until one lasts for a round trip at the rate; what
    does not fill its last window goes at that rate.
    """

    def __init__(self, model: StepModel, rate: FloatArray) -> None:
        self._round_trip = model.round_trip
        self._first = model.first
        self._rate = rate
        self.slow = model.streams is not None and model.round_trip > 0.0
        self._window = np.full_like(rate, np.inf)
        self._room = np.full_like(rate, np.inf)
        self._ends = np.zeros_like(rate)
        self._last = np.full_like(rate, -np.inf)

    def send(self, start: FloatArray, bits: float) -> FloatArray:
        """Send bits from then on; return when the last is out."""
        if not self.slow:
            return start + bits / self._rate
        idle = start - self._last >= self._round_trip * (1.0 - _TIE)
        window = np.where(idle, self._first, self._window)
        room = np.where(idle, self._first, self._room)
        ends = np.where(idle, start + self._round_trip, self._ends)
        now, left = start, np.full_like(start, bits)
        while True:
            over = (now >= ends) & (window < np.inf)
            if over.any():
                window = np.where(over & (room <= 0.0), 2.0 * window, window)
                room = np.where(over, window, room)
                ends = np.where(over, now + self._round_trip, ends)
            opened = room >= self._rate * (ends - now)
            window, room = np.where(opened, np.inf, window), np.where(opened, np.inf, room)
            held = left > room
            if not held.any():
                break
            left = np.where(held, left - room, left)
            now = np.where(held, ends, now)
            room = np.where(held, 0.0, room)
        self._window, self._room, self._ends = window, room - left, ends
        self._last = now + left / self._rate
        return self._last

    def state(self, now: FloatArray) -> FloatArray:
        """All that later exchanges depend on, as seconds; columns are bandwidths."""
        if not self.slow:
            return np.empty((0, now.size))
        warm = np.maximum(self._last + self._round_trip - now, 0.0)
        held = (warm > 0.0) & (self._window < np.inf)
        rows = (self._window / self._rate, self._room / self._rate, self._ends - now)
        return np.stack([warm, *(np.where(held, row, 0.0) for row in rows)])
