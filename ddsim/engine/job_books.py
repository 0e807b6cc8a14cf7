"""The chip-seconds of a lock-step job, booked for all of its units at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ddsim.engine.ledger import Account
from ddsim.world.instants import SECOND, Ticks

if TYPE_CHECKING:
    from ddsim.engine.body import Body
    from ddsim.engine.kept import Unsaved
    from ddsim.engine.step import Step

_PRODUCTIVE = Account.PRODUCTIVE
_EXPOSED = Account.EXPOSED_COMMUNICATION
_WAITING = Account.WAITING_ON_PEERS
_LOADING = Account.WAITING_ON_DATA


def book_compute(body: Body, step: Step, after: Ticks, start: Ticks, elapsed: Ticks) -> None:
    """Book `elapsed` from `start` on, in which a step came from where it is to `after`.

    What a unit has computed is productive and added to the step's `work`; before that it waits for
    its data, and once it is through for the others.
    """
    before = step.done
    if step.even:
        body.sheet.spend(_PRODUCTIVE, after - before)
        return
    post = body.ledger.post
    for index, unit in enumerate(body.units):
        if unit.healthy:
            time, there = step.times[index], step.data[index]
            passed = min(time, after) - min(time, before)
            loading = min(there, after) - min(there, before)
            worked = (passed - loading) * unit.healthy
            productive = worked * step.rates[index] / SECOND
            step.work[index] += productive
            post(unit.index, _PRODUCTIVE, productive)
            if step.rates[index] < 1.0:
                body.degrade(unit, worked / SECOND - productive)
            if loading:
                post(unit.index, _LOADING, loading * unit.healthy / SECOND)
                end = start + loading
                body.recorder.wait(unit.index, start, end, _LOADING.label)
            if time < after:
                post(unit.index, _WAITING, (elapsed - passed) * unit.healthy / SECOND)


def book_steps(body: Body, step: Step, count: int, longest: Ticks, length: Ticks) -> list[float]:
    """Book `count` whole steps like this one: `longest` of compute, of `length` in all.

    Returns the units' productive chip-seconds where they do not all compute alike.
    """
    body.sheet.spend(_EXPOSED, count * (length - longest))
    if step.even:
        body.sheet.spend(_PRODUCTIVE, count * longest)
        return []
    post = body.ledger.post
    work: list[float] = []
    for time, rate, unit in zip(step.times, step.rates, body.units, strict=True):
        chips = unit.healthy * count
        productive = chips * time * rate / SECOND
        work.append(productive)
        if chips:
            post(unit.index, _PRODUCTIVE, productive)
            if rate < 1.0:
                body.degrade(unit, chips * time * (1.0 - rate) / SECOND)
            post(unit.index, _WAITING, chips * (longest - time) / SECOND)
    return work


def book_waste(body: Body, lost: Unsaved, times: int) -> None:
    """Take productive chip-seconds of the units back, and the job's compute, so many times."""
    if any(lost.work):
        for unit, chip_seconds in zip(body.units, lost.work, strict=True):
            body.waste(unit.index, times * chip_seconds)
    alike = [times * chip_ticks for chip_ticks in lost.alike]
    body.sheet.waste(alike)
    body.ledger.losses.waste(body.blame, sum(alike) / SECOND)
    body.ledger.losses.catching_up += times * lost.compute


def note_tail(body: Body, start: Ticks, end: Ticks) -> None:
    """Record that the units waited for bytes, where that is long enough to be seen."""
    if end - start < body.recorder.least_wait:
        return
    for unit in body.units:
        if unit.healthy:
            body.recorder.wait(unit.index, start, end, _EXPOSED.label)
