"""Whether a run came to where it was to stop, and in words why not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ddsim.engine.goal import goal_of
from ddsim.results.quality import HOUR, share_merged

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ddsim.quality import Outlook
    from ddsim.results.record import Goal as Found
    from ddsim.results.record import MethodResult
    from ddsim.scenario import Scenario


def found_of(
    scenario: Scenario, outlook: Outlook | None, result: MethodResult, why: str | None = None
) -> Found | None:
    """Return whether a run came to its goal, or why it did not; None where it has none.

    `why` it was ended before its time, if it was.
    """
    goal, loss = goal_of(scenario, outlook), scenario.training.loss
    if goal.endless and loss is None:
        return None
    share = share_merged(result)
    if goal.reached(result.tokens, share, 1.0 - share):
        return "reached"
    hours = result.wall_clock_s / HOUR
    if why is not None:
        return {"unreachable": f"{result.tokens:.4g} tokens, then {why}"}
    if loss is None or outlook is None:
        return {"unreachable": f"{result.tokens:.4g} of {goal.tokens:.4g} tokens in {hours:.4g} h"}
    reason = outlook.unreachable(loss)
    if reason is None:
        now = outlook.loss(result.tokens, share).mid
        wanted = outlook.spent_to(loss, hours, result.tokens, share).mid
        rate = "never" if wanted is None else f"after {wanted:.4g} h"
        reason = f"{now:.4g} nats after {hours:.4g} h; at this rate {loss:g} nats {rate}"
    return {"unreachable": reason}


def mean_goal(found: Sequence[Found | None]) -> Found | None:
    """Return whether all replications came to their goal, or why the first that did not."""
    missed = [one for one in found if one is not None and one != "reached"]
    if not missed or len(found) == 1:
        return found[0]
    reason = missed[0]["unreachable"]
    return {"unreachable": f"in {len(missed)} of {len(found)} histories; in the first: {reason}"}
