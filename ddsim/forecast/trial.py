"""The beginning of a run, simulated to see what the whole will take.

Laws say what is to be expected of a scenario. Tries of its beginning, each `LONGER` times as long
as the one before until one takes `ENOUGH`, show what laws do not know: rules that stand in one
another's way, methods and policies of the user's own, and how fast this machine is. What planned
faults change later they cannot show.
"""

from __future__ import annotations

from math import inf
from time import process_time
from typing import TYPE_CHECKING, NamedTuple

from ddsim import methods
from ddsim.errors import InputError
from ddsim.forecast.seconds import COMPILED_FROM, planned_changes
from ddsim.methods.local import compiling
from ddsim.methods.local.method import LocalUpdates
from ddsim.simulation import simulate
from ddsim.world.histories import Histories

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ddsim.forecast.pace import Amount
    from ddsim.scenario import Scenario

AT_FIRST, ENOUGH, TOO_LONG = 2e-3, 0.1, 1.0
"""Seconds that are expected of the first try, that the last takes at least, and no other does."""
LONGER, GROWN = 4.0, 2.0
"""How many times as long each try is as the one before, and how many times as much the last takes
at least, so that what else a machine does is not taken for it.
"""
FEW = 20.0
"""Merges in a try, expected or come, from which on it shows how many the whole has."""
CHANCE = 0.25
"""Of merges that come now and then, those that may be expected where a try had none: the median of
what may be behind that, by Jeffreys' rule for counts."""
MOST_UNITS, MOST = 2000, 1e6
"""Units from which on even a beginning takes long, and seconds beyond which none shows anything."""
MOST_CHANGES = 100_000
"""Planned changes of links, which are laid out as a whole, from which on that is no short try."""

NEARLY = 1.0 - 1e-6


class Try(NamedTuple):
    """What came of the first `span` seconds of a run, in `seconds` of one core.

    `steps` are those of one unit, what came to nothing included; it `ended` where the run did.
    `failures` are strikes on what was up.
    """

    span: float = 0.0
    seconds: float = 0.0
    steps: float = 0.0
    tokens: float = 0.0
    merges: float | None = 0.0
    ended: bool = False
    failures: float = 0.0


class Shown(NamedTuple):
    """What tries show of the whole run: its span, steps, merges, and seconds but for its log."""

    span: float
    steps: float
    merges: float
    seconds: float


def shown(
    scenario: Scenario,
    name: str,
    amount: Amount,
    seconds: float,
    merges_in: Callable[[float], float],
) -> Shown | None:
    """What tries of a method's first history show; None where there are none.

    Of the whole `amount` and `seconds` are expected, of a beginning of so many seconds the merges
    that `merges_in` says. What came between the last two tries goes on like that.
    """
    if not 0.0 < seconds < MOST or not 0.0 < amount.span < inf or amount.units > MOST_UNITS:
        return None
    if planned_changes(scenario, amount.span) > MOST_CHANGES:
        return None
    try:
        tries = [Try(), *_tries(scenario, name, amount, seconds)]
    except InputError:  # is said by the run itself
        return None
    if len(tries) == 1:
        return None
    before, last = tries[-2:]
    span = _span(amount, before, last)
    further = max(0.0, span - last.span) / (last.span - before.span)
    longer = span / amount.span if amount.goal == inf else 1.0  # a goal takes what it takes
    merges, steps = longer * amount.merges, longer * amount.steps
    certain = not (further or last.failures) and amount.struck < 1.0  # so are most histories
    if (
        last.merges is not None
        and before.merges is not None
        and (certain or max(last.merges, merges_in(last.span)) >= FEW)
    ):
        unseen = CHANCE if last.merges else 0.0
        merges = last.merges + further * (last.merges - before.merges + unseen)
    if certain or last.steps >= FEW:
        steps = last.steps + further * max(0.0, last.steps - before.steps)
    more = further * max(0.0, last.seconds - before.seconds)
    return Shown(span, steps, merges, last.seconds + more)


def _span(amount: Amount, before: Try, last: Try) -> float:
    """How long the whole run lasts: where it has a goal, until it comes there as fast as it did."""
    if last.ended:
        return last.span
    if amount.goal == inf or last.tokens <= before.tokens:
        return amount.span
    rate = (last.tokens - before.tokens) / (last.span - before.span)
    return min(amount.last, last.span + max(0.0, amount.goal - last.tokens) / rate)


def _tries(scenario: Scenario, name: str, amount: Amount, seconds: float) -> Iterator[Try]:
    untrained = scenario.replaced(learning=scenario.learning.replaced(problem=None))
    share = AT_FIRST / seconds
    compiled = _local(name) and amount.nominal >= COMPILED_FROM
    if compiled:
        share = max(share, 1.05 * COMPILED_FROM / amount.nominal)
    span = min(1.0, share) * amount.span
    _try(untrained, name, span)  # the first of a process loads what others find there
    if compiled and not compiling.here():
        return
    before = inf
    while True:
        one = _try(untrained, name, span)
        yield one
        over = one.ended or span >= amount.span
        told = one.seconds >= ENOUGH and one.seconds >= GROWN * before
        if over or told or one.seconds >= TOO_LONG:
            return
        before, span = one.seconds, min(amount.span, LONGER * span)


def _local(name: str) -> bool:
    found = methods.get(name)
    return isinstance(found, type) and issubclass(found, LocalUpdates)


def _try(scenario: Scenario, name: str, span: float) -> Try:
    began = process_time()
    first = Histories(0)
    result = simulate(scenario.replaced(duration=span), name, 0, first, timeline=False)
    seconds = process_time() - began
    kept, lost = (result.accounts.get(name, 0.0) for name in ("productive", "wasted_progress"))
    return Try(
        span=result.wall_clock_s,
        seconds=seconds,
        steps=result.steps * (1.0 + lost / kept) if kept else 0.0,
        tokens=result.tokens,
        merges=result.extra.get("merge_count"),
        ended=result.wall_clock_s < NEARLY * span,
        failures=result.failures,
    )
