"""What a metric needs of a scenario, asked before anything is simulated for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ddsim.naming import listed
from ddsim.study.errors import StudyError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ddsim.scenario import Scenario
    from ddsim.study.grid import Cell


def refuse_lacking(metric: str, cells: Sequence[Cell]) -> None:
    """Raise StudyError where none of the cells says what the metric is reckoned from."""
    lacking = [lacks(metric, cell.scenario) for cell in cells]
    if lacking and all(lacking):
        those = listed(lacking[0], "and")
        raise StudyError(f"no {metric} without {those}: the scenario does not say it")


def lacks(metric: str, scenario: Scenario) -> list[str]:
    """Return the paths that a scenario would have to say for a metric to be there."""
    quality, network = scenario.quality, scenario.network
    said: dict[str, bool] = {}
    if metric.startswith(("usd", "cost_to_target")):
        prices = [scenario.prices.chip_hour, network.price]
        prices += [link.price for link in network.links]
        prices += [region.price for region in network.regions.values()]
        said["prices.chip_hour"] = any(price is not None for price in prices)
    if metric.startswith("energy"):
        said["power.chip"] = scenario.power.chip is not None
    if metric.startswith(("predicted_loss", "hours_to_target", "cost_to_target")):
        said["quality.law"] = quality.law is not None
    if metric.startswith(("hours_to_target", "cost_to_target")):
        aim = (quality.target, quality.tokens_per_parameter)
        said["quality.target (or quality.tokens_per_parameter)"] = aim != (None, None)
    if metric == "final_loss":
        said["learning.problem"] = scenario.learning.problem is not None
    return [path for path, there in said.items() if not there]
