"""The lock-step methods: a max-plus recurrence over steps, for many bandwidths at once.

A step is L forward pieces, then (backward by activations, backward by parameters) for the layers
L .. 2, then backward by parameters for layer 1: 3 L - 1 pieces. What a layer sends is released
after its backward and drains through one first-in-first-out link; the layer's forward piece waits
for it `delay` + 1 steps later. Every time below is an array over bandwidths.
"""

from collections import deque

import numpy as np
from numpy.typing import NDArray

from ddsim.bandwidth.model import Release, StepModel
from ddsim.bandwidth.opening import Connections
from ddsim.bandwidth.schedule import Parcel, Schedule

FloatArray = NDArray[np.float64]


class LockStepRun:
    """Sites in lock-step, one step after another.

    rate: bits per second that a stream gets, one entry for each bandwidth.
    """

    def __init__(
        self, model: StepModel, plan: Schedule, rate: FloatArray, release: Release
    ) -> None:
        self.now: FloatArray = np.zeros_like(rate)
        self._model = model
        self._plan = plan
        self._seconds_per_bit = 1.0 / rate
        self._connections = Connections(model, rate)
        self._by_layer = release == "by_layer"
        self._link_free: FloatArray = np.zeros_like(rate)
        self._due: deque[tuple[int, Parcel, FloatArray]] = deque()
        self._step = 0

    def advance(self) -> None:
        """Run one step, with its waits."""
        self._step += 1
        model, piece = self._model, self._model.piece
        self._wait_at_start()
        turn = self.now + model.layers * piece  # end of the forward pass
        while self._due and self._due[0][0] == self._step:
            _, needed, arrived = self._due.popleft()
            still = (model.layers + 1 - needed.layers) * piece
            np.maximum(turn, (arrived + still[:, None]).max(axis=0), out=turn)
        self.now = turn + (2 * model.layers - 1) * piece
        parcel = self._plan.parcel(self._step)
        if parcel is not None:
            self._send(parcel, turn)

    def settled(self) -> FloatArray:
        """Time at which all that is due by the last step has arrived."""
        end = self.now
        for needed, _, arrived in self._due:
            if needed <= self._step + 1:
                end = np.maximum(end, arrived.max(axis=0))
        return end

    def state(self) -> FloatArray:
        """All that the steps to come depend on, as seconds from now; columns are bandwidths."""
        ahead = [self._link_free[None], *(arrived for _, _, arrived in self._due)]
        known = np.maximum(np.concatenate(ahead) - self.now, 0.0)
        return np.concatenate((known, self._connections.state(self.now)))

    def backlog(self) -> FloatArray:
        """Seconds of work that the link has before it; rests that are sure to come count too."""
        return np.maximum(self._link_free - self.now, 0.0)

    def _wait_at_start(self) -> None:
        """Without layers to tell apart, the step begins once all that it needs is there."""
        if self._by_layer:
            return
        while self._due and self._due[0][0] == self._step:
            _, _, arrived = self._due.popleft()
            self.now = np.maximum(self.now, arrived.max(axis=0))

    def _send(self, parcel: Parcel, turn: FloatArray) -> None:
        layers = self._model.layers
        if self._by_layer:
            # pieces from the turn to the end of each layer's backward by parameters
            pieces = np.minimum(2 * (layers + 1 - parcel.layers), 2 * layers - 1)
            released = turn + (pieces * self._model.piece)[:, None]
        else:
            released = np.broadcast_to(self.now, (parcel.layers.size, self.now.size))
        drained = self._drain(parcel, released)
        self._link_free = drained[-1]
        arrived = drained + self._model.collective_latency
        self._due.append((self._step + 1 + self._plan.delay, parcel, arrived))

    def _drain(self, parcel: Parcel, released: FloatArray) -> FloatArray:
        """Send layers, first in first out, as they are released; return when each is out."""
        if self._connections.slow:
            out, free = [], self._link_free
            for bits, release in zip(parcel.bits.tolist(), released, strict=True):
                free = self._connections.send(np.maximum(release, free), bits)
                out.append(free)
            return np.stack(out)
        sent = np.cumsum(parcel.bits)[:, None] * self._seconds_per_bit
        before = sent - parcel.bits[:, None] * self._seconds_per_bit
        started = np.maximum.accumulate(np.maximum(released, self._link_free) - before, axis=0)
        return np.asarray(started + sent, dtype=np.float64)
