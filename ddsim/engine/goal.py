"""Where a run is to stop, and whether tokens are enough for that.

They are sums of real numbers, and rounding must not cost a step.
"""

from __future__ import annotations

from math import ceil, inf
from typing import TYPE_CHECKING, NamedTuple

from ddsim.quality import Batch, Ends, Outlook, make, penalty

if TYPE_CHECKING:
    from ddsim.scenario import Scenario

NEARLY = 1e-9
TOO_LONG = 20 * 365 * 86400.0
"""Seconds beyond which a loss is out of reach for a run without an end."""
LONG_ENOUGH = 86400.0
"""Seconds of one whose loss is, for its other figures."""


class Goal(NamedTuple):
    """Where a run is to stop: at so many tokens done, or at so many that count.

    All that was merged counts, and the share `worth` of what was overwritten.
    """

    tokens: float = inf
    counted: float = inf
    worth: float = 1.0

    @property
    def all_merged(self) -> float:
        """The tokens at which a run stops that overwrites nothing."""
        return min(self.tokens, self.counted)

    @property
    def endless(self) -> bool:
        """Whether there is none."""
        return self.all_merged == inf

    def reached(self, tokens: float, merged: float, overwritten: float) -> bool:
        """Whether it is reached by tokens of which as large a share was merged as of the others."""
        both = merged + overwritten
        share = merged / both if both > 0.0 else 0.0
        counted = tokens * (share + self.worth * (1.0 - share))
        return reached(self.tokens, tokens) or reached(self.counted, counted)


def reached(goal: float, tokens: float) -> bool:
    """Whether the tokens that were wanted are done."""
    return tokens >= goal * (1.0 - NEARLY)


def steps_to(goal: float, tokens: float, per_step: float) -> int | None:
    """Return the steps, at least 1, that it takes from so many tokens; None without a goal."""
    if goal == inf:
        return None
    return max(1, ceil((goal - tokens) / per_step - NEARLY))


def outlook_of(scenario: Scenario, apart: bool) -> Outlook | None:
    """Return what tokens are worth by a scenario's law; None where it names none.

    `apart` says whether each unit is a learner with a batch of its own, rather than all one.
    """
    section = scenario.quality
    if section.law is None:
        return None
    parameters = scenario.model.parameters
    learners = len(scenario.cluster.units) if apart else 1
    batch = Batch(scenario.training.tokens_per_step / learners, section.critical_batch)
    said = section.penalty
    if isinstance(said, str):
        lost = penalty(said, parameters, learners)
    else:
        lost = Ends(min(said), max(said)) if learners > 1 else Ends(1.0, 1.0)
    return Outlook(
        law=make(section.law, section.options),
        parameters=parameters,
        learners=learners,
        batch=batch if section.batch_efficiency else None,
        penalty=lost,
        worth=Ends(max(section.overwritten), min(section.overwritten)),
        start=section.start,
    )


def goal_of(scenario: Scenario, outlook: Outlook | None) -> Goal:
    """Return where a run is to stop: at its tokens, or where its loss is predicted to be low."""
    training = scenario.training
    tokens = inf if training.tokens is None else training.tokens
    if training.loss is None or outlook is None:
        return Goal(tokens)
    middle = outlook.cases[1]
    counted = middle.tokens_to(training.loss)
    return Goal(tokens, inf if counted is None else counted, middle.worth)


def last_of(scenario: Scenario, goal: Goal, fastest: float) -> float:
    """Return when a run ends at the latest, in seconds, whose fastest step takes so many.

    Without an end of its own it is not followed to a loss that it could not come to in time even if
    nothing ever failed.
    """
    if scenario.training.loss is None or scenario.duration < inf:
        return scenario.duration
    steps = goal.all_merged / scenario.training.tokens_per_step
    return LONG_ENOUGH if steps * fastest > TOO_LONG else TOO_LONG
