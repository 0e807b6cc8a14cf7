"""Failures of many parts that age: superposed renewal streams, without an object per part."""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ddsim.world.distributions import Distribution, Exponential
from ddsim.world.distributions.base import Array

Parts = NDArray[np.int64]
_Found = tuple[Array, Parts, Array]
Renews = Literal["failed_part", "nothing", "all_parts"]

# lifetimes drawn at once: large enough for numpy, small enough for the cache
_BLOCK = 1 << 16
_HALVINGS = 64  # as many as a float has bits


@dataclass(frozen=True)
class FailureStream:
    """Failures in the order of time.

    `times` in seconds from the start, `parts` the index of the part that failed, `repairs` for how
    many seconds it was away (0 without repair); all of one length.
    """

    times: Array
    parts: Parts
    repairs: Array

    def __len__(self) -> int:
        return len(self.times)


def superposed_failures(
    dist: Distribution,
    n: int,
    horizon: float,
    rng: np.random.Generator,
    repair: Distribution | None = None,
    *,
    renews: Renews = "failed_part",
    ages: ArrayLike | None = None,
) -> FailureStream:
    """The failures of n parts with lifetimes `dist` at times in [0, horizon): see `AgingParts`."""
    return AgingParts(dist, n, rng, repair, renews=renews, ages=ages).advance(horizon)


def expected_unrenewed(dist: Distribution, n: int, span: float, away: float = 0.0) -> float:
    """Expected failures in `span` seconds of n fresh parts that nothing renews.

    Those of a part are a Poisson process in its age, of which its cumulative hazard is the mean. It
    does not age while it is away, `away` seconds a failure: it reaches the age at which age and
    mean time away make up the span. Exact without any time away, else in the limit of many.
    """
    low, high = 0.0, span
    for _ in range(_HALVINGS):
        age = (low + high) / 2.0
        if age + away * float(dist.cumulative_hazard(age)) > span:
            high = age
        else:
            low = age
    return n * float(dist.cumulative_hazard(high))


class AgingParts:
    """n parts with lifetimes `dist`, whose failures come out window by window.

    Parts are fresh at time 0 unless `ages` gives the age of each in seconds, shape (n,). While a
    part is under `repair` (None: it is back at once) it does not age. `renews` says what is new
    after a failure:

    - `failed_part`: the part that failed and no other, so that the others keep their ages;
    - `nothing`: the part goes on at the age that it had, as after a fault of its software;
    - `all_parts`: every part, and a repair stops all of them.

    Exact for every n and time, from the fresh start to the steady state. The number of draws grows
    with the number of failures, not with n; only bits are kept of parts that have never failed.
    Raises ValueError for a negative n, ages of another shape, or lifetimes whose failures would
    have no end (always 0; or bounded, where nothing is renewed).
    """

    def __init__(
        self,
        dist: Distribution,
        n: int,
        rng: np.random.Generator,
        repair: Distribution | None = None,
        *,
        renews: Renews = "failed_part",
        ages: ArrayLike | None = None,
    ) -> None:
        if n < 0:
            raise ValueError(f"n is {n}; a number of parts is needed")
        if dist.mean() <= 0.0:
            raise ValueError(f"{dist.describe()}: parts without a lifetime fail without end")
        if renews == "nothing" and math.isfinite(float(dist.quantile(1.0))):
            raise ValueError(f"{dist.describe()}: at its end an unrenewed part fails without end")
        self._dist = dist
        self._n = n
        self._rng = rng
        self._repair = repair
        self._renews = renews
        self._now = 0.0
        self._untouched = np.ones(n, dtype=np.bool_)
        # the failures already drawn and still to come: their times, parts, and ages then
        self._times, self._parts = np.empty(0), np.empty(0, dtype=np.int64)
        self._ages = np.empty(0)
        if ages is not None:
            self._start_at(np.asarray(ages, dtype=float))

    def advance(self, until: float) -> FailureStream:
        """The failures at times in [now, until), after which `now` is `until`.

        What is drawn, though not its law, depends on the windows asked for. Raises ValueError for
        an `until` that lies before now or is not finite.
        """
        if not self._now <= until < math.inf:
            raise ValueError(f"until is {until:g} s; it must be finite, from {self._now:g} s on")
        if self._n == 0 or until == self._now:
            found = _stream([])
        elif isinstance(self._dist, Exponential) and self._repair is None:
            found = self._poisson(self._dist.mean_life, until)
        elif self._renews == "all_parts":
            found = self._whole(until)
        else:
            self._draw_first_failures(until)
            found = self._each(until)
        self._now = until
        return found

    def _start_at(self, ages: Array) -> None:
        if ages.shape != (self._n,):
            raise ValueError(f"ages have the shape {ages.shape}; {self._n} of them are needed")
        times = self._dist.sample_residual(self._rng, ages)
        if self._renews == "all_parts" and self._n:
            first = int(np.argmin(times))
            self._keep(times[[first]], np.array([first]), ages[[first]])
        else:
            self._keep(times, np.arange(self._n), ages + times)
        self._untouched[:] = False

    def _keep(self, times: Array, parts: Parts, ages: Array) -> None:
        finite = np.isfinite(times)
        self._times = np.concatenate([self._times, times[finite]])
        self._parts = np.concatenate([self._parts, parts[finite]])
        self._ages = np.concatenate([self._ages, ages[finite]])

    def _take(self, until: float) -> tuple[Array, Parts, Array]:
        due = self._times < until
        taken = self._times[due], self._parts[due], self._ages[due]
        self._times, self._parts = self._times[~due], self._parts[~due]
        self._ages = self._ages[~due]
        return taken

    def _draw_first_failures(self, until: float) -> None:
        """Thinning: of the parts that never failed only those that do so now are drawn."""
        fresh = np.flatnonzero(self._untouched)
        # a life of exactly 0 belongs to the first window
        low = self._now if self._now > 0.0 else -1.0
        lived, end = self._dist.cumulative_hazard(np.array([low, until]))
        if not len(fresh) or not end > lived:
            return
        count = int(self._rng.binomial(len(fresh), -np.expm1(lived - end)))
        if not count:
            return
        chosen = fresh[self._rng.choice(len(fresh), count, replace=False, shuffle=False)]
        times = self._dist.sample_between(self._rng, low, until, count)
        self._untouched[chosen] = False
        self._keep(times, chosen, times)

    def _each(self, until: float) -> FailureStream:
        """Every part on its own, round by round until none fails before `until`."""
        times, parts, ages = self._take(until)
        found: list[_Found] = []
        while len(times):
            away = self._away(len(times))
            found.append((times, parts, away))
            back = times + away
            if self._renews == "nothing":
                life = self._dist.sample_residual(self._rng, ages)
                again = back + life
                due = again < until
                self._keep(again[~due], parts[~due], (ages + life)[~due])
                times, parts, ages = again[due], parts[due], (ages + life)[due]
            else:
                times, parts = self._cycles(back, parts, until, found)
        return _stream(found)

    def _cycles(
        self, back: Array, parts: Parts, until: float, found: list[_Found]
    ) -> tuple[Array, Parts]:
        """Draws a block of cycles for each part; returns those whose block ended before `until`."""
        m, depth = len(parts), self._depth(until - float(back.min()), len(parts))
        lives = self._dist.sample(self._rng, m * depth).reshape(m, depth)
        # the repair after the last failure of a block is drawn in the next round
        away = self._away(m * (depth - 1)).reshape(m, depth - 1)
        failed = back[:, None] + np.cumsum(lives, axis=1)
        failed[:, 1:] += np.cumsum(away, axis=1)
        due = failed < until
        inner = due[:, :-1]
        rows = np.nonzero(inner)[0]
        found.append((failed[:, :-1][inner], parts[rows], away[inner]))
        count = due.sum(axis=1)
        over = np.flatnonzero(count < depth)
        self._keep(failed[over, count[over]], parts[over], lives[over, count[over]])
        go_on = count == depth
        return failed[go_on, -1], parts[go_on]

    def _depth(self, span: float, m: int) -> int:
        # few parts with many failures each: several cycles in one draw
        cycle = self._dist.mean() + (0.0 if self._repair is None else self._repair.mean())
        expected = max(0.0, span / cycle)
        return int(min(1.0 + expected + 3.0 * math.sqrt(expected), max(1, _BLOCK // m)))

    def _whole(self, until: float) -> FailureStream:
        """All parts are new after each failure: gaps are the first failure among n fresh parts."""
        times, parts, _ = self._take(until)
        if self._untouched.any():
            self._untouched[:] = False
            gap = float(self._dist.inverse_cumulative_hazard(self._gaps(1))[0])
            self._keep(np.array([gap]), self._rng.integers(0, self._n, 1), np.array([gap]))
            times, parts, _ = self._take(until)
        found: list[_Found] = []
        depth = 64
        while len(times):
            away = self._away(1)
            found.append((times, parts, away))
            gaps = self._dist.inverse_cumulative_hazard(self._gaps(depth))
            gone = self._away(depth - 1)
            failed = times[0] + away[0] + np.cumsum(gaps)
            failed[1:] += np.cumsum(gone)
            hit = self._rng.integers(0, self._n, depth)
            count = int((failed < until).sum())
            inner = min(count, depth - 1)
            found.append((failed[:inner], hit[:inner], gone[:inner]))
            last = slice(inner, inner + 1)
            times, parts = failed[last], hit[last]
            if count < depth:
                self._keep(times, parts, gaps[last])
                break
            depth = min(2 * depth, _BLOCK)
        return _stream(found)

    def _gaps(self, depth: int) -> Array:
        # the first of n fresh parts fails when the cumulative hazard of all reaches an exponential
        return self._rng.standard_exponential(depth) / self._n

    def _poisson(self, mean: float, until: float) -> FailureStream:
        """Constant hazards superpose: one Poisson stream, each failure at any part alike."""
        count = int(self._rng.poisson(self._n * (until - self._now) / mean))
        times = np.sort(self._rng.uniform(self._now, until, count))
        return FailureStream(times, self._rng.integers(0, self._n, count), np.zeros(count))

    def _away(self, n: int) -> Array:
        return np.zeros(n) if self._repair is None else self._repair.sample(self._rng, n)


def _stream(found: list[_Found]) -> FailureStream:
    times = np.concatenate([np.empty(0), *(piece[0] for piece in found)])
    parts = np.concatenate([np.empty(0, dtype=np.int64), *(piece[1] for piece in found)])
    repairs = np.concatenate([np.empty(0), *(piece[2] for piece in found)])
    order = np.argsort(times, kind="stable")
    return FailureStream(times[order], parts[order], repairs[order])
