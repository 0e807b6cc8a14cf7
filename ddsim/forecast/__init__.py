"""What a scenario will cost to simulate, worked out before it runs: strikes, steps, merges, memory
and time.

Strikes and merges are what the scenario implies. Times are those of one core of a server of the
2020s, within a factor of about three, without what numba takes to compile once on a fresh machine;
a training is timed on a step of its own problem.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ddsim.forecast.cost import BASE_MEMORY, PER_RESULT, spent_on
from ddsim.forecast.pace import amount_of
from ddsim.forecast.strikes import strikes

if TYPE_CHECKING:
    from ddsim.scenario import Scenario

__all__ = ["Forecast", "forecast", "strikes"]


@dataclass(frozen=True)
class Forecast:
    """What is to be expected of a run: of one replication, or of as many as `times` said.

    `strikes` on what is up, in one history; `steps` of all learners and `merges` of all methods
    together; `seconds` of one core; `memory` in bytes. `most` is what most of the time goes to:
    "strikes" or "steps".
    """

    strikes: float
    steps: float
    merges: float
    seconds: float
    memory: float
    most: str = "steps"

    def times(self, runs: float, *, kept: bool = True, jobs: int = 1) -> Forecast:
        """The same of so many runs, one after another; results are `kept` until the end or not."""
        held = PER_RESULT * (runs - 1.0) if kept else 0.0
        return replace(
            self,
            strikes=self.strikes * runs,
            steps=self.steps * runs,
            merges=self.merges * runs,
            seconds=self.seconds * runs / jobs,
            memory=self.memory * jobs + held,
        )


def forecast(scenario: Scenario, units: int | None = None) -> Forecast:
    """What one replication of all the scenario's methods comes to.

    With `units` it is told as if there were so many equal ones: scenarios of very many take long
    to lay out.
    """
    names = [spec.name for spec in scenario.methods]
    parts = [_of_method(scenario.for_method(name), name, units) for name in names]
    longest = max(parts, key=lambda part: part.seconds)
    return Forecast(
        strikes=max(part.strikes for part in parts),
        steps=sum(part.steps for part in parts),
        merges=sum(part.merges for part in parts),
        seconds=sum(part.seconds for part in parts),
        memory=BASE_MEMORY + sum(part.memory for part in parts),
        most=longest.most,
    )


def _of_method(scenario: Scenario, name: str, units: int | None) -> Forecast:
    amount = amount_of(scenario, name, units)
    spent = spent_on(scenario, name, amount)
    steps = amount.steps * (amount.units if amount.each_steps else 1)
    return Forecast(amount.struck, steps, amount.merges, spent.seconds, spent.memory, spent.most)
