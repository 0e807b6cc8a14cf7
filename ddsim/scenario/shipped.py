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


def description(name: str) -> str:
    """What a shipped scenario says of itself; KeyError where there is none of that name."""
    from ddsim.scenario.reading import read_tree
    from ddsim.scenario.tree import child

    file = find(name)
    if file is None:
        raise KeyError(name)
    entry = child(read_tree(file.read_text(encoding="utf-8"), name)[0], "description")
    return "" if entry is None else str(entry.value)
