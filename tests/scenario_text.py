"""Scenario texts for tests: the least that is valid, and what is put on top of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ddsim.scenario import Scenario, ScenarioError, read_text, validate

BROKEN = Path(__file__).parent / "broken"

LEAST = """\
model: {parameters: 1e9, layers: 24}
training: {step_time: 1 s}
cluster: {chips: 64, chips_per_slice: 8, learners: 4}
"""


def scenario(
    more: str = "", overrides: Mapping[str, object] | list[str] | None = None, **options: Any
) -> Scenario:
    """The least scenario with more YAML below it."""
    document = read_text(LEAST + more, "least.yaml").with_overrides(overrides or {})
    return validate(document, **options)


def problems_of(more: str = "", overrides: Mapping[str, object] | list[str] | None = None) -> str:
    """What is wrong with it, one problem a line; fails if nothing is."""
    try:
        scenario(more, overrides)
    except ScenarioError as error:
        return str(error)
    raise AssertionError("the scenario is valid")
