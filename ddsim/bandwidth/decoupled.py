"""Decoupled DiLoCo on equal learners without failures: its own recurrence.

All learners complete a step together, answer its slot together, and the slot closes at once. Its
bits leave then, whole, one exchange after another; updates commit in order; the learner waits for
one at the step boundary `overlap_steps` steps later. Every time is an array over bandwidths.
"""

from collections import deque

import numpy as np
from numpy.typing import NDArray

from ddsim.bandwidth.model import StepModel
from ddsim.bandwidth.opening import Connections
from ddsim.bandwidth.schedule import Schedule

FloatArray = NDArray[np.float64]


class DecoupledRun:
    """Learners on their own clocks, which equal speed keeps together.

    rate: bits per second that a ring gets, one entry for each bandwidth.
    """

    def __init__(self, model: StepModel, plan: Schedule, rate: FloatArray) -> None:
        self.now: FloatArray = np.zeros_like(rate)
        self._model = model
        self._plan = plan
        self._step = 0
        self._due: deque[int] = deque()  # boundary at which each transfer is awaited
        self._arrivals: deque[FloatArray] = deque()  # of each, oldest first
        self._connections = Connections(model, rate)
        self._free: FloatArray = np.zeros_like(rate)  # when the link has sent all that it was given

    def advance(self) -> None:
        """Run one step and the waits at its end."""
        self._step += 1
        self.now = self.now + self._model.step_time
        parcel = self._plan.parcel(self._step)
        if parcel is not None:
            self._due.append(self._step + self._plan.delay)
            starts = np.maximum(self._free, self.now)
            self._free = self._connections.send(starts, parcel.total)
            self._arrivals.append(self._free + self._model.collective_latency)
        while self._due and self._due[0] == self._step:
            self._due.popleft()
            self.now = np.maximum(self.now, self._arrivals.popleft())

    def settled(self) -> FloatArray:
        """Time at which all that is due by the last step has arrived."""
        return self.now

    def state(self) -> FloatArray:
        """All that the steps to come depend on, as seconds; columns are bandwidths."""
        known = np.stack((*self._arrivals, self._free)) - self.now
        return np.concatenate((np.maximum(known, 0.0), self._connections.state(self.now)))

    def backlog(self) -> FloatArray:
        """Seconds of work that the link has before it."""
        return np.maximum(self._free - self.now, 0.0)
