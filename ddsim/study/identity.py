"""What rows were made from besides the scenario: the files that it names, and ddsim itself."""

from __future__ import annotations

import hashlib
import os
import platform
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import ddsim
from ddsim.study.errors import StudyError

if TYPE_CHECKING:
    from ddsim.scenario import Scenario

T = TypeVar("T")
HOME = Path(ddsim.__file__).parent
_DIGITS = 16


def named_files(scenario: Scenario) -> dict[str, Path]:
    """Every file that a scenario names, by the name that it gives it; those that there are."""
    document = scenario.document
    folder = document.files.folder or "."
    python = {os.path.relpath(file, folder): file for file in python_files(scenario)}
    return python | document.files.named()


def python_files(scenario: Scenario) -> list[Path]:
    """The Python files that a scenario names and that there are, absolute."""
    return [file.absolute() for file in scenario.document.python_files() if file.is_file()]


def hashes_of(files: Mapping[str, Path]) -> dict[str, str]:
    """The hash of each file's content."""
    return {name: _hash(path) for name, path in sorted(files.items())}


@cache
def sources() -> dict[str, str]:
    """The hash of each of ddsim's own source files, by its place in the package."""
    files = {str(path.relative_to(HOME)): path for path in HOME.rglob("*.py")}
    return hashes_of(files)


def source() -> str:
    """One hash of all of ddsim's source files."""
    text = "".join(f"{name} {digest}\n" for name, digest in sources().items())
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]


def differing(one: Mapping[str, str], other: Mapping[str, str]) -> list[str]:
    """The names that only one has, or whose hashes differ."""
    return sorted(name for name in {*one, *other} if one.get(name) != other.get(name))


def only_with(expected: str, work: Callable[..., T], *args: Any, **kwargs: Any) -> T:
    """Do the work if ddsim's sources here are the expected ones; StudyError where they are not."""
    if source() != expected:
        raise StudyError(
            f"a worker on {platform.node()} has other sources of ddsim, {ddsim.__version__} in "
            f"{HOME}, and was given work; install the same there"
        )
    return work(*args, **kwargs)


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:_DIGITS]
