"""What rows were made from besides the scenario: the files that it names, and ddsim itself."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import ddsim
from ddsim import sources
from ddsim.study.errors import StudyError

if TYPE_CHECKING:
    from ddsim.scenario import Scenario

T = TypeVar("T")


def named_files(scenario: Scenario) -> dict[str, Path]:
    """Every file that a scenario names, by the name that it gives it; those that there are."""
    document = scenario.document
    folder = document.files.folder or "."
    python = {os.path.relpath(file, folder): file for file in python_files(scenario)}
    return python | document.files.named()


def python_files(scenario: Scenario) -> list[Path]:
    """The Python files that a scenario names and that there are, absolute."""
    return [file.absolute() for file in scenario.document.python_files() if file.is_file()]


def differing(one: Mapping[str, str], other: Mapping[str, str]) -> list[str]:
    """The names that only one has, or whose hashes differ."""
    return sorted(name for name in {*one, *other} if one.get(name) != other.get(name))


def only_with(expected: str, work: Callable[..., T], *args: Any, **kwargs: Any) -> T:
    """Do the work if ddsim's sources here are the expected ones; StudyError where they are not."""
    if sources.digest() != expected:
        raise StudyError(
            f"a worker on {platform.node()} has other sources of ddsim, {ddsim.__version__} in "
            f"{sources.HOME}, and was given work; install the same there"
        )
    return work(*args, **kwargs)
