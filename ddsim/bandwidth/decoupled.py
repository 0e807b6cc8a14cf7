"""Decoupled DiLoCo on equal learners without failures: its own recurrence.

All learners complete a step together, answer its slot together, and the slot closes at once. Its
bits leave then, whole; transfers in flight share the ring's rate equally; updates commit in order;
the learner waits for one at the step boundary `overlap_steps` steps later. Every time is an array
over bandwidths.
"""

from collections import deque

import numpy as np
from numpy.typing import NDArray

from ddsim.bandwidth.model import StepModel
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
        self._rate = rate
        self._step = 0
        self._due: deque[int] = deque()  # boundary at which each transfer in flight is awaited
        self._left: FloatArray = np.zeros((0, rate.size))  # bits of each, oldest first
        self._drained: FloatArray = np.zeros((0, rate.size))  # once known, else infinite
        self._committed: FloatArray = np.zeros_like(rate)  # arrival of the update before

    def advance(self) -> None:
        """Run one step and the waits at its end."""
        self._step += 1
        self._compute(self.now + self._model.step_time)
        parcel = self._plan.parcel(self._step)
        if parcel is not None:
            self._due.append(self._step + self._plan.delay)
            fresh = np.full((1, self.now.size), parcel.total)
            self._left = np.concatenate((self._left, fresh))
            self._drained = np.concatenate((self._drained, np.full_like(fresh, np.inf)))
        while self._due and self._due[0] == self._step:
            self._await_oldest()

    def settled(self) -> FloatArray:
        """Time at which all that is due by the last step has arrived."""
        return self.now

    def state(self) -> FloatArray:
        """All that the steps to come depend on, as seconds; columns are bandwidths."""
        known = np.concatenate((self._drained, self._committed[None])) - self.now
        arriving = np.where(np.isinf(known), 0.0, known + self._model.collective_latency)
        return np.concatenate((self._left / self._rate, np.maximum(arriving, 0.0)))

    def backlog(self) -> FloatArray:
        """Seconds of work that the link has before it."""
        return np.asarray(self._left.sum(axis=0) / self._rate, dtype=np.float64)

    def _await_oldest(self) -> None:
        """Wait at the boundary for the oldest update; nothing new is sent meanwhile."""
        finish = np.minimum(self._drained[0], self.now + _finish(self._left, self._rate)[0])
        self._committed = np.maximum(self._committed, finish + self._model.collective_latency)
        self._compute(np.maximum(self.now, self._committed))
        self._due.popleft()
        # one that has not drained yet cannot be here: the wait has just seen it through
        self._left, self._drained = self._left[1:], self._drained[1:]

    def _compute(self, until: FloatArray) -> None:
        """Let the transfers in flight go on until then."""
        if self._due:
            finish = self.now + _finish(self._left, self._rate)
            ended = (finish <= until) & np.isinf(self._drained)
            self._drained = np.where(ended, finish, self._drained)
            sent = _sent_by_each(self._left, self._rate, until - self.now)
            self._left = np.where(np.isinf(self._drained), np.maximum(self._left - sent, 0.0), 0.0)
        self.now = until


def _finish(left: FloatArray, rate: FloatArray) -> FloatArray:
    """Time from now until each transfer has drained, were none to join: rows are transfers."""
    order = np.argsort(left, axis=0, kind="stable")
    ascending = np.take_along_axis(left, order, axis=0)
    times = np.cumsum(_shared(ascending), axis=0) / rate
    finish = np.empty_like(left)
    np.put_along_axis(finish, order, times, axis=0)
    return finish


def _sent_by_each(left: FloatArray, rate: FloatArray, elapsed: FloatArray) -> FloatArray:
    """Bits that a transfer still in flight has moved after `elapsed` seconds of equal shares.

    Convex and piecewise linear in time, for the share grows as others end: the largest of its
    pieces. After the last end it is unbounded, which `left` bounds.
    """
    ascending = np.sort(left, axis=0)
    ends = np.cumsum(_shared(ascending), axis=0) / rate
    sent = elapsed * rate / left.shape[0]
    for j in range(left.shape[0] - 1):
        share = rate / (left.shape[0] - 1 - j)
        sent = np.maximum(sent, ascending[j] + (elapsed - ends[j]) * share)
    return np.asarray(sent, dtype=np.float64)


def _shared(ascending: FloatArray) -> FloatArray:
    """Bits that all transfers move together between one end and the next."""
    sharing = np.arange(ascending.shape[0], 0, -1)[:, None]
    return np.asarray(np.diff(ascending, axis=0, prepend=0.0) * sharing, dtype=np.float64)
