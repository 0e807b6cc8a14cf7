"""From the books of a run that has ended to its result."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any

from ddsim.engine.blast import blast_radius
from ddsim.engine.ledger import Account
from ddsim.engine.saves import saves_on
from ddsim.results.costs import costs
from ddsim.results.record import Merge, MethodResult
from ddsim.results.timeline import Timeline
from ddsim.world.instants import seconds

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ddsim.engine.hardware import Hardware
    from ddsim.engine.run import Outcome, Run
    from ddsim.results.record import Wan

DELAYS = (Account.EXPOSED_COMMUNICATION, Account.WAITING_ON_PEERS, Account.WAITING_ON_DATA)
GIGA = 1e9
ROUNDING = 1e-9


def result_of(
    name: str, one: Run, outcome: Outcome, end: float, hardware: Hardware, elapsed: float
) -> MethodResult:
    """Return the result of a method's run that ended at `end` and took `elapsed` s to simulate.

    The time of the spare chips is booked first: nothing else knows how long they were there.
    """
    spare_time = one.cluster.spare_chips * end
    if spare_time:
        one.ledger.post(len(one.cluster.units), Account.UNALLOCATED, spare_time)
    totals = one.ledger.totals()
    capacity = (one.cluster.chips + one.cluster.spare_chips) * end
    productive = totals[Account.PRODUCTIVE.label]
    delayed = sum(totals[account.label] for account in DELAYS)
    units = one.cluster.units
    return MethodResult(
        method=name,
        goodput=_within(one.ledger.goodput(range(len(units)))),
        goodput_by_chip_type={
            kind: _goodput_of(one, kind) for kind in dict.fromkeys(unit.chip for unit in units)
        },
        time_goodput=_within(outcome.moving / end),
        uptime=_within(outcome.up / end),
        merge_uptime=None if outcome.merging is None else _within(outcome.merging / end),
        participation=outcome.participation,
        merged_share=outcome.merged_share,
        pending_share=outcome.pending_share,
        compute_utilization=productive / (productive + delayed) if productive else 0.0,
        ettr=_within(outcome.productive / end),
        accounts={account: _within(value / capacity) for account, value in totals.items()},
        steps=outcome.steps,
        tokens=outcome.tokens,
        wall_clock_s=end,
        failures=hardware.strikes,
        mtbi_s=end / outcome.interruptions if outcome.interruptions else None,
        mttr_s=outcome.interrupted / outcome.interruptions if outcome.interruptions else None,
        wan=_wan(one, outcome, end),
        learning=None,
        events=one.clock.events,
        elapsed_s=elapsed,
        tokens_merged=outcome.tokens_merged,
        extra=_extra(one, outcome, hardware, end),
        timeline=Timeline(one.recorder.kept),
        merges=list(_merges(one)),
        merges_every=one.recorder.noted.every,
    )


def _goodput_of(one: Run, kind: str) -> float:
    return _within(one.ledger.goodput([u.index for u in one.cluster.units if u.chip == kind]))


def _within(share: float) -> float:
    """Return a share without what rounding put beyond 0 or 1; more than that is an error."""
    if not -ROUNDING <= share <= 1.0 + ROUNDING:
        raise AssertionError(f"a share of time or chip-time is {share!r}")
    return min(1.0, max(0.0, share))


def _extra(one: Run, outcome: Outcome, hardware: Hardware, end: float) -> dict[str, Any]:
    """What no column of the comparison has a place for."""
    extra: dict[str, Any] = dict(outcome.extra)
    if outcome.late_answers is not None:
        extra["late_answers"] = outcome.late_answers
    if one.rounding is not None:
        extra["rounding"] = one.rounding
    policy = one.scenario.checkpoint.policy
    if policy != "none":
        saves = saves_on(one.scenario, one.cluster)
        timed = saves.steps is None and not saves.none
        extra["checkpoint"] = {
            "policy": policy,
            "interval_s": seconds(saves.interval) if timed else None,
            "steps": saves.steps,
            "saves": saves.words,
        }
    links = one.meter.links(end, one.network.prices)
    if links:
        extra["links"] = links
    if hardware.strikes:
        extra["blast_radius"] = blast_radius(one.ledger.losses, hardware, one.cluster.chips, end)
    egress = sum(link["usd"] for link in links)
    spent = costs(one.scenario, one.ledger.totals(), outcome.tokens_merged, egress)
    if spent:
        extra["costs"] = spent
    return extra


def _merges(one: Run) -> Iterable[Merge]:
    names = [unit.name for unit in one.cluster.units]
    known: dict[tuple[int, ...], tuple[str, ...]] = {}  # mostly the same ones
    for merge in one.recorder.merges:
        who = merge.participants
        learners = known.get(who)
        if learners is None:
            learners = known[who] = tuple(names[index] for index in who)
        yield Merge(
            merge.slot, merge.fragments, merge.start, merge.arrival, learners, merge.weights
        )


def _wan(one: Run, outcome: Outcome, end: float) -> Wan:
    meter = one.meter
    widths = ", ".join(f"{what} at {bits:g} bits" for what, bits in outcome.payload.items())
    mean = meter.bits / end if end < inf else 0.0
    return {
        "mean_gbps": mean / GIGA,
        "peak_gbps": max(meter.peak, mean) / GIGA,  # a run shorter than a second has no other
        "total_bytes": meter.bits / 8,
        "convention": (
            f"busiest site, one direction; {widths} a parameter; "
            f"{outcome.convention or one.network.convention}; peak over 1 s"
        ),
    }
