"""What simulating so much takes: seconds of one core, and bytes."""

from __future__ import annotations

from math import floor, inf
from typing import TYPE_CHECKING, NamedTuple

from ddsim.forecast.pace import LOCAL
from ddsim.forecast.seconds import changes_of, changing_of, seconds_of
from ddsim.forecast.standing import JOBS
from ddsim.learning.cost import cost_of
from ddsim.learning.errors import LearningError
from ddsim.learning.setup import config_of

if TYPE_CHECKING:
    from ddsim.forecast.pace import Amount
    from ddsim.scenario import Scenario

US = 1e-6
REPLAYED_STEP, REPLAYED_LEARNER, REPLAYED_MERGE = 60 * US, 20 * US, 200 * US
"""Of a training beside its gradients: a step, each learner in it, and a merge."""
CHANGE_DRAWN = 4 * US
"""A change of a region's access, of which there are some for as long as the run may last."""
NOTED = 20_000.0
"""Merges of a run that are kept one by one."""

MEGABYTE = 1e6
BASE_MEMORY = 220 * MEGABYTE
PER_STRIKE_MEMORY, PER_SPAN, SPANS_OF_UNIT = 400.0, 200.0, 3.0
PER_NOTED_MEMORY, PER_PARTICIPANT = 400.0, 40.0
PER_LEARNER, PER_LEARNER_FRAGMENT = 25e3, 200.0
PER_RESULT = 12e3
PER_CHANGE = 500.0
PER_DRAWN_STEP = 40.0
"""How long a step of a unit takes, or waits for its data, where that is drawn."""


class Cost(NamedTuple):
    """Seconds of one core, those of them for what only a first replication keeps, those for the
    training, and what most go to, "strikes", "changes", "training" or "steps"; bytes of the result,
    and those that are free again once it is there.
    """

    seconds: float
    once: float
    trained: float
    memory: float
    passing: float
    most: str


def spent_on(scenario: Scenario, name: str, amount: Amount, shown: float | None = None) -> Cost:
    """What it takes to simulate a method of a scenario that comes to so much.

    Without its log and training it takes the seconds that were `shown`, where it was tried.
    """
    count, drawn = amount.units, amount.drawn
    seconds, falls, once = seconds_of(scenario, name, amount)
    changes = changes_of(scenario, amount.last)[0] if amount.last < inf else 0.0
    beyond = changes * (1.0 - amount.span / amount.last) if changes else 0.0
    if shown is not None:
        share = shown / (seconds - once)
        seconds, falls = shown + once, falls * share
    seconds += beyond * CHANGE_DRAWN
    noted = min(amount.merges, NOTED)
    memory = (
        drawn * PER_STRIKE_MEMORY
        + amount.stops * PER_SPAN * SPANS_OF_UNIT * (count if name in JOBS else 1)
        + noted * (PER_NOTED_MEMORY + PER_PARTICIPANT * count)
        + count * PER_LEARNER
    )
    if name in LOCAL:
        memory += count * scenario.training.fragments * PER_LEARNER_FRAGMENT
    drawn_steps = bool(scenario.cluster.jitter) + (scenario.cluster.delay is not None)
    trained, batches = _trained(scenario, name, amount)
    passing = amount.steps * count * drawn_steps * PER_DRAWN_STEP + changes * PER_CHANGE + batches
    changing = changing_of(scenario, amount)
    parts = {"strikes": falls, "changes": changing, "training": trained}
    parts["steps"] = seconds - falls - changing
    most = max(parts, key=lambda what: parts[what])
    return Cost(seconds + trained, once, trained, memory, passing, most)


def _trained(scenario: Scenario, name: str, amount: Amount) -> tuple[float, float]:
    """Seconds of the numpy training along a run, and bytes of its batches, from a step of it that
    is tried here.

    Steps that no merge follows are not trained, unless somebody returns, and the same parameters
    are evaluated once.
    """
    learning = scenario.learning
    if learning.problem is None:
        return 0.0, 0.0
    try:
        cost = cost_of(config_of(scenario, name))
    except LearningError:  # is said where the problem is made for the run
        return 0.0, 0.0
    steps, merges = amount.steps, floor(amount.merges)
    if name in JOBS:
        trained = steps * (cost.step + REPLAYED_STEP)
        merges = floor(steps)
    else:
        round_of = scenario.training.inner_steps if name == "diloco" else 1
        if (merges < 1 or name == "diloco") and amount.returns < 0.5:
            steps = min(steps, merges * round_of)
        trained = steps * (cost.step + REPLAYED_STEP + amount.units * REPLAYED_LEARNER)
        trained += merges * REPLAYED_MERGE
    evaluations = min(learning.evaluations, merges + 1)
    seconds = cost.making + trained + evaluations * cost.evaluation
    return learning.seeds * seconds, cost.memory
