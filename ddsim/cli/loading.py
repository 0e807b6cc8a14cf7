"""Scenarios for commands that run them, and with them what Python they name."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ddsim.cli.base import prints_aside

if TYPE_CHECKING:
    from ddsim.scenario import Scenario

NOT_GIVEN = "not given"
"""What is found where a scenario lacks a value that it needs."""


def load(scenario: str, overrides: Sequence[str]) -> "Scenario":
    """Load a scenario; what its Python prints goes to stderr."""
    from ddsim import loading

    with prints_aside():
        return loading.load(scenario, overrides)


def load_varied(scenario: str, overrides: Sequence[str], vary: Sequence[str]) -> "Scenario":
    """Load a scenario of which some paths vary: where one lacks a value, it has its first."""
    from ddsim.scenario import ScenarioError
    from ddsim.study.vary import first_values

    try:
        return load(scenario, overrides)
    except ScenarioError as error:
        lacking = {problem.path for problem in error.problems if problem.found == NOT_GIVEN}
        given = [f"{path}={value}" for path, value in first_values(vary) if path in lacking]
        if not given:
            raise
        try:
            return load(scenario, (*overrides, *given))
        except ScenarioError:
            raise error from None
