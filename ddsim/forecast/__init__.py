"""What a scenario will cost to simulate, worked out before it runs: strikes, steps, merges, memory
and time.

Strikes and merges are what the scenario implies. Times are those of one core of a server of the
2020s, within a factor of about three, without what numba takes to compile once on a fresh machine;
a training is timed on a step of its own problem. Where it matters, the beginning is tried as well.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ddsim.forecast.cost import BASE_MEMORY, PER_RESULT, spent_on
from ddsim.forecast.pace import amount_of
from ddsim.forecast.strikes import strikes
from ddsim.forecast.trial import shown
from ddsim.world.histories import Histories

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ddsim.forecast.cost import Cost
    from ddsim.forecast.pace import Amount
    from ddsim.scenario import Scenario

__all__ = ["Forecast", "forecast", "strikes"]

HISTORIES = 4
"""Replications whose beginnings are looked at."""


@dataclass(frozen=True)
class Forecast:
    """What is to be expected of a run: of one replication, or of as many as `times` said.

    `strikes` on what is up, in one history; `steps` of all learners and `merges` of all methods
    together; `seconds` of one core, of which `once` for what the first replication alone keeps and
    `trained` for the training of a model; `memory` in bytes. `most` is what most of the time goes
    to: "strikes", "changes" of links, "training" or "steps".
    """

    strikes: float
    steps: float
    merges: float
    seconds: float
    memory: float
    most: str = "steps"
    once: float = 0.0
    trained: float = 0.0

    def times(self, runs: float, *, kept: bool = True, jobs: int = 1) -> Forecast:
        """The same of so many runs, one after another; results are `kept` until the end or not."""
        held = PER_RESULT * (runs - 1.0) if kept else 0.0
        return replace(
            self,
            strikes=self.strikes * runs,
            steps=self.steps * runs,
            merges=self.merges * runs,
            seconds=((self.seconds - self.once) * runs + self.once) / jobs,
            trained=self.trained * runs / jobs,
            memory=self.memory * jobs + held,
        )


def forecast(scenario: Scenario, units: int | None = None, *, tries: bool = False) -> Forecast:
    """What one replication of all the scenario's methods comes to.

    With `units` it is told as if there were so many equal ones: scenarios of very many take long
    to lay out. With `tries` the beginning of each method's run is simulated, for some tenths of a
    second, to see what laws do not know; such a forecast is not the same twice.
    """
    names = [spec.name for spec in scenario.methods]
    settled = [scenario.for_method(name) for name in names]
    histories = [Histories(replication) for replication in range(HISTORIES)]
    found = [_spent(one, name, units, histories) for one, name in zip(settled, names, strict=True)]
    if tries and units is None:
        each = zip(settled, names, found, strict=True)
        found = [_tried(one, name, *expected, histories) for one, name, expected in each]
    amounts, costs = [amount for amount, _ in found], [cost for _, cost in found]
    passing = max(cost.passing for cost in costs)
    return Forecast(
        strikes=max(amount.struck for amount in amounts),
        steps=sum(amount.all_steps for amount in amounts),
        merges=sum(amount.merges for amount in amounts),
        seconds=sum(cost.seconds for cost in costs),
        once=sum(cost.once for cost in costs),
        trained=sum(cost.trained for cost in costs),
        memory=BASE_MEMORY + passing + sum(cost.memory for cost in costs),
        most=max(costs, key=lambda cost: cost.seconds).most,
    )


def _spent(
    scenario: Scenario, name: str, units: int | None, histories: Sequence[Histories]
) -> tuple[Amount, Cost]:
    amount = amount_of(scenario, name, units, histories)
    return amount, spent_on(scenario, name, amount)


def _tried(
    scenario: Scenario, name: str, amount: Amount, cost: Cost, histories: Sequence[Histories]
) -> tuple[Amount, Cost]:
    """The same where tries show more than laws say."""

    def merges_in(span: float) -> float:
        return amount_of(scenario.replaced(duration=span), name, None, histories).merges

    seconds = cost.seconds - cost.once - cost.trained
    found = shown(scenario, name, amount, seconds, merges_in)
    if found is None:
        return amount, cost
    amount = amount.lasting(found.span)._replace(steps=found.steps, merges=found.merges)
    return amount, spent_on(scenario, name, amount, found.seconds)
