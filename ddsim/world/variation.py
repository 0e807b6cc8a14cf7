"""How a link's bandwidth varies: by schedule or trace, and by a random factor drawn beforehand."""

from __future__ import annotations

from math import exp, inf, sqrt
from typing import TYPE_CHECKING

import numpy as np

from ddsim.world.instants import Ticks, seconds, ticks
from ddsim.world.timeline import Timeline, product

if TYPE_CHECKING:
    from ddsim.scenario.variation import RandomSpec, Varying

_BLOCK = 256


def scheduled(bandwidth: float, part: Varying, until: Ticks) -> Timeline:
    """Return the bandwidth over time that a part's schedule or trace gives, in bit/s.

    Before the first entry it is `bandwidth`; a trace's entry before time 0 stands at 0.
    """
    if part.trace is not None:
        changes = list(part.trace.rates)
    else:
        changes = [(change.at, change.bandwidth) for change in part.schedule]
    line = Timeline.of(bandwidth, [(ticks(time), rate) for time, rate in changes])
    if part.repeat is None:
        return line
    return line.repeated(ticks(part.repeat), until)


def varied(line: Timeline, random: RandomSpec, draw: np.random.Generator, until: Ticks) -> Timeline:
    """Return `line` times its random factor, up to `until`; afterwards it stays."""
    factor = _two_state if random.kind == "two_state" else _lognormal
    return product(line, factor(random, draw, seconds(until)))


def _two_state(random: RandomSpec, draw: np.random.Generator, until: float) -> Timeline:
    """A factor of 1 and of `low` in turn, for exponential times; it starts in the long run."""
    means = (random.params["high_for"], random.params["low_for"])
    low = random.params["low"]
    state = int(draw.random() >= means[0] / (means[0] + means[1]))
    first = low if state else 1.0
    changes: list[tuple[Ticks, float]] = []
    time = 0.0
    while time < until:
        for share in draw.standard_exponential(_BLOCK).tolist():
            time += share * means[state]
            if time >= until:
                break
            state = 1 - state
            changes.append((ticks(time), low if state else 1.0))
    return Timeline.of(first, changes)


def _lognormal(random: RandomSpec, draw: np.random.Generator, until: float) -> Timeline:
    """A factor exp(x - sigma^2 / 2) of mean 1, x an autoregression of standard deviation sigma."""
    sigma, every = random.params["sigma"], random.params["every"]
    keep = exp(-every / random.params["correlation"])
    count = int(np.ceil(until / every)) if until < inf else 1
    shocks = draw.standard_normal(max(1, count)).tolist()
    level = sigma * shocks[0]
    levels = [level]
    for shock in shocks[1:]:
        level = keep * level + sqrt(1.0 - keep * keep) * sigma * shock
        levels.append(level)
    factors = np.exp(np.array(levels) - sigma * sigma / 2.0).tolist()
    return Timeline.of(factors[0], [(i * ticks(every), f) for i, f in enumerate(factors) if i])
