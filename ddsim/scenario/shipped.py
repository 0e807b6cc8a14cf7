"""The scenarios that ship with ddsim, found by name wherever it is installed."""

from __future__ import annotations

import importlib.resources
from importlib.resources.abc import Traversable
from pathlib import Path

_SUFFIX = ".yaml"


def folder() -> Traversable:
    """Where the shipped scenarios lie."""
    try:
        return importlib.resources.files("ddsim.scenarios")
    except ModuleNotFoundError:  # run from a checkout that is not installed
        return Path(__file__).parents[2] / "scenarios"


def names() -> list[str]:
    """Names of the shipped scenarios, in alphabetical order."""
    files = (item.name for item in folder().iterdir())
    return sorted(name.removesuffix(_SUFFIX) for name in files if name.endswith(_SUFFIX))


def find(name: str) -> Traversable | None:
    """The file of a shipped scenario, or None."""
    name = name.removesuffix(_SUFFIX)
    return folder() / f"{name}{_SUFFIX}" if name in names() else None
