"""Scenarios for commands that run them, and with them what Python they name."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ddsim.cli.base import prints_aside

if TYPE_CHECKING:
    from ddsim.scenario import Scenario


def load(scenario: str, overrides: Sequence[str]) -> "Scenario":
    """Load a scenario; what its Python prints goes to stderr."""
    from ddsim import loading

    with prints_aside():
        return loading.load(scenario, overrides)
