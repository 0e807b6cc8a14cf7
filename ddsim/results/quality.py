"""What a run's tokens are worth: the law that its scenario names, asked about what was done."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ddsim.quality import Interval, Outlook
    from ddsim.results.record import MethodResult, Quality
    from ddsim.scenario import Scenario

HOUR = 3600.0


def target_of(scenario: Scenario, outlook: Outlook) -> float | None:
    """Return the loss whose hours are asked for; None where none is."""
    section = scenario.quality
    if section.tokens_per_parameter is None:
        return section.target
    parameters = scenario.model.parameters
    return outlook.law.loss(parameters, section.tokens_per_parameter * parameters)


def share_merged(result: MethodResult) -> float:
    """Return the share of a run's tokens that was merged: all, where nothing is ever overwritten.

    Tokens whose fate is open at the end of the run are taken to fare as the others did.
    """
    if result.merged_share is not None:
        return result.merged_share
    if result.tokens_merged is None or result.tokens <= 0.0:
        return 1.0
    return min(1.0, result.tokens_merged / result.tokens)


def predicted(scenario: Scenario, outlook: Outlook, result: MethodResult) -> Quality:
    """Return what a result's tokens are worth; the way to the target goes on at the run's rate."""
    share = share_merged(result)
    target = target_of(scenario, outlook)
    hours = result.wall_clock_s / HOUR
    usd = result.extra.get("costs", {}).get("usd")
    said: Quality = {
        "loss": _listed(outlook.loss(result.tokens, share)),
        "hours_to_target": [None, None, None],
        "cost_to_target": None,
        "law": outlook.law.name,
        "target": target,
        "unreachable": None,
        "warnings": list(outlook.warnings()),
    }
    if target is None or hours == inf:
        return said
    said["hours_to_target"] = _listed(outlook.spent_to(target, hours, result.tokens, share))
    if usd is not None:
        said["cost_to_target"] = _listed(outlook.spent_to(target, usd, result.tokens, share))
    if said["hours_to_target"][1] is None:
        nothing = "nothing that counts was trained"
        said["unreachable"] = outlook.unreachable(target) or nothing
    return said


def _listed(interval: Interval) -> list[float | None]:
    return list(interval)
